"""Tasks of a team that is served: several at once, cancelled, approved, gone on with, refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, RejectedError, RunLockedError
from heredity.team.planning import PlanError
from heredity.team.serving.office import Office, TaskRun
from heredity.team.settings import TeamSettings

from .conftest import ANSWER


async def until(run: TaskRun, state: str) -> None:
    async with asyncio.timeout(10):
        async for _ in run.changes():
            if run.state == state:
                return


async def test_two_tasks_at_once_are_two_tasks(office: Office) -> None:
    runs = [office.start("the first"), office.start("the second")]
    results = [await run.ended() for run in runs]
    assert [result.answer for result in results] == [ANSWER, ANSWER]
    assert runs[0].folder != runs[1].folder
    for run in runs:
        state = run.to_json()
        assert state["state"] == "done"
        assert state["usage"]["calls"] == 5
        assert [step["state"] for step in state["plan"]["steps"]] == ["done"] * 3
        spans = {span["step"]: span for span in state["timeline"]}
        assert spans["s2"]["start"] < spans["s1"]["end"], "independent steps overlap"
        assert spans["s3"]["start"] >= max(spans["s1"]["end"], spans["s2"]["end"]), "a dependent one waits"


async def test_one_agent_does_a_task_alone(office: Office) -> None:
    assert (await office.start("Read three", agent="reader").ended()).answer == "read three"
    assert next(iter(office.runs.values())).to_json()["plan"]["steps"][0]["agent"] == "reader"


async def test_what_had_not_ended_is_gone_on_with_and_what_had_is_kept(settings: TeamSettings, tmp_path: Path) -> None:
    async with Office(settings, tmp_path / "tasks") as office:
        done = office.start("the whole")
        await done.ended()
        waiting = office.start("the whole again", approve=True)
        await until(waiting, "waiting")
    assert not (waiting.folder / "result.json").exists()
    async with Office(settings, tmp_path / "tasks") as office:
        assert office.get(done.id).to_json()["answer"] == ANSWER
        assert office.get(done.id).to_json()["plan"]["steps"][2]["result"] == ANSWER
        again = office.get(waiting.id)
        await until(again, "waiting")
        office.approve(again.id)
        assert (await again.ended()).answer == ANSWER
        assert again.view.calls == 5


async def test_a_cancelled_task_stays_cancelled(settings: TeamSettings, tmp_path: Path) -> None:
    async with Office(settings, tmp_path / "tasks", at_once=1) as office:
        slow, queued = office.start("slowly", agent="reader"), office.start("the whole")
        async for _ in slow.changes():
            if any(agent == "reader" for agent, _ in slow.view.busy.values()):
                break
        assert queued.state == "queued"
        assert (await office.cancel(queued.id)).state == "cancelled"
        assert (await office.cancel(slow.id)).state == "cancelled"
        assert (await office.cancel(slow.id)).state == "cancelled"
    async with Office(settings, tmp_path / "tasks") as office:
        assert [run.state for run in office.runs.values()] == ["cancelled", "cancelled"]


async def test_a_persons_edit_between_rounds_is_followed(office: Office) -> None:
    run = office.start("the whole", approve=True)
    await until(run, "waiting")
    assert run.plan is not None
    text = run.plan.to_markdown()
    with pytest.raises(PlanError, match="nobody"):
        office.approve(run.id, text.replace("(writer)", "(nobody)"))
    assert run.state == "waiting"
    office.approve(run.id, text.replace("Read two", "Read three"))
    assert (await run.ended()).answer == ANSWER.replace("two", "three")
    with pytest.raises(RejectedError, match="does not wait"):
        office.approve(run.id)


async def test_a_second_office_on_the_same_folder_is_refused(
    office: Office, settings: TeamSettings, tmp_path: Path
) -> None:
    with pytest.raises(RunLockedError, match="in use"):
        async with Office(settings, tmp_path / "tasks"):
            pass


async def test_what_cannot_be_a_task_is_refused(office: Office, tmp_path: Path) -> None:
    for task, agent, said in ((" ", "", "task"), ("x" * 100_001, "", "task"), ("x", "raeder", "reader")):
        with pytest.raises(ConfigError, match=said):
            office.start(task, agent=agent)
    for name in ("../x", "a/b", "", "A", "x" * 65):
        if name:
            with pytest.raises(RejectedError, match="task_id"):
                office.start("x", task_id=name)
    assert [path.name for path in (tmp_path / "tasks").iterdir()] == ["lock"]


async def test_a_provider_that_fails_stops_a_task_which_can_be_resumed(settings: TeamSettings, tmp_path: Path) -> None:
    (tmp_path / "planner.toml").rename(tmp_path / "away.toml")
    async with Office(settings, tmp_path / "tasks") as office:
        run = office.start("the whole")
        await until(run, "stopped")
        assert "planner.toml" in run.problem
        (tmp_path / "away.toml").rename(tmp_path / "planner.toml")
        assert json.loads((run.folder / "task.json").read_text())["task"] == "the whole"
        assert (await office.resume(run.id).ended()).answer == ANSWER
