from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local_session import LocalSession, context_for, fingerprint

from heredity._core.errors import ConfigError
from heredity.engine.space_numbers import starter_program
from heredity.kinds.policy.environments.spaces import describe_space
from heredity.methods.operators.constants import find_constants
from heredity.methods.registry import method
from heredity.methods.starter import linear_program
from heredity.resources import SourceTree

PUBLIC = {
    "env": "Made-v0",
    "obs_space": describe_space(spaces.Box(-1, 1, (4,))),
    "action_space": describe_space(spaces.Box(-1, 1, (2,))),
}
SEARCHES = ["best-of-n", "sequential", "parametric", "structural"]
MODEL_FREE = ["random", *SEARCHES]


def by_digest(tree: SourceTree, task: int) -> float:
    """Score a program arbitrarily but reproducibly, so that every comparison in a search matters."""
    return int(hashlib.sha256(f"{tree.digest} {task}".encode()).hexdigest()[:8], 16) / 2**32


def nearness(tree: SourceTree, task: int) -> float:
    """Score how near a program's constants are to 1, 2, 3, …."""
    values = [c.value for c in find_constants(tree.text("policy.py"))]
    return -sum((v - i) ** 2 for i, v in enumerate(values, 1))


def run(
    name: str, session: LocalSession, seed: int = 0, initial: SourceTree | None = None, **options: Any
) -> LocalSession:
    context = context_for(PUBLIC, initial or starter_program(PUBLIC), seed=seed, **options)
    asyncio.run(method(name).evolve(session, context))
    return session


@pytest.mark.parametrize("name", SEARCHES)
def test_the_whole_budget_is_spent_on_about_forty_checkpoints(name: str):
    session = run(name, LocalSession(score=by_digest))
    assert session.remaining().episodes == 0
    assert 30 <= len({trial.candidate.digest for _, trial in session.trials}) <= 43


@pytest.mark.parametrize("name", MODEL_FREE)
@settings(max_examples=15, deadline=None)
@given(episodes=st.integers(1, 60), seed=st.integers(0, 2**64))
@pytest.mark.fast(2)
def test_no_budget_is_ever_exceeded(name: str, episodes: int, seed: int):
    session = run(name, LocalSession(score=by_digest, episodes=episodes), seed=seed)
    assert session.remaining().episodes == (episodes - 1 if name == "random" else 0)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_limit_on_submissions_ends_the_search(name: str):
    session = run(name, LocalSession(score=by_digest, submissions=7))
    assert len(session.trials) == 7


@pytest.mark.parametrize("name", SEARCHES)
def test_a_session_without_a_budget_gets_a_finite_search(name: str):
    session = run(name, LocalSession(score=by_digest, episodes=None))
    assert 0 < sum(len(t.tasks) for _, t in session.trials) <= 128


@pytest.mark.parametrize("name", SEARCHES)
def test_a_session_that_closes_ends_the_search_quietly(name: str):
    session = run(name, LocalSession(score=by_digest, close_after=9))
    assert session.remaining().episodes is not None
    assert session.remaining().episodes > 0


@pytest.mark.parametrize("name", MODEL_FREE)
def test_the_same_feedback_gives_the_same_submissions(name: str):
    one, again, other = (run(name, LocalSession(score=by_digest), seed=seed) for seed in (3, 3, 4))
    assert fingerprint(one) == fingerprint(again)
    assert name == "random" or fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("name", SEARCHES)
def test_different_feedback_gives_different_submissions_where_a_method_learns(name: str):
    one, other = run(name, LocalSession(score=by_digest)), run(name, LocalSession(score=lambda t, k: -by_digest(t, k)))
    assert (fingerprint(one) == fingerprint(other)) == (name == "best-of-n")


def test_islands_do_the_same_whatever_order_their_answers_come_in():
    prompt = run("structural", LocalSession(score=by_digest))
    late = run("structural", LocalSession(score=by_digest, delay=lambda key: 40 - 13 * (int(key.split("/")[1]) % 3)))
    assert fingerprint(prompt) == fingerprint(late)


def test_islands_submit_at_the_same_time():
    waiting: list[str] = []
    most = 0

    class Watching(LocalSession):
        async def submit(self, trials: Any, key: str) -> Any:
            nonlocal most
            waiting.append(key)
            most = max(most, len(waiting))
            await asyncio.sleep(0)
            waiting.remove(key)
            return await super().submit(trials, key)

    run("structural", Watching(score=by_digest), islands=4)
    assert most == 4


@pytest.mark.parametrize("name", MODEL_FREE)
def test_keys_are_the_methods_name_and_a_count(name: str):
    session = run(name, LocalSession(score=by_digest))
    keys = list(dict.fromkeys(key for key, _ in session.trials))
    assert keys == [f"{name}/{n}" for n in range(len(keys))]


@pytest.mark.parametrize("name", SEARCHES)
def test_every_trial_says_where_it_came_from(name: str):
    session = run(name, LocalSession(score=by_digest))
    seen: set[str] = set()
    for _, trial in session.trials:
        assert trial.note
        assert "\n" not in trial.note
        assert set(trial.parents) <= seen | {t.candidate.digest for _, t in session.trials}
        seen.add(trial.candidate.digest)
    assert any(t.parents for _, t in session.trials) == (name != "best-of-n")


@pytest.mark.parametrize("name", SEARCHES)
def test_programs_that_always_fail_do_not_stop_a_search(name: str):
    session = run(name, LocalSession(score=lambda tree, task: -1e6))
    assert session.remaining().episodes == 0


@pytest.mark.parametrize("name", SEARCHES)
def test_missing_scores_do_not_stop_a_search(name: str):
    session = run(name, LocalSession(score=lambda tree, task: float("nan")))
    assert session.remaining().episodes == 0


@pytest.mark.parametrize("name", ["sequential", "parametric"])
def test_a_program_with_constants_is_tuned_and_its_other_files_stay(name: str):
    source = "# mine\nGAIN = 1.5\n\n\nclass Policy:\n    gains = (4.0, 0)\n"
    initial = SourceTree({"policy.py": source, "data.bin": b"\0"})
    session = run(name, LocalSession(score=nearness), initial=initial)
    scores = [nearness(t.candidate.agent, 0) for _, t in session.trials]
    assert max(scores) > scores[0] / 2
    for _, trial in session.trials:
        assert trial.candidate.agent["data.bin"] == b"\0"
        assert trial.candidate.agent.text("policy.py").startswith("# mine\nGAIN = ")


def test_a_controller_of_ours_founds_every_island():
    initial = linear_program(PUBLIC, None)
    session = run("structural", LocalSession(score=by_digest), initial=initial)
    notes = [t.note for _, t in session.trials]
    assert notes.count("the initial program") == 3


def test_an_initial_program_that_does_not_parse_is_a_clear_error():
    with pytest.raises(ConfigError, match="not valid Python"):
        run("parametric", LocalSession(score=by_digest), initial=SourceTree({"policy.py": "class Policy(:"}))
