"""Rollouts that remember enough to be compared, for the conformance suite."""

from __future__ import annotations

import contextlib
import hashlib
import traceback
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity.errors import HostError

if TYPE_CHECKING:
    import gymnasium

_ACTION_SEED = 271828


class BrokenEnvironmentError(HostError):
    """The environment's own code raised an error.

    Attributes:
        what: what it was asked to do: `make`, `reset`, `step`, `close`, `spaces`.
    """

    def __init__(self, what: str, error: BaseException) -> None:
        self.what = what
        frame = traceback.extract_tb(error.__traceback__)[-1]
        super().__init__(f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})")


@contextlib.contextmanager
def guarded(what: str) -> Generator[None]:
    """Turn whatever the environment's code raises inside the block into `BrokenEnvironmentError`."""
    try:
        yield
    except BrokenEnvironmentError:
        raise
    except (Exception, SystemExit) as error:
        raise BrokenEnvironmentError(what, error) from error


@dataclass(slots=True)
class Rollout:
    """What some episodes in a row gave.

    Attributes:
        events: digests of each reset's observation and of each step's observation, reward and flags, in order.
        actions: actions taken.
        rewards: one for each step.
        lengths: steps of each episode, the last perhaps broken off.
        resets: number of episodes begun.
        contract: violations of the types that `reset` and `step` return.
        outside: observations outside their space.
        aliased: observations that changed after they were returned.
    """

    events: list[str] = field(default_factory=list[str])
    actions: list[Any] = field(default_factory=list[Any])
    rewards: list[float] = field(default_factory=list[float])
    lengths: list[int] = field(default_factory=list[int])
    resets: int = 0
    contract: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])
    aliased: list[str] = field(default_factory=list[str])

    def differs_at(self, other: Rollout) -> int | None:
        """Return the index of the first event that differs; None if all are equal."""
        for index, (mine, theirs) in enumerate(zip(self.events, other.events, strict=False)):
            if mine != theirs:
                return index
        return None if len(self.events) == len(other.events) else min(len(self.events), len(other.events))


def roll(env: gymnasium.Env[Any, Any], seed: int, steps: int, actions: Sequence[Any] | None = None) -> Rollout:
    """Take steps, beginning another episode with the next seed whenever one ends.

    Args:
        env: the environment.
        seed: seed of the first episode.
        steps: number of steps.
        actions: what to do; None draws from the action space.

    Raises:
        BrokenEnvironmentError: if the environment's code raises, or what it returns cannot be used at all.
    """
    rollout = Rollout()
    kept: list[tuple[Any, str]] = []
    over = True
    for step in range(steps):
        if over:
            kept.append(_reset(env, seed + rollout.resets, rollout))
            env.action_space.seed(_ACTION_SEED + rollout.resets)
        action = env.action_space.sample() if actions is None else actions[step]
        rollout.actions.append(action)
        observation, over = _step(env, action, rollout)
        kept.append(observation)
    rollout.aliased += [
        f"the observation of event {i} changed after it was returned; return a copy"
        for i, (value, digest) in enumerate(kept)
        if _digest(value) != digest
    ]
    return rollout


def _reset(env: gymnasium.Env[Any, Any], seed: int, rollout: Rollout) -> tuple[Any, str]:
    with guarded("reset"):
        answer: Any = env.reset(seed=seed)
        observation, info = answer
    rollout.resets += 1
    rollout.lengths.append(0)
    if not isinstance(info, dict):
        rollout.contract.append(f"reset returned an info of type {type(info).__name__}, not dict")
    _check_inside(env, observation, rollout)
    digest = _digest(observation)
    rollout.events.append(digest)
    return observation, digest


def _step(env: gymnasium.Env[Any, Any], action: Any, rollout: Rollout) -> tuple[tuple[Any, str], bool]:
    number = len(rollout.rewards)
    with guarded("step"):
        # A copy: an environment that changes the action it is given must not change what is replayed.
        answer: Any = env.step(_copy(action))
        observation, reward, terminated, truncated, info = answer
        value = float(reward)
    rollout.rewards.append(value)
    rollout.lengths[-1] += 1
    if np.ndim(reward) != 0:
        rollout.contract.append(f"the reward of step {number} has shape {np.shape(reward)}; it must be one number")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, bool | np.bool_):
            rollout.contract.append(f"{name} of step {number} is of type {type(flag).__name__}, not bool")
    if not isinstance(info, dict):
        rollout.contract.append(f"step {number} returned an info of type {type(info).__name__}, not dict")
    _check_inside(env, observation, rollout)
    digest = _digest(observation)
    rollout.events.append(f"{digest} {value!r} {bool(terminated)} {bool(truncated)}")
    return (observation, digest), bool(terminated or truncated)


def _check_inside(env: gymnasium.Env[Any, Any], observation: Any, rollout: Rollout) -> None:
    with guarded("spaces"):
        inside = env.observation_space.contains(observation)
    if not inside:
        index = len(rollout.events)
        shown = (
            f"{type(observation).__name__} {np.asarray(observation).dtype}"
            if _is_array(observation)
            else repr(observation)
        )
        rollout.outside.append(
            f"the observation of event {index} ({shown[:120]}) is outside {env.observation_space!r:.160}"
        )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_copy(v) for v in value)
    return value


def _digest(value: Any) -> str:
    state = hashlib.blake2b(digest_size=12)
    _feed(state, value)
    return state.hexdigest()


def _feed(state: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            state.update(f"{{{key}:".encode())
            _feed(state, value[key])
    elif isinstance(value, list | tuple):
        for part in value:
            state.update(b"[")
            _feed(state, part)
    elif _is_array(value) and value.dtype != object:
        array = np.ascontiguousarray(value)
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(array.tobytes())
    else:
        state.update(repr(value).encode())
