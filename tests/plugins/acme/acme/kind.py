"""Tasks of the kind `number`: a candidate names a number, and the nearer it is the better."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from heredity import (
    AGENT,
    Candidate,
    Candidates,
    Failure,
    FailureSource,
    Job,
    Kind,
    Limits,
    SourceTree,
    Status,
    TasksetInfo,
    Trajectory,
)

FILE = "number.txt"


def naming(number: int) -> Candidate:
    """Return the candidate that names a number."""
    return Candidate({AGENT: SourceTree({FILE: f"{number}\n"})})


class NumberRunner:
    """Compares what a candidate names with what is hidden; the score is minus the distance."""

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs."""
        for position, job in enumerate(jobs):
            ids = job.task.id, job.candidate.digest
            text = job.candidate.parts[AGENT][FILE].decode()
            try:
                score = -abs(int(text) - job.task.spec["number"])
            except ValueError:
                failure = Failure(Status.ACT_ERROR, f"{FILE} holds {text!r}; expected a whole number")
                yield (
                    position,
                    Trajectory(*ids, failure.category, FailureSource.CANDIDATE, 0.0, 0, False, {}, failure=failure),
                )
                continue
            yield position, Trajectory(*ids, Status.OK, FailureSource.NONE, float(score), 1, True, {})

    async def close(self) -> None:
        """End nothing."""


def _starter(info: TasksetInfo) -> Candidate:
    return naming(0)


def _read(folder: Path) -> Candidate:
    return Candidate({AGENT: SourceTree.from_folder(folder)})


KIND = Kind(
    "number",
    lambda opening: NumberRunner(),
    candidates=Candidates(starter=_starter, read=_read),
    usage=lambda trajectory: None,
)
