"""Conformance checks for environments, built-in and user ones, made by running them.

A score is meaningful only if an episode is a function of its seed and its actions. Most checks are about that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import random
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity._core.errors import HostError
from heredity.kinds.policy.environments.spaces import describe_space
from heredity.kinds.policy.environments.spec import EnvironmentSpec

if TYPE_CHECKING:
    import gymnasium

_ACTION_SEED = 271828


class BrokenEnvironmentError(HostError):
    """The environment's own code raised an error.

    Attributes:
        what: the operation: `make`, `reset`, `step`, `close`, `spaces`.
    """

    def __init__(self, what: str, error: BaseException) -> None:
        self.what = what
        frame = traceback.extract_tb(error.__traceback__)[-1]
        super().__init__(f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})")


@contextlib.contextmanager
def guarded(what: str) -> Generator[None]:
    """Turn any exception of the environment's code inside the block into `BrokenEnvironmentError`."""
    try:
        yield
    except BrokenEnvironmentError:
        raise
    except (Exception, SystemExit) as error:
        raise BrokenEnvironmentError(what, error) from error


@dataclass(slots=True)
class Rollout:
    """The results of some consecutive episodes.

    Attributes:
        events: digests of each reset's observation and of each step's observation, reward and flags, in order.
        actions: actions taken.
        rewards: one for each step.
        lengths: steps of each episode (the last may be incomplete).
        resets: number of episodes started.
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
    """Take steps, starting another episode with the next seed whenever one ends.

    Args:
        env: the environment.
        seed: seed of the first episode.
        steps: number of steps.
        actions: the actions (None samples the action space).

    Raises:
        BrokenEnvironmentError: if the environment's code raises or returns unusable values.
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
        # A copy: the environment may modify its action, which must not change the replay.
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


MakeEnv = Callable[[], "gymnasium.Env[Any, Any]"]

