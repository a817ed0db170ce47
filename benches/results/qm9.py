#!/usr/bin/env python3
"""QM9, 4,000 molecules: ppgn beside the PyTorch peer with the same settings and split, then with the recipe; then all of QM9.

    cargo build --release
    python3 benches/results/qm9.py data                                         # 4,000 molecules and their split
    python3 benches/results/qm9.py check --python /tmp/venv-torch/bin/python    # both give the same outputs
    python3 benches/results/qm9.py ours --seeds 0-2
    /tmp/venv-torch/bin/python benches/results/qm9.py peer                      # needs PyTorch
    python3 benches/results/qm9.py recipe --seeds 0-2
    python3 benches/results/qm9.py reference                                    # the reference energies alone
    python3 benches/results/qm9.py whole --targets mu --threads 1               # all molecules, about two hours
    python3 benches/results/qm9.py list

One network per target: mu, alpha, u0 (`whole`: mu and u0). The molecules are drawn from QM9's 130,831 with seed 0 and split 80/10/10; every run
has this split, seeds differ in weights and batches only. Both sides train on standardised targets with the absolute
error, summed over a batch, by Adam; the figure is the mean absolute error on the test set at the epoch with the lowest
validation loss. Results are `docs/results/qm9/ROW-TARGET-SEED.json`; what is there is not run again, and runs of ppgn that
were killed go on (`--work DIR`). `--targets`, `--seeds`, `--epochs` and `--molecules` select; other than the default numbers
of the last two, which belong into a `--results` folder of their own, are for trials.

`whole` trains with the recipe on all molecules, split 80/10/10 by the seed, and keeps the learning curve. Its cosine schedule ends
with the last epoch, so the number of epochs is chosen by the time there is: on one core of an AMD EPYC an epoch takes about 5 minutes.
"""

import argparse
import csv
import importlib.util
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import time

from measure import RESULTS, ROOT, keep, processor_time, seeds, where

TARGETS = ["mu", "alpha", "u0"]
EPOCHS, MOLECULES = 30, 4000
WHOLE_TARGETS, WHOLE_EPOCHS = ["mu", "u0"], 24
WIDTH, BATCH, RATE, DECAY, DECAY_EVERY = 64, 64, 1e-3, 0.8, 20
# What both sides have: the paper's network and training for QM9, narrower and with a rate for few epochs.
SAME = f"--preset qm9 --blocks {WIDTH},{WIDTH},{WIDTH} --rate {RATE} --decay {DECAY} --decay-every {DECAY_EVERY}"
# What the recipe adds; a later option overrides an earlier one.
RECIPE = ("--encoding qm9+distance:4 --batching mixed --norm rms --scale sqrt-n --ema 0.99 --schedule cosine --warmup 2 "
          "--reference atoms")
