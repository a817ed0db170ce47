#!/usr/bin/env python3
"""The cells of docs/results.md: accuracy on the paper's eight sets, cell by cell, resumable.

    cargo build --release
    python3 benches/results/measure.py --sets MUTAG,PTC --rows small --seeds 0-2
    python3 benches/results/measure.py --rows small --fair
    python3 benches/results/measure.py --list                       # what there is and what is missing

A cell is one cross-validation: a set, a row (a network with its settings, `ROWS` below) and a seed. It is run by `ppgn cv`
in `--work DIR`, so a killed cell goes on where it was, fold by fold and epoch by epoch. A finished cell is copied to
`docs/results/SET/ROW-SEED.json` (`-fair` with `--fair`): the whole `cv.json` with its curves, and the command, the
commit and the processor beside it. A row of averaged predictions keeps the first three of its networks as cells of their own, too,
where these are not there. What is there already is not run again. Where time is short, `--folds 1-2` measures some
folds only and `--epochs 50` trains for fewer epochs than the preset; the table marks both. A cell grows fold by fold, on any
machine: `--folds 3-4` adds these to the file, without `--folds` all others are added. Without `--epochs` the cell is measured anew. `table.py` makes the document from these files; `baselines.py`
adds the rows that are not networks of ours.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs", "results")
# As Table 1 has them.
SETS = ["MUTAG", "PTC", "PROTEINS", "NCI1", "NCI109", "COLLAB", "IMDBBINARY", "IMDBMULTI"]
FOLDS = 10
# A row of the table: its settings on the command line.
ROWS = {
    "modern": "--preset modern",
    "modern-3": "--preset modern",
    "small": "--preset small",
    "paper-1": "--preset paper-1",
    "gin": "--preset small --order 1 --norm none --pooling sum",
    "order-1": "--preset small --order 1",
    "lin": "--preset small --model lin",
    "cosine": "--preset small --schedule cosine",
    "c100": "--preset small --schedule cosine --ema 0.99",
}
# How many networks a row averages the predictions of, where it is not one: seed s of such a row is of networks 3s to 3s + 2.
AVERAGED = {"modern-3": 3}
# Where `modern` is not `small`; on the other sets the runs of `small` are its own.
UNLABELLED = ["COLLAB", "IMDBBINARY", "IMDBMULTI"]
SEEDS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="separated by commas")
    parser.add_argument("--rows", default="small", help=f"separated by commas: {', '.join(ROWS)}")
    parser.add_argument("--seeds", default="0-2", help="such as 0 or 0-2")
    parser.add_argument("--folds", help="some folds only, such as 1-2")
    parser.add_argument("--epochs", type=int, help="fewer epochs than the preset has")
    parser.add_argument("--fair", action="store_true", help="choose the epoch on a part of the training folds")
    parser.add_argument("--list", action="store_true", help="say what is there and what is missing")
    parser.add_argument("--work", default=os.path.join(ROOT, "runs", "results"), help="the folder of the runs")
    parser.add_argument("--ppgn", default=os.path.join(ROOT, "target", "release", "ppgn"))
    args = parser.parse_args()
    rows = args.rows.split(",")
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        parser.error(f"there is no row `{unknown[0]}`; there are {', '.join(ROWS)}")
    for cell in [(s, row, seed) for row in rows for s in args.sets.split(",") for seed in seeds(args.seeds)]:
        path = place(*cell, args.fair)
        there = not missing_folds(path, args, *cell)
        if args.list:
            print(f"{'there  ' if there else 'missing'}  {os.path.relpath(path, ROOT)}")
        elif not there:
            measure(args, *cell, path)


def missing_folds(path, args, *cell):
    """The folds that were asked for and are not in the file of a cell: all, where it has fewer epochs than are asked for, none,
    where it has more."""
    wanted = numbers(args.folds) if args.folds else list(range(1, FOLDS + 1))
    known = known_cell(path)
    if known is None:
        return wanted
    if same_settings(known, args, *cell):
        return [fold for fold in wanted if fold not in known["folds"]]
    enough = args.epochs is not None and (shortened(known) or args.epochs) >= args.epochs
    return [] if enough else wanted


def known_cell(path):
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def same_settings(known, args, dataset, row, seed):
    """Whether folds that are measured now belong to those of a file."""
    words = known["command"].split()
    if "--folds" in words:
        place = words.index("--folds")
        del words[place:place + 2]
    return sorted(words) == sorted(["ppgn", *command(args, dataset, row, seed)])


def numbers(text):
    """The numbers of `1-3,7`."""
    ends = [part.partition("-") for part in text.split(",")]
    return [number for first, _, last in ends for number in range(int(first), int(last or first) + 1)]


def shortened(cell):
    """The number of epochs of a cell that has fewer than its preset."""
    words = cell["command"].split()
    return int(words[words.index("--epochs") + 1]) if "--epochs" in words else None


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def place(dataset, row, seed, fair):
    return os.path.join(RESULTS, dataset, f"{row}-{seed}{'-fair' if fair else ''}.json")


def command(args, dataset, row, seed):
    """The words of a cell's command, for all folds."""
    words = ["cv", dataset, *shlex.split(ROWS[row]), *seeding(AVERAGED.get(row, 1), seed)]
    words += ["--select", "validation"] if args.fair else []
    return words + (["--epochs", str(args.epochs)] if args.epochs else [])


