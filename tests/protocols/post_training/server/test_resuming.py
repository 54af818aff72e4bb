"""Runs of post-training that were interrupted: what the next process makes of what it finds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import HostError
from heredity.agents.launchers import available
from heredity.kinds.checkpoint.models.checkpoint import inspect
from heredity.records import Journal

from .tiny import GRADED, SUBMIT, Rig, until

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def cut_before(rig: Rig, kind: str, index: int = 0) -> None:
    """Let the journal end before an event, as if the run had been killed there."""
    journal = Journal.open(rig.run / "journal.jsonl")
    journal.cut_from([e.seq for e in journal.events if e.kind == kind][index])
    journal.close()
    rig.runner.graded.clear()


def status(rig: Rig, name: str) -> Any:
    return json.loads((rig.run / "workspace" / name).read_text())


def digest_of(rig: Rig, name: str) -> str:
    return inspect(rig.output / name).digest


async def test_what_was_being_graded_is_graded_again_and_counts_once(rig: Rig) -> None:
    rig.save(a=0.5, b=0.75)
    await rig.train(SUBMIT + "submit a; submit b")
    cut_before(rig, "submission.completed", 1)
    await rig.train(SUBMIT + "submit b; submit a")
    assert rig.runner.graded.count(digest_of(rig, "b")) == 2  # on the graded view, and on held-out
    assert digest_of(rig, "a") not in rig.runner.graded
    assert len(rig.events("submission.admitted")) == len(rig.events("submission.completed")) == 2
    assert sum(e["charge"] for e in rig.events("submission.admitted")) == 2 * GRADED
    assert rig.events("judging.selected")[0]["submit_id"] == 2
    assert [p.name for p in (rig.run / "models").iterdir()] == [digest_of(rig, "b")]


async def test_what_nobody_asks_for_again_is_kept_all_the_same(rig: Rig) -> None:
    rig.save(a=0.5, b=0.75)
    await rig.train(SUBMIT + "submit a; submit b")
    start = status(rig, "run_meta.json")["start_time"]
    cut_before(rig, "submission.completed", 1)
    await rig.train("true")
    assert [e["digest"] for e in rig.events("checkpoint.kept")] == [digest_of(rig, "a"), digest_of(rig, "b")]
    assert [(s["score"], s["model_path"]) for s in status(rig, "scores.json")] == [
        (50.0, "/workspace/output/a"),
        (75.0, "/workspace/output/b"),
    ]
    assert status(rig, "run_meta.json")["start_time"] == start


@pytest.mark.parametrize("event", ["checkpoint.kept", "submission.completed"])
async def test_weights_are_there_for_the_judge_wherever_the_run_was_killed(rig: Rig, event: str) -> None:
    rig.save(a=0.5)
    await rig.train(SUBMIT + "submit a")
    cut_before(rig, event)
    await rig.train("true")
    assert [e["digest"] for e in rig.events("checkpoint.kept")] == [digest_of(rig, "a")]
    assert rig.events("judging.scored")[0]["scores"] == [0.5, 0.5, 0.5]


async def test_a_copy_that_was_not_finished_is_removed(rig: Rig) -> None:
    for name in (".copying-x", ".merging-y", "f" * 64):
        (rig.run / "models" / name).mkdir(parents=True)
        (rig.run / "models" / name / "config.json").write_text("{}")
    await rig.train("true")
    assert list((rig.run / "models").iterdir()) == []


async def test_an_agent_that_had_not_ended_goes_on_in_its_workspace_with_the_time_left(rig: Rig) -> None:
    rig.save(a=0.5)
    await rig.train(SUBMIT + "echo 'print(1)' > code/train.py; echo 7 > output/step; sleep 0.4; submit a")
    cut_before(rig, "agent.ended")
    script = """
    test "$(cat output/step)" = 7 && cat code/train.py
    curl -s "$GRADING_SERVER_URL/time"; echo; curl -s "$GRADING_SERVER_URL/health"
    """
    ended = await rig.train(script)
    assert ended is not None
    *_, code, clock, health = rig.log.splitlines()
    assert code == "print(1)"
    assert json.loads(clock)["remaining"] < rig.seconds - 0.4
    assert json.loads(health)["total_submissions"] == 1
    assert [e["revision"] for e in rig.events("code.revised")] == [1]
    assert len(rig.events("agent.ended")) == 1


async def test_an_agent_that_had_ended_is_not_started_again(rig: Rig) -> None:
    rig.save(a=0.5)
    await rig.train(SUBMIT + "submit a; exit 4")
    cut_before(rig, "session.closed")
    assert await rig.train("echo again") is None
    assert "again" not in rig.log
    assert [e["code"] for e in rig.events("agent.ended")] == [4]
    assert rig.events("session.closed")[0]["reason"] == "finished"


async def test_after_its_time_a_run_is_only_graded_and_judged(tmp_path: Path) -> None:
    rig = Rig(tmp_path, seconds=1.0)
    rig.save(a=0.5)
    await rig.train(SUBMIT + "sleep 0.5; submit a; sleep 9")
    cut_before(rig, "session.closed")
    assert await rig.train("echo again") is None
    assert rig.events("judging.selected")[0]["submit_id"] == 1
    assert rig.events("session.closed")[0]["reason"] == "budget"


async def test_a_failure_of_the_host_ends_the_run_and_the_next_one_grades_what_was_submitted(rig: Rig) -> None:
    rig.save(a=0.5)
    rig.runner.breaks = True
    with pytest.raises(HostError):
        await rig.train(SUBMIT + "submit a; sleep 20")
    assert "on fire" not in rig.log
    assert rig.events("agent.ended") == []
    rig.runner.breaks = False
    await rig.train(SUBMIT + "submit a")
    assert len(rig.events("submission.admitted")) == len(rig.events("submission.completed")) == 1
    assert rig.events("judging.scored")[0]["scores"] == [0.5, 0.5, 0.5]


async def test_a_run_that_is_interrupted_takes_its_agent_with_it_and_goes_on(rig: Rig) -> None:
    rig.save(a=0.5)
    beat = rig.output / "beat"
    script = "setsid sh -c 'while :; do date +%N > output/beat; sleep 0.02; done' & submit a; sleep 20"
    running = asyncio.create_task(rig.train(SUBMIT + script))
    await asyncio.to_thread(until, lambda: beat.exists() and bool(rig.runner.graded))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    before = beat.read_text()
    await asyncio.sleep(0.2)
    assert beat.read_text() == before
    assert rig.events("session.closed") == []
    await rig.train("true")
    assert len(rig.events("submission.admitted")) == len(rig.events("submission.completed")) == 1
    assert rig.events("judging.selected")[0]["submit_id"] == 1


async def test_a_finished_run_is_left_as_it_is(rig: Rig) -> None:
    rig.save(a=0.5)
    await rig.train(SUBMIT + "submit a")
    before = (rig.run / "journal.jsonl").read_bytes()
    assert await rig.train("echo again") is None
    assert (rig.run / "journal.jsonl").read_bytes() == before