ROWS = {"ours": SAME, "recipe": f"{SAME} {RECIPE}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["data", "check", "ours", "recipe", "peer", "reference", "whole", "list"])
    parser.add_argument("--data", default="QM9", help="QM9 as ppgn finds it, such as ../shared/data/qm9/qm9_130831.npz")
    parser.add_argument("--targets", help=f"separated by commas [default: {','.join(TARGETS)}; whole: {','.join(WHOLE_TARGETS)}]")
    parser.add_argument("--seeds", default="0", help="such as 0 or 0-2")
    parser.add_argument("--epochs", type=int, help=f"[default: {EPOCHS}; whole: {WHOLE_EPOCHS}]")
    parser.add_argument("--molecules", type=int, help=f"[default: {MOLECULES}; whole: all]")
    parser.add_argument("--results", default=os.path.join(RESULTS, "qm9"))
    parser.add_argument("--work", default=os.path.join(ROOT, "runs", "qm9"), help="the folder of the runs")
    parser.add_argument("--ppgn", default=os.path.join(ROOT, "target", "release", "ppgn"))
    parser.add_argument("--peer", default=os.path.join(ROOT, "..", "shared", "peers", "ppgn_torch.py"))
    parser.add_argument("--python", default=sys.executable, help="check: a Python that has PyTorch")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    every = args.command == "whole"
    args.targets = args.targets or ",".join(WHOLE_TARGETS if every else TARGETS)
    args.epochs = args.epochs or (WHOLE_EPOCHS if every else EPOCHS)
    args.molecules = args.molecules or (None if every else MOLECULES)
    args.data_file = os.path.join(args.work, f"qm9-{args.molecules}.jsonl")
    args.split_file = os.path.join(args.work, f"split-{args.molecules}.csv")
    if args.command == "data":
        return draw(args)
    if args.command == "list":
        return listed(args)
    if not every and not os.path.exists(args.split_file):
        parser.error(f"{args.split_file} is missing: run `qm9.py data` first")
    if args.command == "check":
        return check(args)
    if args.command == "reference":
        return reference(args)
    for target in args.targets.split(","):
        for seed in seeds(args.seeds):
            path = os.path.join(args.results, f"{args.command}-{target}-{seed}.json")
            if not os.path.exists(path):
                run = {"peer": peer, "whole": whole}.get(args.command, ours)
                before = processor_time() + time.process_time()
                result = run(args, target, seed)
                # Of a killed run that was resumed, only the last part.
                result["cpu_seconds"] = processor_time() + time.process_time() - before
                keep(path, {**where(), "target": target, "seed": seed, "molecules": args.molecules, **result})
                print(f"{args.command} {target}, seed {seed}: test error {result['mae']:.4f} at epoch "
                      f"{result['epoch']}, {result['seconds_training']:.0f} s", flush=True)


def listed(args):
    for row in [*ROWS, "peer", "whole"]:
        for target in WHOLE_TARGETS if row == "whole" else args.targets.split(","):
            for seed in [0] if row in ("peer", "whole") else range(3):
                path = os.path.join(args.results, f"{row}-{target}-{seed}.json")
                print(f"{'there  ' if os.path.exists(path) else 'missing'}  {os.path.relpath(path, ROOT)}")


def draw(args):
    """The molecules as JSON Lines, and their split."""
    os.makedirs(args.work, exist_ok=True)
    whole = os.path.join(args.work, "qm9.jsonl")
    if not os.path.exists(whole):
        subprocess.run([args.ppgn, "data", "convert", args.data, whole], check=True)
    with open(whole) as file:
        header = json.loads(next(file))
        chosen = sorted(random.Random(0).sample(range(header["graphs"]), args.molecules))
        wanted = set(chosen)
        lines = [line for at, line in enumerate(file) if at in wanted]
    with open(args.data_file, "w") as file:
        file.write(json.dumps({**header, "graphs": len(lines)}) + "\n")
        file.writelines(lines)
    order = list(range(len(lines)))
    random.Random(0).shuffle(order)
    train, rest = len(lines) * 8 // 10, len(lines) * 9 // 10
    part = {at: "train" if k < train else "validation" if k < rest else "test" for k, at in enumerate(order)}
    with open(args.split_file, "w") as file:
        file.write("position,part\n")
        file.writelines(f"{at},{part[at]}\n" for at in range(len(lines)))
    print(f"{args.data_file}, {args.split_file}: {len(lines)} molecules")


def ours(args, target, seed):
    out = os.path.join(args.work, f"{args.command}-{target}-{seed}-{args.molecules}-{args.epochs}")
    words = ["train", args.data_file, "--split-file", args.split_file, "--target", target, *shlex.split(ROWS[args.command]),
             "--epochs", str(args.epochs), "--select", "validation", "--seed", str(seed)]
    names = {args.data_file: "QM9-4000.jsonl", args.split_file: "split.csv"}
    return {"command": " ".join(["ppgn", *(names.get(word, word) for word in words)]), **trained(args, words, out)}


def whole(args, target, seed):
    """The recipe on all molecules, with the batches of the preset."""
    out = os.path.join(args.work, f"whole-{target}-{seed}-{args.molecules or 'all'}-{args.epochs}")
    words = ["train", args.data, "--target", target, *shlex.split(ROWS["recipe"]), "--epochs", str(args.epochs),
             "--select", "validation", "--seed", str(seed)]
    words += ["--limit", str(args.molecules)] if args.molecules else []
    shown = ["QM9" if word == args.data else word for word in words]
    return {"command": " ".join(["ppgn", *shown]), **trained(args, words, out), "molecules": molecules(out)}


def molecules(out):
    """The number of molecules of a run."""
    with open(os.path.join(out, "split.csv")) as file:
        return sum(1 for _ in file) - 1


def trained(args, words, out):
    """The figures of a run, which is made, or goes on where it was."""
    resume = os.path.exists(os.path.join(out, "config.toml"))
    call = ["train", "--resume", out] if resume else [*words, "--out", out]
    subprocess.run([args.ppgn, *call, "--threads", str(args.threads), "--quiet"], check=True)
    with open(os.path.join(out, "summary.json")) as file:
        summary = json.load(file)
    with open(os.path.join(out, "metrics.jsonl")) as file:
        epochs = [json.loads(line) for line in file]
    with open(os.path.join(out, "timing.jsonl")) as file:
        seconds = sum(json.loads(line)["seconds"] for line in file)
    return {"epochs": len(epochs), "epoch": summary["best_epoch"],
            "mae": summary["best"]["test"]["mae"][0], "validation": summary["best"]["validation"]["mae"][0],
            "baseline": summary["mae_of_mean"][0],
            "curve": [epoch["test"]["mae"][0] for epoch in epochs],
            "curve_validation": [epoch["validation"]["mae"][0] for epoch in epochs], "seconds_training": seconds}


def read(args, target):
    """(features of all pairs as an encoding has them, the target) of every molecule, and the split."""
    import torch

    with open(args.data_file) as file:
        header = json.loads(next(file))
        column = [t["name"] for t in header["targets"]].index(target)
        molecules = [(encode(torch, molecule), molecule["targets"][column]) for molecule in map(json.loads, file)]
    with open(args.split_file) as file:
        parts = [line.strip().split(",")[1] for line in list(file)[1:]]
    return molecules, {name: [at for at, p in enumerate(parts) if p == name] for name in ("train", "validation", "test")}


def encode(torch, molecule):
    """The encoding `qm9`, [19, n, n]: 13 node features on the diagonal, distances, adjacency, four bond types."""
    n = molecule["n"]
    x = torch.zeros(19, n, n, dtype=torch.float64)
    features = torch.tensor(molecule["node_attributes"], dtype=torch.float64)
    x[torch.arange(13)[:, None], torch.arange(n), torch.arange(n)] = features.T
    place = torch.tensor(molecule["positions"], dtype=torch.float64)
    x[13] = ((place[:, None] - place[None]) ** 2).sum(-1).sqrt()
    for (u, v), bond in zip(molecule["edges"], molecule["edge_labels"]):
        for a, b in ((u, v), (v, u)):
            x[14, a, b] = 1.0
            x[14 + bond, a, b] = 1.0
    return x.float()


def network(args):
    spec = importlib.util.spec_from_file_location("ppgn_torch", args.peer)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Ppgn(19, 1, (WIDTH,) * 3, depth=2, suffix="i")


def same_size(molecules, graphs, shuffle):
    """Batches of molecules with one number of atoms, in random order, as the authors form them."""
    by_size = {}
    for at in shuffle(list(graphs)):
        by_size.setdefault(molecules[at][0].shape[-1], []).append(at)
    return shuffle([group[i:i + BATCH] for group in by_size.values() for i in range(0, len(group), BATCH)])


def peer(args, target, seed):
    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(seed)
    molecules, split = read(args, target)
    y = torch.tensor([value for _, value in molecules], dtype=torch.float64)
    mean, std = y[split["train"]].mean().item(), y[split["train"]].std(unbiased=False).item()
    scaled = ((y - mean) / std).float()
    model = network(args)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, DECAY_EVERY, DECAY)
    draws = random.Random(seed)

    def shuffle(items):
        draws.shuffle(items)
        return items

    def error(graphs):
        with torch.no_grad():
            total = 0.0
            for batch in same_size(molecules, graphs, lambda items: items):
                x = torch.stack([molecules[at][0] for at in batch])
                total += (model(x)[:, 0] - scaled[batch]).abs().sum().item()
        return total / len(graphs) * std

    curve, curve_validation, seconds = [], [], 0.0
    for epoch in range(args.epochs):
        start = time.perf_counter()
        for batch in same_size(molecules, split["train"], shuffle):
            x = torch.stack([molecules[at][0] for at in batch])
            loss = (model(x)[:, 0] - scaled[batch]).abs().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        seconds += time.perf_counter() - start
        curve.append(error(split["test"]))
        curve_validation.append(error(split["validation"]))
        print(f"peer {target}: epoch {epoch + 1}, test {curve[-1]:.4f}, {seconds:.0f} s", file=sys.stderr, flush=True)
    best = min(range(len(curve)), key=curve_validation.__getitem__)
    baseline = (y[split["test"]] - mean).abs().mean().item()
    return {"command": f"python3 benches/results/qm9.py peer --targets {target} --seeds {seed}", "torch": torch.__version__,
            "epochs": args.epochs, "epoch": best + 1, "mae": curve[best], "validation": curve_validation[best],
            "baseline": baseline, "curve": curve, "curve_validation": curve_validation, "seconds_training": seconds}


