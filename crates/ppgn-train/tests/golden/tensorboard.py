"""Event files beside TensorBoard's own software (`pip install tensorboard "setuptools<81"`).

    python tensorboard.py golden        writes tensorboard.events with TensorBoard's messages and record writer;
                                        the tests in src/tensorboard/mod.rs compare and decode its bytes
    python tensorboard.py check RUN     reads the event file of a run (`ppgn train --log tensorboard`) by TensorBoard's
                                        reader and holds every scalar against metrics.jsonl
"""

import json
import os
import sys

# This file must not shadow the package of its name.
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

EVENTS = [
    (1700000001.25, 1, [("loss/train", 0.7), ("accuracy/validation", 0.5)]),
    (1700000002.5, 2, [("loss/train", 1e-30), ("mae/\u00b5 \u2265 0/test", -3.25e7)]),
    (1700000300.0, 300, [("rate", 0.0)]),
]


def golden():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "tensorboard.events"), "wb") as file:
        writer = RecordWriter(file)
        writer.write(event_pb2.Event(wall_time=1700000000.0, file_version="brain.Event:2").SerializeToString())
        for time, step, scalars in EVENTS:
            values = [summary_pb2.Summary.Value(tag=tag, simple_value=x) for tag, x in scalars]
            event = event_pb2.Event(wall_time=time, step=step, summary=summary_pb2.Summary(value=values))
            writer.write(event.SerializeToString())
        writer.flush()


def check(run):
    files = [name for name in os.listdir(run) if "tfevents" in name]
    assert len(files) == 1, files
    all_of_them = {event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0}
    read = event_accumulator.EventAccumulator(run, size_guidance=all_of_them)
    read.Reload()
    found = {tag: {event.step: event.value for event in read.Scalars(tag)} for tag in read.Tags()["scalars"]}
    with open(os.path.join(run, "metrics.jsonl")) as file:
        epochs = [json.loads(line) for line in file]
    compared = 0
    for epoch in epochs:
        wanted = {"rate": epoch["rate"]}
        for part in ("train", "validation", "test"):
            for name, value in epoch.get(part, {}).items():
                if isinstance(value, (int, float)):
                    wanted[f"{name}/{part}"] = value
        for tag, value in wanted.items():
            got = found[tag][epoch["epoch"]]
            assert abs(got - value) <= 1e-6 * max(1.0, abs(value)), (tag, epoch["epoch"], got, value)
            compared += 1
    steps = {step for tag in found.values() for step in tag}
    assert steps == {epoch["epoch"] for epoch in epochs}, steps
    print(f"{compared} scalars of {len(epochs)} epochs are those of metrics.jsonl; {len(found)} tags")


if __name__ == "__main__":
    if sys.argv[1:] == ["golden"]:
        golden()
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