def seeding(networks, seed):
    """The seed, or the seeds of several networks whose predictions are averaged: no two of these share one."""
    return ["--seed", str(seed)] if networks == 1 else ["--seeds", f"{networks * seed}-{networks * (seed + 1) - 1}"]


def of_folds(words, folds):
    """The same for these folds."""
    return words + (["--folds", ",".join(map(str, folds))] if len(folds) < FOLDS else [])


def measure(args, dataset, row, seed, path):
    name = os.path.basename(path).removesuffix(".json")
    every, folds = command(args, dataset, row, seed), missing_folds(path, args, dataset, row, seed)
    words = of_folds(every, folds)
    print("ppgn", *words, file=sys.stderr, flush=True)
    folder = os.path.join(args.work, dataset, f"{name}-{args.epochs}-epochs" if args.epochs else name)
    resumed = os.path.exists(folder)
    before = processor_time()
    run = subprocess.run([args.ppgn, *words, "--out", folder, "--quiet", "--json"], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(run.returncode)
    result = json.loads(run.stdout.splitlines()[-1])
    result.pop("out")
    # Of a killed run that was resumed, the processor's time is not known.
    used = {} if resumed else {"cpu_seconds": processor_time() - before}
    result = {"command": " ".join(["ppgn", *words]), **where(), **used, **result}
    known = known_cell(path)
    if known and same_settings(known, args, dataset, row, seed):
        result = merged(known, result)
        result["command"] = " ".join(["ppgn", *of_folds(every, result["folds"])])
    keep(path, result)
    print(f"{dataset} {name}: {headline(result)}", file=sys.stderr, flush=True)
    if row in AVERAGED and not args.fair:
        keep_alone(folder, dataset, row, result, words)


def keep_alone(folder, dataset, row, result, words):
    """The networks of an average as cells of their own, where there are none: given folds are split alike for all seeds, so each is
    what `ppgn cv --seed` trains. Of the processor's time each has its share by the clock."""
    single = "modern" if dataset in UNLABELLED else "small"
    for alone in (alone for alone in result.get("alone", []) if alone["seed"] < SEEDS):
        path = place(dataset, single, alone["seed"], False)
        if known_cell(path) is not None:
            continue
        with open(os.path.join(folder, f"seed-{alone['seed']}", "cv.json")) as file:
            own = json.load(file)
        at = words.index("--seeds")
        command = ["ppgn", *words[:at], "--seed", str(alone["seed"]), *words[at + 2:]]
        used = {name: result[name] for name in ["commit", "cores", "processor"]}
        if "cpu_seconds" in result:
            used["cpu_seconds"] = result["cpu_seconds"] * own["seconds_training"] / result["seconds_training"]
        keep(path, {"command": " ".join(command), "part_of": os.path.basename(place(dataset, row, 0, False)), **used, **own})


def merged(known, new):
    """A cell with the folds of two measurements: what is read off the averaged curve is computed anew, what takes the other
    metrics of each fold is left out."""
    both = {**new, "command": None}
    for name in ["at_epoch", "baseline", "alone"]:
        both.pop(name, None)
    order = sorted(known["folds"] + new["folds"])

    def joined(old, added):
        of_fold = {**dict(zip(known["folds"], old)), **dict(zip(new["folds"], added))}
        return [of_fold[fold] for fold in order]

    curves = joined(known["curves"], new["curves"])
    curve = [statistics.mean(values) for values in zip(*curves, strict=True)]
    best = max(range(len(curve)), key=curve.__getitem__)
    at_best = [values[best] for values in curves]
    both |= {"folds": order, "curves": curves, "curve_mean": curve, "epoch": best + 1,
             "accuracy_mean": curve[best], "accuracy_std": statistics.stdev(at_best)}
    if "fair" in new:
        per_fold = [name for name in ["epochs", "folds", "inner", "inner_curves"] if name in known["fair"] and name in new["fair"]]
        fair = {name: joined(known["fair"][name], new["fair"][name]) for name in per_fold}
        both["fair"] = {**fair, "mean": statistics.mean(fair["folds"]), "std": statistics.stdev(fair["folds"]),
                        "inner_mean": statistics.mean(fair["inner"]), "validation": new["fair"]["validation"]}
    for name in ["seconds", "seconds_training", "cpu_seconds"]:
        both.pop(name, None)
        if name in known and name in new:
            both[name] = known[name] + new[name]
    if known.get("paused"):
        both["paused"] = True
    for name in ["commit", "processor"]:
        both[name] = " and ".join(dict.fromkeys([*known[name].split(" and "), new[name]]))
    return both


def processor_time():
    """Seconds of the processor that finished commands have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def where():
    """The machine and the commit of a measurement."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, text=True)
    return {"commit": commit.stdout.strip(), "cores": os.cpu_count(), "processor": processor()}


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            lines = file.read().splitlines()
    except OSError:
        return platform.processor()
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    flags = next((line for line in lines if line.startswith("flags")), "")
    return f"{name}, {'AVX-512' if ' avx512f' in flags else 'AVX2' if ' avx2' in flags else 'no AVX2'}"


def keep(path, result):
    """Writes a file as a whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def headline(result):
    fair = result.get("fair")
    value = fair["mean"] if fair else result["accuracy_mean"]
    return f"{100 * value:.2f} % after {result['seconds_training']:.0f} s of training"


if __name__ == "__main__":
    main()
