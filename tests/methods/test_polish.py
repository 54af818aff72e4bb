"""Polishing: programs that search from the best answer, and at the end one that only holds it."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError
from heredity.engine.trajectory import Trajectory
from heredity.kinds.program.taskset import library_folder, read_program_task
from heredity.methods.contract import Budget, EvolverContext, Feedback, Outcome, Trial
from heredity.methods.operators import polisher
from heredity.methods.polish import Polish
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource, Status
from heredity.tasks import TasksetInfo

pytest.importorskip("scipy")

# Two points in a square, one of them not near the upper right corner, as far apart as possible.
ANSWER = """
import numpy as np

LOWER, UPPER = np.zeros(4), np.ones(4)


def start(rng):
    return 0.25 + 0.5 * rng.random(4)


def value(z):
    d = z[:2] - z[2:]
    return float(d @ d), np.concatenate([2 * d, -2 * d])


def constraints(z):
    return np.array([1.5 - z[0] - z[1]]), np.array([[-1.0, -1.0, 0.0, 0.0]])


def vector(answer):
    return np.array(answer).ravel()


def answer(z):
    return [z[:2].tolist(), z[2:].tolist()]
"""
PROGRAM = '''"""Far apart."""


# EVOLVE-BLOCK-START
def solve():
    return half()


# EVOLVE-BLOCK-END
def half():
    return [[0, 0], [0.5, 0.5]]
'''


class Session:
    """Runs programs in this process, and scores the squared distance of their answers."""

    def __init__(self, folder: Path, episodes: int) -> None:
        self.folder, self.left, self.trials, self.scores = folder, episodes, list[Trial](), list[float]()

    def remaining(self) -> Budget:
        return Budget(episodes=self.left)

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        return [self._scored(trial) for trial in trials]

    def _scored(self, trial: Trial) -> Feedback:
        self.trials.append(trial)
        answer = solved(self.folder / str(len(self.trials)), trial.candidate)
        (a, b), (c, d) = answer
        score = (a - c) ** 2 + (b - d) ** 2
        self.scores.append(score)
        columns: dict[str, Any] = {"info/answer": [json.dumps(answer)]}
        made = Trajectory("train/0", trial.candidate.digest, Status.OK, FailureSource.NONE, score, 1, True, columns)
        return Feedback(len(self.trials), trial.candidate.digest, "ok", (Outcome(0, score, 1, trajectory=made),))


def solved(folder: Path, candidate: Candidate) -> Any:
    folder.mkdir()
    for name, data in candidate.agent.items():
        (folder / name).write_bytes(data)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("program").solve()
    finally:
        sys.path.remove(str(folder))
        for name in ("program", "answer", "polisher"):
            sys.modules.pop(name, None)


def context(program: str = PROGRAM, answer: str = ANSWER, **options: Any) -> EvolverContext:
    public = {"program_file": "program.py", "answer": answer, "title": "Far"}
    info = TasksetInfo("program/far", "1", "program", {}, public, "", -100.0)
    return EvolverContext(
        info, Candidate.program(SourceTree({"program.py": program})), 5, 16, {"searches": 8, **options}
    )


def evolved(folder: Path, episodes: int = 6, **options: Any) -> Session:
    folder.mkdir(exist_ok=True)
    session = Session(folder, episodes)
    asyncio.run(Polish().evolve(session, context(**options)))  # type: ignore[arg-type]
    return session


def test_it_finds_the_best_and_submits_it_without_the_search(tmp_path: Path) -> None:
    session, again = evolved(tmp_path / "one"), evolved(tmp_path / "two")
    assert len(session.trials) == 6
    assert session.scores[-1] == max(session.scores) > 1.5
    last = session.trials[-1].candidate.agent
    assert list(last) == ["program.py"]
    assert "polisher" not in last.text("program.py")
    assert last.text("program.py").endswith("def half():\n    return [[0, 0], [0.5, 0.5]]\n")
    assert [t.candidate.digest for t in session.trials] == [t.candidate.digest for t in again.trials]
    assert session.trials[-1].parents


def test_a_task_without_a_vector_and_a_protected_solve_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to polish"):
        asyncio.run(Polish().evolve(Session(tmp_path, 4), context(answer="")))  # type: ignore[arg-type]
    marked = "# EVOLVE-BLOCK-START\nA = 1\n# EVOLVE-BLOCK-END\ndef solve():\n    return A\n"
    with pytest.raises(ConfigError, match="protected by its marks"):
        asyncio.run(Polish().evolve(Session(tmp_path, 4), context(program=marked)))  # type: ignore[arg-type]


def with_answers() -> list[str]:
    tasks = [read_program_task(path.parent) for path in sorted(library_folder().glob("*/task.toml"))]
    return [task.name for task in tasks if task.declared.answer]


def module(name: str, file: str) -> Any:
    spec = importlib.util.spec_from_file_location(file, library_folder() / name / f"{file}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", with_answers())
def test_descriptions_of_answers_have_right_gradients(name: str) -> None:
    model, rng = module(name, "answer"), np.random.default_rng(1)
    z = model.start(rng)
    assert z.shape == np.shape(model.LOWER) == np.shape(model.UPPER)
    for function in (model.value, model.constraints):
        _, jacobian = function(z)
        step = 1e-6 * np.eye(z.size)
        measured = np.array([(function(z + d)[0] - function(z - d)[0]) / 2e-6 for d in step]).T
        assert np.allclose(measured, jacobian, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in with_answers() if name != "min-overlap"])
def test_polished_answers_are_accepted_by_the_exact_verifier_and_better_than_the_start(name: str) -> None:
    model, task = module(name, "answer"), read_program_task(library_folder() / name)
    given = module(name, "program").solve()
    (before,), (after,) = (
        module(name, "scorer").verify(answer).values()
        for answer in (given, model.answer(polisher.polish(model, model.vector(given), 1, 1, 60)))
    )
    assert task.declared.score_of(after) > task.declared.score_of(before)
