"""The runners that grade: what attempts the inner tasks of each kind, for one model."""

from __future__ import annotations

from collections.abc import Mapping

from heredity.actors.contract import Solving
from heredity.actors.player import KeepingPrograms
from heredity.gateway import Model
from heredity.posttraining.tasks.episodes import DIALOGUE, GLIMPSE
from heredity.posttraining.tasks.playing import EpisodeRunner
from heredity.posttraining.tasks.preference.runner import KIND as PREFERENCE
from heredity.posttraining.tasks.preference.runner import PreferenceRunner
from heredity.posttraining.tasks.scoring import SCORED, ScoringRunner
from heredity.rollouts.contract import Runner
from heredity.rollouts.question.runner import SolvingRunner
from heredity.rollouts.world.runner import WorldRunner

CONCURRENT = 64
"""Attempts at the same time: what a worker on a processor answers in one batch."""


def runners(
    model: Model,
    solving: Solving,
    *,
    programs: KeepingPrograms,
    judge: Model | None = None,
    concurrent: int = CONCURRENT,
) -> Mapping[str, Runner]:
    """Return the runner of each kind of inner taskset.

    Args:
        model: the model that is graded.
        solving: how it is asked (see `inner_of`).
        programs: the sandbox for code; whoever made it closes it.
        judge: the model that judges answers where no rule can.
        concurrent: most attempts at the same time.
    """
    games = EpisodeRunner(model, judge=judge, settings=solving, concurrent=concurrent)
    questions = SolvingRunner(model, judge=judge, programs=programs, settings=solving, concurrent=concurrent)
    return {
        "question": questions,
        SCORED: ScoringRunner(questions, programs),
        DIALOGUE: games,
        GLIMPSE: games,
        PREFERENCE: PreferenceRunner(model, judge=judge, settings=solving, concurrent=concurrent),
        "world": WorldRunner(model, programs=programs, settings=solving, concurrent=concurrent),
    }
