"""GEPA through its package: the package drives, the session evaluates."""

from __future__ import annotations

import asyncio
import importlib
import re
from typing import Any

import pytest
from tests.evolution.sums import (
    SYSTEM,
    TRAIN,
    Played,
    Solver,
    SumsSession,
    agent,
    all_texts,
    context,
    right_if_taught,
    system_of,
    teaching,
)

from heredity.errors import BudgetError, ConfigError, MissingExtraError, ProviderError, ReplayDivergedError
from heredity.evolution.registry import method
from heredity.gateway import Reply, Request
from heredity.spans import Span, collecting

gepa = pytest.importorskip("gepa")
OPTIONS: dict[str, Any] = {"batch": 3, "pareto": 6, "metric_calls": 60}


class Instructing:
    """Plays the model of the package's own request: the reply is an instruction in a fence."""

    name = "instructing"

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.sleep(0)
        return Reply(f"```\n{self._texts[(len(self.requests) - 1) % len(self._texts)]}\n```")


def run(
    model: Any, solver: Solver = right_if_taught, *, session: SumsSession | None = None, **options: Any
) -> SumsSession:
    session = session or SumsSession(solver)
    asyncio.run(method("gepa").evolve(session, context(agent(), model, **{**OPTIONS, **options})))
    return session


@pytest.mark.parametrize("select", ["pareto", "current_best", "epsilon_greedy", "top_k_pareto"])
def test_what_becomes_the_best_of_the_pool_is_committed_and_the_rest_is_refused_on_record(select: str) -> None:
    session = run(Instructing("Take a guess.", "Add the numbers and carry over.", "Add them."), select=select)
    assert system_of(session.committed) == "Add the numbers and carry over."
    first, *rest = session.decisions
    assert (first.baseline, first.reason) == ("", "the initial candidate")
    (gain,) = [d for d in rest if d.accepted]
    assert (gain.pairs, gain.baseline) == (6, agent().digest)
    assert gain.difference is not None
    assert gain.difference > 0
    assert "the best of the pool on the Pareto tasks" in gain.reason
    assert any("not better than its parent on a minibatch" in d.reason for d in session.refused)
    tried = {t.candidate.digest for _, t in session.trials}
    assert tried == {d.candidate for d in session.decisions}
    assert all(t.parents for _, t in session.trials if t.candidate != agent())
    assert not any(t.candidate.digest in t.parents for _, t in session.trials)


def test_the_package_s_request_shows_attempts_with_what_was_expected() -> None:
    model = Instructing("Add and carry.")
    run(model)
    content = model.requests[0].messages[0].content
    assert "Add the numbers." in content
    assert re.search(r"What is (\d+) \+ \1\?", content)
    assert "Expected: " in content
    assert {r.purpose for r in model.requests} == {"optimisation"}


def test_the_common_form_can_be_used_instead_and_offline_models_can_play_it() -> None:
    model = Played(teaching)
    session = run(model, proposer="improve")
    assert "carry" in system_of(session.committed)
    assert {block["task"] for block in model.blocks} == {"improve"}
    assert all(list(block["variables"]) == [SYSTEM] for block in model.blocks)


def test_the_same_replies_give_the_same_run_and_other_seeds_another() -> None:
    def once(seed: int) -> tuple[list[Any], list[Any], list[str]]:
        model, session = Instructing("Take a guess.", "Add and carry."), SumsSession()
        asyncio.run(method("gepa").evolve(session, context(agent(), model, seed=seed, **OPTIONS)))
        trials = [(k, t.candidate.digest, list(t.tasks), t.parents, t.note) for k, t in session.trials]
        return trials, session.decisions, [r.digest for r in model.requests]

    assert once(1) == once(1)
    assert once(1)[0] != once(2)[0]


def test_no_attempt_is_bought_twice_and_keys_count() -> None:
    session = run(Instructing("Take a guess.", "Add and carry.", "Add."))
    bought = [(t.candidate.digest, task) for _, t in session.trials for task in t.tasks]
    assert len(set(bought)) == len(bought)
    assert [key for key, _ in session.trials] == [f"gepa/{n}" for n in range(len(session.trials))]


