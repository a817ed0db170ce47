#!/usr/bin/env python3
"""WL digests by the definition of docs/wl-digest.md, for 1-WL and 2-FWL, sharing nothing with ppgn.

    python3 digest.py > digest.txt

One line per graph and test: name, nodes, directed or not, node labels, edges (from-to or from-to:label), test, digest.
"""

import hashlib
import itertools
import struct


class Graph:
    def __init__(self, name, nodes, edges, directed=False, labels=None):
        self.name, self.nodes, self.directed, self.labels, self.edges = name, nodes, directed, labels, edges
        self.arcs = {}
        for u, v, *label in edges:
            self.arcs[u, v] = label
            if not directed:
                self.arcs[v, u] = label

    def node(self, u):
        labels = [] if self.labels is None else [self.labels[u]]
        return [len(labels), *labels, 0] + self.arc(u, u)

    def arc(self, u, v):
        if (u, v) not in self.arcs:
            return [0]
        labels = self.arcs[u, v]
        return [1, len(labels), *labels, 0]

    def line(self):
        labels = "-" if self.labels is None else ",".join(map(str, self.labels))
        edges = ",".join(f"{u}-{v}" + (f":{label[0]}" if label else "") for u, v, *label in self.edges) or "-"
        return f"{self.name} {self.nodes} {'directed' if self.directed else 'undirected'} {labels} {edges}"


def integer(x):
    return struct.pack("<q", x)


def sha(test, kind, data):
    return hashlib.sha256(f"ppgn wl1 {test} {kind}\n".encode() + data).digest()


def content(test, kind, integers):
    return sha(test, kind, integer(len(integers)) + b"".join(map(integer, integers)))


def colour(test, parent, neighbours):
    return sha(test, "colour", parent + integer(len(neighbours)) + b"".join(sorted(neighbours)))


def digest(g, test, first, step):
    """`first` is the hash of every tuple after round 0, `step` makes those of a round from those before it."""
    rounds, now = 0, first
    while True:
        after = step(now)
        if len(set(after.values())) == len(set(now.values())):
            break
        rounds, now = rounds + 1, after
    classes = sorted((h, list(after.values()).count(h)) for h in set(after.values()))
    data = integer(g.nodes) + integer(rounds) + integer(len(classes))
    return "wl1:%s:%s" % (test, sha(test, "graph", data + b"".join(h + integer(n) for h, n in classes)).hex())


def one_wl(g):
    test, nodes = "1-wl", range(g.nodes)

    def step(now):
        def neighbours(u):
            joined = [v for v in nodes if v != u and ((u, v) in g.arcs or (v, u) in g.arcs)]
            return [content(test, "relation", g.arc(u, v) + g.arc(v, u)) + now[v] for v in joined]

        return {u: colour(test, now[u], neighbours(u)) for u in nodes}

    return digest(g, test, {u: content(test, "type", g.node(u)) for u in nodes}, step)


def two_fwl(g):
    test, nodes = "2-fwl", range(g.nodes)
    pairs = list(itertools.product(nodes, nodes))

    def kind(u, v):
        return g.node(u) + g.node(v) + ([1] if u == v else [0] + g.arc(u, v) + g.arc(v, u))

    def step(now):
        return {(u, v): colour(test, now[u, v], [now[j, v] + now[u, j] for j in nodes]) for u, v in pairs}

    return digest(g, test, {p: content(test, "type", kind(*p)) for p in pairs}, step)


def cycle(n, start=0):
    return [(start + i, start + (i + 1) % n) for i in range(n)]


def lattice(steps):
    """4 x 4 nodes on a torus, joined by these steps."""
    at = lambda i, j: 4 * (i % 4) + j % 4
    pairs = {tuple(sorted((at(i, j), at(i + a, j + b)))) for i in range(4) for j in range(4) for a, b in steps}
    return sorted(pairs)


GRAPHS = [
    Graph("node", 1, []),
    Graph("loop", 1, [(0, 0)]),
    Graph("three-nodes", 3, []),
    Graph("k6", 6, list(itertools.combinations(range(6), 2))),
    Graph("c6", 6, cycle(6)),
    Graph("two-triangles", 6, cycle(3) + cycle(3, 3)),
    Graph("path", 5, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    Graph("labelled-path", 5, [(0, 1), (1, 2), (2, 3), (3, 4)], labels=[7, -2, 7, 7, 7]),
    Graph("star-and-loops", 5, [(0, 1), (0, 2), (0, 3), (3, 3), (4, 4)]),
    Graph("directed-cycle", 5, cycle(5), directed=True),
    Graph("tournament", 5, [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 1), (2, 4), (3, 2), (1, 3), (4, 0)], directed=True),
    Graph("bonds", 6, [(u, v, 1 + u % 2) for u, v in cycle(6)], labels=[6, 6, 6, 6, 6, 8]),
    Graph("directed-bonds", 4, [(0, 1, 3), (1, 0, 4), (1, 2, 3), (2, 3, 3), (3, 3, 9)], directed=True, labels=[1, 1, 1, 2]),
    Graph("rook", 16, lattice([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)])),
    Graph("shrikhande", 16, lattice([(0, 1), (1, 0), (1, 1)])),
]

if __name__ == "__main__":
    for graph in GRAPHS:
        for test in (one_wl, two_fwl):
            found = test(graph)
            print(graph.line(), found.split(":")[1], found)
