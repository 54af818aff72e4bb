"""Episodes played as evidence: any actions, with every step recorded, and crashes and hangs as results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heredity._core.errors import HostError, IsolationError
from heredity._core.ids import generator
from heredity.kinds.world.actions import sample_action
from heredity.kinds.world.contract import Action
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.episode import Episode, Step
from heredity.kinds.world.gates.contract import Findings, Subject
from heredity.kinds.world.gates.patience import StuckError, watched
from heredity.kinds.world.skins import render
from heredity.kinds.world.verify import ENDS, plain_actions
from heredity.kinds.world.world import Level

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
        error: the exception of the world's code; the last action is the cause.
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
    """Looks one step ahead on copies and takes the best-paid action; a refused one only if there is no other."""

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
