"""A rollout: whose failure it is when something ends it."""

from __future__ import annotations

import asyncio

import pytest

from heredity._core.errors import BudgetError, HostError, IsolationError, ProviderError
from heredity.engine.actor import Solving
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.models import Reply, Request
from heredity.resources import Candidate, SourceTree
from heredity.tasks import Task, TasksetInfo


class Silent:
    name = "fake/silent"

    async def reply(self, request: Request) -> Reply:
        return Reply("")


def record() -> ConversationRecord:
    info = TasksetInfo("t", "1", "k", {}, {}, "", 0.0)
    job = Job(info, Candidate({"prompt/system": SourceTree({"prompt.md": "Hi."})}), Task("train/0", "train", 0, {}))
    return ConversationRecord(job, Conversation(Silent(), Solving()))


async def raising(error: Exception) -> Trajectory:
    raise error


@pytest.mark.parametrize(
    ("error", "status", "failure_source"),
    [
        (ProviderError("server", "down", transient=True), "provider_error", "provider"),
        (RolloutError("the level broke", "line 3"), "environment_error", "environment"),
        (
            RolloutError("the folder's init took too long", status="init_error", failure_source="environment"),
            "init_error",
            "environment",
        ),
        (HostError("no memory"), "host_error", "host"),
        (IsolationError("no sandbox"), "isolation_error", "host"),
    ],
)  # fmt: skip
async def test_what_ends_an_attempt_is_put_down_to_whose_it_is(
    error: Exception, status: str, failure_source: str
) -> None:
    ended = await attributed(record(), raising(error), 5.0)
    assert (ended.status, ended.failure_source, ended.total_reward) == (status, failure_source, 0.0)
    assert ended.failure is not None
    assert str(error) in ended.failure.message
    assert ended.failure.traceback == getattr(error, "traceback", "")


async def test_an_attempt_without_end_is_the_candidates_failure() -> None:
    async def forever() -> Trajectory:
        await asyncio.Event().wait()
        raise AssertionError

    ended = await attributed(record(), forever(), 0.01)
    assert (ended.status, ended.failure_source) == ("rollout_timeout", "candidate")
    assert str(ended.failure).find("0.01 seconds") > 0


@pytest.mark.parametrize("error", [TimeoutError("of something else"), BudgetError("spent"), KeyError("a bug")])
async def test_what_is_nobodys_failure_is_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        await attributed(record(), raising(error), 5.0)


async def test_an_attempt_that_ends_well_is_returned_as_it_is() -> None:
    whole = record().trajectory({}, "done", score=0.5)

    async def ends() -> Trajectory:
        return whole

    assert await attributed(record(), ends()) is whole
