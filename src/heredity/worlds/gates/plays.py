"""Episodes played for evidence: any actions, every step kept, crashes and hangs as facts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heredity.errors import HostError, IsolationError
from heredity.ids import generator
from heredity.worlds.actions import sample_action
from heredity.worlds.contract import Action
from heredity.worlds.description import Description, Parameter
from heredity.worlds.episode import Episode, Step
from heredity.worlds.gates.contract import Findings, Subject
from heredity.worlds.gates.patience import StuckError, watched
from heredity.worlds.skins import render
from heredity.worlds.verify import ENDS, plain_actions
from heredity.worlds.world import Level

Policy = Callable[[Episode], object]
_CANDIDATES = 24


@dataclass(slots=True)
class Play:
    """An episode with what was given and what came back.

    Attributes:
        level: the level's name.
        actions: what was given.
        steps: what each led to.
        shown: the texts, the first before any action.
        error: what the world's code raised; the last of the actions is the cause.
        total: sum of the rewards.
    """

    level: str
    actions: list[Any] = field(default_factory=list[Any])
    steps: list[Step] = field(default_factory=list[Step])
    shown: list[str] = field(default_factory=list[str])
    error: str = ""
    total: float = 0.0

    def report(self, findings: Findings) -> None:
        """Note it if the world crashed."""
        if self.error:
            message = f"{self.error}; every well-typed action needs an answer"
            findings.add("crash", message, self.level, self.actions)


def play(subject: Subject, level: Level, policy: Policy, most: int | None = None, *, shown: bool = True) -> Play:
    """Play a level to its end, or for at most so many steps; texts are made where they are `shown`.

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
    """Turn whatever a world raises inside into a finding; what was begun there is given up."""
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
    """Play these actions, then nothing."""
    rest = iter(actions)
    return lambda episode: next(rest, None)


def repeated(*actions: object) -> Policy:
    """Play these actions over and over."""
    return lambda episode: actions[episode.t % len(actions)]


def drawn(subject: Subject, level: Level, name: str) -> Policy:
    """Play actions drawn blindly."""
    rng = rng_of(subject, level, name)
    actions = subject.world.description.actions
    return lambda episode: sample_action(rng, actions).to_json()


def rng_of(subject: Subject, level: Level, name: str) -> np.random.Generator:
    """Return the generator of a gate's choices on a level."""
    return generator(subject.seed, "gates", name, level.id)


class Explorer:
    """Plays what is possible: of the actions that are not refused, one whose name was played least."""

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
    """Looks one step ahead on copies and takes what pays most; a refused action only where there is nothing else."""

    def __init__(self, description: Description, rng: np.random.Generator) -> None:
        self._plain, self._actions, self._rng = plain_actions(description), description.actions, rng
        few = len(self._plain) <= _CANDIDATES
        self._all = few and all(_listed(kind) for action in self._actions.values() for kind in action.params.values())

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


def _listed(kind: Parameter) -> bool:
    """Return whether `plain_actions` has every value of a parameter."""
    few = kind.type == "integer" and (kind.high or 0) - (kind.low or 0) < ENDS
    return kind.type == "choice" or few


def check_hooks(subject: Subject, findings: Findings) -> int:
    """Ask the hooks again, in fresh processes, for what they have said so far; return how often they are asked.

    A hook that counts its calls, looks at the clock or at the process that it is in says something else then.
    """
    hooks = subject.world.dynamics.hooks
    if hooks is None:
        return 0
    count, different = hooks.differing(generator(subject.seed, "gates", "hooks"))
    for name, given in different:
        message = (
            f"in another process the hook {name} gives something else for {given:.120}; use what it is given alone"
        )
        findings.add("not deterministic", message)
    return count
