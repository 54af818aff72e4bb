"""The gate "reliability": compares players of different strength on the same levels, in pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from heredity._core.ids import generator
from heredity.kinds.world.actions import sample_action
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.gates.contract import Figures, Findings, Subject
from heredity.kinds.world.gates.plays import Greedy, Play, drawn, given, play, rng_of
from heredity.kinds.world.world import Level

PLAYERS = ("random", "greedy", "search-little", "search-much", "solution")
"""Players from weak to strong: blind; one step ahead; the best of a few such episodes, each starting from the best; of
many; all-seeing.
"""
LITTLE, MUCH = 3, 16
"""Number of episodes of the searches."""
_LEVELS = 8
_RANDOM = 4
_RESAMPLES = 4000
_CONFIDENCE = 0.95


def reliability(subject: Subject, findings: Findings) -> Figures:
    """Play the ladder of players; reject a stronger one that is worse beyond noise, and a ladder without differences."""
    chosen = subject.some(_LEVELS)
    by_level = np.array([_scores(subject, level) for level in chosen])
    scores: dict[str, np.ndarray] = dict(zip(PLAYERS, by_level.T, strict=True))
    rows: list[Figures] = []
    for weak, strong in (*pairwise(PLAYERS), ("random", "solution")):
        gaps = scores[strong] - scores[weak]
        low, high = paired_interval(gaps, generator(subject.seed, "gates", weak, strong))
        verdict = "better" if low > 0 else "worse" if high < 0 else "tie"
        rows.append(
            {"weak": weak, "strong": strong, "gap": float(gaps.mean()), "low": low, "high": high, "verdict": verdict}
        )
        if verdict == "worse" and (weak, strong) != ("random", "greedy"):
            message = f"{strong} is worse than {weak} by {-gaps.mean():.3f} of the bound ({low:.3f} to {high:.3f})"
            findings.add("order reversed", message, chosen[int(gaps.argmin())].id)
    if rows[-1]["verdict"] != "better":
        low, high = rows[-1]["low"], rows[-1]["high"]
        message = (
            f"the solution is not better than chance beyond noise ({low:.3f} to {high:.3f}):"
            " the world does not distinguish players"
        )
        findings.add("no difference", message, chosen[0].id)
    means = {name: float(values.mean()) for name, values in scores.items()}
    return {"levels": [level.id for level in chosen], "means": means, "pairs": rows}


def _scores(subject: Subject, level: Level) -> list[float]:
    """Return the share of the bound of each of `PLAYERS` on a level."""
    described, world = subject.world.description, subject.world
    blind = [play(subject, level, drawn(subject, level, f"ladder-{n}"), shown=False).total for n in range(_RANDOM)]
    greedy = play(subject, level, Greedy(described, rng_of(subject, level, "ladder")), shown=False)
    little, much = (_best_search(subject, level, greedy, episodes) for episodes in (LITTLE, MUCH))
    solution = play(subject, level, given(world.levels.solve(level.data)), shown=False).total
    bound = level.upper_bound.value or 1.0
    return [total / bound for total in (float(np.mean(blind)), greedy.total, little, much, solution)]


def _best_search(subject: Subject, level: Level, first: Play, episodes: int) -> float:
    """Return the best of several episodes: the greedy one, then ones that start like the best and look ahead, with some chance."""
    described = subject.world.description
    rng = rng_of(subject, level, "search-little" if episodes == LITTLE else "search-much")
    best, most = first.actions, first.total
    for number in range(1, episodes):
        rest = iter(best[: int(rng.integers(len(best) + 1))])
        greedy = Greedy(described, rng)
        chance = 0.5 * number / episodes

        def policy(episode: Episode, rest: Any = rest, greedy: Greedy = greedy, chance: float = chance) -> object:
            blind = rng.random() < chance
            return next(rest, None) or (sample_action(rng, described.actions) if blind else greedy(episode))

        played = play(subject, level, policy, shown=False)
        if played.total > most:
            best, most = played.actions, played.total
    return most


def paired_interval(gaps: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of a mean of paired gaps by bootstrap over levels."""
    means = gaps[rng.integers(len(gaps), size=(_RESAMPLES, len(gaps)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)