_SEED, _OTHER_SEED = 12345, 54321
_VISITS = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        name: the property checked.
        passed: true if it holds.
        detail: the evidence; for a failure, what to look at.
    """

    name: str
    passed: bool
    detail: str = ""


def check_spec(spec: EnvironmentSpec, *, steps: int = 200) -> list[Finding]:
    """Check a registered or measured environment; see `check_environment`. User environments run in a separate process."""
    from heredity.kinds.policy.environments.child import ChildProcess, EnvironmentFailedError
    from heredity.kinds.policy.environments.registry import make

    options = {"constant": spec.constant, "assumed_horizon": spec.assumed_horizon}
    if not spec.child:
        return check_environment(lambda: make(spec), steps=steps, **options)
    try:
        with contextlib.closing(ChildProcess(spec.id)) as child:
            rows = child.ask("check", spec.to_worker(), steps, options)
    except EnvironmentFailedError as error:
        return [Finding(error.what, False, str(error))]
    findings = [Finding(str(name), bool(passed), str(detail)) for name, passed, detail in rows]
    # Stop after the first check in which its code failed.
    return [*findings, _check_hash_seed(spec, steps)] if findings[-1].name == "close" else findings


def _check_hash_seed(spec: EnvironmentSpec, steps: int) -> Finding:
    """Compare two processes with different orders of sets: a resumed run continues in another process."""
    from heredity.kinds.policy.environments.child import ChildProcess

    streams: list[list[str]] = []
    for hash_seed in (0, 1):
        try:
            with contextlib.closing(ChildProcess(spec.id, hash_seed)) as child:
                streams.append(child.ask("events", spec.to_worker(), steps))
        except HostError as error:
            return Finding("processes", False, f"with PYTHONHASHSEED={hash_seed}: {error}")
    what = "two processes, PYTHONHASHSEED 0 and 1, same seed and actions"
    one, other = (Rollout(events=events) for events in streams)
    at = one.differs_at(other)
    if at is None:
        return Finding("processes", True, f"{what}: same stream over {len(one.events)} events")
    where = "the first observation" if at == 0 else f"event {at}"
    advice = "sort what comes from a set, and do not use hash()"
    return Finding("processes", False, f"{what}: the streams differ from {where} on; {advice}")


def reference_events(env: gymnasium.Env[Any, Any], steps: int) -> list[str]:
    """Return the stream of events of the first seed, and its actions."""
    return roll(env, _SEED, steps).events


def check_environment(
    make_env: MakeEnv, *, steps: int = 200, constant: bool = False, assumed_horizon: bool = False
) -> list[Finding]:
    """Check an environment by taking steps with random actions.

    Args:
        make_env: builds a new environment each time.
        steps: steps of each of the five rollouts; more steps find rarer faults.
        constant: true if the environment declares that its seed changes nothing.
        assumed_horizon: true if the environment declares no horizon and has our default.

    Returns:
        One finding per check, in a fixed order, up to the first check in which the environment's own code failed.
    """
    findings: list[Finding] = []
    opened: list[gymnasium.Env[Any, Any]] = []

    def make() -> gymnasium.Env[Any, Any]:
        with guarded("make"):
            env = make_env()
        opened.append(env)
        return env

    try:
        first = make()
        findings.append(Finding("make", True, f"{type(first.unwrapped).__name__}"))
        findings.extend(_check_rollouts(first, make, steps, constant, assumed_horizon))
        findings.append(_check_spaces(first))
        findings.append(_check_close(first))
    except BrokenEnvironmentError as error:
        findings.append(Finding(error.what, False, str(error)))
    finally:
        for env in opened:
            with contextlib.suppress(BrokenEnvironmentError), guarded("close"):
                env.close()
    return findings


def _check_rollouts(
    used: gymnasium.Env[Any, Any],
    make: Callable[[], gymnasium.Env[Any, Any]],
    steps: int,
    constant: bool,
    assumed_horizon: bool,
) -> list[Finding]:
    with _global_randomness(1):
        reference = roll(used, _SEED, steps)
    findings = [
        *_check_contract(reference),
        _check_horizon(used, reference, assumed_horizon),
    ]
    with _global_randomness(2):
        fresh = roll(make(), _SEED, steps, reference.actions)
    findings.append(_compare("seeding", reference, fresh, "two new environments, same seed and actions"))

    again = roll(used, _SEED, steps, reference.actions)
    findings.append(_compare("repeat", reference, again, "the same environment, reset with the same seed"))

    # Episodes stopped at several points leave more traces than a complete one.
    for visit in range(_VISITS):
        roll(used, _OTHER_SEED + visit, max(1, steps * (visit + 1) // (2 * _VISITS)))
    after = roll(used, _SEED, steps, reference.actions)
    findings.append(_compare("hidden state", reference, after, f"after starting {_VISITS} other episodes"))

    other = roll(used, _OTHER_SEED, steps, reference.actions)
    findings.append(_check_seed_matters(reference, other, constant))
    return findings


def _check_contract(rollout: Rollout) -> list[Finding]:
    return [
        _from_problems("contract", rollout.contract, f"{rollout.resets} resets, {len(rollout.rewards)} steps"),
        _from_problems("observations", rollout.outside, "all inside the observation space"),
        _from_problems("aliasing", rollout.aliased, "no observation changed after it was returned"),
        _check_rewards(rollout),
    ]


def _check_spaces(env: gymnasium.Env[Any, Any]) -> Finding:
    with guarded("spaces"):
        env.reset(seed=_SEED)
        described = {name: describe_space(getattr(env, name)) for name in ("observation_space", "action_space")}
    kinds = ", ".join(f"{name}: {text['type']}" for name, text in described.items())
    try:
        json.dumps(described, allow_nan=False)
    except (TypeError, ValueError) as error:
        return Finding("spaces", False, f"{kinds}; their description is not JSON: {error}")
    return Finding("spaces", True, kinds)


def _check_rewards(rollout: Rollout) -> Finding:
    for step, reward in enumerate(rollout.rewards):
        if not math.isfinite(reward):
            return Finding("rewards", False, f"the reward of step {step} is {reward}; rewards must be finite")
    if not rollout.rewards:
        return Finding("rewards", False, "no step was taken")
    return Finding("rewards", True, f"from {min(rollout.rewards):g} to {max(rollout.rewards):g}")


def _check_horizon(env: gymnasium.Env[Any, Any], rollout: Rollout, assumed: bool) -> Finding:
    declared = env.spec.max_episode_steps if env.spec is not None else None
    if declared is None:
        return Finding("horizon", False, "none declared; register the environment with max_episode_steps")
    longest = max(rollout.lengths, default=0)
    if longest > declared:
        return Finding("horizon", False, f"an episode took {longest} steps, but {declared} are declared")
    if assumed:
        cut = f"none declared, so episodes are cut after {declared} steps; register it with max_episode_steps to change that"
        return Finding("horizon", True, f"{cut}; longest episode {longest}")
    met = "met" if longest == declared else "not met in this check"
    return Finding("horizon", True, f"{declared} steps declared, {met}; longest episode {longest}")


def _check_seed_matters(reference: Rollout, other: Rollout, constant: bool) -> Finding:
    differs = reference.differs_at(other) is not None
    if constant:
        return Finding(
            "different seeds", not differs, "declared constant, " + ("but they differ" if differs else "and so")
        )
    detail = "give different episodes" if differs else "give the same episode; declare it constant if that is meant"
    return Finding("different seeds", differs, detail)


def _check_close(env: gymnasium.Env[Any, Any]) -> Finding:
    with guarded("close"):
        env.close()
        env.close()
    return Finding("close", True, "twice")


def _compare(name: str, reference: Rollout, other: Rollout, what: str) -> Finding:
    at = reference.differs_at(other)
    if at is None:
        return Finding(name, True, f"{what}: same stream over {len(reference.rewards)} steps")
    where = "the first observation" if at == 0 else f"event {at}"
    return Finding(name, False, f"{what}: the streams differ from {where} on")


def _from_problems(name: str, problems: list[str], otherwise: str) -> Finding:
    if not problems:
        return Finding(name, True, otherwise)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Finding(name, False, problems[0] + more)


@contextlib.contextmanager
def _global_randomness(state: int) -> Generator[None]:
    # Seeding the process-wide generators differently exposes environments that draw from them.
    python, numpy = random.getstate(), np.random.get_state()
    random.seed(state)
    np.random.seed(state)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
