#!/usr/bin/env python3
"""How training scales with the number of ranks: measured with 1 and 2 of one thread, and predicted up to 256.

    cargo build --release --features mpi
    python3 benches/cluster.py measure     times runs on this machine: benches/results/cluster.json, and a table
    python3 benches/cluster.py rounds      one rank, two ranks and two processes that share nothing, in turn, on four workloads
    python3 benches/cluster.py predict     the model from that file: a check, a table, and docs/img/cluster.svg

The model: an epoch takes `work / rate` on one rank, where `work` counts the multiplications of all graphs
(blocks on n * n pairs, products with n^3, three passes to train, one to evaluate). With N ranks a step lasts as long as
its largest share, with graphs shared out as `ppgn` does, halves of halves; then come the sums of the gradients,
`2 (N - 1) / N * bytes / bandwidth + 2 (N - 1) * latency` per step, of which nothing is counted as hidden by the
backward pass. `rate` and, for this machine, the time that a step spends in sums are measured; the network of the
prediction is an assumption (BANDWIDTH, LATENCY).
"""

import argparse
import heapq
import json
import math
import os
import random
import statistics
import struct
import subprocess
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "benches", "results", "cluster.json")
PLOT = os.path.join(ROOT, "docs", "img", "cluster.svg")
RANKS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
LIMIT = 1024
# What `rounds` times.
WORKLOADS = [
    ("NCI1", "--limit 1500 --batch 128 --epochs 4"),
    ("MUTAG", "--batch 64 --space dense --epochs 40"),
    ("MUTAG", "--epochs 40"),
    ("PROTEINS", "--limit 300 --batch 64 --epochs 3"),
]
# A network of 25 Gbit/s with 20 microseconds per message: an assumption, not a measurement.
BANDWIDTH, LATENCY = 25e9 / 8, 20e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["measure", "rounds", "predict"])
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--epochs", type=int, default=5, help="of `measure`")
    parser.add_argument("--rounds", type=int, default=5, help="of `rounds`")
    parser.add_argument("--bind-to", default="core", help="what mpirun binds a rank to: core or none")
    parser.add_argument("--ppgn", default=os.path.join(ROOT, "target", "release", "ppgn"))
    args = parser.parse_args()
    {"measure": measure, "rounds": rounds, "predict": predict}[args.what](args)


# Measuring


def command(args, out, settings, ranks):
    words = [args.ppgn, "train", *settings, "--threads", "1", "--quiet", "--out", out]
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", args.bind_to, "-n", str(ranks)]
    return launch + words if ranks > 1 else words


def timed(args, settings, ranks, copies=1):
    """Seconds of an epoch, the median of all but the first; of the slower of `copies` independent processes."""
    with tempfile.TemporaryDirectory() as folder:
        outs = [os.path.join(folder, str(i)) for i in range(copies)]
        commands = [command(args, out, settings, ranks) for out in outs]
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for words in commands]
        assert all(process.wait() == 0 for process in running)
        return max(statistics.median(epochs(out)[1:]) for out in outs)


def epochs(out):
    with open(os.path.join(out, "timing.jsonl")) as lines:
        return [json.loads(line)["seconds"] for line in lines]


def dataset(args, name):
    return os.path.join(args.data, "tu", f"{name}.zip")


def rounds(args):
    """One rank, two ranks and two processes that share nothing, in turn: how many times one rank's work per second each does."""
    print("| | two ranks | two processes |\n| --- | --- | --- |", flush=True)
    for name, settings in WORKLOADS:
        words = [dataset(args, name), *settings.split()]
        ranks, independent = [], []
        for _ in range(args.rounds):
            one = timed(args, words, 1)
            ranks.append(one / timed(args, words, 2))
            independent.append(2 * one / timed(args, words, 1, copies=2))
        shown = (f"{', '.join(f'{x:.2f}' for x in found)}; median {statistics.median(found):.2f}" for found in (ranks, independent))
        print(f"| {name} `{settings}` | {' | '.join(shown)} |", flush=True)


