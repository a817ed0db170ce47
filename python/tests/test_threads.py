"""Beside the interpreter: signals, threads, forks, and the number of threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ppgn

LONG = {"epochs": 100_000, "blocks": [32, 32], "validation": None}


def interrupted(source: str) -> tuple[float, str]:
    """Runs a program, presses Ctrl-C once it says so, and gives the seconds that it took to notice, and what it said."""
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.7)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline().strip()
    seconds = time.monotonic() - start
    process.stdout.read()
    assert process.wait(timeout=30) == 0
    return seconds, said


@pytest.mark.parametrize(
    "work",
    [
        "ppgn.PPGNClassifier(epochs=100000, validation=None).fit(csl, csl.y)",
        "ppgn.wl.refine(list(ppgn.load('regular:n=90,d=3,count=2')), '3-fwl')",
    ],
)
def test_ctrl_c_interrupts_and_leaves_a_usable_interpreter(work: str) -> None:
    source = f"""
import ppgn
csl = ppgn.load("csl:n=11,skips=2+3,copies=4")
ppgn.PPGNClassifier  # imports scikit-learn now: SciPy cannot be imported again if an interrupt falls into its import
print("ready", flush=True)
try:
    {work}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert len(set(ppgn.wl.classes(csl, "2-fwl").tolist())) == 2
assert ppgn.PPGNClassifier(epochs=1, blocks=[4]).fit(csl, csl.y).n_iter_ == 1
"""
    seconds, said = interrupted(source)
    assert said == "interrupted" and seconds < 10.0  # the work itself takes far longer


def test_the_lock_is_released(csl: ppgn.Dataset) -> None:
    counted = 0
    done = threading.Event()

    def work() -> None:
        ppgn.PPGNClassifier(epochs=30, blocks=[16, 16], threads=1).fit(csl, csl.y)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 20


def test_several_threads_get_the_same_bits(csl: ppgn.Dataset) -> None:
    model = ppgn.PPGNClassifier(epochs=2, blocks=[8], random_state=0).fit(csl, csl.y)
    expected, digests = model.predict_proba(csl), ppgn.wl.digest(csl, "2-fwl")

    def work(i: int) -> bool:
        other = ppgn.PPGNClassifier(epochs=2, blocks=[8], random_state=0).fit(csl, csl.y)
        same = np.array_equal(model.predict_proba(csl), expected) and np.array_equal(other.predict_proba(csl), expected)
        return same and ppgn.wl.digest(csl, "2-fwl") == digests

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(18)))


def _in_child(queue: multiprocessing.Queue, expected: list[str]) -> None:
    csl = ppgn.load("csl:n=11,skips=2+3,copies=2")
    fitted = ppgn.PPGNClassifier(epochs=1, blocks=[4]).fit(csl, csl.y)
    queue.put((ppgn.wl.digest(csl, "2-fwl") == expected, fitted.predict(csl).shape))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="SKIPPED: this system cannot fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    csl = ppgn.load("csl:n=11,skips=2+3,copies=2")
    expected = ppgn.wl.digest(csl, "2-fwl")  # the parent's pool is running
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(queue, expected))
        child.start()
        assert queue.get(timeout=60) == (True, (4,))
        child.join(timeout=60)
        assert child.exitcode == 0


@pytest.mark.parametrize(("value", "threads"), [("3", 3), ("2,1", 2), ("0", None), ("many", None), ("", None)])
def test_omp_num_threads_is_followed(monkeypatch: pytest.MonkeyPatch, value: str, threads: int | None) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert ppgn.threads() == (threads if threads is not None else cores)
    assert ppgn.wl.digest(ppgn.Graph(2, [(0, 1)])).startswith("wl1:")


def test_a_child_uses_no_more_threads_than_it_may() -> None:
    source = """
import ppgn, threading, os
ppgn.wl.digest(ppgn.load("csl"))
names = []
for thread in os.listdir("/proc/self/task"):
    try:
        names.append(open(f"/proc/self/task/{thread}/comm").read().strip())
    except OSError:
        pass  # it has ended: the thread that has just computed may be on its way
print(sum(name != "ppgn" for name in names))
"""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("SKIPPED: this system does not list threads")
    counts = []
    for threads in ("1", "4"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"}
        counts.append(int(subprocess.check_output([sys.executable, "-c", source], env=environment)))
    assert counts[1] - counts[0] == 3
