"""Writes networkx_files.json.gz: 200 random graphs with labels and attributes as NetworkX's writers write them, beside
what ppgn must read, as JSON Lines.

    python3 networkx_files.py            (NetworkX 3.6; any that has node_link_data(edges="edges"))
"""

import gzip
import io
import json
import os
import random

import networkx as nx

WORDS = ["red", "dark blue", "grün", "a<b>&c", 'say "x"', "it's", "10", "9"]


def graph(seed):
    r = random.Random(seed)
    directed = seed % 4 == 3
    g = (nx.DiGraph if directed else nx.Graph)()
    n = r.randint(1, 8)
    names = [i * 3 for i in range(n)] if seed % 2 else [f"n{i}" for i in range(n)]
    r.shuffle(names)
    for name in names:
        g.add_node(name, color=r.choice(WORDS), kind=r.randint(-2, 3), size=r.choice([0.5, -1e-7, 3.25, 1e20]))
    for u in names:
        for v in names:
            if (directed or names.index(u) <= names.index(v)) and r.random() < 0.35:
                weight = r.choice([1, 4]) if seed % 5 == 0 else r.choice([1, 0.25, 1e-3])
                g.add_edge(u, v, weight=weight, bond=r.choice(WORDS), order=r.randint(1, 3), ring=r.random() < 0.5)
    return g


def ends(g, number):
    for u, v in g.edges():
        i, j = number[u], number[v]
        yield ((i, j) if g.is_directed() or i <= j else (j, i)), g.edges[u, v]


def header(name, directed, node, edge, graphs):
    words = sorted(WORDS, key=lambda w: (not w.isdigit(), int(w) if w.isdigit() else 0, w.encode()))
    column = lambda key, values: {"name": key, "values": values}
    texts = lambda key, used: {"name": key, "values": list(range(len(used))), "words": used}
    used = lambda key, of: [w for w in words if any(d[key] == w for g in graphs for d in of(g))]
    nodes = lambda g: [d for _, d in g.nodes(data=True)]
    edges = lambda g: [d for _, _, d in g.edges(data=True)]
    numbers = lambda key, of: sorted({int(d[key]) for g in graphs for d in of(g)})
    schema = {"directed": directed, "node_labels": [], "node_attributes": [], "edge_labels": [], "edge_attributes": []}
    if node:
        schema["node_labels"] = [texts("color", used("color", nodes)), column("kind", numbers("kind", nodes))]
        schema["node_attributes"] = ["size"]
    if edge == "all":
        schema["edge_labels"] = [
            texts("bond", used("bond", edges)),
            column("order", numbers("order", edges)),
            column("ring", numbers("ring", edges)),
        ]
    if edge:
        schema["edge_attributes"] = ["weight"]
    return {"ppgn": 1, "name": name, "graphs": len(graphs), "schema": schema}


def line(g, order, id, node, edge):
    number = {name: i for i, name in enumerate(order)}
    pairs = sorted(ends(g, number), key=lambda e: e[0])
    out = {"n": len(order), "id": id, "edges": [list(p) for p, _ in pairs]}
    if node:
        out["node_labels"] = [[g.nodes[u]["color"], g.nodes[u]["kind"]] for u in order]
        out["node_attributes"] = [g.nodes[u]["size"] for u in order]
    if edge == "all":
        out["edge_labels"] = [[d["bond"], d["order"], int(d["ring"])] for _, d in pairs]
    if edge:
        out["edge_attributes"] = [d["weight"] for _, d in pairs]
    return out


def written(write, g, *args, **kwargs):
    out = io.BytesIO()
    write(g, out, *args, **kwargs)
    return out.getvalue().decode()




def main():
    graphs = [graph(seed) for seed in range(200)]
    golden = {"networkx": nx.__version__, "sets": []}
    for directed in (False, True):
        some = [g for g in graphs if g.is_directed() == directed]
        linked = [g for g in some if g.number_of_edges() > 0]
        in_order = lambda g: list(g)
        by_name = lambda g: sorted((n for n in g if g.degree(n) > 0), key=lambda n: (isinstance(n, str), n))
        sets = [
            ("graphml", "graphml", some, in_order, True, "all", lambda g: written(nx.write_graphml, g)),
            ("gml", "gml", some, in_order, True, "all", lambda g: written(nx.write_gml, g)),
            ("json", "json", some, in_order, True, "all", lambda g: json.dumps(nx.node_link_data(g, edges="edges"))),
            ("links", "json", some, in_order, True, "all", lambda g: json.dumps(nx.node_link_data(g, edges="links"))),
            ("edgelist", "edgelist", linked, by_name, False, "all", lambda g: written(nx.write_edgelist, g)),
            ("bare", "edgelist", linked, by_name, False, None, lambda g: written(nx.write_edgelist, g, data=False)),
            ("weighted", "edgelist", linked, by_name, False, "weight", lambda g: written(nx.write_weighted_edgelist, g)),
            ("csv", "csv", linked, by_name, False, "weight",
             lambda g: written(nx.write_weighted_edgelist, g, delimiter=",")),
        ]
        for name, extension, these, order, node, edge, text in sets:
            name = f"{name}-{'directed' if directed else 'undirected'}"
            lines = [header(name, directed, node, edge, these)]
            lines += [line(g, order(g), str(i), node, edge) for i, g in enumerate(these)]
            golden["sets"].append({
                "name": name,
                "extension": extension,
                "directed": directed,
                "files": [text(g) for g in these],
                "expected": "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in lines),
            })
    # graph6 and sparse6 hold bare undirected graphs, in the order of the nodes; graph6 without loops.
    some = [nx.convert_node_labels_to_integers(g) for g in graphs if not g.is_directed()]
    simple = [g for g in some if nx.number_of_selfloops(g) == 0]
    for name, these, write in [("graph6", simple, nx.write_graph6), ("sparse6", some, nx.write_sparse6)]:
        lines = [header(name, False, False, None, these)]
        for g in these:
            one = line(g, list(g), None, False, None)
            del one["id"]
            lines.append(one)
        golden["sets"].append({
            "name": name,
            "extension": "g6" if name == "graph6" else "s6",
            "directed": False,
            "files": ["".join(written(write, g) for g in these)],
            "expected": "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in lines),
        })
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networkx_files.json.gz")
    with open(out, "wb") as f:
        f.write(gzip.compress(json.dumps(golden).encode(), 9, mtime=0))
    print(out, os.path.getsize(out), "bytes,", len(graphs), "graphs,", len(golden["sets"]), "sets")


main()