def check(args):
    """That both sides compute the same function of the same input: the peer's weights, imported, and its outputs."""
    folder = os.path.join(args.work, "check")
    os.makedirs(folder, exist_ok=True)
    state, scores = os.path.join(folder, "peer.pt"), os.path.join(folder, "peer.json")
    code = ("import sys, json, torch; sys.path.insert(0, sys.argv[1]); import qm9; from types import SimpleNamespace as N\n"
            "args = N(data_file=sys.argv[2], split_file=sys.argv[3], peer=sys.argv[4]); torch.manual_seed(0)\n"
            "model, molecules = qm9.network(args), qm9.read(args, 'mu')[0][:100]\n"
            "torch.save({'model_state_dict': model.state_dict()}, sys.argv[5])\n"
            "outputs = [model(x[None]).item() for x, _ in molecules]\n"
            "json.dump(outputs, open(sys.argv[6], 'w'))\n")
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([args.python, "-c", code, here, args.data_file, args.split_file, args.peer, state, scores], check=True)
    out = os.path.join(folder, "run")
    subprocess.run(["rm", "-rf", out], check=True)
    subprocess.run([args.ppgn, "import", state, "--encoding", "qm9", "--suffix", "i", "--data", args.data_file,
                    "--target", "mu", "--out", out], check=True, stdout=subprocess.DEVNULL)
    table = os.path.join(folder, "scores.csv")
    subprocess.run([args.ppgn, "predict", out, args.data_file, "--scores", "--out", table, "--force"], check=True)
    with open(table) as file:
        own = [float(row["score mu"]) for row in csv.DictReader(file)]
    with open(scores) as file:
        theirs = json.load(file)
    far = max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(own, theirs))
    print(f"the largest difference of {len(theirs)} outputs is {far:.1e}")
    if far > 1e-4:
        sys.exit("the peer and ppgn compute different functions")