@pytest.mark.parametrize("episodes", [1, 6, 7, 12, 15, 40])
def test_no_budget_is_exceeded(episodes: int) -> None:
    session = run(
        Instructing("Take a guess.", "Add and carry."), session=SumsSession(episodes=episodes), metric_calls=0
    )
    left = session.remaining().episodes
    assert left is not None
    assert left >= 0
    assert bool(session.decisions) == (episodes >= 6)


@pytest.mark.parametrize("after", range(5))
def test_a_session_that_closes_ends_the_method_quietly(after: int) -> None:
    session = SumsSession(close_after=after)
    assert len(run(Instructing("Take a guess.", "Add and carry."), session=session).trials) <= after


def test_a_provider_that_fails_and_texts_that_cannot_be_built_are_noted_and_end_nothing() -> None:
    class Stumbling(Instructing):
        async def reply(self, request: Request) -> Reply:
            reply = await super().reply(request)
            if len(self.requests) < 3:
                raise ProviderError("timeout", "took too long", transient=True)
            return reply

    session = run(Stumbling("never seen", "never seen", "x" * 30_000, "Add and carry."))
    assert "carry" in all_texts(session.committed)
    note = next(t.note for _, t in session.trials if t.parents)
    assert "the model gave no answer (timeout)" in note
    assert "30000 characters; 20000 are allowed" in note


@pytest.mark.parametrize("proposer", ["package", "improve"])
def test_a_model_whose_budget_is_spent_ends_the_method_quietly(proposer: str) -> None:
    asked = 0

    class Spent(Instructing):
        async def reply(self, request: Request) -> Reply:
            nonlocal asked
            asked += 1
            raise BudgetError("no tokens left")

    assert len(run(Spent("…"), proposer=proposer).decisions) == 1
    assert asked == 1


def test_nonsense_changes_nothing() -> None:
    session = run(Played(lambda block: "no"), proposer="improve")
    assert session.committed == agent()
    assert len(session.decisions) == 1


def test_an_error_of_the_session_comes_out_although_the_package_swallows_it() -> None:
    class Diverging(SumsSession):
        async def commit(self, decision: Any, candidate: Any = None) -> Any:
            if decision.baseline:
                raise ReplayDivergedError("differs from its journal")
            return await super().commit(decision, candidate)

    with pytest.raises(ReplayDivergedError):
        run(Instructing("Add and carry."), session=Diverging())


def test_missing_attempts_count_as_the_mean_of_the_others() -> None:
    def solver(candidate: Any, task: int) -> str:
        if task == 5:
            raise TimeoutError
        return right_if_taught(candidate, task)

    session = run(Instructing("Add and carry."), solver, pareto=TRAIN)
    (gain,) = [d for d in session.decisions[1:] if d.accepted]
    assert gain.pairs == TRAIN - 1


def test_a_run_that_is_cancelled_ends_with_its_thread() -> None:
    asked = asyncio.Event()

    class Hanging(Instructing):
        async def reply(self, request: Request) -> Reply:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def cancelled() -> None:
        given = context(agent(), Hanging(""), **OPTIONS)
        task = asyncio.create_task(method("gepa").evolve(SumsSession(), given))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    # It would hang here if the thread did: the loop waits for its threads before it ends.
    asyncio.run(cancelled())


def test_every_step_leaves_a_span_inside_of_the_callers() -> None:
    spans: list[Span] = []
    with collecting(spans.append):
        run(Instructing("Take a guess.", "Add and carry."))
    assert {"evaluate", "reflect", "commit"} <= {s.name for s in spans}


def test_what_a_run_may_not_begin_with_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"set \[gateway\] optimisation"):
        run(None)
    with pytest.raises(ConfigError, match="names no text of the initial candidate"):
        run(Instructing(""), target=["tool"])

    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"heredity\[gepa\]"):
        run(Instructing(""))
