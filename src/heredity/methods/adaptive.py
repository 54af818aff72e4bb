"""Adaptive: picks one of eight learning methods in each iteration by their gains so far in this run.

No single method is best on all environments (AutoEnv, section 5.3, leaves the choice open). The methods are the arms of
a bandit: each iteration is a pull, and its reward is the gain of the new candidate over its parent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from pydantic import Field

from heredity._core.ids import generator
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.pool import LearningOptions, Member, Selection, Signal, Style, run_learning
from heredity.methods.registry import parse_options
from heredity.methods.targets import Target

_SELECTIONS: tuple[Selection, ...] = ("best", "pareto")
_SIGNALS: tuple[Signal, ...] = ("dynamics", "instruction")
_TARGETS: tuple[tuple[Target, ...], ...] = (("prompt",), ("agent",))

ARMS: tuple[Style, ...] = tuple(
    Style(select, signal, target) for select, signal, target in itertools.product(_SELECTIONS, _SIGNALS, _TARGETS)
)
"""The eight methods: two selections, two signals, two targets (AutoEnv, section 4.2)."""


class AdaptiveOptions(LearningOptions):
    """Options of the adaptive controller."""

    explore: float = Field(0.5, ge=0, le=10, description="weight of uncertainty, in standard deviations of the gains")


class Adaptive:
    """Chooses among eight variants of select-optimise-evaluate by their gains so far (AutoEnv, section 4).

    UCB1 (Auer et al. 2002) is applied to each of the three choices separately, so two iterations inform all eight arms.
    Arms share their parts: a gain of best-dynamics-prompt also counts for `best`, `dynamics` and `prompt`. The index of
    an arm is the sum over its parts.
    """

    name = "adaptive"
    options_model = AdaptiveOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn until the iterations are over or the budget is spent.

        Raises:
            ConfigError: if an option is invalid or no model is configured.
        """
        options = parse_options(AdaptiveOptions, self.name, context.options)
        order = generator(context.seed, "method", self.name, "arms").permutation(len(ARMS))
        taken: list[tuple[Style, int]] = []

        def choose(number: int, pool: Sequence[Member]) -> Style:
            style = chosen([ARMS[int(i)] for i in order], gains(taken, pool), options.explore)
            taken.append((style, len(pool)))
            return style

        await run_learning(self.name, session, context, options, choose)


def gains(taken: Sequence[tuple[Style, int]], pool: Sequence[Member]) -> list[tuple[Style, float]]:
    """Return each iteration's style and its candidate's gain over the parent; 0 if it made no candidate.

    Args:
        taken: the style of each iteration, and the size of the pool before it.
        pool: the current pool.
    """
    gained: list[tuple[Style, float]] = []
    sizes = [*(size for _, size in taken), len(pool)]
    for (style, size), after in zip(taken, sizes[1:], strict=True):
        gain = 0.0
        if after > size:
            member = pool[size]
            before = pool[member.parent].value if member.parent is not None else member.value
            gain = member.value - before if math.isfinite(member.value) and math.isfinite(before) else -1.0
        gained.append((style, gain))
    return gained


def chosen(arms: Sequence[Style], seen: Sequence[tuple[Style, float]], explore: float) -> Style:
    """Return the arm with the greatest index; ties go to the first."""
    if not seen:
        return arms[0]
    mean = math.fsum(g for _, g in seen) / len(seen)
    spread = math.sqrt(math.fsum((g - mean) ** 2 for _, g in seen) / len(seen)) or 1.0

    def index(style: Style) -> float:
        total = 0.0
        for part in ("select", "signal", "target"):
            own = [g for s, g in seen if getattr(s, part) == getattr(style, part)]
            if not own:
                return math.inf
            total += math.fsum(own) / len(own) + explore * spread * math.sqrt(2 * math.log(len(seen) + 1) / len(own))
        return total

    return max(arms, key=index)
