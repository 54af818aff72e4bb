"""The rules of a session."""

from __future__ import annotations

from dataclasses import dataclass, field

from heredity.errors import ConfigError
from heredity.evolution import Budget
from heredity.judging.decisions import Probe
from heredity.judging.schedule import BatchPlan
from heredity.sandbox.limits import Limits


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The rules of a session.

    Attributes:
        budget: what may be spent: episodes, submissions, tokens, cost, seconds.
        seed: the run's seed; seeds the candidates' own generators.
        limits: what one rollout may use.
        min_episodes: the fewest episodes of one submission.
        max_episodes: the most episodes of one submission.
        retries: how often a rollout is repeated that failed through no fault of the candidate.
        replay: the evolver is deterministic and starts again from the beginning when the run is resumed. What it asked
            before is answered from the journal, and `remaining` shows what it would have shown the first time.
        plan: the batches of train tasks; None if the evolver chooses tasks freely.
        probe: what the contract gate checks candidates with, where the plan's schedule has one.
    """

    budget: Budget
    seed: int
    limits: Limits = field(default_factory=Limits)
    min_episodes: int = 1
    max_episodes: int = 128
    retries: int = 2
    replay: bool = False
    plan: BatchPlan | None = None
    probe: Probe | None = None

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan.schedule.gate and self.probe is None:
            raise ConfigError("schedule.gate is true, and tasks of this kind have no contract to check; leave it out")
