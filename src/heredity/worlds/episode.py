"""One attempt at a level: the step rule that every world shares, whoever plays and whatever the skin."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from heredity.worlds.actions import read_action
from heredity.worlds.contract import Action, Dynamics, LevelData, Outcome, RefusedError
from heredity.worlds.description import Description


@dataclass(frozen=True, slots=True)
class Step:
    """What a step led to: `refused` says why an action was not taken; `truncated` that the horizon ended the episode."""

    reward: float
    terminated: bool
    truncated: bool
    message: str
    refused: bool


class Episode:
    """A level being played.

    Attributes:
        state: the whole state, hidden parts included.
        t: steps taken.
        steps: the horizon.
        total: reward so far.
        done: whether it has ended.
        message: what the last action led to.
    """

    def __init__(self, description: Description, dynamics: Dynamics[Any], level: LevelData) -> None:
        self._description, self._dynamics = description, dynamics
        self.state: Any = dynamics.start(level)
        self.t, self.total, self.done, self.message = 0, 0.0, False, ""
        self.steps: int = level.get("steps", description.max_steps)

    def step(self, given: object) -> Step:
        """Take an action as an agent gives it; one that is refused costs its step and never pays.

        A `RefusedError` in its place says why what an agent gave could not even be read.
        """
        try:
            if isinstance(given, RefusedError):
                raise given
            action = given if isinstance(given, Action) else read_action(given, self._description.actions)
            outcome, refused = self._dynamics.act(self.state, action), False
        except RefusedError as error:
            passed = self._dynamics.refuse(self.state)
            unpaid = "Nothing is paid for it after a refused action." if passed.reward > 0 else ""
            message = " ".join(filter(None, (str(error), passed.message, unpaid)))
            outcome, refused = Outcome(min(0.0, passed.reward), passed.done, message), True
        self.t += 1
        reward, truncated = outcome.reward, False
        if not outcome.done and self.t >= self.steps:
            truncated = True
            reward += self._dynamics.finish(self.state)
        self.total += reward
        self.done, self.message = outcome.done or truncated, outcome.message
        return Step(reward, outcome.done, truncated, outcome.message, refused)

    def observe(self) -> dict[str, Any]:
        """Return what is exposed now."""
        return {"t": self.t, "steps": self.steps, "message": self.message, **self._dynamics.observe(self.state)}

    def copy(self) -> Episode:
        """Return the same moment once more, to look ahead from."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.state = copy.deepcopy(self.state)
        return twin
