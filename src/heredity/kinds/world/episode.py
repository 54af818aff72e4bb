"""One episode on a level: the step rule shared by all worlds, players and skins."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.actions import read_action
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.description import Description


@dataclass(frozen=True, slots=True)
class Step:
    """The result of a step: `refused` is the reason for a refusal; `truncated` means that the horizon ended the episode."""

    reward: float
    terminated: bool
    truncated: bool
    message: str
    refused: bool


class Episode:
    """A level in play.

    Attributes:
        state: the full state, hidden parts included.
        t: steps taken.
        steps: the horizon.
        total: reward so far.
        done: True if it has ended.
        message: the result of the last action.
    """

    def __init__(self, description: Description, dynamics: Dynamics[Any], level: LevelData) -> None:
        self._description, self._dynamics = description, dynamics
        self.state: Any = dynamics.start(level)
        self.t, self.total, self.done, self.message = 0, 0.0, False, ""
        self.steps: int = level.get("steps", description.max_steps)

    def step(self, given: object) -> Step:
        """Take an agent's action; a refused one costs its step and never pays.

        A `RefusedError` in place of an action is the reason why the agent's input was unreadable.
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
        """Return the exposed values."""
        return {"t": self.t, "steps": self.steps, "message": self.message, **self._dynamics.observe(self.state)}

    def copy(self) -> Episode:
        """Return an independent copy of the current state, to look ahead from."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.state = copy.deepcopy(self.state)
        return twin
