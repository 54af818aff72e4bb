"""Commits, recorded models, and budgets of tokens and cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from heredity._core.errors import (
    ClosedError,
    ConfigError,
    OutageError,
    ProviderError,
    RejectedError,
    ReplayDivergedError,
)
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.methods import Budget, Decision, Trial
from heredity.models import Reply, Request, Usage
from heredity.records import BlobStore, Committer, Journal, read_journal
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.session import Session, SessionRules
from heredity.tasks import Task, TasksetInfo

INFO = TasksetInfo("questions/none", "1", "question", {}, {}, "", 0.0)


class Answering:
    """Rollouts questions in this process; every rollout costs ten tokens and a cent."""

    def __init__(self, cost: dict[str, float] | None = None) -> None:
        self.cost = cost if cost is not None else {"input_tokens": 8, "output_tokens": 2, "cost_usd": 0.01}
        self.rollouts = 0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            self.rollouts += 1
            trajectory = Trajectory(job.task.id, job.candidate.digest, "ok", "none", 1.0, 1, True, {"reward": [1.0]})
            yield position, replace(trajectory, cost=self.cost)

    async def close(self) -> None:
        """Nothing was started."""


class Counting:
    """A model that numbers its answers, and fails when it is told to."""

    name = "fake/counting"

    def __init__(self) -> None:
        self.calls = 0
        self.down = ""

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        if "fail" in request.messages[-1].content:
            raise ProviderError("empty", "nothing was said", transient=True)
        if self.down:
            raise ProviderError(self.down, "the server is down", transient=True)
        return Reply(f"answer {self.calls}", usage=Usage(30, 10, 0, 0.05), model=self.name)


def prompt(text: str) -> Candidate:
    return Candidate({"prompt/system": SourceTree({"prompt.md": text})})


def opened(folder: Path, budget: Budget, runner: Answering | None = None, *, replay: bool = True) -> Session:
    records = Committer(Journal.open(folder / "journal.jsonl"), BlobStore(folder / "blobs"))
    tasks = [Task(f"train/{i}", "train", i, {}) for i in range(10)]
    rules = SessionRules(budget, seed=0, replay=replay)
    return Session(records, runner or Answering(), taskset=INFO, tasks=tasks, rules=rules)


def decision(candidate: Candidate, *, accepted: bool = True, difference: float | None = None) -> Decision:
    return Decision(candidate.digest, "", accepted, "because", (1,), difference, (0.1, 0.3), 4, 0.0)


async def test_a_commit_is_recorded_once_and_read_back_whole(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=20))
    await session.submit([Trial(prompt("a"), [0])], "a")
    await session.commit(decision(prompt("a"), difference=0.25))
    again = opened(tmp_path, Budget(episodes=20))
    assert again.decisions == session.decisions == (decision(prompt("a"), difference=0.25),)
    await again.commit(decision(prompt("a"), difference=0.25))
    assert [e.kind for e in read_journal(tmp_path / "journal.jsonl")].count("candidate.decided") == 1


async def test_a_resumed_method_that_decides_otherwise_is_stopped(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=20))
    await session.submit([Trial(prompt("a"), [0])], "a")
    await session.commit(decision(prompt("a")))
    with pytest.raises(ReplayDivergedError, match="decision 1"):
        await opened(tmp_path, Budget(episodes=20)).commit(decision(prompt("a"), accepted=False))


async def test_an_agent_that_starts_again_adds_its_decisions(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=20), replay=False)
    await session.submit([Trial(prompt("a"), [0])], "a")
    await session.commit(decision(prompt("a")))
    await opened(tmp_path, Budget(episodes=20), replay=False).commit(decision(prompt("a"), accepted=False))
    assert [d.accepted for d in opened(tmp_path, Budget(episodes=20)).decisions] == [True, False]


async def test_what_was_never_submitted_cannot_be_committed(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=20))
    with pytest.raises(RejectedError, match="never submitted"):
        await session.commit(decision(prompt("a")))
    await session.close("finished")
    with pytest.raises(ClosedError):
        await session.commit(decision(prompt("a")))


async def test_a_recorded_model_gives_its_old_answers_again_and_asks_for_new_ones_only(tmp_path: Path) -> None:
    model = Counting()
    session = opened(tmp_path, Budget(episodes=20, tokens=1000))
    recorded = session.recorded(model)
    first = [(await recorded.reply(Request.of(q))).text for q in ("x", "y", "x")]
    assert first == ["answer 1", "answer 2", "answer 3"]
    with pytest.raises(ProviderError):
        await recorded.reply(Request.of("fail"))
    left = session.remaining().tokens

    resumed = opened(tmp_path, Budget(episodes=20, tokens=1000))
    assert resumed.remaining().tokens == 1000
    again = resumed.recorded(model)
    assert [(await again.reply(Request.of(q))).text for q in ("y", "x", "x")] == ["answer 2", "answer 1", "answer 3"]
    with pytest.raises(ProviderError, match="nothing was said"):
        await again.reply(Request.of("fail"))
    assert (model.calls, resumed.remaining().tokens) == (4, left)
    assert (await again.reply(Request.of("x"))).text == "answer 5"


@pytest.mark.parametrize("kind", ["connection", "auth", "rate_limit", "unknown_model", "server", "timeout", "garbage"])
async def test_an_outage_of_a_methods_model_is_not_on_record(tmp_path: Path, kind: str) -> None:
    model = Counting()
    recorded = opened(tmp_path, Budget(episodes=20, tokens=1000)).recorded(model)
    await recorded.reply(Request.of("x"))
    model.down = kind
    with pytest.raises(OutageError, match="the server is down"):
        await recorded.reply(Request.of("y"))
    model.down = ""
    again = opened(tmp_path, Budget(episodes=20, tokens=1000)).recorded(model)
    assert [(await again.reply(Request.of(q))).text for q in ("x", "y")] == ["answer 1", "answer 3"]


async def test_tokens_and_cost_are_counted_over_attempts_and_calls_and_end_the_session(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=100, tokens=75, cost_usd=10.0))
    await session.submit([Trial(prompt("a"), [0, 1, 2])], "a")
    assert session.remaining() == Budget(97, None, 45, pytest.approx(9.97), None)
    await session.recorded(Counting()).reply(Request.of("x"))
    assert session.remaining().tokens == 5
    await session.submit([Trial(prompt("b"), [0])], "b")
    assert session.remaining().exhausted
    with pytest.raises(ClosedError, match="spent"):
        await session.submit([Trial(prompt("c"), [0])], "c")
    with pytest.raises(ClosedError, match="spent"):
        await session.recorded(Counting()).reply(Request.of("y"))


async def test_a_resumed_method_sees_the_tokens_that_it_saw_and_none_is_paid_twice(tmp_path: Path) -> None:
    budget, runner = Budget(episodes=100, tokens=75), Answering()
    session = opened(tmp_path, budget, runner)
    await session.submit([Trial(prompt("a"), [0, 1, 2])], "a")
    await session.submit([Trial(prompt("b"), [0, 1])], "b")
    resumed = opened(tmp_path, budget, runner)
    assert resumed.remaining().tokens == 75
    await resumed.submit([Trial(prompt("a"), [0, 1, 2])], "a")
    assert resumed.remaining().tokens == 45
    await resumed.submit([Trial(prompt("b"), [0, 1])], "b")
    assert (resumed.remaining().tokens, runner.rollouts) == (25, 5)


async def test_a_limit_that_cannot_be_kept_breaks_the_session_rather_than_being_ignored(tmp_path: Path) -> None:
    session = opened(tmp_path, Budget(episodes=100, cost_usd=1.0), Answering({"input_tokens": 8, "output_tokens": 2}))
    with pytest.raises(ConfigError, match=r"budget\.cost_usd is 1\.0.*prices"):
        await session.submit([Trial(prompt("a"), [0])], "a")
    assert isinstance(session.broken, ConfigError)
