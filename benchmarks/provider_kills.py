"""Kill a suite with SIGKILL while it calls a provider, resume it, and count recorded answers that were paid twice.

The provider is a server of this script. It fails a share of the requests in the ways of real ones (429, 500, dropped and cut
connections), and each answer that arrives whole carries its own number. An answer is recorded if, when the suite was killed,
its number stood in a blob that the journal names, or the judgement that asked for it was on disk. The same request after
that kill would pay for it again.

    python benchmarks/provider_kills.py --kills 50 --chaos 0.2 --json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from heredity.records import BlobStore, read_journal
from heredity.records.events import MODEL_CALLED, SUBMISSION_COMPLETED

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


@dataclass
class Answers:
    """What the server has answered whole: for each request, the number and the time of each answer."""

    url: str = ""
    given: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    failed: Counter[str] = field(default_factory=Counter[str])

    @property
    def count(self) -> int:
        """Number of whole answers."""
        return sum(map(len, self.given.values()))


@contextmanager
def provider(chaos: float, seed: int) -> Generator[Answers]:
    """Serve an OpenAI-compatible API that fails a share of its requests."""
    answers, lock, dice = Answers(), threading.Lock(), random.Random(seed)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": []})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            with lock:
                mode = dice.choice(("429", "500", "drop", "cut")) if dice.random() < chaos else ""
                number = answers.count + sum(answers.failed.values())
                answers.failed.update([mode] if mode else [])
            if mode in ("429", "500"):
                self._send(int(mode), {"error": {"message": "try again", "type": "server_error"}})
                return
            if mode == "drop":
                self.close_connection = True
                return
            time.sleep(0.02)
            whole = self._send(200, _completion(json.loads(body), number), cut=mode == "cut")
            if whole and not mode:
                with lock:
                    answers.given[body].append((number, time.time()))

        def _send(self, status: int, value: object, *, cut: bool = False) -> bool:
            data = json.dumps(value).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if cut else data)
                self.close_connection = cut
            except OSError:
                return False
            return True

        def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answers.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield answers
        finally:
            server.shutdown()


def _completion(asked: dict[str, Any], number: int) -> dict[str, Any]:
    text = f"<answer>{number % 7}</answer> (answer-{number}-)"
    if asked["model"] == "edits":
        said = json.dumps(asked["messages"])
        variable = re.search(r'variables\\*": ?\{\\*n? *\\*"([^"\\]+)', said)
        edit = {"variable": variable[1] if variable else "prompt/system", "value": f"Answer well. {number}", "why": "x"}
        text = json.dumps({"edits": [edit], "expects": f"answer-{number}-"})
    message = {"role": "assistant", "content": text}
    return {
        "id": f"c{number}",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def recorded(suite: Path, answers: Answers) -> set[int]:
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
        numbers |= {number for given in list(answers.given.values()) for number, at in given if at < until}
    return numbers


def _await_answer(process: subprocess.Popen[bytes], answers: Answers) -> None:
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
            for request, given in answers.given.items():
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
