"""How fast the journal is: durable appends against a bare write and fdatasync in the same process, and reading.

    python benchmarks/journal.py [--json] [--events 2000] [--read 100000] [--folder DIR]

`durable_ratio` is the journal's rate of append and sync over the bare rate of writing as many bytes and syncing; 1.0 means
that checksums, encoding and bookkeeping cost nothing. `grouped_ratio` is the same with eight appends for each sync.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from heredity.records import Journal, read_journal

GROUP = 8
DATA = {
    "submit_id": 17,
    "key": "parametric/17",
    "candidate": "c" * 64,
    "status": "ok",
    "failure": None,
    "outcomes": [{"task": i, "score": -91.5, "length": 92, "status": "ok", "failure": None} for i in range(4)],
    "blob": "b" * 64,
    "seconds": 0.125,
}


def bare(path: Path, line: bytes, count: int) -> float:
    """Return the seconds that `count` writes take, each made durable."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    began = time.perf_counter()
    for _ in range(count):
        os.write(fd, line)
        os.fdatasync(fd)
    seconds = time.perf_counter() - began
    os.close(fd)
    return seconds


def recorded(path: Path, count: int, group: int) -> float:
    """Return the seconds that `count` appends take, one sync for each `group` of them."""
    journal = Journal.open(path)
    began = time.perf_counter()
    for number in range(count):
        journal.append("submission.completed", DATA)
        if number % group == group - 1:
            journal.sync()
    journal.sync()
    seconds = time.perf_counter() - began
    journal.close()
    return seconds


def reading(path: Path, count: int) -> float:
    """Return the seconds that reading and verifying a journal of `count` events takes."""
    journal = Journal.open(path)
    journal.append_many([("submission.completed", DATA)] * count)
    journal.close()
    began = time.perf_counter()
    events = read_journal(path)
    seconds = time.perf_counter() - began
    assert len(events) == count
    return seconds


def measure(folder: Path, events: int, read: int) -> dict[str, float]:
    """Return rates in events per second, and ratios to the bare rate."""
    recorded(folder / "warm", 200, 1)
    line = (folder / "warm").read_bytes().splitlines(keepends=True)[-1]
    # The disk's speed drifts, so the two are measured in turns and the best of each is kept.
    turns = [(bare(folder / f"bare{i}", line, events), recorded(folder / f"journal{i}", events, 1)) for i in range(3)]
    bare_rate, durable_rate = (events / min(turn[i] for turn in turns) for i in range(2))
    grouped_rate = events / recorded(folder / "grouped", events, GROUP)
    seconds = reading(folder / "long", read)
    return {
        "bare_per_s": bare_rate,
        "durable_per_s": durable_rate,
        "durable_ratio": durable_rate / bare_rate,
        "grouped_per_s": grouped_rate,
        "grouped_ratio": grouped_rate / bare_rate,
        "read_per_s": read / seconds,
        "read_100k_s": seconds / read * 100_000,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--events", type=int, default=2000, help="appends measured")
    parser.add_argument("--read", type=int, default=100_000, help="events read")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="a folder on the disk to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix=".bench-") as folder:
        results = measure(Path(folder), options.events, options.read)
    if options.json:
        print(json.dumps({"results": {"journal": results}}))
        return
    for name, value in results.items():
        print(f"{name:<16}{value:>14,.2f}")


if __name__ == "__main__":
    main()
