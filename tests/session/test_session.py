from __future__ import annotations

import asyncio
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heredity._core.errors import (
    BudgetError,
    ClosedError,
    ConfigError,
    DamagedRecordError,
    HostError,
    IsolationError,
    RecordError,
    RejectedError,
    ReplayDivergedError,
)
from heredity.methods import Budget, Feedback, Trial
from heredity.records import Journal, read_journal
from heredity.resources import Candidate, SourceTree
from heredity.session.session import RunClock
from heredity.session.session_log import cut_torn_request

from .fakes import FLOOR, FakeRunner, open_session, program


def kinds(folder: Path) -> list[str]:
    return [e.kind for e in read_journal(folder / "journal.jsonl")]


def charges(folder: Path) -> int:
    return sum(e.data["charge"] for e in read_journal(folder / "journal.jsonl") if e.kind == "submission.admitted")


async def test_a_submission_is_charged_attempted_recorded_and_answered_in_the_order_of_the_request(
    tmp_path: Path,
) -> None:
    session = open_session(tmp_path, FakeRunner())
    [feedback] = await session.submit([Trial(program("value 3"), [5, 0, 5], repeats=2)], "a")
    assert [o.task for o in feedback.outcomes] == [5, 0, 5, 5, 0, 5]
    assert feedback.scores[0] == feedback.scores[2] == feedback.scores[3] != feedback.scores[1]
    assert feedback.status == "ok"
    assert feedback.mean > 3
    assert session.remaining().episodes == 14
    assert kinds(tmp_path) == ["candidate", "submission.admitted", "submission.completed"]
    [_, admitted, completed] = read_journal(tmp_path / "journal.jsonl")
    assert (admitted.data["charge"], admitted.data["remaining"]) == (6, 14)
    assert completed.data["invalid_steps"] == [1] * 6
    assert completed.data["outcomes"][1]["score"] == feedback.scores[1]


async def test_the_charge_is_on_disk_before_any_attempt_starts(tmp_path: Path) -> None:
    runner = FakeRunner(gate=asyncio.Event())
    session = open_session(tmp_path, runner)
    reply = asyncio.create_task(session.submit([Trial(program("value 3"), [0])], "a"))
    while not runner.jobs:  # noqa: ASYNC110 - the runner belongs to the other side
        await asyncio.sleep(0.005)
    assert len(runner.jobs) == 1
    assert kinds(tmp_path) == ["candidate", "submission.admitted"]
    assert runner.gate is not None
    runner.gate.set()
    await reply


