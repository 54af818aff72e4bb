"""One episode on a level: the step rule shared by all worlds, players and skins."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.description import ActionDescription, Description, Parameter


def listed_actions(actions: Mapping[str, ActionDescription]) -> list[dict[str, Any]]:
    """Return each action's name, description, and accepted parameters."""
    return [
        {
            "name": name,
            "description": action.description,
            "parameters": {
                key: f"{expected(kind)}; {kind.description}".strip("; ") for key, kind in action.params.items()
            },
        }
        for name, action in actions.items()
    ]


def actions_text(described: Description) -> str:
    """Return a world's actions and the symbols of its grids as text for an agent, one per line."""
    lines = ["Actions:"]
    for action in listed_actions(described.actions):
        lines.append(f"- {action['name']}: {action['description']}")
        lines += [f"    {key}: {kind}" for key, kind in action["parameters"].items()]
    if described.skin.legend:
        lines += ["", "Symbols:", *(f"  {symbol!r}: {words}" for symbol, words in described.skin.legend.items())]
    return "\n".join(lines)


_SHOWN = 60


def read_action(given: object, actions: Mapping[str, ActionDescription]) -> Action:
    """Check an agent's input, `{"action": name, "params": {...}}`; `params` is optional for actions without parameters.

    Raises:
        RefusedError: for any other input; the message tells the agent the expected form.
    """
    if not isinstance(given, Mapping):
        raise RefusedError(f'{_short(given)} is no action; give {{"action": name, "params": {{...}}}}')
    fields = cast(Mapping[object, object], given)
    name, params = fields.get("action"), fields.get("params", {})
    if not isinstance(name, str) or name not in actions:
        raise RefusedError(f"there is no action {_short(name)}; the actions are {', '.join(actions)}")
    wanted = actions[name].params
    if not wanted and not params:
        return Action(name, {})
    if not isinstance(params, Mapping):
        raise RefusedError(
            f"the params of {name} are {_short(params)}; give an object with {', '.join(wanted) or 'nothing'}"
        )
    values = cast(Mapping[object, object], params)
    for key in values:
        if key not in wanted:
            raise RefusedError(f"{name} has no parameter {_short(key)}; it takes {', '.join(wanted) or 'none'}")
    for key in wanted:
        if key not in values:
            raise RefusedError(f"{name} needs the parameter {key}: {expected(wanted[key])}")
    return Action(name, {key: _checked(name, key, values[key], kind) for key, kind in wanted.items()})


def expected(kind: Parameter) -> str:
    """Return the values that a parameter accepts, in words."""
    if kind.type == "choice":
        return f"one of {', '.join(kind.of)}"
    if kind.type == "text":
        return f"a text of at most {kind.max_length} characters"
    low, high = kind.low or 0, kind.high or 0
    return f"an integer from {low:g} to {high:g}" if kind.type == "integer" else f"a number from {low:g} to {high:g}"


def sample_action(rng: np.random.Generator, actions: Mapping[str, ActionDescription]) -> Action:
    """Draw an action, then its parameters, uniformly."""
    name = list(actions)[int(rng.integers(len(actions)))]
    return Action(name, {key: _sampled(rng, kind) for key, kind in actions[name].params.items()})


def _checked(name: str, key: str, value: object, kind: Parameter) -> Any:
    if kind.type == "choice":
        fits = isinstance(value, str) and value in kind.of
    elif kind.type == "text":
        fits = isinstance(value, str) and len(value) <= kind.max_length
    else:
        whole = isinstance(value, int) and not isinstance(value, bool)
        number = whole or (kind.type == "number" and isinstance(value, float) and math.isfinite(value))
        fits = number and (kind.low or 0) <= cast(float, value) <= (kind.high or 0)
    if not fits:
        raise RefusedError(f"{key} of {name} is {_short(value)}; expected {expected(kind)}")
    return value


def _sampled(rng: np.random.Generator, kind: Parameter) -> Any:
    if kind.type == "choice":
        return kind.of[int(rng.integers(len(kind.of)))]
    if kind.type == "text":
        return ""
    low, high = kind.low or 0, kind.high or 0
    return int(rng.integers(int(low), int(high) + 1)) if kind.type == "integer" else float(rng.uniform(low, high))


def _short(value: object) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


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
