"""Scorers that simplify formulas, in a process of their own: there are answers for which that takes hours.

The limit counts processor time, not the clock: on a busy machine the verdict is the same.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from heredity.errors import HostError

CPU_SECONDS = 20
"""Processor seconds for one answer, the start of about two included."""

_MEMORY = 4 << 30
_CLOCK_SECONDS = 300


def score_in_child(
    dataset: str, options: Mapping[str, Any], seed: int, answer: str, *, cpu_seconds: int = CPU_SECONDS
) -> float | None:
    """Return the points of an answer, from 0 to 1; None if the scorer was stopped at its limit or could not take the answer.

    Raises:
        HostError: if the process fails otherwise.
    """
    command = [sys.executable, "-P", "-m", __name__]
    request = json.dumps([cpu_seconds, dataset, dict(options), seed, answer])
    try:
        done = subprocess.run(
            command,
            input=request,
            capture_output=True,
            text=True,
            timeout=_CLOCK_SECONDS,
            check=False,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"the scorer of {dataset} got no processor time: {error}") from error
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise HostError(f"the scorer of {dataset} failed in its process: {done.stderr.strip()[-500:]}") from error


def main() -> None:
    """Score the answer that stands on standard input, within the limits."""
    from heredity.tasks.questions.reasoning import entry_of, points_of

    cpu_seconds, dataset, options, seed, answer = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    scorer, entry = entry_of(dataset, options, seed)
    try:
        points: float | None = points_of(scorer, answer, entry)
    except Exception:  # noqa: BLE001 - whatever it is, the scorer could not take the answer
        points = None
    sys.stdout.write(json.dumps(points))


if __name__ == "__main__":
    main()
