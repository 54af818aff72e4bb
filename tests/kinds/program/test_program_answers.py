"""What a program writes in the place of its answer, which no JSON of the library's can hold: it is the program that failed."""

from __future__ import annotations

import asyncio

import pytest

from heredity.engine.kind import Opening, Workers
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.program.kind import KIND
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

pytestmark = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")

WRITTEN = {
    "not a number": "answer\\n[[NaN, 0.5, 0.5]]",
    "infinity": "answer\\n[[Infinity, 0.5, 0.5]]",
    "a number that is infinite": "answer\\n1e999",
    "more digits than a number may have": "answer\\n1" + "0" * 5000,
    "depth": "answer\\n" + "[" * 100000 + "]" * 100000,
    "metrics": '{"metrics": {"sum_of_radii": 9.0}, "texts": {}}',
    "metrics beside an answer": 'answer\\n{"answer": [], "metrics": {"sum_of_radii": 9.0}}',
    "the scorer's failure": '{"error": "HostError", "message": "the host failed", "where": "scorer"}',
    "half of an answer": "answer\\n[[0.5, 0.5",
    "half of a surrogate pair": 'answer\\n["\\\\ud800"]',
    "no text": "answer\\n",
    "two answers": "answer\\n[][]",
}
PROGRAM = """
import os
for descriptor in range(1, 9):
    try:
        os.write(descriptor, ('{text}').encode())
    except OSError:
        pass
os._exit(0)
"""


def test_whatever_a_program_writes_is_its_own_failure() -> None:
    tasks = taskset("program/circle-packing-26")
    (drawn,) = tasks.draw("train", 1, 3)
    trees = [SourceTree({"program.py": PROGRAM.replace("{text}", text)}) for text in WRITTEN.values()]

    async def run() -> dict[int, Trajectory]:
        runner = KIND.open(Opening(workers=Workers(count=2)))
        try:
            jobs = [Job(tasks.info, Candidate.program(tree), drawn) for tree in trees]
            return {index: trajectory async for index, trajectory in runner.run(jobs, Limits(episode_s=20.0))}
        finally:
            await runner.close()

    measured = asyncio.run(run())
    sources = {name: measured[index].failure_source for index, name in enumerate(WRITTEN)}
    assert sources == dict.fromkeys(WRITTEN, FailureSource.CANDIDATE)
    assert {one.total_reward for one in measured.values()} == {0.0}
