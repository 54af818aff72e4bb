"""Schedules, the contract gate and the judging of snapshots, end to end on labelled tasks."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, HostError, RejectedError, ReplayDivergedError
from heredity.engine.runner import Job
from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods import Budget, Decision, Trial
from heredity.records import read_journal
from heredity.sandbox.limits import Limits
from heredity.session import Session, run_evolution
from heredity.session.schedule import Schedule

from .labelled import Knowing, LabelledTaskset, conditions, probe, prompt, run_plan, terms, views_of, writing


def events(path: Path, kind: str) -> list[dict[str, Any]]:
    return [dict(e.data) for e in read_journal(path / "journal.jsonl") if e.kind == kind]


def points(path: Path) -> dict[str, tuple[str, str | None]]:
    (frozen,) = events(path, "snapshots.frozen")
    return {p["name"]: (p["candidate"], p["role"]) for p in frozen["points"]}


def assessed(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(e["view"], e["candidate"]): e for e in events(path, "snapshot.assessed") if e["model"] is None}


async def test_snapshots_are_frozen_between_batches_and_judged_on_every_view(tmp_path: Path) -> None:
    verdict = await run_evolution(tmp_path, run_plan(terms()), conditions(), writing("x", "x y", "y"))
    digests = [prompt(text).digest for text in ("nothing", "x", "x y", "y")]
    assert points(tmp_path) == {
        "E_0": (digests[0], "A_0"),
        "E_1": (digests[1], None),
        "E_2": (digests[2], None),
        "E_3": (digests[3], "A_T"),
    }
    assessments = assessed(tmp_path)
    means = [sum(assessments["update_validation", d]["scores"]) / 4 for d in digests]
    assert means == [0.0, 0.5, 1.0, 0.5]
    # The best on validation is judged on the other views too, the one that is neither first, best nor last is not.
    for view in ("id", "ood", "replay"):
        assert [(view, d) in assessments for d in digests] == [True, False, True, True]
    assert verdict.candidate == digests[3]
    assert verdict.heldout is not None
    assert verdict.heldout.mean == 0.5
    assert verdict.reference == (0.0,) * 4
    assert [t["domain"] for t in assessments["ood", digests[0]]["tasks"]] == ["z"] * 3
    assert assessments["id", digests[2]]["costs"][0] == {"input_tokens": 10.0, "output_tokens": 2.0}


async def test_replay_holds_tasks_that_were_trained_and_no_others(tmp_path: Path) -> None:
    async def stops_early(session: Session) -> None:
        candidate = prompt("x")
        await session.commit(Decision(candidate.digest, "", True, "first"), candidate)
        async for batch in session.batches():
            await session.submit([Trial(candidate, batch.tasks)], f"b/{batch.number}")
            if batch.number == 1:
                return

    plan = run_plan(terms(replay=6))
    await run_evolution(tmp_path, plan, conditions(), stops_early)
    (frozen,) = events(tmp_path, "snapshots.frozen")
    first = plan.batches.batches[0].tasks if plan.batches else ()
    assert frozen["trained"] == {f"train/{task}": 1 for task in first}
    (replay,) = [e for e in events(tmp_path, "snapshot.assessed") if e["view"] == "replay"]
    assert sorted(t["id"] for t in replay["tasks"]) == sorted(f"train/{task}" for task in first)
    assert [p["role"] for p in frozen["points"]] == ["A_0", "A_T"]


async def test_a_reset_schedule_begins_each_batch_from_the_initial_candidate(tmp_path: Path) -> None:
    schedule = Schedule(batch_size=2, persistence="reset")
    await run_evolution(tmp_path, run_plan(terms(schedule)), conditions(), writing("x", "y"))
    names = {prompt(text).digest: text for text in ("nothing", "x", "y")}
    assert [names[c] for c, _ in points(tmp_path).values()] == ["nothing", "x", "y", "nothing"]
    tried = [names[e["candidate"]] for e in events(tmp_path, "submission.admitted")]
    assert tried == ["nothing"] * 3


async def test_a_session_admits_only_the_open_batch(tmp_path: Path) -> None:
    refusals: list[str] = []

    async def straying(session: Session) -> None:
        candidate = prompt("x")
        await session.commit(Decision(candidate.digest, "", True, "first"), candidate)
        with pytest.raises(RejectedError) as before:
            await session.submit([Trial(candidate, [0])], "before")
        refusals.append(str(before.value))
        async for batch in session.batches():
            outside = next(t for t in range(6) if t not in batch.tasks)
            with pytest.raises(RejectedError) as error:
                await session.submit([Trial(candidate, [outside])], f"outside/{batch.number}")
            refusals.append(str(error.value))
            with pytest.raises(RejectedError) as reserved:
                await session.submit([Trial(candidate, batch.tasks)], "gate/0")
            refusals.append(str(reserved.value))

    await run_evolution(tmp_path, run_plan(terms()), conditions(), straying)
    assert "no batch is open" in refusals[0]
    assert "is not in batch 1" in refusals[1]
    assert "reserved for the contract gate" in refusals[2]
    assert events(tmp_path, "submission.admitted") == []


async def test_without_a_gate_a_broken_harness_collapses_on_every_view(tmp_path: Path) -> None:
    await run_evolution(tmp_path, run_plan(terms(points="all")), conditions(), writing("x y", "broken"))
    broken = prompt("broken").digest
    assessments = assessed(tmp_path)
    for view in ("update_validation", "id", "ood", "replay"):
        assert set(assessments[view, broken]["scores"]) == {0.0}
        assert set(assessments[view, broken]["statuses"]) == {"act_error"}
    assert "before_model returned None" in assessments["id", broken]["errors"][0]


async def test_the_gate_refuses_what_does_not_load_or_fails_on_canaries_and_the_run_goes_on(tmp_path: Path) -> None:
    schedule = Schedule(batch_size=2, gate=True, canaries=2)
    evolve = writing("unloadable", "broken", "x y")
    verdict = await run_evolution(tmp_path, run_plan(terms(schedule)), conditions(probe=probe), evolve)
    decisions = events(tmp_path, "candidate.decided")
    assert [d["accepted"] for d in decisions] == [True, False, False, True]
    assert decisions[1]["reason"] == "contract gate: prompt/system does not load"
    assert decisions[2]["reason"].startswith("contract gate: its code fails on 2 of 2 canaries: ContractError")
    assert verdict.candidate == prompt("x y").digest
    admitted = [e for e in events(tmp_path, "submission.admitted") if e["key"].startswith("gate/")]
    assert [e["charge"] for e in admitted] == [2, 2]
    assert decisions[2]["submissions"] == [admitted[0]["submit_id"]]


async def test_canaries_that_cannot_be_paid_refuse_a_commit(tmp_path: Path) -> None:
    schedule = Schedule(batch_size=2, gate=True, canaries=2)
    plan = run_plan(terms(schedule), budget=Budget(episodes=3))
    await run_evolution(tmp_path, plan, conditions(probe=probe), writing("x"))
    assert events(tmp_path, "candidate.decided")[1]["reason"].startswith(
        "contract gate: the budget does not cover the canaries"
    )


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("gate", [False, True])
async def test_a_run_cut_anywhere_ends_as_if_it_had_not_been(tmp_path: Path, gate: bool, stride: int) -> None:
    schedule = Schedule(batch_size=2, epochs=2, gate=gate, canaries=1 if gate else 0)
    plan, evolve = run_plan(terms(schedule)), writing("x", "broken", "unloadable", "x y")
    whole = tmp_path / "whole"
    await run_evolution(whole, plan, conditions(probe=probe), evolve)
    expected = facts(whole)
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines), stride):
        cut = tmp_path / "cut"
        shutil.copytree(whole, cut)
        (cut / "journal.jsonl").write_bytes(b"".join(lines[:kept]))
        await run_evolution(cut, plan, conditions(probe=probe), evolve)
        assert facts(cut) == expected, f"cut after line {kept}"
        shutil.rmtree(cut)


def facts(path: Path) -> list[tuple[str, str]]:
    times = ("seconds", "at_s", "clock_s", "rollout_seconds")
    return sorted(
        (e.kind, repr(sorted((k, repr(v)) for k, v in e.data.items() if k not in times)))
        for e in read_journal(path / "journal.jsonl")
        if e.kind not in ("run.resumed", "heartbeat")
    )


async def test_a_method_that_decides_otherwise_when_resumed_is_refused(tmp_path: Path) -> None:
    plan = run_plan(terms())
    await run_evolution(tmp_path / "a", plan, conditions(), writing("x", "y", "x y"))
    lines = (tmp_path / "a" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    kept = next(i for i, line in enumerate(lines) if b"session.closed" in line) - 1
    (tmp_path / "a" / "journal.jsonl").write_bytes(b"".join(lines[:kept]))
    with pytest.raises(ReplayDivergedError):
        await run_evolution(tmp_path / "a", plan, conditions(), writing("y", "x"))


async def test_a_run_does_not_go_on_with_another_schedule(tmp_path: Path) -> None:
    await run_evolution(tmp_path, run_plan(terms()), conditions(), writing("x"))
    with pytest.raises(ConfigError, match="batch plan"):
        await run_evolution(tmp_path, run_plan(terms(Schedule(batch_size=3))), conditions(), writing("x"))


async def test_a_snapshot_that_was_changed_on_disk_is_not_assessed(tmp_path: Path) -> None:
    class Tampering(Knowing):
        async def run(self, jobs: Any, limits: Any) -> Any:
            async for item in super().run(jobs, limits):
                yield item
            if jobs[0].task.split != "train":
                for blob in (tmp_path / "run" / "blobs").rglob("*"):
                    if blob.is_file() and b"x y" in blob.read_bytes():
                        blob.chmod(0o600)
                        blob.write_bytes(b"tampered")

    with pytest.raises(DamagedRecordError):
        await run_evolution(tmp_path / "run", run_plan(terms()), conditions(Tampering()), writing("x y"))
    assert not [e for e in events(tmp_path / "run", "snapshot.assessed") if e["candidate"] == prompt("x y").digest]


async def test_splits_that_share_a_task_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="both in train and in id"):
        await run_evolution(tmp_path, run_plan(terms()), conditions(taskset=LabelledTaskset(same=True)), writing())


async def test_several_ood_tasksets_are_views_of_their_own(tmp_path: Path) -> None:
    others = (LabelledTaskset("fake/one"), LabelledTaskset("fake/two"))
    await run_evolution(tmp_path, run_plan(terms(), views=views_of(terms(), *others)), conditions(), writing("x"))
    views = {(e["view"], e["taskset"]) for e in events(tmp_path, "snapshot.assessed")}
    assert {("ood:fake/one", "fake/one"), ("ood:fake/two", "fake/two"), ("id", "fake/labelled")} <= views


async def test_snapshots_are_judged_under_other_models_too(tmp_path: Path) -> None:
    other = Knowing(worth=0.5)
    asked = run_plan(terms(models=("fake/other",)))
    await run_evolution(tmp_path, asked, conditions(others={"fake/other": other}), writing("x y"))
    under = [e for e in events(tmp_path, "snapshot.assessed") if e["model"] == "fake/other"]
    assert {e["view"] for e in under} == {"id", "ood"}
    (final,) = [e for e in under if e["view"] == "id" and e["candidate"] == prompt("x y").digest]
    assert final["scores"] == [0.5] * 4


async def test_view_names_and_splits_reach_no_candidate(tmp_path: Path) -> None:
    """Judged tasks differ from train tasks in nothing that a runner passes on: only their spec, which is theirs."""
    seen: list[Any] = []

    class Watching(Knowing):
        async def run(self, jobs: Any, limits: Any) -> Any:
            seen.extend(jobs)
            async for item in super().run(jobs, limits):
                yield item

    await run_evolution(tmp_path, run_plan(terms()), conditions(Watching()), writing("x"))
    assert seen
    assert all(set(job.task.spec) == {"n"} for job in seen)
    assert not any(set(job.task.attributes) & {"view", "split"} for job in seen)


async def test_a_run_without_one_held_out_attempt_has_not_ended_and_resuming_makes_them_again(tmp_path: Path) -> None:
    down = {"validation", "heldout", "ood"}

    class Unreachable(Knowing):
        async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
            async for position, made in super().run(jobs, limits):
                if jobs[position].task.split in down:
                    failure = Failure("provider_error", "no answer")
                    made = replace(made, status="provider_error", failure_source="provider", failure=failure)
                yield position, made

    runner = Unreachable()
    for view, split in (("4 update-validation", "validation"), ("4 held-out", "heldout")):
        with pytest.raises(HostError, match=f"all {view} rollouts failed .provider_error: no answer"):
            await run_evolution(tmp_path, run_plan(terms()), conditions(runner), writing("x", "x y"))
        down.discard(split)
    verdict = await run_evolution(tmp_path, run_plan(terms()), conditions(runner), writing("x", "x y"))
    assert verdict.heldout is not None
    assert verdict.heldout.mean == 1.0
    # Other views are no result, and what is missing there does not hold it up.
    assert {
        status for e in events(tmp_path, "snapshot.assessed") if e["view"] == "ood" for status in e["statuses"]
    } == {"missing"}
