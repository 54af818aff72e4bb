from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fakes import InProcessPrograms, ListedModel, calling, candidate

from heredity._core.errors import ConfigError
from heredity.engine.question_runner import SolvingRunner, conversation_of
from heredity.engine.questions import Question
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo
from heredity.team.tools.task_tools import task_documents

INFO = TasksetInfo("questions/mine", "1", "question", {}, {}, "Bridges.", 0.0)
PLAIN = candidate(prompt_system="Use the documents.")


async def answered(
    folder: Path, model: ListedModel, made: Candidate = PLAIN, files: Any = ("bridge.txt",)
) -> Trajectory:
    question = Question("In which year was it built?", "1969", {"kind": "numeric"}, metadata={"files": list(files)})
    job = Job(INFO, made, Task("train/0", "train", 0, question.to_spec()), policy_seed=1)
    programs = InProcessPrograms()
    runner = SolvingRunner(model, programs=programs, provided=task_documents(programs, folder))
    [(_, trajectory)] = [done async for done in runner.run([job], Limits())]
    return trajectory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bridge.txt").write_text("The bridge was built in 1969.")
    (tmp_path / "secret.txt").write_text("Nobody gave this away.")
    return tmp_path


async def test_a_single_solver_reads_the_documents_of_its_question_and_no_others(folder: Path) -> None:
    model = ListedModel(
        [calling(("read", {"path": "bridge.txt"})), calling(("read", {"path": "../secret.txt"})), "1969"]
    )
    trajectory = await answered(folder, model)
    assert (trajectory.status, trajectory.total_reward) == ("ok", 1.0)
    _, _, _, first, _, second, _ = conversation_of(trajectory)
    assert "built in 1969" in first.content
    assert "there is no document" in second.content
    assert "bridge.txt" in model.asked[0].tools[0].description


async def test_a_team_that_is_a_candidate_has_them_too(folder: Path) -> None:
    design = json.dumps({"agents": {"reader": {"description": "reads"}}})
    made = Candidate({"agent/team": SourceTree({"agent.json": design})})
    plan = json.dumps({"steps": [{"id": "s1", "agent": "reader", "task": "Read it"}]})
    done = json.dumps({"finished": True, "result": "1969"})
    model = ListedModel([plan, calling(("read", {"path": "bridge.txt"})), "1969", done])
    trajectory = await answered(folder, model, made)
    assert trajectory.total_reward == 1.0
    assert any("built in 1969" in message.content for message in conversation_of(trajectory))


async def test_a_question_without_files_has_no_tools(folder: Path) -> None:
    model = ListedModel(["1969"])
    assert (await answered(folder, model, files=())).total_reward == 1.0
    assert not model.asked[0].tools


async def test_a_candidates_tool_does_not_take_the_place_of_one_of_the_task(folder: Path) -> None:
    made = candidate(prompt_system="Hi.", tool_read="def run(path: str):\n    return 'forged'\n")
    trajectory = await answered(folder, ListedModel([]), made)
    assert (trajectory.status, trajectory.failure_source) == ("import_error", "candidate")
    assert trajectory.failure is not None
    assert "tool/read" in trajectory.failure.message


async def test_a_file_that_is_missing_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"train/0 comes with .*gone\.txt"):
        await answered(folder, ListedModel([]), files=("gone.txt",))


async def test_two_files_of_one_name_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="two files of one name"):
        await answered(folder, ListedModel([]), files=("a/bridge.txt", "bridge.txt"))
