from __future__ import annotations

import asyncio
import dataclasses
import math
import shutil
import threading
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, HostError, IsolationError, RecordError, RunLockedError
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.methods import Budget, Trial
from heredity.protocols.shared.selection import judge
from heredity.records import Event, RunFolder, load_config, read_journal
from heredity.session import Conditions, HiddenCases, RunPlan, Session, ViewPlan, run_evolution
from heredity.session.bench import Reference, Verdict
from heredity.session.views import ViewScores
from heredity.tasks import Task

from .fakes import FLOOR, FakeRunner, NumbersTaskset, climb, program

PLAN = RunPlan(
    run_id="r",
    suite_id="s",
    evolver={"name": "climb", "kind": "method", "options": {}},
    seed=3,
    budget=Budget(episodes=24),
    protocol="policy-evolution",
    judge=judge,
    views=(ViewPlan("validation", "validation", 4), ViewPlan("heldout", "heldout", 5)),
    train_tasks=8,
    replay=True,
    config={"run": {"seeds": 1, "none": None}},
)
COUNTS = {view.split: view.count for view in PLAN.views}
SECRET = HiddenCases(123456789, b"s" * 32)


def conditions(runner: FakeRunner | None = None, **changes: object) -> Conditions:
    return dataclasses.replace(Conditions(NumbersTaskset(), runner or FakeRunner(), SECRET), **changes)


def journal(path: Path) -> list[Event]:
    return read_journal(path / "journal.jsonl")


def facts(path: Path) -> list[tuple[object, ...]]:
    """Everything in a run's journal but times, resumptions and the order in which concurrent work ended."""
    left_out = ("run.resumed", "heartbeat")
    times = ("seconds", "at_s", "clock_s")
    rows = [
        (e.kind, sorted((k, repr(v)) for k, v in e.data.items() if k not in times))
        for e in journal(path)
        if e.kind not in left_out
    ]
    return sorted(rows)


def submit_all(*requests: tuple[str, list[int]]) -> object:
    async def evolve(session: Session) -> None:
        for number, (text, tasks) in enumerate(requests):
            await session.submit([Trial(program(text), tasks)], f"k/{number}")

    return evolve


async def test_a_run_is_started_evolved_closed_judged_and_finished(tmp_path: Path) -> None:
    reference = Reference(program("value -5"))
    verdict = await run_evolution(tmp_path, PLAN, conditions(reference=reference), climb)
    events = journal(tmp_path)
    kinds = [e.kind for e in events]
    assert kinds[0] == "run.started"
    after = [k for k in kinds[kinds.index("session.closed") :] if k != "judging.scored"]
    assert after == ["session.closed", "judging.selected", "reference.scored", "cases.judged", "run.finished"]
    assert sum(e.data["charge"] for e in events if e.kind == "submission.admitted") == 24
    assert next(e.data["reason"] for e in events if e.kind == "session.closed") == "budget"
    judged = next(e.data for e in events if e.kind == "cases.judged")
    assert judged == {"commitment": events[0].data["commitment"]}
    # Siblings that are judged on the same cases may still be open: nothing opens the commitment, or lets cases be guessed.
    secret, written = SECRET.opening([NumbersTaskset()], COUNTS), (tmp_path / "journal.jsonl").read_text()
    assert secret.commitment in written
    assert secret.salt not in written
    assert secret.digest not in written
    assert SECRET.opening([NumbersTaskset()], COUNTS).fits(SECRET.cases([NumbersTaskset()], COUNTS))
    assert verdict.heldout is not None
    assert verdict.reference is not None
    assert (verdict.status, len(verdict.heldout.scores), len(verdict.reference)) == ("finished", 5, 5)
    assert events[0].data["budget"] == {"episodes": 24}
    assert load_config(tmp_path) == {"run": {"seeds": 1}}


async def test_a_run_can_be_ended_while_its_cases_are_drawn(tmp_path: Path) -> None:
    begun, end = threading.Event(), threading.Event()

    class Slow(NumbersTaskset):
        def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
            begun.set()
            assert end.wait(30), "the event loop stood still"
            return super().draw(split, count, entropy)

    task = asyncio.create_task(run_evolution(tmp_path, PLAN, conditions(taskset=Slow()), climb))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    end.set()


