#!/usr/bin/env python3
"""GFLOPS of a training step against the nodes of a graph, ppgn beside PyTorch: a table and a figure.

    /tmp/peers/bin/python benches/peers/by_nodes.py --svg docs/img/gflops-by-nodes.svg

(`compare.py` says how to install the peer.) For n = 10 ... 640 a step on about `--pairs` pairs, at least one graph, is run
on both sides in turn, `--runs` times; every point is a median. Beyond n = 320 the widest network is left out. The share of
a plain matrix product is that of `torch.mm` in the same runs. `--json FILE` keeps the measurements, and `--from FILE` draws
them again; `--resume FILE` continues where an earlier call stopped.
"""

import argparse
import json
import os

import compare

SIZES = [10, 20, 30, 40, 60, 80, 100, 120, 160, 240, 320, 480, 640]
INPUTS = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--features", type=int, nargs="*", default=[32, 64, 400])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--svg", help="write the figure to this file")
    parser.add_argument("--json", help="write all measurements to this file")
    parser.add_argument("--resume", help="a file that every point is added to; points that it has are not measured again")
    parser.add_argument("--from", dest="source", help="draw the measurements of this file")
    parser.add_argument("--ppgn", default=os.path.join(compare.ROOT, "target", "release", "ppgn"))
    parser.add_argument("--peer", default=os.path.join(compare.ROOT, "..", "shared", "peers", "ppgn_torch.py"))
    args = parser.parse_args()
    args.other = None
    if args.source:
        with open(args.source) as file:
            points = json.load(file)
    else:
        points = [measure(args, n, width) for width in args.features for n in SIZES if n <= 320 or width < 400]
    if args.json:
        with open(args.json, "w") as file:
            json.dump(points, file, indent=1)
    table(points)
    if args.svg:
        with open(args.svg, "w") as file:
            file.write(figure(points))


def measure(args, n, width):
    row = (max(1, args.pairs // n**2), n, INPUTS, width)
    name = compare.step_name(row)
    runs = compare.kept(args, name)
    runs = runs or compare.keep(args, name, compare.in_turn(args, name, *compare.step_commands(args, row)))
    peer, own = runs["peer"], runs["ppgn"]
    return {"n": n, "features": width, "batch": row[0], "ppgn": compare.middle(own, "gflops"),
            "torch": compare.middle(peer, "gflops"), "mm": compare.middle(peer, "mm_gflops")}


def table(points):
    print("| features | n | graphs | PyTorch | ppgn | ratio | of torch.mm |\n" + "| --- " * 7 + "|")
    for p in points:
        print(f"| {p['features']} | {p['n']} | {p['batch']} | {p['torch']:.0f} | {p['ppgn']:.0f} | "
              f"{p['ppgn'] / p['torch']:.2f} | {100 * p['ppgn'] / p['mm']:.0f} % |")


def figure(points):
    """One panel per width: GFLOPS of both sides and of a plain matrix product, n on a logarithmic axis."""
    import math

    widths = sorted({p["features"] for p in points})
    panel, high, left, top = 300, 220, 50, 30
    most = 40 * math.ceil(max(max(p["ppgn"], p["torch"], p["mm"]) for p in points) / 40)
    low, upper = math.log(SIZES[0]), math.log(SIZES[-1])
    out = []
    for at, width in enumerate(widths):
        x0 = left + at * (panel + left)
        own = [p for p in points if p["features"] == width]
        x = lambda n: x0 + (math.log(n) - low) / (upper - low) * panel
        y = lambda g: top + high - g / most * high
        out.append(f'<text x="{x0}" y="{top - 12}">{width} features</text>')
        for share in range(5):
            g = most * share / 4
            out.append(f'<path d="M{x0} {y(g):.1f}h{panel}" stroke="#ddd"/>'
                       f'<text x="{x0 - 6}" y="{y(g) + 4:.1f}" text-anchor="end">{g:.0f}</text>')
        for n in (10, 20, 40, 80, 160, 320, 640):
            out.append(f'<text x="{x(n):.1f}" y="{top + high + 16}" text-anchor="middle">{n}</text>')
        for key, colour, dash in (("mm", "#999", "4 3"), ("torch", "#d95f02", ""), ("ppgn", "#1b6ca8", "")):
            line = " ".join(f"{x(p['n']):.1f},{y(p[key]):.1f}" for p in own)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" '
                       f'stroke-dasharray="{dash}"/>')
    legend = top + high + 40
    for at, (name, colour) in enumerate((("ppgn", "#1b6ca8"), ("PyTorch", "#d95f02"), ("torch.mm", "#999"))):
        out.append(f'<text x="{left + 110 * at}" y="{legend}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{left + 340}" y="{legend}">GFLOPS of a training step against n, nodes of a graph</text>')
    size = (left + len(widths) * (panel + left), legend + 14)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" '
            f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
