#!/usr/bin/env python3
"""A soak of the command line: kills, mutated inputs, corrupted runs, hostile options. Not part of CI.

    cargo build --release && benches/soak.py --cases 50000

Every case is one call of `ppgn` with a limit on time and memory, and is judged:

    ok           it succeeded, and what it gave is what the sound run gives
    clear error  exit code 1 or 2 with a message
    FAILED       a panic, a signal, no end, too much memory, an error without a message, or a wrong result

A case is a function of (seed, kind, number): `--case inputs/tu:17` runs one again. What failed is kept in the folder of
`--keep`, with its command. Ctrl-C ends the soak with the table so far. Needs nothing but Python 3.9.
"""

import argparse
import concurrent.futures
import io
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

OK, CLEAR, FAILED = "ok", "clear error", "FAILED"

# The share of each kind in all cases.
SHARES = {"kills": 0.01, "inputs": 0.80, "runs": 0.12, "settings": 0.07}
FORMATS = ["text", "tu", "graph6", "sdf", "npz", "edges", "jsonl", "zip", "smiles", "graphml", "gml", "json"]

SECONDS = 30
MEMORY = 4 << 30
TINY = "csl:n=11,skips=2+3,copies=8 --blocks 4,4 --batch 4 --threads 1 --quiet".split()
EPOCHS = 12
HOSTILE = ["-1", "0", "1", "2147483648", "4294967296", "9223372036854775808", "18446744073709551615",
           "18446744073709551616", "1e39", "1e309", "nan", "inf", "-0", "1.5", "", " ", "a", "\u2603", "1 2 3"]

SOUND = ["1", "2", "3", "16", "0.1", "8,8", "1GiB", "80/10/10", "3-fwl", "quotient", "f64", "paper"]


