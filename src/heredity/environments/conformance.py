"""What every environment must keep to, checked by running it; for ours and for a user's own.

A score is only worth something if an episode is a function of its seed and its actions. Most checks are about that.
"""

from __future__ import annotations

import contextlib
import json
import math
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity.environments.rollout import BrokenEnvironmentError, Rollout, guarded, roll
from heredity.environments.spaces import describe_space
from heredity.environments.spec import EnvironmentSpec
from heredity.errors import HostError

if TYPE_CHECKING:
    import gymnasium

MakeEnv = Callable[[], "gymnasium.Env[Any, Any]"]

_SEED, _OTHER_SEED = 12345, 54321
_VISITS = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        name: what was checked.
        passed: whether it holds.
        detail: what was seen; for a failure, what to look at.
    """

    name: str
    passed: bool
    detail: str = ""


def check_spec(spec: EnvironmentSpec, *, steps: int = 200) -> list[Finding]:
    """Check a registered or measured environment; see `check_environment`. A user's own is checked in a process of its own."""
    from heredity.environments.child import ChildProcess, EnvironmentFailedError
    from heredity.environments.registry import make

    options = {"constant": spec.constant, "assumed_horizon": spec.assumed_horizon}
    if not spec.child:
        return check_environment(lambda: make(spec), steps=steps, **options)
    try:
        with contextlib.closing(ChildProcess(spec.id)) as child:
            rows = child.ask("check", spec.to_worker(), steps, options)
    except EnvironmentFailedError as error:
        return [Finding(error.what, False, str(error))]
    findings = [Finding(str(name), bool(passed), str(detail)) for name, passed, detail in rows]
    # After a check that its code failed there are no more.
    return [*findings, _check_hash_seed(spec, steps)] if findings[-1].name == "close" else findings


def _check_hash_seed(spec: EnvironmentSpec, steps: int) -> Finding:
    """Compare two processes with another order of sets: a run goes on in a process of its own after it was ended."""
    from heredity.environments.child import ChildProcess

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
    """Return the stream of events of the first seed, with the actions that follow from it."""
    return roll(env, _SEED, steps).events


def check_environment(
    make_env: MakeEnv, *, steps: int = 200, constant: bool = False, assumed_horizon: bool = False
) -> list[Finding]:
    """Check an environment by taking steps with random actions.

    Args:
        make_env: builds a new environment each time.
        steps: steps of each of the five rollouts; more find rarer faults.
        constant: whether the environment declares that its seed changes nothing.
        assumed_horizon: whether the environment declares no horizon, and the one that it has is ours.

    Returns:
        One finding for each check, in a fixed order; after a check that the environment's own code failed, no more.
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

    # Episodes broken off at several points leave more traces than one that is played to its end.
    for visit in range(_VISITS):
        roll(used, _OTHER_SEED + visit, max(1, steps * (visit + 1) // (2 * _VISITS)))
    after = roll(used, _SEED, steps, reference.actions)
    findings.append(_compare("hidden state", reference, after, f"after {_VISITS} other episodes were begun"))

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
    # An environment that draws from the process-wide generators gives itself away when these are set differently.
    python, numpy = random.getstate(), np.random.get_state()
    random.seed(state)
    np.random.seed(state)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