def measure(args):
    def seconds(name, limit, batch, ranks, copies=1):
        settings = f"--limit {limit} --batch {batch} --epochs {args.epochs} --space dense"
        return timed(args, [dataset(args, name), *settings.split()], ranks, copies)

    found = {
        "limit": LIMIT,
        "one": seconds("NCI1", LIMIT, 128, 1),
        "half": seconds("NCI1", LIMIT // 2, 64, 1),
        "two": seconds("NCI1", LIMIT, 128, 2),
        "independent": seconds("NCI1", LIMIT, 128, 1, copies=2),
        "small_one": seconds("MUTAG", 180, 8, 1),
        "small_two": seconds("MUTAG", 180, 8, 2),
    }
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(RESULTS, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    print("| | seconds per epoch | against one rank |\n| --- | --- | --- |")
    one = found["one"]
    print(f"| 1 rank, {LIMIT} graphs, batch 128 | {one:.3f} | 1 |")
    print(f"| 2 ranks, the same (strong) | {found['two']:.3f} | {one / found['two']:.2f} times as fast |")
    weak = found["half"] / found["two"]
    print(f"| 1 rank, {LIMIT // 2} graphs, batch 64 (weak) | {found['half']:.3f} | {weak:.2f} of its speed per rank |")
    both = 2 * one / found["independent"]
    print(f"| 2 processes that share nothing | {found['independent']:.3f} | {both:.2f} times the work |")


# The model


def work(nodes, widths, inputs):
    """Multiplications of one pass on a graph: MLPs m1 and m2 of two layers, the product, and m4."""
    total, width_in = 0, inputs
    for width in widths:
        total += nodes**2 * (2 * (width_in * width + width * width) + (width_in + width) * width)
        total += nodes**3 * width
        width_in = width
    return total


def parameters(widths, inputs, hidden):
    total, width_in = 0, inputs
    for width in widths:
        total += 2 * (width_in * width + width * width) + (width_in + width) * width
        width_in = width
    return total + hidden


def largest(costs, ranks):
    """The work of the rank that has the most: halves of halves for even numbers of ranks; else largest first, each to the rank
    with the least."""
    if ranks > 2 and ranks % 2 == 0:
        return max(largest(half, ranks // 2) for half in dealt(costs, 2))
    return max(map(sum, dealt(costs, ranks)))


def dealt(costs, ranks):
    loads, shares = [(0.0, rank) for rank in range(ranks)], [[] for _ in range(ranks)]
    for cost in sorted(costs, reverse=True):
        load, rank = loads[0]
        shares[rank].append(cost)
        heapq.heapreplace(loads, (load + cost, rank))
    return shares


def shared(costs, batch, ranks):
    """The work on the longest path through an epoch of such batches."""
    return sum(largest(costs[i : i + batch], ranks) for i in range(0, len(costs), batch))


def nci1_sizes(args):
    with zipfile.ZipFile(os.path.join(args.data, "tu", "NCI1.zip")) as archive:
        lines = archive.read("NCI1/NCI1.txt").decode().splitlines()
    sizes, at = [], 1
    while at < len(lines) and lines[at].strip():
        sizes.append(int(lines[at].split()[0]))
        at += sizes[-1] + 1
    return sizes


def qm9_sizes(args):
    with zipfile.ZipFile(os.path.join(args.data, "qm9", "qm9_130831.npz")) as archive:
        raw = archive.read("n_atoms.npy")
    start = 10 + struct.unpack("<H", raw[8:10])[0]
    return list(struct.unpack(f"<{(len(raw) - start) // 2}h", raw[start:]))


def rate_of(found, sizes):
    """Multiplications per second of one rank: the faster of its measurements, alone and beside another process."""
    average = statistics.mean(work(n, [32, 32, 32], 39) for n in sizes)
    # Eight tenths to train, three passes each; the rest to evaluate.
    return found["limit"] * average * (0.8 * 3 + 0.2) / min(found["one"], found["independent"])


def predict(args):
    with open(RESULTS) as file:
        found = json.load(file)
    sizes = nci1_sizes(args)
    rate = rate_of(found, sizes)
    random.Random(1).shuffle(sizes)
    small = [32, 32, 32]
    costs = [work(n, small, 39) for n in sizes]
    # The sums of a step here: what two ranks lose on MUTAG, whose steps are short.
    steps = -(-int(180 * 0.8) // 8)
    sums = max(found["small_two"] - found["small_one"] / 2, 0.0) / steps
    some = costs[: int(found["limit"] * 0.8)]
    rest = costs[len(some) : found["limit"]]
    two = (3 * shared(some, 128, 2) + largest(rest, 2)) / rate + sums * -(-len(some) // 128)
    print(f"rate {rate / 1e9:.2f} G multiplications per second, sums {sums * 1e3:.2f} ms per step")
    print(f"two ranks: predicted {two:.3f} s per epoch, measured {found['two']:.3f} ({two / found['two'] - 1:+.0%})\n")
    wide = [400, 400, 400]
    qm9 = qm9_sizes(args)
    random.Random(1).shuffle(qm9)
    qm9_costs = [work(n, wide, 19) for n in qm9[:12800]]
    cases = [
        ("NCI1, small, batch 128", costs, 128, 4 * parameters(small, 39, 400)),
        ("QM9, preset qm9, batch 64", qm9_costs, 64, 4 * parameters(wide, 19, 800 * 512 + 512 * 256 + 256)),
    ]
    curves = {}
    print("| ranks | " + " | ".join(name for name, *_ in cases) + " |\n| --- | --- | --- |")
    for name, costs, batch, bytes_ in cases:
        steps = -(-len(costs) // batch)

        def seconds(ranks):
            messages = 2 * (ranks - 1) * LATENCY + 2 * (ranks - 1) / ranks * bytes_ / BANDWIDTH
            return 3 * shared(costs, batch, ranks) / rate + steps * messages

        curves[name] = [seconds(1) / seconds(ranks) for ranks in RANKS]
    for i, ranks in enumerate(RANKS):
        print(f"| {ranks} | " + " | ".join(f"{curve[i]:.1f}" for curve in curves.values()) + " |")
    plot(curves)


def plot(curves):
    """Speed-up over ranks, both logarithmic, as an SVG."""
    width, height, left, bottom = 640, 400, 60, 50
    x = lambda i: left + i * (width - left - 20) / (len(RANKS) - 1)
    top = 256.0
    y = lambda s: height - bottom - math.log2(max(s, 1.0)) / math.log2(top) * (height - bottom - 20)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for i, ranks in enumerate(RANKS):
        parts.append(f'<text x="{x(i):.0f}" y="{height - bottom + 18}" text-anchor="middle">{ranks}</text>')
        parts.append(f'<text x="{left - 8}" y="{y(ranks) + 4:.0f}" text-anchor="end">{ranks}</text>')
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(ranks):.0f}" y2="{y(ranks):.0f}" stroke="#ddd"/>')
    parts.append(f'<text x="{width / 2:.0f}" y="{height - 10}" text-anchor="middle">ranks of one thread</text>')
    parts.append(f'<text x="16" y="{height / 2:.0f}" text-anchor="middle" transform="rotate(-90 16 {height / 2:.0f})">times as fast as one</text>')
    ideal = [float(ranks) for ranks in RANKS]
    for name, curve, colour in [("ideal", ideal, "#999")] + [
        (name, curve, colour) for (name, curve), colour in zip(curves.items(), ["#1f77b4", "#d62728"])
    ]:
        points = " ".join(f"{x(i):.1f},{y(s):.1f}" for i, s in enumerate(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for row, (name, colour) in enumerate(zip(["ideal", *curves], ["#999", "#1f77b4", "#d62728"])):
        parts.append(f'<text x="{left + 20}" y="{40 + 18 * row}" fill="{colour}">{name}</text>')
    parts.append("</svg>\n")
    with open(PLOT, "w") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main()
