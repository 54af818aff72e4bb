"""GEPA through its package: the package drives, the session evaluates."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.methods.sums import (
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
from tests.methods.test_resuming import SumsRunner, evolve

from heredity._core.errors import BudgetError, ConfigError, MissingExtraError, ProviderError, ReplayDivergedError
from heredity._core.spans import Span, collecting
from heredity.methods import Decision
from heredity.methods.registry import method
from heredity.models import Reply, Request
from heredity.resources import Candidate
from heredity.session.schedule import Schedule

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


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply("I would rather not."), "no text between"),
        (Reply("```\n  \n```"), "no text between"),
        (Reply("<think>```\nAdd and carry.\n```"), "no text between"),
        (Reply("```\nAdd \x1b[2J and carry.\n```"), "control character"),
        (Reply("```\nAdd and carry.\n```", finish="length"), "cut at the token limit"),
    ],
)
def test_a_reply_to_the_package_s_request_that_cannot_be_used_is_no_candidate(reply: Reply, said: str) -> None:
    class Useless(Instructing):
        async def reply(self, request: Request) -> Reply:
            await super().reply(request)
            return reply

    found: list[Span] = []
    with collecting(found.append):
        session = run(Useless("…"))
    assert {trial.candidate for _, trial in session.trials} == {agent()}
    failed = [str(span.attributes.get("failed", "")) for span in found if span.name == "reflect"]
    assert failed
    assert all(said in reason for reason in failed)


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


# --- under a schedule


def scheduled(tmp_path: Path, model: Any, runner: SumsRunner | None = None, **options: Any) -> tuple[Decision, ...]:
    given = {name: options.pop(name) for name in ("batch_calls", "proposer", "pareto") if name in options}
    return evolve(tmp_path, "gepa", model, runner or SumsRunner(), given, Schedule(**{"batch_size": 6, **options}))


def test_each_update_is_a_search_on_its_batch_and_commits_the_best_it_found_once(tmp_path: Path) -> None:
    model = Instructing("Add and carry.", "Add them.", "Carry and add.", "Take a guess.")
    decisions = scheduled(tmp_path, model, batch_calls=60)
    first, *rest = decisions
    assert (first.baseline, first.submissions) == ("", ())
    (gain,) = [d for d in rest if d.accepted]
    assert gain.baseline == agent().digest
    assert gain.pairs == 6
    assert all(d.baseline for d in rest)
    assert len({d.candidate for d in decisions}) == len(decisions)


def test_the_next_batch_begins_from_what_is_committed_and_attempts_it_anew(tmp_path: Path) -> None:
    model = Played(teaching)
    decisions = scheduled(tmp_path, model, epochs=2, proposer="improve", batch_calls=20)
    assert [d.accepted for d in decisions].count(True) == 2
    shown = [block["variables"][SYSTEM] for block in model.blocks]
    assert shown[0] == "Add the numbers."
    journal = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    begun = [line["data"]["candidate"] for line in journal if line["kind"] == "batch.started"]
    assert begun[0] == agent().digest
    assert begun[-1] == next(d.candidate for d in reversed(decisions) if d.accepted)
    bought = [line["data"] for line in journal if line["kind"] == "submission.admitted"]
    assert sum(line["charge"] for line in bought if line["candidate"] == begun[-1]) > TRAIN


def test_metric_calls_of_each_batch_are_bounded(tmp_path: Path) -> None:
    few, many = SumsRunner(), SumsRunner()
    (tmp_path / "many").mkdir()
    scheduled(tmp_path, Instructing(*(f"Try {n}." for n in range(99))), few, batch_calls=7)
    scheduled(tmp_path / "many", Instructing(*(f"Try {n}." for n in range(99))), many)
    assert 2 * 6 <= few.rollouts < 2 * (7 + 2 * 3)
    assert few.rollouts < many.rollouts < 2 * (8 * 6 + 6)


def test_what_the_contract_gate_refuses_is_no_start_and_is_told(tmp_path: Path) -> None:
    def play(block: dict[str, Any]) -> Any:
        return {"edits": [{"variable": SYSTEM, "value": f"Carry, or guess. {block['round']}", "why": "to carry"}]}

    model = Played(play)
    decisions = scheduled(tmp_path, model, Lucky(), gate=True, proposer="improve", batch_calls=12)
    assert [d.accepted for d in decisions].count(True) == 1
    refused = [d.baseline for d in decisions if d.reason == "contract gate: it guesses"]
    assert refused == [agent().digest] * 2
    (rejected, *_) = [block["rejected"] for block in model.blocks if block["rejected"]]
    assert rejected[0]["reason"] == "contract gate: it guesses"
    assert "Carry, or guess." in rejected[0]["edits"][SYSTEM]


class Lucky(SumsRunner):
    """Solves every sum with a guess."""

    def answer(self, candidate: Candidate, task: int) -> str:
        return str(2 * task) if "guess" in all_texts(candidate) else right_if_taught(candidate, task)


def test_a_reset_searches_from_the_initial_candidate(tmp_path: Path) -> None:
    decisions = scheduled(tmp_path, Instructing("Add and carry."), persistence="reset", batch_calls=20)
    gains = [d for d in decisions if d.accepted and d.baseline]
    assert [d.baseline for d in gains] == [agent().digest] * 2


def test_options_that_have_no_meaning_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the option pareto = 3 has no meaning here: batch_calls bounds"):
        scheduled(tmp_path, Instructing(""), pareto=3)
    with pytest.raises(ConfigError, match="the option batch_calls = 3 has no meaning here: metric_calls bounds"):
        run(Instructing(""), batch_calls=3)