def reference(args):
    """The test error of the reference energies alone: least squares on the counts of elements, by NumPy."""
    import numpy as np

    with open(args.data_file) as file:
        header = json.loads(next(file))
        names = [t["name"] for t in header["targets"]]
        elements = header["schema"]["node_labels"][0]["values"]
        molecules = [json.loads(line) for line in file]
    with open(args.split_file) as file:
        parts = np.array([line.strip().split(",")[1] for line in list(file)[1:]])
    errors = {}
    counts = np.array([[m["node_labels"].count(e) for e in elements] for m in molecules], float)
    for target in args.targets.split(","):
        y = np.array([m["targets"][names.index(target)] for m in molecules])
        train, test = parts == "train", parts == "test"
        energies = np.linalg.lstsq(counts[train], y[train], rcond=None)[0]
        left = y - counts @ energies
        errors[target] = float(np.abs(left[test] - left[train].mean()).mean())
        print(f"{target}: {errors[target]:.4f} (the mean alone: {np.abs(y[test] - y[train].mean()).mean():.4f})")
    command = "python3 benches/results/qm9.py reference"
    keep(os.path.join(args.results, "reference.json"), {"command": command, "molecules": args.molecules, "mae": errors})


def section(results):
    """The part of docs/results.md on QM9: the table, and the commands."""
    rows = [["", *TARGETS], ["the mean of the training set", *(baseline(results, target) for target in TARGETS)]]
    commands = []
    names = {"reference": "reference energies alone", "peer": "PyTorch, one seed", "ours": "ppgn, the same settings",
             "recipe": "ppgn with the recipe"}
    for row, name in names.items():
        found = {target: measured(results, row, target) for target in TARGETS}
        rows.append([name, *(shown(found[target]) for target in TARGETS)])
        commands += [found[target][0]["command"] for target in TARGETS if found[target]]
    gains = [f"{target} {100 * (mean(better) / mean(base) - 1):+.0f} %" for target in TARGETS
             if (base := measured(results, "ours", target)) and (better := measured(results, "recipe", target))]
    return rows, gains, list(dict.fromkeys(commands))


