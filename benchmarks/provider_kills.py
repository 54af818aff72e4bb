"""Kill a suite with SIGKILL while it calls a provider, resume it, and count recorded answers that were paid twice.

The provider is a server of this script. It fails a share of the requests in the ways of real ones (429, 500, dropped and cut
connections), and each answer that arrives whole carries its own number. An answer is recorded if, when the suite was killed,
its number stood in a blob that the journal names, or the judgement that asked for it was on disk. The same request after
that kill would pay for it again.

    python benchmarks/provider_kills.py --kills 50 --chaos 0.2 --json
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from counting_server import Counted, Failing, counting

from heredity.records import BlobStore, read_journal
from heredity.records.events import MODEL_CALLED, SUBMISSION_COMPLETED

FAILURES = (Failing(429), Failing(500), Failing(connection="dropped"), Failing(connection="cut"))
SUITE = """
[run]
protocol = "resource-evolution"
name = "paid"
tasksets = ["questions/reasoning-gym/gcd"]
seeds = 2
[evolver]
method = "reflection"
options = {{rounds = 4, batch = 6, patience = 0}}
[budget]
rollouts = 60
train_cases = 12
[views]
heldout = 8
[suite]
baselines = false
[engine]
parallel_runs = 1
[gateway]
execution = "count/answers"
optimisation = "count/edits"
attempts = 12
[gateway.providers.count]
base_url = "{url}"
prices = {{"*" = {{input = 1.0, output = 1.0}}}}
"""


@contextmanager
def provider(chaos: float, seed: int) -> Generator[Counted]:
    """Serve a provider that fails a share of its requests, and whose answers carry numbers."""
    dice, numbers = random.Random(seed), itertools.count()

    def answer(asked: dict[str, Any]) -> str | Failing:
        if dice.random() < chaos:
            return dice.choice(FAILURES)
        number = next(numbers)
        if asked["model"] != "edits":
            return f"<answer>{number % 7}</answer> (answer-{number}-)"
        said = json.dumps(asked["messages"])
        variable = re.search(r'variables\\*": ?\{\\*n? *\\*"([^"\\]+)', said)
        edit = {"variable": variable[1] if variable else "prompt/system", "value": f"Answer well. {number}", "why": "x"}
        return json.dumps({"edits": [edit], "expects": f"answer-{number}-"})

    with counting(answer, tokens=(100, 10), pause_s=0.02) as counted:
        yield counted


def numbered(given: Sequence[tuple[str, float]]) -> list[tuple[int, float]]:
    """Return the numbers of answers, with their times."""
    return [(int(re.findall(r"answer-(\d+)-", text)[0]), at) for text, at in given]


def recorded(suite: Path, answers: Counted) -> set[int]:
    """Return the numbers of the answers that a suite's records hold."""
    numbers = set[int]()
    for run in sorted((suite / "runs").glob("*")) if (suite / "runs").exists() else ():
        if not (run / "journal.jsonl").exists():
            continue
        blobs = BlobStore(run / "blobs")
        for event in read_journal(run / "journal.jsonl"):
            if event.kind in (MODEL_CALLED.name, SUBMISSION_COMPLETED.name) and event.data["blob"]:
                numbers |= {int(found) for found in re.findall(rb"answer-(\d+)-", blobs.get(event.data["blob"]))}
    judged = suite / "judgements.jsonl"
    if judged.exists() and judged.stat().st_size:
        # Runs follow each other, so everything answered before a judgement was written is on disk.
        until = judged.stat().st_mtime
        numbers |= {number for given in list(answers.given.values()) for number, at in numbered(given) if at < until}
    return numbers


def _await_answer(process: subprocess.Popen[bytes], answers: Counted) -> None:
    """Wait until a process has got an answer, or has ended: kills are to fall among calls, not in the start."""
    before = answers.count
    while process.poll() is None and answers.count == before:
        time.sleep(0.01)


def measure(kills: int, chaos: float, seed: int) -> dict[str, Any]:
    """Kill suites until `kills` SIGKILLs were sent, and count what was paid twice."""
    dice = random.Random(seed)
    dealt = suites = answered = again = 0
    recorded_at: list[int] = []
    twice: list[str] = []
    failed = Counter[str]()
    while dealt < kills:
        suites += 1
        with tempfile.TemporaryDirectory() as root, provider(chaos, seed + suites) as answers:
            file, suite = Path(root) / "paid.toml", Path(root) / "runs" / "paid"
            file.write_text(SUITE.format(url=answers.url))
            command = [sys.executable, "-m", "heredity", "run", str(file), "--out", str(suite), "--quiet", "--yes"]
            held: list[tuple[float, set[int]]] = []
            while True:
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    if dealt < kills and len(held) < 10:
                        _await_answer(process, answers)
                        process.wait(dice.uniform(0.0, 1.5))
                    else:
                        process.wait(300.0)
                    break
                except subprocess.TimeoutExpired:
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait()
                    dealt += 1
                    time.sleep(0.1)
                    held.append((time.time(), recorded(suite, answers)))
            for request, said in answers.given.items():
                given = numbered(said)
                for position, (number, _) in enumerate(given):
                    later = [at for _, at in given[position + 1 :]]
                    again += bool(later)
                    if any(number in numbers and any(at > killed for at in later) for killed, numbers in held):
                        twice.append(request[:300])
            recorded_at += [len(numbers) for _, numbers in held]
            answered += answers.count
            failed += answers.failed
            print(f"{dealt} of {kills} kills, {answers.count} answers, {len(twice)} paid twice", file=sys.stderr)
    return {
        "kills": dealt,
        "suites": suites,
        "answers": answered,
        "failed_requests": dict(failed),
        "recorded_at_kills": {"most": max(recorded_at), "without_any": recorded_at.count(0)},
        "asked_again_unrecorded": again - len(twice),
        "recorded_paid_twice": len(twice),
        "examples": twice[:3],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--chaos", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(asked.kills, asked.chaos, asked.seed)
    print(json.dumps(figures, indent=1) if asked.json else "\n".join(f"{k}: {v}" for k, v in figures.items()))
    sys.exit(bool(figures["recorded_paid_twice"]))
