"""What a method asks for in one trial is shared out to submissions of the sizes that are allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.methods import Decision, Trial
from heredity.methods.portions import Portions
from heredity.resources import Candidate, SourceTree

from .local_session import LocalSession

PROGRAM = Candidate.program(SourceTree({"policy.py": "class Policy: ..."}))


def session(episodes: int | None = None) -> LocalSession:
    return LocalSession(score=lambda tree, task: float(task), episodes=episodes)


@given(
    st.integers(1, 700), st.integers(1, 4), st.integers(1, 130), st.integers(0, 130), st.integers(1, 60), st.booleans()
)
async def test_every_submission_has_an_allowed_size_and_no_episode_is_lost(
    tasks: int, repeats: int, least: int, more: int, trials: int, odd: bool
) -> None:
    inner = session()
    asked = [Trial(PROGRAM, [i % 97 for i in range(tasks + odd * i)], repeats) for i in range(min(trials, 3))]
    answers = await Portions(inner, least, least + more).submit(asked, "key")
    assert {least <= len(t.tasks) * t.repeats <= least + more for _, t in inner.trials} == {True}
    for trial, answer in zip(asked, answers, strict=True):
        assert [outcome.task for outcome in answer.outcomes] == list(trial.tasks) * trial.repeats
        assert answer.mean == pytest.approx(np.mean(trial.tasks))


async def test_what_fits_is_submitted_as_it_is() -> None:
    inner, trial = session(), Trial(PROGRAM, (3, 1, 3), 2, ("parent",), "note")
    (answer,) = await Portions(inner, 1, 128).submit([trial], "key")
    assert inner.trials == [("key", trial)]
    assert answer == (await inner.submit([trial], "key"))[0]


async def test_requests_of_thousands_of_trials_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = session()
    answers = await Portions(inner, 1, 1).submit([Trial(PROGRAM, range(7)) for _ in range(300)], "key")
    assert len(answers) == 300
    keys = [key for key, _ in inner.trials]
    assert (keys.count("key"), keys.count("key/1000"), keys.count("key/2000")) == (1000, 1000, 100)


async def test_the_evidence_of_a_decision_is_every_submission_of_its_trials() -> None:
    decided: list[Decision] = []

    class Deciding(LocalSession):
        async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
            decided.append(decision)
            return decision

    portions = Portions(Deciding(score=lambda tree, task: 1.0, episodes=None), 1, 4)
    small, wide = await portions.submit([Trial(PROGRAM, range(2)), Trial(PROGRAM, range(10))], "key")
    await portions.commit(Decision(PROGRAM.digest, "", True, "better", (small.submit_id, wide.submit_id)))
    assert decided[0].submissions == (1, 2, 3, 4)
