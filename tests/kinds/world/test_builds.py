"""Builds in processes of their own: what is shown and what is hidden, and processes that end or do not."""

from __future__ import annotations

import asyncio

import pytest

from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world import build_worker as worker
from heredity.kinds.world.building import BuildProcess, BuildRunner, findings_text
from heredity.kinds.world.compose.composing import compose, description_text
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.themes import Theme, ThemeTaskset
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits

TASKSET = ThemeTaskset("themes/mine.toml#composed-12", "composed-12", Theme(theme="A maze"))


def jobs(text: str, count: int = 1) -> list[Job]:
    candidate = Candidate.program(SourceTree({"world.yaml": text}))
    return [Job(TASKSET.info, candidate, TASKSET.draw("train", 1, 3)[0])] * count


async def run(given: list[Job], limits: Limits | None = None) -> list[Trajectory]:
    runner = BuildRunner(2)
    try:
        return [trajectory async for _, trajectory in runner.run(given, limits or Limits())]
    finally:
        await runner.close()


def test_a_build_is_a_trajectory_of_gates() -> None:
    one, again = asyncio.run(run(jobs(description_text(compose(Recipe(12)).description), 2)))
    assert (one.status, one.total_reward, next(iter(one.columns["action"]))) == ("ok", 1.0, "build")
    assert "6 of 6 gates passed" in one.stdout
    assert [row["reward"] for row in one.rows()] == [1.0] * 6
    assert not one.media, "levels and certificates are the judge's"
    assert not any(one.columns["info/figures"]), "and so is what was measured"
    assert one.columns == again.columns
    assert Trajectory.decode(one.encode()).columns["info/findings"] == one.columns["info/findings"]


def test_a_build_that_is_late_is_ended_although_something_on_the_way_swallows_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    swallowed: list[BaseException] = []

    def endless(*_: object) -> None:
        try:
            while True:
                pass
        except BaseException as error:  # noqa: BLE001 - as destructors do
            swallowed.append(error)
        while True:
            pass

    monkeypatch.setattr(worker, "build", endless)
    monkeypatch.setattr(worker, "AGAIN", 0.05)
    request = {"files": {}, "world": "w", "seed": 0, "gates": [], "seconds": 0.05}
    assert worker.answer(request) == {"late": True}
    assert len(swallowed) == 1


def test_what_takes_too_long_is_ended_and_the_next_one_is_built() -> None:
    async def both() -> tuple[list[Trajectory], list[Trajectory]]:
        runner = BuildRunner(1)
        try:
            sound = description_text(compose(Recipe(12)).description)
            late = [t async for _, t in runner.run(jobs(sound), Limits(episode_s=0.05))]
            return late, [t async for _, t in runner.run(jobs("a: 1"), Limits())]
        finally:
            await runner.close()

    (late,), (next_one,) = asyncio.run(both())
    assert (late.status, late.failure_source) == ("rollout_timeout", "candidate")
    assert late.failure is not None
    assert "0.05 seconds of the processor; make levels" in late.failure.message
    assert (next_one.status, next_one.total_reward) == ("ok", 0.0)
    assert "0 of 6 gates passed; 5 more follow when it builds" in next_one.stdout


def test_a_process_that_dies_is_the_worlds_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying(BuildProcess):
        async def _start(self) -> asyncio.subprocess.Process:
            process = await super()._start()
            process.kill()
            return process

    monkeypatch.setattr("heredity.kinds.world.building.BuildProcess", Dying)
    (died,) = asyncio.run(run(jobs("a: 1")))
    assert (died.status, died.failure_source) == ("oom", "candidate")
    assert died.failure is not None
    assert "smaller" in died.failure.message


def test_findings_are_told_with_the_way_to_see_them() -> None:
    finding = {
        "kind": "crash",
        "message": "it fell",
        "count": 3,
        "trace": {"level": "test-01", "actions": [{"action": "go"}]},
    }
    told = findings_text([{"gate": "execution", "passed": False, "findings": [finding]}], 6)
    assert "execution: REJECTED\n- crash (3 times): it fell\n" in told
    assert 'seen in level test-01 after [{"action": "go"}]' in told
