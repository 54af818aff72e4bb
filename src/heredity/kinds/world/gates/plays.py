"""Episodes played as evidence: any actions, with every step recorded, and crashes and hangs as results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from heredity._core.errors import HostError, IsolationError
from heredity._core.ids import generator
from heredity.kinds.world.contract import Action
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.episode import Episode, Step, sample_action
from heredity.kinds.world.gates.contract import Figures, Findings, StuckError, Subject, watched
from heredity.kinds.world.skins import render
from heredity.kinds.world.verify import ENDS, plain_actions
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


Policy = Callable[[Episode], object]
_CANDIDATES = 24


@dataclass(slots=True)
class Play:
    """An episode with its actions and results.

    Attributes:
        level: the level's name.
        actions: the actions given.
        steps: the result of each.
        shown: the texts, the first before any action.
        error: the exception of the world's code (the last action is the cause).
        total: sum of the rewards.
    """

    level: str
    actions: list[Any] = field(default_factory=list[Any])
    steps: list[Step] = field(default_factory=list[Step])
    shown: list[str] = field(default_factory=list[str])
    error: str = ""
    total: float = 0.0

    def report(self, findings: Findings) -> None:
        """Record a finding if the world crashed."""
        if self.error:
            message = f"{self.error}; every well-typed action needs an answer"
            findings.add("crash", message, self.level, self.actions)


def play(subject: Subject, level: Level, policy: Policy, most: int | None = None, *, shown: bool = True) -> Play:
    """Play a level to its end, or for a limited number of steps; texts are rendered if `shown`.

    Raises:
        StuckError: if it hangs.
    """
    played, skin = Play(level.id), subject.world.description.skin
    try:
        with watched(subject.patience):
            episode = subject.world.start(level.data)
            if shown:
                played.shown.append(render(skin, episode.observe()))
            while not episode.done and (most is None or episode.t < most):
                action = policy(episode)
                played.actions.append(action)
                played.steps.append(episode.step(action))
                if shown:
                    played.shown.append(render(skin, episode.observe()))
            played.total = episode.total
    except StuckError as error:
        error.level, error.actions = level.id, played.actions
        raise
    except (HostError, IsolationError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
        played.error = f"{type(error).__name__}: {error}"
    return played


@contextmanager
def guarded(subject: Subject, findings: Findings, level: Level, what: str) -> Generator[None]:
    """Turn an exception of the world into a finding; the work inside is abandoned."""
    try:
        with watched(subject.patience):
            yield
    except StuckError as error:
        error.level = level.id
        raise
    except (HostError, IsolationError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
        findings.add("crash", f"{what}: {type(error).__name__}: {error}", level.id)


def given(actions: Sequence[object]) -> Policy:
    """Return a player that plays these actions, then nothing."""
    rest = iter(actions)
    return lambda episode: next(rest, None)


def repeated(*actions: object) -> Policy:
    """Return a player that repeats these actions."""
    return lambda episode: actions[episode.t % len(actions)]


def drawn(subject: Subject, level: Level, name: str) -> Policy:
    """Return a player that plays random actions."""
    rng = rng_of(subject, level, name)
    actions = subject.world.description.actions
    return lambda episode: sample_action(rng, actions).to_json()


def rng_of(subject: Subject, level: Level, name: str) -> np.random.Generator:
    """Return the generator for a gate's choices on a level."""
    return generator(subject.seed, "gates", name, level.id)


class Explorer:
    """Explores possible actions: among those not refused, it plays the one whose name was played least."""

    def __init__(self, description: Description, rng: np.random.Generator) -> None:
        self._actions, self._rng = description.actions, rng
        plain = plain_actions(description)
        self._plain = {name: [action for action in plain if action.name == name] for name in self._actions}
        self.accepted = dict.fromkeys(description.actions, 0)

    def __call__(self, episode: Episode) -> object:
        """Return an action."""
        tried: list[Action] = []
        for name in sorted(self.accepted, key=self.accepted.__getitem__):
            own = self._plain[name]
            tried = [own[int(i)] for i in self._rng.permutation(len(own))[:_CANDIDATES]]
            tried.append(sample_action(self._rng, {name: self._actions[name]}))
            for action in tried:
                if not episode.copy().step(action).refused:
                    self.accepted[name] += 1
                    return action.to_json()
        return tried[0].to_json()


class Greedy:
    """Looks one step ahead on copies and takes the best-paid action; a refused one only if all are refused."""

    def __init__(self, description: Description, rng: np.random.Generator) -> None:
        self._plain, self._actions, self._rng = plain_actions(description), description.actions, rng
        few = len(self._plain) <= _CANDIDATES
        self._all = few and all(
            _is_covered(kind) for action in self._actions.values() for kind in action.params.values()
        )

    def __call__(self, episode: Episode) -> Action:
        """Return an action."""
        tried = self._plain if self._all else self._some()
        worth: list[tuple[float, bool]] = []
        for action in tried:
            step = episode.copy().step(action)
            worth.append((step.reward, not step.refused))
        most = max(worth)
        best = [action for action, value in zip(tried, worth, strict=True) if value == most]
        return best[int(self._rng.integers(len(best)))]

    def _some(self) -> list[Action]:
        drawn = [sample_action(self._rng, self._actions) for _ in range(_CANDIDATES // 2)]
        return drawn + [self._plain[int(i)] for i in self._rng.permutation(len(self._plain))[:_CANDIDATES]]


def _is_covered(kind: Parameter) -> bool:
    """Return True if `plain_actions` covers every value of a parameter."""
    few = kind.type == "integer" and (kind.high or 0) - (kind.low or 0) < ENDS
    return kind.type == "choice" or few


def check_hooks(subject: Subject, findings: Findings) -> int:
    """Repeat recorded calls of hooks in fresh processes; return their number.

    A hook that counts its calls, or reads the clock or its process, returns something different then.
    """
    hooks = subject.world.dynamics.hooks
    if hooks is None:
        return 0
    count, different = hooks.differing(generator(subject.seed, "gates", "hooks"))
    for name, given in different:
        message = f"in another process the hook {name} gives another result for {given:.120}; use only its inputs"
        findings.add("not deterministic", message)
    return count