def whole_section(results, paper):
    """The same for all molecules: the rows of the table, what it took, and the commands."""
    rows = [["", "reference energies alone", "ppgn", "the paper", "best epoch"]]
    took, commands = [], []
    for target in WHOLE_TARGETS:
        command = f"python3 benches/results/qm9.py whole --targets {target} --threads 1"
        for one in measured(results, "whole", target)[:1]:
            rows.append([target, f"{one['baseline']:.4g}", f"{one['mae']:.4g}", f"{printed(paper, target):.4g}",
                         f"{one['epoch']} of {one['epochs']}"])
            took.append(f"{one['cpu_seconds'] / 3600:.1f} hours for {target}")
            command += f" --epochs {one['epochs']}"
        commands.append(command)
    return rows, f"Processor's time: {', '.join(took)}.", commands


def whole_curves(results, paper):
    """(target, the paper's error, the test error by epoch) of the runs on all molecules."""
    return [(target, printed(paper, target), one["curve"])
            for target in WHOLE_TARGETS for one in measured(results, "whole", target)[:1]]


def printed(paper, target):
    """The error of the paper's networks with one target each."""
    return paper["ours-2"][paper["targets"].index(target)]


def measured(results, row, target):
    """The runs of a row, one per seed."""
    if row == "reference":
        path = os.path.join(results, "reference.json")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            one = json.load(file)
        return [{**one, "mae": one["mae"][target]}]
    paths = (os.path.join(results, f"{row}-{target}-{seed}.json") for seed in range(3))
    found = []
    for path in filter(os.path.exists, paths):
        with open(path) as file:
            found.append(json.load(file))
    return found


def mean(runs):
    return statistics.mean(one["mae"] for one in runs)


def shown(runs):
    if not runs:
        return "not measured"
    spread = f" ± {statistics.stdev(one['mae'] for one in runs):.4f}" if len(runs) > 1 else ""
    mark = f" ({len(runs)} seeds)" if "seed" in runs[0] and 1 < len(runs) < 3 else ""
    return f"{mean(runs):.4f}{spread}{mark}"


def baseline(results, target):
    runs = measured(results, "ours", target)
    return f"{runs[0]['baseline']:.4f}" if runs else "not measured"


if __name__ == "__main__":
    main()
