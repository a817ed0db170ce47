#!/usr/bin/env python3
"""Training speed compared with PyTorch: the same steps and epochs, run in turn.

The peer is the authors' model in PyTorch (`ppgn_torch.py`); PyTorch lives in an environment outside the project:

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install torch --index-url https://download.pytorch.org/whl/cpu
    cargo build --release
    /tmp/peers/bin/python benches/peers/compare.py

Every row is run `--runs` times on both sides in turn, on the same number of threads. Numbers are medians, and a ratio is
PyTorch's time (or memory) over ppgn's. Each run is a process of its own, so that peak memory is measured separately. Epochs
use the same graphs in the same batches, which are drawn here and given to both as a file. Colouring is not part of an
epoch: it is shown next to it, in seconds and in epochs. The yardstick for GFLOPS is PyTorch's own matrix product,
`torch.mm`, measured in every run of the peer. `--other BINARY` runs a second ppgn in turn with the first, such as one from
before a change. Standard output is a table in Markdown; each measurement goes to standard error as it comes, and all of
them to `--json FILE`. `--only MUTAG` selects the rows whose name contains this text, `--width 32` those with blocks of
this width; `--features N` measures the selected rows with blocks of another width than their own. With `--resume FILE` the
table can be made in several calls: every measured row is added to the file at once, and rows that it has are shown only.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# (graphs, nodes, input channels, features)
STEPS = [
    (64, 18, 19, 400), (5, 30, 38, 400), (5, 100, 4, 400),
    (1, 300, 4, 32), (1, 620, 4, 32), (4, 100, 4, 32), (8, 64, 4, 32), (64, 18, 19, 32),
    (64, 18, 19, 64), (5, 30, 38, 64),
]
# (dataset, limit of graphs, features); PROTEINS always includes its largest graph, of 620 nodes.
EPOCHS = [
    ("MUTAG", None, 400), ("NCI1", 400, 400), ("IMDBBINARY", None, 400), ("COLLAB", 100, 400),
    ("MUTAG", None, 32), ("IMDBBINARY", None, 32), ("NCI1", 1000, 32), ("PROTEINS", 200, 32), ("COLLAB", 100, 32),
]
# The peer needs --unlabelled where nodes have no labels.
UNLABELLED = {"IMDBBINARY", "COLLAB"}

# One step of the peer in a process of its own: its `bench` command has a list of shapes of its own.
PEER_STEP = """
import importlib.util, json, resource, sys, time
spec = importlib.util.spec_from_file_location("peer", sys.argv[1])
peer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peer)
import torch
batch, n, inputs, features, steps, threads = map(int, sys.argv[2:8])
torch.set_num_threads(threads)
torch.manual_seed(0)
model = peer.Ppgn(inputs, 2, (features,) * 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
x, y = torch.rand(batch, inputs, n, n), torch.randint(0, 2, (batch,))
times = []
for i in range(steps + 2):
    start = time.perf_counter()
    peer.train_step(model, optimizer, x, y)
    times.append(time.perf_counter() - start)
def mm(rows):
    a, b = torch.rand(rows, 400), torch.rand(400, 400)
    best = min(timed(a, b) for _ in range(steps + 1))
    return 2 * rows * 400 * 400 / best / 1e9
def timed(a, b):
    start = time.perf_counter()
    torch.mm(a, b)
    return time.perf_counter() - start
t = peer.median(times[2:])
flops = peer.step_flops(batch * n * n, n, inputs, (features,) * 3, 2)
print(json.dumps({"step_ms": t * 1e3, "gflops": flops / t / 1e9, "mm_gflops": mm(min(batch * n * n, 1 << 15)),
                  "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5, help="steps per run; their median is reported")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="random seed of graphs and batches")
    parser.add_argument("--json", help="write all measurements to this file")
    parser.add_argument("--resume", help="a file that every measured row is added to; rows that it has are not run again")
    parser.add_argument("--width", type=int, help="only rows with blocks of this width")
    parser.add_argument("--features", type=int, help="width of the blocks, instead of the rows' own")
    parser.add_argument("--other", help="a second ppgn binary, run in turn with the first")
    parser.add_argument("--ppgn", default=os.path.join(ROOT, "target", "release", "ppgn"))
    parser.add_argument("--peer", default=os.path.join(ROOT, "..", "shared", "peers", "ppgn_torch.py"))
    data = os.environ.get("PPGN_DATA", os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--data", default=data, help="the data folder, with tu/MUTAG.zip and so on")
    args = parser.parse_args()
    steps, epochs = select(args, STEPS, step_name), select(args, EPOCHS, epoch_name)
    if not steps and not epochs:
        names = [step_name(row) for row in STEPS] + [epoch_name(row) for row in EPOCHS]
        parser.error(f"no row is called `{args.only}` and has that width; the rows are {'; '.join(names)}")

    print(f"{machine()}; {args.threads} threads, medians of {args.runs} alternating runs\n")
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        if steps:
            head("step, dense", "GFLOPS | of torch.mm | memory | page faults per step", args)
        measured += [step(args, row) for row in steps]
        if epochs:
            print()
            head("epoch, batches of 5", "space | rows per level | memory | preparation", args)
        measured += [epoch(args, folder, row) for row in epochs]
    if args.json:
        with open(args.json, "w") as file:
            json.dump(measured, file, indent=1)


def head(first, others, args):
    titles = f"| {first} | PyTorch | ppgn | ratio | {others} |" + (" other / ppgn |" if args.other else "")
    print(titles)
    print("| --- " * (titles.count("|") - 1) + "|")


def select(args, rows, name):
    """The rows to measure, with the width they are measured at."""
    wanted = [row for row in rows if args.only.replace(" ", "") in name(row).replace(" ", "")]
    wanted = [row for row in wanted if args.width in (None, row[-1])]
    return list(dict.fromkeys((*row[:-1], args.features or row[-1]) for row in wanted))


def step_name(row):
    return "{} x {} x {}, {} features".format(*row)


def epoch_name(row):
    name, limit, features = row
    return f"{name}, {features} features" if limit is None else f"{name}, {limit} graphs, {features} features"


def step_commands(args, row):
    """The arguments of both sides for one step."""
    batch, nodes, inputs, features = map(str, row)
    theirs = [sys.executable, "-c", PEER_STEP, args.peer, batch, nodes, inputs, features, str(args.steps),
              str(args.threads)]
    ours = ["bench", "step", "--batch", batch, "--nodes", nodes, "--inputs", inputs, "--features", features,
            "--steps", str(args.steps), "--threads", str(args.threads), "--json"]
    return theirs, ours


def step(args, row):
    name = step_name(row)
    measured = kept(args, name) or keep(args, name, in_turn(args, name, *step_commands(args, row)))
    peer, own, other = measured["peer"], measured["ppgn"], measured["other"]
    a, b = middle(peer, "step_ms"), middle(own, "step_ms")
    gflops, mm = middle(own, "gflops"), middle(peer, "mm_gflops")
    # The share is taken run by run: the machine's speed changes from one to the next.
    share = median([run["gflops"] / turn["mm_gflops"] for run, turn in zip(own, peer)])
    print(f"| {name} | {a:.1f} ms | {b:.1f} ms | **{a / b:.2f}** | {gflops:.0f} | {100 * share:.0f} % of {mm:.0f} | "
          f"{memory(peer, own)} | {middle(own, 'minor_faults'):.0f} |{against(other, own, 'step_ms')}", flush=True)
    return measured


def kept(args, name):
    """The measurements of a row in the file of `--resume`."""
    if not args.resume or not os.path.exists(args.resume):
        return None
    with open(args.resume) as file:
        rows = [json.loads(line) for line in file]
    return next((row for row in rows if row["name"] == name), None)


def keep(args, name, runs):
    """The measurements of a row, which are added to the file of `--resume`."""
    peer, own, other = runs
    measured = {"name": name, "peer": peer, "ppgn": own, "other": other}
    if args.resume:
        with open(args.resume, "a") as file:
            print(json.dumps(measured), file=file)
    return measured


def against(other, own, key):
    """The time of the second binary over that of the first."""
    if not other:
        return ""
    return f" {median([b[key] / a[key] for a, b in zip(own, other)]):.2f} |"


def epoch(args, folder, row):
    dataset, limit, features = row
    name = epoch_name(row)
    measured = kept(args, name) or keep(args, name, epoch_runs(args, folder, row))
    peer, own, other = measured["peer"], measured["ppgn"], measured["other"]
    assert {run["pairs"] for run in peer} == {run["pairs"] for run in own}, "the two did different work"
    a, b, prepare = middle(peer, "epoch_s"), middle(own, "epoch_s"), middle(own, "prepare_s")
    rows = " / ".join(f"{100 * r / own[0]['pairs']:.0f}" for r in own[0]["rows"])
    print(f"| {name} | {a:.1f} s | {b:.2f} s | **{a / b:.2f}** | {own[0]['space']} | {rows} % | {memory(peer, own)} | "
          f"{prepare:.2f} s, {prepare / b:.2f} epochs |{against(other, own, 'epoch_s')}", flush=True)
    return measured


def epoch_runs(args, folder, row):
    """Both sides on the same batches of a dataset."""
    dataset, limit, features = row
    text, sizes = unpack(args, folder, dataset)
    batches = os.path.join(folder, f"{dataset}.json")
    with open(batches, "w") as file:
        json.dump(same_size_batches(sizes, limit, 5, args.seed, with_largest=dataset == "PROTEINS"), file)
    theirs = [sys.executable, args.peer, "epoch", text, "--batches", batches, "--threads", str(args.threads)]
    theirs += ["--features", str(features)] + (["--unlabelled"] if dataset in UNLABELLED else [])
    ours = ["bench", "epoch", os.path.join(args.data, "tu", f"{dataset}.zip"), "--preset", "paper-1",
            "--blocks", ",".join([str(features)] * 3), "--batches", batches, "--threads", str(args.threads), "--json"]
    return in_turn(args, epoch_name(row), theirs, ours)


def in_turn(args, name, theirs, ours):
    """The JSON that each side prints, run by run."""
    sides = [("PyTorch", theirs, []), ("ppgn", [args.ppgn, *ours], []), ("other", [args.other, *ours], [])]
    for _ in range(args.runs):
        for side, command, runs in sides:
            if command[0] is None:
                continue
            out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            runs.append(json.loads(out.strip().splitlines()[-1]))
            print(name, side, runs[-1], file=sys.stderr, flush=True)
    return [runs for _, _, runs in sides]


def median(values):
    return sorted(values)[len(values) // 2]


def middle(runs, key):
    return median([run[key] or 0.0 for run in runs])


def memory(peer, own):
    a, b = middle(peer, "peak_rss_mb"), middle(own, "peak_rss_mb")
    return f"{b:.0f} of {a:.0f} MiB ({b / a:.2f})"


def unpack(args, folder, dataset):
    """The text file of a dataset, and the number of nodes of each graph."""
    path = os.path.join(folder, f"{dataset}.txt")
    with zipfile.ZipFile(os.path.join(args.data, "tu", f"{dataset}.zip")) as archive:
        text = archive.read(f"{dataset}/{dataset}.txt").decode()
    with open(path, "w") as file:
        file.write(text)
    lines = iter(text.splitlines())
    sizes = []
    for _ in range(int(next(lines).split()[0])):
        sizes.append(int(next(lines).split()[0]))
        for _ in range(sizes[-1]):
            next(lines)
    return path, sizes


def same_size_batches(sizes, limit, size, seed, with_largest=False):
    """Graphs of one size together, at most `size` of them, in random order."""
    draw = random.Random(seed)
    groups = {}
    drawn = draw.sample(range(len(sizes)), min(limit or len(sizes), len(sizes)))
    largest = sizes.index(max(sizes))
    if with_largest and largest not in drawn:
        drawn[0] = largest
    for graph in drawn:
        groups.setdefault(sizes[graph], []).append(graph)
    batches = [group[i : i + size] for group in groups.values() for i in range(0, len(group), size)]
    draw.shuffle(batches)
    return batches


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    import torch

    return f"{model}, {os.cpu_count()} cores, PyTorch {torch.__version__}"


if __name__ == "__main__":
    main()
