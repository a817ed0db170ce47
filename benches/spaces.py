"""Times an epoch on the dense and on the quotient space, and says which one `auto` takes.

For every dataset and width of the blocks, `ppgn bench epoch` runs on both spaces in turn; medians are compared. The last
column is what `auto` loses: the time of the space that it takes over that of the faster one. The weights of the cost
model (`crates/ppgn-nn/src/quotient/cost.rs`) are set so that it loses little. `--other BINARY` asks a second ppgn, such
as one from before a change, which space it would take. A Markdown table is printed, for docs/performance.md.

    cargo build --release && python3 benches/spaces.py --runs 3
"""

import argparse
import json
import statistics
import subprocess

# Graphs per dataset at up to 64 features; a fraction of them beyond.
DATASETS = {"MUTAG": 188, "NCI1": 200, "PROTEINS": 80, "IMDBBINARY": 200, "IMDBMULTI": 300, "COLLAB": 24}
WIDE = 8


def epoch(binary, args, dataset, features, space):
    """The figures of one epoch: `epoch_s`, `space` and more."""
    limit = DATASETS[dataset] // (WIDE if features > 64 else 1)
    command = [binary, "bench", "epoch", dataset, "--preset", "small", "--blocks", ",".join([str(features)] * 3)]
    command += ["--space", space, "--limit", str(limit), "--quiet", "--json"]
    if args.data:
        command += ["--data-dir", args.data]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppgn", default="target/release/ppgn", help="the binary that is timed")
    parser.add_argument("--other", help="a second binary, asked for the space that it takes")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--runs", type=int, default=3, help="alternating runs per space")
    parser.add_argument("--features", type=int, nargs="+", default=[16, 32, 64, 400])
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=list(DATASETS))
    args = parser.parse_args()
    asked = [("auto", args.ppgn)] + ([("auto of the other", args.other)] if args.other else [])
    heads = ["dataset", "features", "dense", "quotient", "quotient / dense"]
    heads += [head for name, _ in asked for head in (name, "loses")]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for dataset in args.datasets:
        for features in args.features:
            times = {"dense": [], "quotient": []}
            for _ in range(args.runs):
                for space, seconds in times.items():
                    seconds.append(epoch(args.ppgn, args, dataset, features, space)["epoch_s"])
            median = {space: statistics.median(seconds) for space, seconds in times.items()}
            cells = [dataset, features, f"{median['dense']:.3f} s", f"{median['quotient']:.3f} s"]
            cells.append(f"{median['quotient'] / median['dense']:.2f}")
            for _, binary in asked:
                taken = epoch(binary, args, dataset, features, "auto")["space"]
                cells += [taken, f"{100 * (median[taken] / min(median.values()) - 1):.0f} %"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
