"""The kinds of tasks that grade a model and nothing else: answers that an `eval.py` scores or a judge compares, games of text."""

from __future__ import annotations

from heredity.posttraining.tasks.episodes import DIALOGUE, GLIMPSE
from heredity.posttraining.tasks.playing import EpisodeRunner
from heredity.posttraining.tasks.preference.runner import KIND as PREFERENCE
from heredity.posttraining.tasks.preference.runner import PreferenceRunner
from heredity.posttraining.tasks.scoring import SCORED, ScoringRunner
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Kind, Needs, Opening
from heredity.rollouts.question.kind import KIND as QUESTIONS


def _open_scored(opening: Opening) -> Runner:
    assert opening.programs is not None, "needed"
    return ScoringRunner(QUESTIONS.open(opening), opening.programs)


def _open_game(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return EpisodeRunner(opening.model, judge=opening.judge, settings=opening.settings, concurrent=opening.concurrent)


def _open_preference(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return PreferenceRunner(
        opening.model, judge=opening.judge, settings=opening.settings, concurrent=opening.concurrent
    )


_PLAYED = Needs(model="required", purpose="games of text are played", judge=True)

SCORED_ANSWERS = Kind(SCORED, _open_scored, QUESTIONS.needs)
DIALOGUES = Kind(DIALOGUE, _open_game, _PLAYED)
GLIMPSES = Kind(GLIMPSE, _open_game, _PLAYED)
PREFERENCES = Kind(
    PREFERENCE, _open_preference, Needs(model="required", purpose="instructions are answered", judge=True)
)
