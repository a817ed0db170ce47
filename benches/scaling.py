#!/usr/bin/env python3
"""How the time of a training step depends on the nodes of a graph, the features and the threads.

    cargo build --release && python3 benches/scaling.py

Runs `ppgn bench step` and prints three tables in Markdown, with exponents fitted by least squares on logarithms. The
batch has about `--rows` pairs for every n, so the MLPs are the same work for every n and the product grows with n: for one
graph, n^2 pairs, the MLPs cost n^2 and the product n^3.
"""

import argparse
import json
import math
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=320 * 320)
    parser.add_argument("--features", type=int, default=64, help="width of the blocks in the table by n")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ppgn", default=os.path.join(ROOT, "target", "release", "ppgn"))
    args = parser.parse_args()

    sizes = [10, 20, 40, 80, 160, 320]
    found = [bench(args, args.rows // n**2, n, 8, args.features) for n in sizes]
    each = [f["step_ms"] / f["batch"] for f in found]
    print(f"| n, {args.rows} pairs, {args.features} features | " + " | ".join(map(str, sizes)) + " |")
    print("| --- |" + " --- |" * len(sizes))
    print("| step, ms | " + " | ".join(f"{f['step_ms']:.0f}" for f in found) + " |")
    print("| step per graph, ms | " + " | ".join(f"{t:.3g}" for t in each) + " |")
    print(f"\nThe step per graph grows as n^{slope(sizes, each):.2f} over the whole range, "
          f"and as n^{slope(sizes[-2:], each[-2:]):.2f} from 160 to 320.\n")

    widths = [50, 100, 200, 400, 800]
    found = [bench(args, 5, 30, 8, f) for f in widths]
    print("| features, 5 x 30 nodes | " + " | ".join(map(str, widths)) + " |")
    print("| --- |" + " --- |" * len(widths))
    print("| step, ms | " + " | ".join(f"{f['step_ms']:.1f}" for f in found) + " |")
    print("| GFLOPS | " + " | ".join(f"{f['gflops']:.0f}" for f in found) + " |")
    times = [f["step_ms"] for f in found]
    print(f"\nA step grows as features^{slope(widths, times):.2f} over the whole range, "
          f"and as features^{slope(widths[-2:], times[-2:]):.2f} from 400 to 800.\n")

    print("| 64 x 18 x 19, 400 features | one thread | two threads | ratio |")
    print("| --- | --- | --- | --- |")
    one, two = (bench(args, 64, 18, 19, 400, threads=t) for t in (1, 2))
    print(f"| step | {one['step_ms']:.0f} ms | {two['step_ms']:.0f} ms | {one['step_ms'] / two['step_ms']:.2f} |")
    print(f"| matrix product | {one['gemm_gflops']:.0f} GFLOPS | {two['gemm_gflops']:.0f} GFLOPS | "
          f"{two['gemm_gflops'] / one['gemm_gflops']:.2f} |")


def bench(args, batch, nodes, inputs, features, threads=2):
    words = ["bench", "step", "--batch", batch, "--nodes", nodes, "--inputs", inputs, "--features", features,
             "--steps", args.steps, "--threads", threads, "--json"]
    out = subprocess.run([args.ppgn, *map(str, words)], stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out)


def slope(xs, ys):
    """The exponent b of y = a x^b that fits best."""
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


if __name__ == "__main__":
    main()
