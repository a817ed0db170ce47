"""Makes graph6.txt: graphs as other programs write them, with their edges.

    python3 -m venv venv && venv/bin/pip install networkx
    venv/bin/python graph6.py NAUTY > graph6.txt

NAUTY is the folder of a built nauty (`make amtog copyg`). A line of the output is: who wrote it and in which format,
the encoded graph, the number of nodes, the edges (u-v, or u>v where they have a direction; an edge that is there twice
is listed twice). A line of nauty's incremental format changes the graph of the line before it.
"""

import random
import subprocess
import sys

import networkx as nx

nauty = sys.argv[1]
rng = random.Random(20190527)


def show(who, encoded, n, edges, sign="-"):
    listed = [f"{u}{sign}{v}" for u, v in sorted(edges)]
    print(" ".join([who, encoded.decode().strip(), str(n), *listed]))


def some(pairs, share):
    return [pair for pair in pairs if rng.random() < share]


def matrix(n, pairs):
    pairs = set(pairs)
    rows = ("".join("01"[(u, v) in pairs] for v in range(n)) for u in range(n))
    return f"n={n}\nm\n" + "\n".join(rows) + "\n"


def amtog(option, n, pairs):
    run = [f"{nauty}/amtog", "-qw", option]
    return subprocess.run(run, input=matrix(n, pairs).encode(), stdout=subprocess.PIPE, check=True).stdout


def both(edges):
    return edges + [(v, u) for u, v in edges]


sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 62, 63, 64, 70]
for n in sizes:
    simple = [(u, v) for v in range(n) for u in range(v)]
    loops = [(u, u) for u in range(n)]
    ends = [(u, v) for u, v in simple + loops if v >= n - 2]
    few = [3 / max(n, 3), 0.5] if n <= 17 else [1 / n]

    for share in few:
        edges = some(simple, share)
        g = nx.Graph()
        g.add_nodes_from(range(n))
        g.add_edges_from(edges)
        show("networkx-graph6", nx.to_graph6_bytes(g, header=False), n, edges)
        show("networkx-sparse6", nx.to_sparse6_bytes(g, header=False), n, edges)

        # networkx takes a bit for the node of a graph with one node, where nauty takes none.
        if n != 1:
            edges += some(loops, share) + some(edges, 0.3)
            g = nx.MultiGraph()
            g.add_nodes_from(range(n))
            g.add_edges_from(edges)
            show("networkx-sparse6", nx.to_sparse6_bytes(g, header=False), n, edges)

    for edges in [some(simple + loops, share) for share in few] + [some(ends, 0.2), ends[:1], simple[-1:]]:
        if n > 0:
            show("nauty-sparse6", amtog("-s", n, both(edges)), n, edges)
    for share in few:
        if n > 0:
            edges = some(simple, share)
            show("nauty-graph6", amtog("-g", n, both(edges)), n, edges)
            arcs = some(both(simple) + loops, share)
            show("nauty-digraph6", amtog("-z", n, arcs), n, arcs, ">")

# A walk of small changes, each line the change of the one before.
for n in [1, 2, 4, 8, 11, 16]:
    pairs = [(u, v) for v in range(n) for u in range(v + 1)]
    walk = [some(pairs, 0.3)]
    for _ in range(6):
        walk.append(sorted(set(walk[-1]) ^ set(some(pairs, 3 / len(pairs)))))
    whole = b"".join(amtog("-s", n, both(edges)) for edges in walk)
    run = [f"{nauty}/copyg", "-qi"]
    lines = subprocess.run(run, input=whole, stdout=subprocess.PIPE, check=True).stdout.split()
    for line, edges in zip(lines, walk, strict=True):
        show("nauty-incremental" if line.startswith(b";") else "nauty-sparse6", line, n, edges)