class Soak:
    def __init__(self, args):
        self.args = args
        self.binary = str(Path(args.binary).resolve())
        self.keep = Path(args.keep)
        self.work = Path(tempfile.mkdtemp(prefix="ppgn-soak-"))
        self.lock = threading.Lock()
        self.counts = {}
        self.failures = []
        self.environment = {**os.environ, "PPGN_DATA": str(self.work / "data"), "NO_COLOR": "1"}
        self.environment.pop("RUST_BACKTRACE", None)
        (self.work / "data").mkdir()

    # Running and judging.

    def command(self, words):
        # The shell sets the limit and becomes the program: no code runs between fork and exec in a threaded process.
        limit = f'ulimit -v {MEMORY >> 10}; exec "$0" "$@"'
        return ["/bin/sh", "-c", limit, self.binary, *[w if isinstance(w, bytes) else str(w) for w in words]]

    def run(self, words, cwd=None, seconds=SECONDS):
        """(exit code or None where it had to be killed, standard output, standard error)."""
        process = subprocess.Popen(self.command(words), cwd=cwd or self.work, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return None, out, err
        return process.returncode, out, err

    @staticmethod
    def verdict(code, out, err):
        """The verdict on a call whose result is not known."""
        text = err.decode(errors="replace")
        if code is None:
            return FAILED, "no end"
        if code < 0 or code >= 100 or "panicked" in text:
            return FAILED, f"exit code {code}: {text.strip()[-300:]}"
        if code == 0:
            return OK, ""
        if code in (1, 2) and (text.strip() or out.strip()):
            return CLEAR, ""
        return FAILED, f"exit code {code} without a message"

    def note(self, kind, case, words, verdict, why, evidence=()):
        with self.lock:
            counts = self.counts.setdefault(kind, {OK: 0, CLEAR: 0, FAILED: 0})
            counts[verdict] += 1
            if verdict == FAILED:
                self.failures.append((kind, case, why))
                folder = self.keep / f"{kind.replace('/', '-')}-{case}"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                (folder / "command.txt").write_text(f"{words!r}\n{why}\n", errors="replace")
                for path in evidence:
                    copy = shutil.copytree if Path(path).is_dir() else shutil.copy
                    copy(path, folder / Path(path).name)

    def random(self, kind, case):
        return random.Random(f"{self.args.seed}:{kind}:{case}")

    # Mutated inputs.

    def samples(self):
        """A sound file of each format, as {name: bytes} of a folder and what of it is named."""
        text = b"3\n3 -1\n0 2 1 2\n4 1 0\n4 1 0\n2 1\n0 1 1\n0 1 0\n1 1\n2 0\n"
        tu = {"S_A.txt": b"1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "S_graph_indicator.txt": b"1\n1\n1\n2\n2\n",
              "S_graph_labels.txt": b"1\n-1\n", "S_node_labels.txt": b"0\n1\n0\n2\n0\n",
              "S_node_attributes.txt": b"0.5, 1\n1, 2\n3, 4\n5, 6\n7, 8\n", "S_edge_labels.txt": b"0\n0\n1\n1\n0\n0\n"}
        sdf = b"".join(molecule(i, n) for i, n in enumerate([3, 5, 2]))
        targets = b"mol_id,A,B,C,mu,alpha,homo,lumo,gap,r2,zpve,u0,u298,h298,g298,cv\n"
        targets += b"".join(b"gdb_%d,%s\n" % (i + 1, b",".join([b"1.5"] * 15)) for i in range(3))
        edges = b"# a comment\n0 1\n1 2\n2 0\n3 4\n"
        graph6 = b">>graph6<<Bw\nD?{\n:Fa@x^\nIsP@OkWHG\n"
        jsonl = self.jsonl()
        smiles = b'smiles,logP,toxic\nCCO,-0.31,no\nc1ccccc1C(=O)[O-],"1.87",yes\n[NH4+].[Cl-],,no\nF/C=C/F,0.9,\n'
        graphml = (b'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
                   b'<key id="d0" for="node" attr.name="label" attr.type="string"/>\n'
                   b'<key id="d1" for="edge" attr.name="weight" attr.type="double"/>\n<graph edgedefault="undirected">\n'
                   b'<node id="a"><data key="d0">x &amp; y</data></node>\n<node id="b"><data key="d0">z</data></node>\n'
                   b'<edge source="a" target="b"><data key="d1">0.5</data></edge>\n</graph>\n</graphml>\n')
        gml = (b'graph [\n  directed 1\n  node [\n    id 0\n    label "a"\n    kind 3\n  ]\n  node [\n    id 1\n    label "b"\n'
               b'    kind 4\n  ]\n  edge [\n    source 0\n    target 1\n    weight 2.5\n  ]\n]\n')
        node_link = (b'{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"kind": 1, "id": 0}, {"kind": 2, '
                     b'"id": "b"}], "edges": [{"weight": 0.5, "source": 0, "target": "b"}]}\n')
        return {
            "text": ({"S.txt": text}, "S.txt"),
            "tu": (tu, "."),
            "graph6": ({"S.g6": graph6}, "S.g6"),
            "sdf": ({"S.sdf": sdf, "S.sdf.csv": targets}, "S.sdf"),
            "npz": ({"S.npz": arrays()}, "S.npz"),
            "edges": ({"S.edges": edges}, "S.edges"),
            "jsonl": ({"S.jsonl": jsonl}, "S.jsonl"),
            "zip": ({"S.zip": zipped(tu)}, "S.zip"),
            "smiles": ({"S.csv": smiles}, "S.csv"),
            "graphml": ({"S.graphml": graphml}, "S.graphml"),
            "gml": ({"S.gml": gml}, "S.gml"),
            "json": ({"S.json": node_link}, "S.json"),
        }

    def jsonl(self):
        out = self.work / "sample.jsonl"
        self.run(["data", "convert", "csl:n=11,skips=2+3,copies=2", out])
        return out.read_bytes()

    def input(self, name, case):
        kind = f"inputs/{name}"
        rng = self.random(kind, case)
        files, named = self.sample_files[name]
        files = dict(files)
        if case > 0:
            for _ in range(rng.choice([1, 1, 2, 5])):
                which = rng.choice(sorted(files))
                files[which] = mutated_archive(rng, files[which]) if name in ("zip", "npz") else mutated(rng, files[which])
        folder = Path(tempfile.mkdtemp(dir=self.work))
        for file, content in files.items():
            (folder / file).write_bytes(content)
        words = ["data", rng.choice(["check", "check", "check", "info"]), folder / named, "--offline"]
        if rng.random() < 0.3:
            words += ["--format", "tu" if name == "zip" else name]
        words += ["--json"] if rng.random() < 0.3 else []
        code, out, err = self.run(words)
        verdict, why = self.verdict(code, out, err)
        if case == 0 and verdict != OK:
            verdict, why = FAILED, f"the sound file is refused: {err.decode(errors='replace')}{out.decode(errors='replace')}"
        self.note(kind, case, words, verdict, why, [folder])
        shutil.rmtree(folder, ignore_errors=True)

    # Corrupted runs.

    def prepare_runs(self):
        """A finished run, what it predicts, and a run that was stopped in the middle."""
        self.finished, self.stopped = self.work / "finished", self.work / "stopped"
        train = ["train", *TINY, "--split", "50/25/25", "--epochs", EPOCHS]
        code, _, err = self.run([*train, "--out", self.finished])
        assert code == 0, err.decode()
        process = subprocess.Popen(self.command([*train, "--out", self.stopped]), cwd=self.work, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        metrics = self.stopped / "metrics.jsonl"
        while process.poll() is None and not (metrics.exists() and metrics.read_bytes().count(b"\n") >= EPOCHS // 2):
            time.sleep(0.001)
        process.kill()
        process.wait()
        assert not (self.stopped / "summary.json").exists(), "the run was over before it was stopped"
        self.bytes = result(self.finished)
        self.predictions = self.predicted(self.finished)
        assert self.predictions[0] == 0, self.predictions

    def predicted(self, run):
        return self.run(["predict", run, TINY[0]])

    def corrupted(self, case):
        kind = "runs"
        rng = self.random(kind, case)
        resumes = rng.random() < 0.5
        sound = self.stopped if resumes else self.finished
        folder = Path(tempfile.mkdtemp(dir=self.work)) / "run"
        shutil.copytree(sound, folder)
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in ("lock", "report.html"))
        file = rng.choice(files)
        what = rng.choice(["flip", "flip", "flip", "cut", "edit", "edit", "remove", "empty"])
        content = file.read_bytes()
        if what == "flip" and content:
            at = rng.randrange(len(content))
            content = content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1:]
        elif what == "cut":
            content = content[:rng.randrange(len(content) + 1)]
        elif what == "empty":
            content = b""
        elif what == "edit":
            content = mutated(rng, content)
        if what == "remove":
            file.unlink()
        else:
            file.write_bytes(content)
        words = ["train", "--quiet", "--threads", "1", "--resume", folder] if resumes else ["predict", folder, TINY[0]]
        code, out, err = self.run(words)
        verdict, why = self.verdict(code, out, err)
        if verdict == OK and resumes and result(folder) != self.bytes:
            verdict, why = FAILED, "it was resumed to other bytes"
        if verdict == OK and not resumes and out != self.predictions[1]:
            verdict, why = FAILED, "other predictions"
        why = why and f"{what} in {file.relative_to(folder)}: {why}"
        self.note(kind, case, words, verdict, why, [folder])
        shutil.rmtree(folder.parent, ignore_errors=True)

    # Kills.

    def prepare_kills(self):
        """What the commands give where nobody kills them."""
        self.wholes = {}
        for name in ["train", "cv", "search"]:
            out = self.work / f"whole-{name}"
            start = time.monotonic()
            code, _, err = self.run(self.killed_command(name, out, False), seconds=600)
            assert code == 0, err.decode()
            self.wholes[name] = (result(out), time.monotonic() - start)

    def killed_command(self, name, out, resumes):
        if name == "train":
            new = ["train", *TINY, "--split", "50/25/25", "--epochs", 200, "--out", out]
            return ["train", "--quiet", "--threads", "1", "--resume", out] if resumes else new
        more = ["--folds", "1-3"] if name == "cv" else ["--grid", self.grid]
        return [name, *TINY, *more, "--epochs", 60, "--jobs", 2, "--out", out]

    def kills(self, case, count):
        """So many kills of one command, and whether it ends as if nothing had been."""
        rng = self.random("kills", case)
        name = rng.choice(["train", "train", "cv", "search"])
        while count > 0:
            folder = Path(tempfile.mkdtemp(dir=self.work))
            words, sent, why = self.killed(rng, name, folder / "out", count)
            # Kills of a chain share its end; where that is wrong, one of them was.
            for number in range(sent):
                verdict = FAILED if why and number == 0 else OK
                self.note("kills", case, words, verdict, why, [folder])
            count -= max(sent, 1)
            shutil.rmtree(folder, ignore_errors=True)

    def killed(self, rng, name, out, count):
        """Kills a command up to so many times, and lets it end: (its words, kills, what is wrong)."""
        whole, seconds = self.wholes[name]
        sent, why = 0, ""
        while sent < count:
            process = subprocess.Popen(self.command(self.killed_command(name, out, out.exists())), cwd=self.work,
                                       env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * seconds * 0.5)
            if process.poll() is not None:
                break
            process.send_signal(rng.choice([signal.SIGKILL] * 3 + [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
            sent += 1
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                why = why or "a signal did not stop it"
            if process.returncode not in (0, -signal.SIGKILL, 129, 130, 143, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP):
                why = why or f"exit code {process.returncode}"
        words = self.killed_command(name, out, out.exists())
        code, _, err = self.run(words, seconds=600)
        if code != 0:
            why = why or f"it could not be resumed: {err.decode(errors='replace')}"
        elif result(out) != whole:
            why = why or "it ended with other bytes"
        return words, sent, why

    # Hostile options.

    OPTIONS = {
        "train": "--epochs --batch --rate --decay --decay-every --seed --blocks --depth --order --space --precision --model "
                 "--m3 --norm --scale --pooling --suffix --encoding --limit --split --holdout --fold --threads "
                 "--max-memory --preset --target --config --batching --patience --weight-decay --clip --dropout --schedule --warmup "
                 "--class-weights --select --seeds --split-by --split-file --labels --class --task --log".split(),
        "cv": "--folds --epochs --jobs --threads --limit --seed --batch --max-memory --rate".split(),
        "search": "--grid --epochs --jobs --limit --seed --max-memory".split(),
        "bench step": "--batch --nodes --inputs --features --depth --steps --space --threads --max-memory".split(),
        "bench cost": "--nodes --features --repeats --threads --max-memory".split(),
        "wl refine": "--test --order --rounds --max-memory --threads".split(),
        "wl digest": "--test --order --max-memory".split(),
        "compile": "--test --order --rounds --multiset --max-memory".split(),
        "data info": "--format --max-unpacked --data-dir".split(),
    }
    SUBJECTS = {"bench step": [], "bench cost": ["block-2", "block-3", "layer-2", "layer-9", "block--1"],
                "data info": ["csl", "gnp:n=-1", "gnp:n=4294967296", "cfi:base=k99", "csl:7", "csl:99999999999", "\u202e"]}
    SPECS = ["csl", "csl:n=11,skips=2+3,copies=4", "path:n=1", "path:n=100000", "gnp:n=3000,p=0.5", "figure1",
             "regular:n=10,d=3", "csl:n=11,skips=2+3,copies=18446744073709551615", "complete:n=0", "x" * 5000]

    def settings(self, case):
        kind = "settings"
        rng = self.random(kind, case)
        name = rng.choice(sorted(self.OPTIONS))
        words = name.split()
        subjects = self.SUBJECTS.get(name, self.SPECS)
        words += [rng.choice(subjects)] if subjects else []
        for option in rng.sample(self.OPTIONS[name], rng.choice([1, 1, 2, 3])):
            value = rng.choice(SOUND) if rng.random() < 0.4 else rng.choice(HOSTILE + ["x" * 5000, "../../..", "/dev/null", "\x1b[2J", "-", "2-fwl", "9-fwl", "dense"])
            words.append(f"{option}={value}")
        folder = Path(tempfile.mkdtemp(dir=self.work))
        process = subprocess.Popen(self.command(words), cwd=folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=3)
            verdict, why = self.verdict(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            # Work without end is what was asked for, but it stops when it is told to.
            process.terminate()
            try:
                out, err = process.communicate(timeout=5)
                ended = process.returncode in (0, 1, 2, 143)
                verdict, why = (OK, "") if ended else self.verdict(process.returncode, out, err)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                verdict, why = FAILED, "SIGTERM does not stop it"
        self.note(kind, case, words, verdict, why)
        shutil.rmtree(folder, ignore_errors=True)

    # All of it.

    def plan(self):
        """The cases as calls, those of all kinds mixed."""
        wanted = self.args.only.split(",") if self.args.only else list(SHARES)
        total = self.args.cases
        number = {kind: max(1, round(total * SHARES[kind] / sum(SHARES[k] for k in wanted))) for kind in wanted}
        if self.args.case:
            kind, case = self.args.case.rsplit(":", 1)
            kind, _, name = kind.partition("/")
            number, case = {kind: 1}, int(case)
        self.sample_files = self.samples() if "inputs" in number else {}
        if "runs" in number:
            self.prepare_runs()
        if "kills" in number:
            self.grid = self.work / "grid.toml"
            self.grid.write_text("rate = [1e-3, 1e-4]\ndecay = [0.5, 1.0]\n")
            self.prepare_kills()
        if self.args.case:
            return [{"kills": lambda: self.kills(case, 10), "inputs": lambda: self.input(name, case),
                     "runs": lambda: self.corrupted(case), "settings": lambda: self.settings(case)}[kind]]
        calls = []
        for kind, count in number.items():
            if kind == "kills":
                chain = 10
                calls += [lambda c=c: self.kills(c, min(chain, count - c * chain)) for c in range(-(-count // chain))]
            elif kind == "inputs":
                calls += [lambda f=FORMATS[i % len(FORMATS)], c=i // len(FORMATS): self.input(f, c) for i in range(count)]
            elif kind == "runs":
                calls += [lambda c=c: self.corrupted(c) for c in range(count)]
            elif kind == "settings":
                calls += [lambda c=c: self.settings(c) for c in range(count)]
            else:
                sys.exit(f"`{kind}` is not a kind: {', '.join(SHARES)}")
        random.Random(self.args.seed).shuffle(calls)
        return calls

    def go(self):
        start = time.monotonic()
        calls = self.plan()
        pool = concurrent.futures.ThreadPoolExecutor(self.args.jobs)
        waiting = iter(calls)
        try:
            running = {pool.submit(call) for _, call in zip(range(4 * self.args.jobs), waiting)}
            done, shown = 0, start
            while running:
                ended, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in ended:
                    future.result()
                    done += 1
                    running |= {pool.submit(call) for _, call in zip(range(1), waiting)}
                if time.monotonic() - shown > 10:
                    shown = time.monotonic()
                    print(f"{done} of {len(calls)}, {len(self.failures)} failed", file=sys.stderr)
        except KeyboardInterrupt:
            print("stopped; so far:", file=sys.stderr)
            pool.shutdown(wait=False, cancel_futures=True)
        print(self.table(time.monotonic() - start))
        shutil.rmtree(self.work, ignore_errors=True)
        return 1 if self.failures else 0

    def table(self, seconds):
        version = subprocess.run([self.binary, "--version"], capture_output=True, text=True).stdout.strip()
        lines = [f"{version}, seed {self.args.seed}, {seconds:.0f} s on {self.args.jobs} cores", "",
                 f"| kind | cases | {OK} | {CLEAR} | {FAILED} |", "| --- | ---: | ---: | ---: | ---: |"]
        total = {OK: 0, CLEAR: 0, FAILED: 0}
        with self.lock:
            for kind in sorted(self.counts):
                counts = self.counts[kind]
                lines.append(f"| {kind} | {sum(counts.values())} | " + " | ".join(str(n) for n in counts.values()) + " |")
                total = {verdict: n + counts[verdict] for verdict, n in total.items()}
            lines.append(f"| all | {sum(total.values())} | " + " | ".join(str(n) for n in total.values()) + " |")
            if self.failures:
                lines += ["", f"The first failures, kept in {self.keep}:", ""]
                lines += [f"- {kind}:{case}: {why.splitlines()[0] if why else ''}" for kind, case, why in self.failures[:20]]
        return "\n".join(lines)


def result(folder):
    """The bytes that runs with the same settings share, of all runs in a folder."""
    names = {"config.toml", "metrics.jsonl", "model.safetensors", "summary.json"}
    # A folder that a killed process was making is swept by a later command, once it is a minute old.
    unfinished = lambda path: any(part.startswith(".ppgn-run-") for part in path.parts)
    files = sorted(p for p in Path(folder).rglob("*") if p.name in names and not unfinished(p))
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def mutated(rng, content):
    """Bytes with one change: of a bit, a byte, a number, a line, a length."""
    content = bytearray(content)
    at = rng.randrange(len(content) + 1)
    some = rng.choice([1, 2, 8, 64])
    what = rng.randrange(9)
    if what == 0 and at < len(content):
        content[at] ^= 1 << rng.randrange(8)
    elif what == 1:
        content[at:at] = rng.randbytes(some)
    elif what == 2:
        del content[at:at + some]
    elif what == 3:
        del content[at:]
    elif what == 4:
        content[at:at] = content[at:at + some] * rng.choice([1, 3, 100])
    elif what == 5:
        content[at:at + some] = bytes(some)
    elif what == 6:
        lines = content.splitlines(keepends=True) or [b""]
        rng.shuffle(lines) if rng.random() < 0.3 else lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        content = bytearray(b"".join(lines))
    else:
        # A number becomes another.
        digits = [i for i, c in enumerate(content) if chr(c).isdigit()]
        if digits:
            first = last = rng.choice(digits)
            while last + 1 < len(content) and chr(content[last + 1]) in "0123456789.eE":
                last += 1
            content[first:last + 1] = rng.choice(HOSTILE).encode()
    return bytes(content)


def mutated_archive(rng, content):
    """Changes an archive, or what is in it: then its checksums are right."""
    if rng.random() < 0.4:
        return mutated(rng, content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return mutated(rng, content)
    if not files:
        return content
    name = rng.choice(sorted(files))
    if rng.random() < 0.1:
        files[rng.choice(["../x", "/etc/x", "a\x1b[2Jb", name.upper(), "x" * 300])] = files.pop(name)
    else:
        files[name] = mutated(rng, files[name])
    return zipped(files)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def molecule(number, atoms):
    text = f"gdb_{number + 1}\n  soak\n\n{atoms:3}{atoms - 1:3}  0  0  0  0  0  0  0  0999 V2000\n"
    for i in range(atoms):
        text += f"{float(i):10.4f}{0.5:10.4f}{-1.25:10.4f} {'CNOH'[i % 4]:3} 0  0\n"
    for i in range(1, atoms):
        text += f"{i:3}{i + 1:3}  1  0\n"
    return (text + "M  END\n$$$$\n").encode()


def npy(kind, shape, numbers):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"<i8": "q", "<f8": "d"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}{code}", *numbers)


def arrays():
    """Two molecules as QM9's arrays."""
    return zipped({
        "n_atoms.npy": npy("<i8", (2,), [3, 2]),
        "z.npy": npy("<i8", (5,), [8, 1, 1, 6, 7]),
        "pos.npy": npy("<f8", (5, 3), [0.1 * i for i in range(15)]),
        "n_bonds.npy": npy("<i8", (2,), [2, 1]),
        "bonds.npy": npy("<i8", (3, 3), [0, 1, 1, 0, 2, 1, 0, 1, 3]),
        "targets.npy": npy("<f8", (2, 12), [0.5 * i for i in range(24)]),
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parent.parent / "target")
    parser.add_argument("--binary", default=Path(target) / "release" / "ppgn", help="the program [default: the release build]")
    parser.add_argument("--cases", type=int, default=1000, help="cases of all kinds together [default: 1000]")
    parser.add_argument("--only", help="some kinds, with commas: kills, inputs, runs, settings")
    parser.add_argument("--case", help="one case, such as runs:12 or inputs/tu:17")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time [default: the cores]")
    parser.add_argument("--keep", default="soak-failures", help="where failures are kept [default: soak-failures]")
    args = parser.parse_args()
    # Under `nohup` SIGHUP is ignored, and ppgn keeps to that: its cases are to be stopped by it all the same.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.exit(Soak(args).go())


if __name__ == "__main__":
    main()
