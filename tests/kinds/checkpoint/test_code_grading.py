"""Checkpoints graded on programming problems: real weights answer in their worker, and the judge runs what they wrote."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from heredity.engine.actor import Solving
from heredity.engine.kind import Opening, Workers
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job, Runner
from heredity.kinds.checkpoint.inference import WarmSandbox
from heredity.kinds.checkpoint.kind import GradingRunner, inner_runner
from heredity.kinds.checkpoint.models import candidate_of, inspect
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task
from heredity.models import Model
from heredity.resources import Candidate
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits

NEEDED = ("torch", "transformers")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(available() is not None, reason="programs cannot be confined on this machine"),
]

TASK = "posttraining/code/all?problem=well-buckets,odd-bells,mean-tide,unsold-tickets,flipped-bits"
TIDE = """\
```python
from itertools import accumulate
class Solution:
    def highestMean(self, levels, hours):
        sums = [0.0, *accumulate(levels)]
        return max(sums[i + hours] - sums[i] for i in range(len(levels) - hours + 1)) / hours
"""
TICKETS = """\
    def leftover(self, sold, place):
        for number in sorted(set(sold)):
            if number > place:
                break
            place += 1
        return place
"""


async def test_two_checkpoints_are_graded_on_two_easy_problems(tmp_path: Path) -> None:
    """One writes a program that solves one of both, the other one that solves both."""
    from .parrot import make_parrot

    kept: dict[Candidate, Path] = {}
    for name, program in (("half", TIDE), ("whole", TIDE + TICKETS)):
        folder = make_parrot(tmp_path / name, [*program.splitlines(keepends=True), "```\n"])
        kept[candidate_of(inspect(folder))] = folder
    views = PostTrainingTaskset(posttraining_task(TASK))
    tasks = views.draw("train", 2, 7)

    async with SandboxedPrograms(1) as programs:

        def inner(kind: str, model: Model, solving: Solving) -> Runner:
            opening = Opening(solving, model=model, programs=programs, workers=Workers(2))
            return inner_runner(kind, opening)

        sandbox = WarmSandbox()
        try:
            runner = GradingRunner(kept.__getitem__, inner, sandbox=sandbox)
            jobs = [Job(views.info, candidate, task) for candidate in kept for task in tasks]
            graded = {at: done async for at, done in runner.run(jobs, Limits())}
        finally:
            await sandbox.close()
    verdicts = [
        {jobs[at].task.spec["problem"]: (done.total_reward, done.columns["info/verdict"][-1])}
        for at, done in sorted(graded.items())
    ]
    assert verdicts[0] | verdicts[1] == {"mean-tide": (1.0, "PR"), "unsold-tickets": (0.0, "RE")}
    assert verdicts[2] | verdicts[3] == {"mean-tide": (1.0, "PR"), "unsold-tickets": (1.0, "PR")}
