#!/usr/bin/env python3
"""The local page under load: requests at a fixed rate while a training runs, with errors, latencies and memory.

    python3 benches/view_load.py target/release/ppgn --seconds 600 --rate 200

Starts `ppgn view` on a folder of its own and a training in it, asks for everything that a page asks for, and prints one line
per 30 seconds and one at the end. The exit code is 1 if a request failed or the memory grew by more than 10 MiB after the first
tenth of the time.
"""
import argparse
import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

TARGETS = [
    "/", "/app/main.js", "/app/chart.js", "/app/style.css", "/api/about", "/api/runs", "/api/runs", "/api/run?run=live",
    "/api/run?run=first", "/api/run?run=first&from=2", "/api/data", "/api/dataset?data=csl",
    "/api/dataset/graph?data=csl&graph=7", "/api/wl?a=figure1:0&b=figure1:1&test=2-fwl",
    "/api/wl?a=rook:n=4&b=shrikhande&test=1-wl", "/api/run/mistakes?run=first", "/api/network?run=first&graph=3",
]


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float, default=200, help="requests per second")
    parser.add_argument("--threads", type=int, default=8)
    given = parser.parse_args()
    binary = os.path.abspath(given.binary)
    with tempfile.TemporaryDirectory() as folder:
        small = "train csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 4 --split 50/25/25 --quiet --epochs 4 --out runs/first"
        subprocess.run([binary, *small.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        long = "train csl:n=17,skips=2+3,copies=60 --blocks 32,32 --threads 1 --split 50/25/25 --quiet --epochs 1000000 --out runs/live"
        training = subprocess.Popen([binary, *long.split()], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = subprocess.Popen([binary, "view", "runs", "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline().strip().rsplit(":", 1)[1].rstrip("/"))
            while not os.path.exists(f"{folder}/runs/live/checkpoint/model.safetensors"):
                time.sleep(0.1)
            return measure(given, port, server, training)
        finally:
            for process in (server, training):
                process.kill()
                process.wait()


def measure(given, port, server, training):
    times, errors, lock = [], [], threading.Lock()
    end = time.monotonic() + given.seconds
    step = given.threads / given.rate

    def work(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        draw = random.Random(number)
        due = time.monotonic() + step * number / given.threads
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            due += step
            target = draw.choice(TARGETS)
            start = time.monotonic()
            try:
                connection.request("GET", target)
                reply = connection.getresponse()
                reply.read()
                failed = reply.status != 200 and f"{reply.status} {target}"
            except OSError as error:
                failed = f"{error} {target}"
                connection.close()
            with lock:
                times.append(time.monotonic() - start)
                if failed:
                    errors.append(failed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(given.threads)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    settled, last, most = None, begin, 0.0
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        now, rss = time.monotonic(), memory(server.pid)
        most = max(most, rss)
        if settled is None and now - begin > given.seconds / 10:
            settled = rss
        if now - last > 30:
            last = now
            print(f"{now - begin:5.0f} s: {len(times)} requests, {len(errors)} errors, {rss:.1f} MiB", flush=True)
    if training.poll() is not None:
        errors.append("the training ended")
    passed = time.monotonic() - begin
    times.sort()
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
    last = memory(server.pid)
    print(f"{len(times)} requests in {passed:.0f} s ({len(times) / passed:.0f} per second), {len(errors)} errors; "
          f"median {at(0.5):.1f} ms, 99 % {at(0.99):.1f} ms, longest {at(1.0):.0f} ms; "
          f"memory {settled or last:.1f} MiB after a tenth, {last:.1f} MiB at the end, {most:.1f} MiB at most")
    for error in errors[:10]:
        print("  " + error)
    return 1 if errors or last > (settled or last) + 10 else 0


if __name__ == "__main__":
    sys.exit(main())