async def test_a_request_of_several_trials_is_admitted_whole(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    trials = [Trial(program(f"value {i}"), [i]) for i in range(3)]
    answers = await session.submit(trials, "a")
    assert [a.submit_id for a in answers] == [1, 2, 3]
    assert [a.candidate for a in answers] == [t.candidate.digest for t in trials]
    with pytest.raises(BudgetError, match="17"):
        await session.submit([Trial(program("value 9"), range(8))] * 3, "b")
    assert session.remaining().episodes == 17
    assert charges(tmp_path) == 3


async def test_the_same_key_gives_the_same_answer_and_is_charged_once(tmp_path: Path) -> None:
    runner = FakeRunner(gate=asyncio.Event())
    session = open_session(tmp_path, runner)
    trial = Trial(program("value 3"), [0, 1])
    first, second = (asyncio.create_task(session.submit([trial], "a")) for _ in range(2))
    await asyncio.sleep(0.02)
    assert runner.gate is not None
    runner.gate.set()
    assert (await first)[0].scores.tolist() == (await second)[0].scores.tolist()
    again = (await session.submit([trial], "a"))[0]
    assert again.scores.tolist() == (await first)[0].scores.tolist()
    assert len(runner.jobs) == 2
    assert charges(tmp_path) == 2


async def test_a_caller_that_gives_up_does_not_stop_its_submission(tmp_path: Path) -> None:
    runner = FakeRunner(gate=asyncio.Event())
    session = open_session(tmp_path, runner)
    trial = Trial(program("value 3"), [0])
    caller = asyncio.create_task(session.submit([trial], "a"))
    await asyncio.sleep(0.01)
    caller.cancel()
    await asyncio.wait({caller})
    assert caller.cancelled()
    assert runner.gate is not None
    runner.gate.set()
    assert (await session.submit([trial], "a"))[0].status == "ok"
    assert charges(tmp_path) == len(runner.jobs) == 1


async def test_an_answer_after_a_restart_is_the_first_answer_with_its_trajectories(tmp_path: Path) -> None:
    trials = [Trial(program("some act_error"), [0, 1, 2]), Trial(program("fail oom"), [3])]
    before = await open_session(tmp_path, FakeRunner()).submit(trials, "a")
    runner = FakeRunner()
    session = open_session(tmp_path, runner)
    after = await session.submit(trials, "a")
    assert runner.jobs == []
    for one, other in zip(before, after, strict=True):
        assert _facts(one) == _facts(other)
        for a, b in zip(one.outcomes, other.outcomes, strict=True):
            assert a.trajectory is not None
            assert b.trajectory is not None
            assert a.trajectory.encode() == b.trajectory.encode()
    assert session.load(1)[0].columns["reward"].tolist() == [1.0, 0.0]


def _facts(feedback: Feedback) -> tuple[object, ...]:
    outcomes = [(o.task, o.score, o.length, o.status, o.failure) for o in feedback.outcomes]
    return feedback.submit_id, feedback.candidate, feedback.status, feedback.failure, outcomes


async def test_a_key_with_another_request_is_rejected(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    await session.submit([Trial(program("value 3"), [0])], "a")
    with pytest.raises(RejectedError, match="another request"):
        await session.submit([Trial(program("value 3"), [1])], "a")
    with pytest.raises(RejectedError, match="another request"):
        await open_session(tmp_path, FakeRunner()).submit([Trial(program("value 4"), [0])], "a")


async def test_a_replaying_evolver_that_asks_for_something_else_has_diverged(tmp_path: Path) -> None:
    await open_session(tmp_path, FakeRunner(), replay=True).submit([Trial(program("value 3"), [0])], "a")
    session = open_session(tmp_path, FakeRunner(), replay=True)
    for _ in range(2):
        with pytest.raises(ReplayDivergedError, match="'a'"):
            await session.submit([Trial(program("value 4"), [0])], "a")
    assert kinds(tmp_path).count("submission.rejected") == 0


async def test_a_replaying_evolver_sees_the_budget_it_saw_the_first_time(tmp_path: Path) -> None:
    first = open_session(tmp_path, FakeRunner(), replay=True)
    await first.submit([Trial(program("value 3"), [0, 1])], "a")
    await first.submit([Trial(program("value 4"), [0, 1, 2])], "b")
    again = open_session(tmp_path, FakeRunner(), replay=True)
    seen = [again.remaining().episodes]
    await again.submit([Trial(program("value 3"), [0, 1])], "a")
    seen.append(again.remaining().episodes)
    await again.submit([Trial(program("value 3"), [0, 1])], "a")
    await again.submit([Trial(program("value 4"), [0, 1, 2])], "b")
    seen.append(again.remaining().episodes)
    await again.submit([Trial(program("value 5"), [0])], "c")
    seen.append(again.remaining().episodes)
    assert seen == [20, 18, 15, 14]
    assert open_session(tmp_path, FakeRunner()).remaining().episodes == 14


async def test_what_was_interrupted_is_attempted_again_without_a_second_charge(tmp_path: Path) -> None:
    runner = FakeRunner(gate=asyncio.Event())
    session = open_session(tmp_path, runner)
    trial = Trial(program("value 3"), [0, 1])
    caller = asyncio.create_task(session.submit([trial], "a"))
    await asyncio.sleep(0.02)
    await session.abandon()
    with pytest.raises(asyncio.CancelledError):
        await caller
    resumed_runner = FakeRunner()
    resumed = open_session(tmp_path, resumed_runner)
    assert resumed.remaining().episodes == 18
    await resumed.recover()
    await resumed.close("finished")
    assert [s.status for s in resumed.snapshot()] == ["ok"]
    assert len(resumed_runner.jobs) == charges(tmp_path) == 2
    assert (await resumed.submit([trial], "a"))[0].status == "ok"
    assert kinds(tmp_path)[-1] == "session.closed"


async def test_an_interrupted_submission_is_joined_by_the_evolver_that_asks_again(tmp_path: Path) -> None:
    first = open_session(tmp_path, FakeRunner(gate=asyncio.Event()), replay=True)
    trial = Trial(program("value 3"), [0])
    caller = asyncio.create_task(first.submit([trial], "a"))
    await asyncio.sleep(0.02)
    await first.abandon()
    await asyncio.wait({caller})
    runner = FakeRunner()
    resumed = open_session(tmp_path, runner, replay=True)
    await resumed.recover()
    assert (await resumed.submit([trial], "a"))[0].mean > 3
    assert len(runner.jobs) == 1


async def test_feedback_is_published_after_its_record_and_before_the_reply(tmp_path: Path) -> None:
    published: list[tuple[int, list[str], int]] = []

    def publisher(session: object) -> object:
        async def publish(feedback: Feedback, trajectories: list[object]) -> None:
            await asyncio.sleep(0)
            published.append((feedback.submit_id, kinds(tmp_path)[-1:], len(trajectories)))

        return publish

    session = open_session(tmp_path, FakeRunner(), publisher=publisher)
    await session.submit([Trial(program("value 3"), [0, 1])], "a")
    assert published == [(1, ["submission.completed"], 2)]
    await open_session(tmp_path, FakeRunner(), publisher=publisher).recover()
    assert [t[0] for t in published] == [1, 1]


async def test_the_candidates_own_failures_score_at_most_the_failure_return(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    [high] = await session.submit([Trial(program("fail act_error 5"), [0])], "a")
    [low] = await session.submit([Trial(program("fail act_error -50"), [0])], "b")
    assert high.scores.tolist() == [FLOOR]
    assert low.scores.tolist() == [-50.0]
    assert high.outcomes[0].failure is not None
    assert high.outcomes[0].failure.traceback == "policy.py line 3"
    assert (high.status, high.outcomes[0].status) == ("ok", "act_error")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
async def test_a_return_that_is_not_finite_counts_as_a_failure(tmp_path: Path, value: str) -> None:
    session = open_session(tmp_path, FakeRunner())
    [feedback] = await session.submit([Trial(program(f"return {value}"), [0])], "a")
    assert feedback.scores.tolist() == [FLOOR]
    assert feedback.outcomes[0].status == "non_finite_return"


async def test_a_program_failure_of_all_episodes_is_the_submissions_status(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    [all_oom] = await session.submit([Trial(program("fail oom"), [0, 1])], "a")
    [some_oom] = await session.submit([Trial(program("some oom"), [0, 1])], "b")
    assert (all_oom.status, some_oom.status) == ("oom", "ok")
    assert all_oom.failure is not None
    assert some_oom.failure is None


@pytest.mark.parametrize("parts", [{"agent": SourceTree({"other.py": ""})}, {"prompt": SourceTree({"p": "x"})}])
async def test_a_candidate_without_policy_is_charged_and_told_so(tmp_path: Path, parts: dict[str, SourceTree]) -> None:
    runner = FakeRunner()
    session = open_session(tmp_path, runner)
    [feedback] = await session.submit([Trial(Candidate(parts), [0, 1])], "a")
    assert feedback.status == "missing_policy"
    assert feedback.scores.tolist() == [FLOOR, FLOOR]
    assert session.remaining().episodes == 18
    assert runner.jobs == []
    assert (await open_session(tmp_path, runner).submit([Trial(Candidate(parts), [0, 1])], "a"))[
        0
    ].status == "missing_policy"


async def test_an_attempt_that_the_host_failed_is_repeated(tmp_path: Path) -> None:
    runner = FakeRunner(host_failures=2)
    [feedback] = await open_session(tmp_path, runner).submit([Trial(program("value 3"), [0, 1])], "a")
    assert feedback.mean > 3
    assert len(runner.jobs) == 6


async def test_an_attempt_that_the_host_keeps_failing_is_missing_and_never_a_zero(tmp_path: Path) -> None:
    runner = FakeRunner()
    [feedback] = await open_session(tmp_path, runner).submit([Trial(program("host"), [0])], "a")
    assert math.isnan(feedback.scores[0])
    assert feedback.outcomes[0].status == "missing"
    assert len(runner.jobs) == 3
    completed = read_journal(tmp_path / "journal.jsonl")[-1].data
    assert completed["outcomes"][0]["score"] is None
    again = open_session(tmp_path, runner).snapshot()[0]
    assert math.isnan(again.outcomes[0].score)


async def test_a_machine_that_cannot_confine_policies_stops_the_session_and_costs_nothing_twice(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner(host_failures=9, host_category="isolation_error"))
    trial = Trial(program("value 3"), [0, 1])
    with pytest.raises(IsolationError, match="heredity doctor"):
        await session.submit([trial], "a")
    with pytest.raises(HostError):
        await session.submit([Trial(program("value 4"), [0])], "b")
    await session.abandon()
    resumed = open_session(tmp_path, FakeRunner())
    await resumed.recover()
    await resumed.close("finished")
    assert [s.status for s in resumed.snapshot()] == ["ok"]
    assert charges(tmp_path) == 2


@pytest.mark.parametrize(
    ("trials", "key", "message"),
    [
        ([Trial(program("value 1"), [8])], "a", "train task 8 does not exist"),
        ([Trial(program("value 1"), [-1])], "a", "train task -1 does not exist"),
        ([Trial(program("value 1"), [True])], "a", "integer"),
        ([Trial(program("value 1"), [0.5])], "a", "integer"),
        ([Trial(program("value 1"), [])], "a", "0 episodes"),
        ([Trial(program("value 1"), [0], repeats=0)], "a", "repeats is 0"),
        ([Trial(program("value 1"), [0], repeats=10**12)], "a", "1000000000000 episodes"),
        ([], "a", "0 trials"),
        ([Trial(program("value 1"), [0])], "", "the key"),
        ([Trial(program("value 1"), [0])], "k" * 201, "the key"),
    ],
)
async def test_a_malformed_request_costs_nothing_and_is_journalled(
    tmp_path: Path, trials: list[Trial], key: str, message: str
) -> None:
    session = open_session(tmp_path, FakeRunner())
    for _ in range(2):
        with pytest.raises(RejectedError, match=message):
            await session.submit(trials, key)
    assert session.remaining().episodes == 20
    assert kinds(tmp_path) == ["submission.rejected"]
    with pytest.raises(RejectedError, match=message):
        await open_session(tmp_path, FakeRunner()).submit(trials, key)
    assert kinds(tmp_path) == ["submission.rejected"]


async def test_handles_may_be_numpy_integers(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    [feedback] = await session.submit([Trial(program("value 1"), np.array([3, 1]))], "a")  # type: ignore[arg-type]
    assert [o.task for o in feedback.outcomes] == [3, 1]


async def test_a_rejected_key_can_be_used_for_the_corrected_request(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    with pytest.raises(RejectedError):
        await session.submit([Trial(program("value 1"), [99])], "a")
    assert (await session.submit([Trial(program("value 1"), [0])], "a"))[0].status == "ok"


async def test_a_flood_of_refused_requests_does_not_fill_the_journal(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    for i in range(1100):
        with pytest.raises(RejectedError):
            await session.submit([], f"flood/{i}")
    assert len(kinds(tmp_path)) == 1000


async def test_a_spent_or_closed_session_admits_nothing_and_still_answers_what_it_admitted(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner(), budget=Budget(episodes=2))
    trial = Trial(program("value 1"), [0, 1])
    await session.submit([trial], "a")
    with pytest.raises(ClosedError, match="spent"):
        await session.submit([trial], "b")
    await asyncio.wait_for(session.finished(), 1)
    await session.close("budget")
    await session.close("finished")
    with pytest.raises(ClosedError, match="budget"):
        await session.submit([trial], "b")
    assert (await session.submit([trial], "a"))[0].status == "ok"
    assert kinds(tmp_path)[-2:] == ["heartbeat", "session.closed"]
    assert open_session(tmp_path, FakeRunner(), budget=Budget(episodes=2)).closed == "budget"


async def test_a_budget_of_submissions_is_kept(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner(), budget=Budget(submissions=2))
    await session.submit([Trial(program("value 1"), [0])], "a")
    with pytest.raises(BudgetError, match="2 submissions"):
        await session.submit([Trial(program("value 1"), [0])] * 2, "b")
    await session.submit([Trial(program("value 1"), [0])], "c")
    with pytest.raises(ClosedError):
        await session.submit([Trial(program("value 1"), [0])], "d")


def test_a_budget_that_a_session_cannot_keep_is_refused(tmp_path: Path) -> None:
    for budget in (Budget(episodes=-1), Budget(tokens=-5)):
        with pytest.raises(ConfigError):
            open_session(tmp_path / str(budget.tokens), FakeRunner(), budget=budget)


async def test_many_submissions_at_once_are_each_charged_once(tmp_path: Path) -> None:
    runner = FakeRunner(delay_s=0.001)
    session = open_session(tmp_path, runner, budget=Budget(episodes=60))
    requests = [session.submit([Trial(program(f"value {i}"), [i % 8, 0])], f"k/{i}") for i in range(40)]
    answers = await asyncio.gather(*requests, return_exceptions=True)
    admitted = [a for a in answers if not isinstance(a, BaseException)]
    assert len(admitted) == 30
    assert all(isinstance(a, ClosedError) for a in answers if isinstance(a, BaseException))
    assert charges(tmp_path) == 60
    assert session.remaining().episodes == 0
    assert runner.most_at_once > 1
    left = [e.data["remaining"] for e in read_journal(tmp_path / "journal.jsonl") if e.kind == "submission.admitted"]
    assert left == list(range(58, -1, -2))


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=3), max_size=12), episodes=st.integers(0, 60))
def test_the_budget_is_exact_whatever_is_asked(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[list[int]], episodes: int
) -> None:
    folder = tmp_path_factory.mktemp("budget")

    async def ask() -> int:
        session = open_session(folder, FakeRunner(), budget=Budget(episodes=episodes))
        spent = 0
        for number, request in enumerate(sizes):
            trials = [Trial(program("value 1"), range(size)) for size in request]
            fits = spent + sum(request) <= episodes and spent < episodes
            try:
                await session.submit(trials, str(number))
            except (BudgetError, ClosedError):
                assert not fits
            else:
                assert fits
                spent += sum(request)
            assert session.remaining().episodes == episodes - spent
        return spent

    assert asyncio.run(ask()) == charges(folder)


async def test_a_request_torn_between_its_lines_is_taken_back(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    await session.submit([Trial(program("value 1"), [0])], "a")
    await session.submit([Trial(program(f"value {i}"), [0]) for i in (1, 2, 3)], "b")
    path = tmp_path / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    # What reached the disk of the second request: nothing, one, two of its three charges, or all.
    starts = [i for i, e in enumerate(read_journal(path)) if e.kind == "submission.admitted"]
    for kept, whole in ((starts[1], False), (starts[2], False), (starts[2] + 1, False), (starts[3], True)):
        path.write_bytes(b"".join(lines[: kept + 1]))
        journal = Journal.open(path)
        cut_torn_request(journal)
        journal.close()
        assert charges(tmp_path) == (4 if whole else 1)
    path.write_bytes(b"".join(lines[: starts[1] + 1]))
    journal = Journal.open(path)
    assert cut_torn_request(journal) == 1
    assert cut_torn_request(journal) == 0


async def test_lineage_and_notes_are_journalled_when_they_are_new(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    one = program("value 1")
    await session.submit([Trial(one, [0], note="first\nline \ud800")], "a")
    await session.submit([Trial(one, [1], note="first\nline \ud800")], "b")
    await session.submit([Trial(one, [1], parents=("p",), note="again")], "c")
    lines = [e.data for e in read_journal(tmp_path / "journal.jsonl") if e.kind == "candidate"]
    assert [(line["parents"], line["note"]) for line in lines] == [([], "first line ?"), (["p"], "again")]


async def test_a_damaged_candidate_or_trajectory_is_reported(tmp_path: Path) -> None:
    session = open_session(tmp_path, FakeRunner())
    trial = Trial(program("value 1"), [0])
    await session.submit([trial], "a")
    for path in (tmp_path / "blobs").glob("*/*"):
        path.write_bytes(b"damaged")
    with pytest.raises(DamagedRecordError):
        await session.submit([trial], "a")


class DyingRunner(FakeRunner):
    async def run(self, jobs, limits):  # type: ignore[no-untyped-def, override]
        raise HostError("the workers are gone")
        yield


async def test_a_runner_that_dies_breaks_the_session_which_can_be_resumed(tmp_path: Path) -> None:
    session = open_session(tmp_path, DyingRunner())
    trial = Trial(program("value 1"), [0])
    with pytest.raises(HostError, match="workers are gone"):
        await session.submit([trial], "a")
    with pytest.raises(HostError, match="session stopped"):
        await session.submit([trial], "b")
    with pytest.raises(HostError, match="session stopped"):
        await session.close("finished")
    assert session.broken is not None
    resumed = open_session(tmp_path, FakeRunner())
    assert (await resumed.submit([trial], "a"))[0].status == "ok"
    assert charges(tmp_path) == 1


class SilentRunner(FakeRunner):
    async def run(self, jobs, limits):  # type: ignore[no-untyped-def, override]
        async for position, trajectory in super().run(jobs, limits):
            if position:
                yield position, trajectory


async def test_a_runner_that_leaves_attempts_out_is_an_error_of_the_host(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="1 of 2"):
        await open_session(tmp_path, SilentRunner()).submit([Trial(program("value 1"), [0, 1])], "a")


async def test_a_disk_that_fails_at_the_charge_stops_the_session(tmp_path: Path) -> None:
    runner = FakeRunner()
    session = open_session(tmp_path, runner)
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(RecordError, match="could not be written"):
        await session.submit([Trial(program("value 1"), [0])], "a")
    assert runner.jobs == []
    assert kinds(tmp_path) == []


async def test_a_time_budget_counts_the_runs_clock_across_restarts(tmp_path: Path) -> None:
    now = [100.0]
    clock = RunClock(0.0, 0.01, lambda: now[0])
    budget = Budget(episodes=10, seconds=0.05)
    session = open_session(tmp_path, FakeRunner(), budget=budget, clock=clock)
    beats = asyncio.create_task(session.heartbeats())
    now[0] += 0.015
    await asyncio.sleep(0.03)
    beats.cancel()
    assert session.remaining().seconds == pytest.approx(0.035)
    # The process dies, and much later another one continues.
    last = [e.data["clock_s"] for e in read_journal(tmp_path / "journal.jsonl")][-1]
    assert last == 0.015
    resumed = open_session(tmp_path, FakeRunner(), budget=budget, clock=RunClock(last, 0.03, lambda: now[0]))
    now[0] += 0.04
    with pytest.raises(ClosedError, match="spent"):
        await resumed.submit([Trial(program("value 1"), [0])], "a")


def test_a_pause_does_not_eat_time() -> None:
    now = [0.0]
    clock = RunClock(7.0, 5.0, lambda: now[0])
    now[0] = 4.0
    assert clock.tick() == 11.0
    now[0] = 3600.0
    assert clock.tick() == 21.0
    assert clock.now() == 21.0


async def test_policies_are_seeded_by_the_runs_seed_and_the_handle_only(tmp_path: Path) -> None:
    runner = FakeRunner()
    await open_session(tmp_path, runner).submit([Trial(program("value 1"), [2, 3, 2])], "a")
    seeds = [job.policy_seed for job in runner.jobs]
    assert seeds[0] == seeds[2] != seeds[1]
    assert [job.episode_index for job in runner.jobs] == [0, 1, 2]
    assert all(job.task.spec["seed"] != job.policy_seed for job in runner.jobs)