async def test_validation_picks_and_heldout_scores_and_neither_is_a_train_case(tmp_path: Path) -> None:
    runner = FakeRunner()
    verdict = await run_evolution(
        tmp_path, PLAN, conditions(runner), submit_all(("value 1", [0]), ("value 5", [0]), ("value 3", [0]))
    )
    assert (verdict.submit_id, verdict.candidate) == (2, program("value 5").digest)
    by_split = {
        split: [j.task.spec["seed"] for j in runner.jobs if j.task.split == split]
        for split in ("validation", "heldout")
    }
    assert [len(by_split["validation"]), len(by_split["heldout"])] == [12, 5]
    assert verdict.heldout is not None
    assert 5 <= verdict.heldout.mean < 6


async def test_equal_means_go_to_the_later_submission(tmp_path: Path) -> None:
    verdict = await run_evolution(
        tmp_path, PLAN, conditions(), submit_all(("return 2", [0]), ("return  2", [0]), ("return 1", [0]))
    )
    assert verdict.submit_id == 2
    assert "latest of 2" in verdict.reason


async def test_a_candidate_submitted_twice_is_evaluated_once_and_counts_as_its_later_submission(tmp_path: Path) -> None:
    runner = FakeRunner()
    verdict = await run_evolution(
        tmp_path, PLAN, conditions(runner), submit_all(("return 2", [0]), ("return  2", [0]), ("return 2", [1]))
    )
    assert verdict.submit_id == 3
    scored = [e.data for e in journal(tmp_path) if e.kind == "judging.scored" and e.data["view"] == "validation"]
    assert sorted(s["submit_id"] for s in scored) == [2, 3]
    assert len([j for j in runner.jobs if j.task.split == "validation"]) == 8


async def test_failures_on_validation_count_as_the_failure_return_and_missing_attempts_do_not_count(
    tmp_path: Path,
) -> None:
    verdict = await run_evolution(
        tmp_path, PLAN, conditions(), submit_all(("some act_error", [0]), ("return -4", [0]), ("host", [0]))
    )
    assert verdict.submit_id == 2
    assert verdict.validation[program("some act_error").digest].mean == (2 * 1.0 + 2 * FLOOR) / 4
    assert math.isnan(verdict.validation[program("host").digest].mean)
    scored = {e.data["candidate"]: e.data for e in journal(tmp_path) if e.kind == "judging.scored"}
    assert scored[program("host").digest]["scores"] == [None] * 4


class Gaps(FakeRunner):
    """The host fails rollouts of `value 9` on some hidden tasks: the ones that would have told."""

    lost: tuple[tuple[str, int], ...] = (("validation", 3),)

    def _attempt(self, job: Job) -> Trajectory:
        gone = (job.task.split, job.task.index) in self.lost and job.candidate == program("value 9")
        return super()._attempt(dataclasses.replace(job, candidate=program("host")) if gone else job)


async def test_a_candidate_with_too_many_missing_scores_is_not_selected(tmp_path: Path) -> None:
    verdict = await run_evolution(tmp_path, PLAN, conditions(Gaps()), submit_all(("value 1", [0]), ("value 9", [0])))
    assert verdict.candidate == program("value 1").digest
    alone = await run_evolution(tmp_path / "alone", PLAN, conditions(Gaps()), submit_all(("value 9", [0])))
    assert (alone.candidate, alone.heldout) == (None, None)
    assert "90% of its validation scores" in alone.reason
    assert "coverage" not in journal(tmp_path)[0].data
    less = dataclasses.replace(PLAN, coverage=0.75)
    verdict = await run_evolution(tmp_path / "less", less, conditions(Gaps()), submit_all(("value 9", [0])))
    assert (verdict.candidate, journal(tmp_path / "less")[0].data["coverage"]) == (program("value 9").digest, 0.75)


async def test_a_checkpoint_whose_program_fails_is_not_judged(tmp_path: Path) -> None:
    runner = FakeRunner()
    verdict = await run_evolution(tmp_path, PLAN, conditions(runner), submit_all(("fail oom", [0])))
    assert (verdict.submit_id, verdict.candidate, verdict.heldout) == (None, None, None)
    assert "no submission" in verdict.reason
    selected = next(e.data for e in journal(tmp_path) if e.kind == "judging.selected")
    assert selected["candidate"] is None
    assert all(j.task.split == "train" for j in runner.jobs)


