"""Programs that are all there is of a candidate, on one problem: `code/solution/NAME`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.kinds.code.sums import in_python, write

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.kind import Opening, Workers
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.kinds.code.kind import SOLUTION
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.tasks.contract import SPLITS
from heredity.tasks.registry import taskset

needs_sandbox = pytest.mark.skipif(available() is not None, reason="programs cannot be confined on this machine")


async def judged(name: str, *files: dict[str, str | bytes]) -> list[Trajectory]:
    one = taskset(name)
    (task,) = one.draw("train", 1, 3)
    runner = SOLUTION.open(Opening(workers=Workers(count=2)))
    try:
        jobs = [Job(one.info, Candidate.program(SourceTree(tree)), task) for tree in files]
        ended = {position: trajectory async for position, trajectory in runner.run(jobs, Limits())}
    finally:
        await runner.close()
    return [ended[position] for position in range(len(jobs))]


@needs_sandbox
async def test_a_program_is_judged_and_told_what_the_judge_says(tmp_path: Path) -> None:
    write(tmp_path / "sum")
    name = f"code/solution/{tmp_path}/sum"
    right, wrong, none, garbage = await judged(
        name,
        {"solution.py": in_python("")},
        {"solution.py": in_python("return 3")},
        {"other.py": in_python("")},
        {"solution.py": b"\xff\xfe"},
    )
    assert [(t.status, t.columns["info/verdict"][0]) for t in (right, wrong, none, garbage)] == [
        ("ok", "PR"),
        ("ok", "WA"),
        ("ok", "RpE"),
        ("ok", "RE"),
    ]
    assert (right.total_reward, none.total_reward) == (1.0, 0.0)
    assert 0 < wrong.total_reward < 0.1
    assert "a hidden case, number 1" in wrong.columns["info/texts"][0]["judge"]
    assert "expected" not in str(wrong.columns), "no hidden answer is shown"


def test_the_cases_of_the_splits_differ_and_depend_on_the_secret(tmp_path: Path) -> None:
    one = taskset("code/solution/two-gates?language=cpp")
    seeds = [task.spec["seed"] for split in SPLITS for entropy in (1, 2) for task in one.draw(split, 2, entropy)]
    assert len(set(seeds)) == 12
    assert one.info.public["program_file"] == "solution.cpp"
    assert not set(seeds) & {str(value) for value in one.info.public.values()}
    write(tmp_path / "sum")
    assert (
        SOLUTION.candidates.starter(taskset(f"code/solution/{tmp_path}/sum").info)
        .agent["solution.py"]
        .startswith(b"class")
    )


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("code/solution/two-gates?lang=cpp", ConfigError, "is not an option; write \\?language=cpp"),
        ("code/solution/two-gates?language=cobol", UnknownNameError, "cobol"),
        ("code/solution/two-gate", UnknownNameError, "two-gates"),
    ],
)
def test_a_name_that_is_none_is_refused(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        taskset(name)


@pytest.mark.slow
@needs_sandbox
def test_a_method_evolves_a_program_and_it_is_judged_on_other_cases(tmp_path: Path) -> None:
    """The start is right already: what is shown is that a method submits, and that a program is judged held out."""
    folder = tmp_path / "runs" / "suite"
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "solution.py").write_text(in_python("return sum(numbers) + int(0.25)"))
    write(tmp_path / "sum")
    config = resolve(
        {
            "run": {"protocol": "program-evolution", "tasksets": [f"code/solution/{tmp_path}/sum"]},
            "evolver": {"method": "parametric", "initial": str(tmp_path / "start")},
            "budget": {"episodes": 3, "train_cases": 1},
            "views": {"validation": 1, "heldout": 1},
            "engine": {"workers": 1},
            "suite": {"baselines": False},
        }
    )
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    assert {**result.failures, **result.evolver_failures} == {}
    (metrics,) = result.runs
    assert metrics.heldout.mean == 1.0
    assert metrics.reference.heldout_mean == 1.0
    assert metrics.budget.used == 3