async def test_an_evolver_that_raises_is_on_record_and_still_judged(tmp_path: Path) -> None:
    async def evolve(session: Session) -> None:
        await session.submit([Trial(program("value 1"), [0])], "a")
        raise ValueError("a bad idea \ud800")

    verdict = await run_evolution(tmp_path, PLAN, conditions(), evolve)
    assert (verdict.status, verdict.submit_id) == ("failed", 1)
    events = {e.kind: e.data for e in journal(tmp_path)}
    assert events["evolver.failed"]["message"] == "ValueError: a bad idea ?"
    assert "test_run.py" in events["evolver.failed"]["traceback"]
    assert events["session.closed"]["reason"] == "evolver_failed"
    assert events["run.finished"]["status"] == "failed"


async def test_an_evolver_may_run_into_the_end_of_its_budget(tmp_path: Path) -> None:
    verdict = await run_evolution(
        tmp_path, PLAN, conditions(), submit_all(*(("value 1", list(range(8))) for _ in range(9)))
    )
    assert verdict.status == "finished"


async def test_an_evolver_may_close_the_session_early(tmp_path: Path) -> None:
    async def evolve(session: Session) -> None:
        await session.submit([Trial(program("value 1"), [0])], "a")
        await session.close("finished")

    await run_evolution(tmp_path, PLAN, conditions(), evolve)
    assert [e.data["reason"] for e in journal(tmp_path) if e.kind == "session.closed"] == ["finished"]


@pytest.mark.parametrize("error", [IsolationError("no sandbox"), HostError("no provider"), RecordError("no disk")])
async def test_what_is_not_the_evolvers_fault_leaves_the_run_to_be_resumed(tmp_path: Path, error: Exception) -> None:
    async def evolve(session: Session) -> None:
        raise error

    with pytest.raises(type(error)):
        await run_evolution(tmp_path, PLAN, conditions(), evolve)
    assert [e.kind for e in journal(tmp_path)] == ["run.started"]
    verdict = await run_evolution(tmp_path, PLAN, conditions(), climb)
    assert verdict.status == "finished"


async def test_a_finished_run_is_answered_from_its_journal(tmp_path: Path) -> None:
    first = await run_evolution(tmp_path, PLAN, conditions(reference=Reference(program("value 0"))), climb)
    before = (tmp_path / "journal.jsonl").read_bytes()
    runner = FakeRunner()
    again = await run_evolution(tmp_path, PLAN, conditions(runner, reference=Reference(program("value 0"))), climb)
    assert _comparable(again) == _comparable(first)
    assert runner.jobs == []
    assert (tmp_path / "journal.jsonl").read_bytes() == before


def _comparable(verdict: Verdict) -> str:
    return repr({**dataclasses.asdict(verdict), "validation": sorted(verdict.validation.items())})


async def test_a_reference_computed_once_per_suite_is_taken_over(tmp_path: Path) -> None:
    runner = FakeRunner()
    scores = (1.0, 2.0, math.nan, 4.0, 5.0)
    shared = conditions(runner, reference=Reference(program("value 0"), scores))
    verdict = await run_evolution(tmp_path, PLAN, shared, submit_all(("fail oom", [0])))
    assert verdict.reference == scores
    assert [e.data["scores"] for e in journal(tmp_path) if e.kind == "reference.scored"] == [[1.0, 2.0, None, 4.0, 5.0]]
    short = conditions(runner, reference=Reference(program("value 0"), (1.0,)))
    with pytest.raises(ConfigError, match="5"):
        await run_evolution(tmp_path / "short", PLAN, short, submit_all(("fail oom", [0])))


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.slow)])
async def test_a_run_cut_after_any_event_resumes_to_the_same_end(tmp_path: Path, stride: int) -> None:
    whole = tmp_path / "whole"
    reference = Reference(program("value -5"))
    await run_evolution(whole, PLAN, conditions(reference=reference), climb)
    expected = facts(whole)
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 40
    for kept in range(0, len(lines), stride):
        cut = tmp_path / "cut"
        shutil.copytree(whole, cut)
        torn = lines[kept][: len(lines[kept]) // 2]
        (cut / "journal.jsonl").write_bytes(b"".join(lines[:kept]) + torn)
        await run_evolution(cut, PLAN, conditions(reference=reference), climb)
        assert facts(cut) == expected, f"cut after {kept} events"
        shutil.rmtree(cut)


async def test_a_cancelled_run_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    await run_evolution(tmp_path / "whole", PLAN, conditions(), climb)
    run = tmp_path / "run"
    for attempt in range(200):
        work = asyncio.create_task(run_evolution(run, PLAN, conditions(FakeRunner(delay_s=0.001)), climb))
        await asyncio.sleep(0.002 + 0.004 * attempt)
        work.cancel()
        await asyncio.wait({work})
        if not work.cancelled():
            break
    assert work.result().status == "finished"
    assert attempt > 1
    assert facts(run) == facts(tmp_path / "whole")
    resumed = [e.data["attempt"] for e in journal(run) if e.kind == "run.resumed"]
    assert resumed == list(range(1, len(resumed) + 1))


@pytest.mark.parametrize(
    "plan",
    [
        dataclasses.replace(PLAN, seed=4),
        dataclasses.replace(PLAN, views=(*PLAN.views[:1], ViewPlan("heldout", "heldout", 6))),
        dataclasses.replace(PLAN, config={"run": {"seeds": 2}}),
        dataclasses.replace(PLAN, budget=Budget(episodes=25)),
    ],
)
async def test_a_folder_is_not_resumed_under_other_conditions(tmp_path: Path, plan: RunPlan) -> None:
    await run_evolution(tmp_path, PLAN, conditions(), submit_all(("value 1", [0])))
    with pytest.raises(ConfigError, match="holds a run with"):
        await run_evolution(tmp_path, plan, conditions(), climb)


async def test_a_folder_is_not_resumed_on_another_taskset_version_or_other_cases(tmp_path: Path) -> None:
    await run_evolution(tmp_path, PLAN, conditions(), submit_all(("value 1", [0])))
    with pytest.raises(ConfigError, match="taskset_version"):
        await run_evolution(tmp_path, PLAN, conditions(taskset=NumbersTaskset(version="2")), climb)
    with pytest.raises(ConfigError, match="commitment"):
        await run_evolution(tmp_path, PLAN, conditions(hidden_cases=HiddenCases(1, b"t" * 32)), climb)


async def test_a_run_folder_in_use_is_refused(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path), pytest.raises(RunLockedError):
        await run_evolution(tmp_path, PLAN, conditions(), climb)


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    for changes in ({"train_tasks": 0}, {"min_episodes": 9, "max_episodes": 8}, {"seed": -1}):
        with pytest.raises(ConfigError):
            dataclasses.replace(PLAN, **changes)
    with pytest.raises(ConfigError, match=r"views\.heldout is 0"):
        ViewPlan("heldout", "heldout", 0)


async def test_a_run_without_one_attempt_on_a_view_has_not_ended_and_resuming_makes_them_again(tmp_path: Path) -> None:
    runner = FakeRunner(host_failures=3)
    shared = conditions(runner)
    for view in ("4 validation", "5 held-out"):
        with pytest.raises(HostError, match=f"all {view} rollouts failed.*went wrong"):
            await run_evolution(tmp_path, PLAN, shared, submit_all(("value 1", [0])))
        assert "run.finished" not in [e.kind for e in journal(tmp_path)]
    verdict = await run_evolution(tmp_path, PLAN, shared, submit_all(("value 1", [0])))
    assert verdict.heldout is not None
    assert verdict.heldout.statuses == ("ok",) * 5
    attempted = [job.task.split for job in runner.jobs]
    assert attempted.count("validation") == 4 * 4
    assert attempted.count("heldout") == 5 * 4
    again = await run_evolution(tmp_path, PLAN, conditions(FakeRunner()), submit_all(("value 1", [0])))
    assert _comparable(again) == _comparable(verdict)


def test_why_attempts_are_missing_is_journalled() -> None:
    scores = ViewScores((1.0, math.nan), (2, 0), ("ok", "missing"), 0.5, why="no answer")
    assert repr(ViewScores.from_json(scores.to_json())) == repr(scores)
    assert "why" not in dataclasses.replace(scores, why="").to_json()
