"""The kind of episodes: confined policy programs act in environments, without a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity._core.outside import read_bytes
from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.runner import Runner
from heredity.engine.space_numbers import POLICY, Space, bounds, space_of, starter_program, starts
from heredity.engine.trajectory import Failure
from heredity.kinds.policy.environments.registry import machine_checks
from heredity.kinds.policy.runner import EpisodeRunner
from heredity.records.run_folder import check_no_record
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import Status

MOST = 8
"""Maximum number of constant actions to try."""

Floats = NDArray[np.float64]
Choose = Callable[[Floats, Floats], Floats]
"""Maps the lower and upper bounds of an action's numbers, infinities included, to one value each."""


def constant_programs(public: Mapping[str, Any]) -> list[SourceTree]:
    """Return programs that repeat one action, the null action first.

    The null action is zero in each number, or the bound nearest to it; of a choice, the first. The others are, for a
    single choice, its actions, evenly spaced if there are more than `MOST`; for other spaces, all numbers at their
    lower bound, at their upper bound, in the middle, and uniform draws between the bounds, the same for every run. A
    number without bounds is taken to lie between -1 and 1 there.

    Args:
        public: the taskset's public information, with `action_space`.

    Returns:
        At most `MOST` + 1 different programs; none for a space whose actions hold no numbers.

    Raises:
        ConfigError: if the action space is missing.
    """
    space, name = space_of(public, "action_space"), str(public.get("env", "a task"))
    try:
        literals = [_literal(space, choose) for choose in (_null, *_choices(space))]
    except ConfigError:
        return []
    return [_program(name, literal) for literal in dict.fromkeys(literals)]


def _choices(space: Space) -> Iterator[Choose]:
    if space["type"] == "Discrete":
        count = min(int(space["n"]), MOST)
        for share in np.linspace(0.0, 1.0, count):
            yield lambda low, high, share=float(share): np.round(low + share * (high - low))
        return
    for share in (0.0, 1.0, 0.5):
        yield lambda low, high, share=share: _between(low, high, np.full(low.shape, share))
    rng = generator(0, "references", "constant")
    for _ in range(MOST - 3):
        yield lambda low, high: _between(low, high, rng.random(low.shape))


def _null(low: Floats, high: Floats) -> Floats:
    return np.clip(np.zeros(low.shape), low, high)


def _between(low: Floats, high: Floats, shares: Floats) -> Floats:
    least, most = (
        np.where(np.isfinite(low), low, np.minimum(-1.0, high)),
        np.where(np.isfinite(high), high, np.maximum(1.0, low)),
    )
    return least + shares * (most - least)


def _literal(space: Space, choose: Choose) -> str:
    """Return an action as Python source."""
    match space["type"]:
        case "Discrete":
            first = int(space.get("start", 0))
            # The first of a choice stands for zero, whatever its number.
            return str(first + int(_whole(choose, np.zeros(1), np.array([int(space["n"]) - 1.0]))[0]))
        case "MultiDiscrete":
            first, most = np.array(starts(space)), np.ravel(space["nvec"]).astype(np.float64) - 1.0
            values = first + _whole(choose, np.zeros(most.shape), most)
            return _array(values.astype(int), np.shape(space["nvec"]), space.get("dtype", "int64"))
        case "MultiBinary":
            shape = tuple(np.ravel(space.get("shape", space.get("n"))).astype(int).tolist())
            size = int(np.prod(shape))
            return _array(_whole(choose, np.zeros(size), np.ones(size)).astype(int), shape, "int8")
        case "Box":
            low, high = bounds(space)
            kind = str(space.get("dtype", "float32"))
            values = _whole(choose, low, high).astype(int) if "int" in kind else choose(low, high)
            return _array(values, tuple(space["shape"]), kind)
        case "Dict":
            return "{" + ", ".join(f"{key!r}: {_literal(part, choose)}" for key, part in space["spaces"].items()) + "}"
        case "Tuple":
            return "(" + "".join(f"{_literal(part, choose)}, " for part in space["spaces"]) + ")"
        case other:
            raise ConfigError(f"actions of a {other} space hold no numbers")


def _whole(choose: Choose, low: Floats, high: Floats) -> Floats:
    return np.floor(choose(low, high) + 0.5)


def _array(values: np.ndarray, shape: tuple[int, ...], kind: str) -> str:
    exact = values.astype(kind)
    return f"np.array({exact.reshape(shape).tolist()}, dtype={kind!r})"


def _program(name: str, literal: str) -> SourceTree:
    numpy = "import numpy as np\n\n\n" if "np." in literal else "\n"
    return SourceTree(
        {
            POLICY: f'''"""The same action at every step, for {name}."""

{numpy}class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.action = {literal}

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return self.action
'''
        }
    )


def _open(opening: Opening) -> Runner:
    workers = opening.workers
    return EpisodeRunner(workers.count, lockstep=workers.lockstep, unsafe=workers.unsafe)


def _read(path: Path) -> Candidate:
    """Return the policy program in a folder or in a single file."""
    if path.suffix == ".py" and path.is_file():
        return Candidate.program(SourceTree({POLICY: read_bytes(path)}))
    if path.is_file():
        raise ConfigError(f"{path} is not a policy; give a folder with {POLICY} in it, or one file of Python")
    check_no_record(path)
    tree = SourceTree.from_folder(path)
    if POLICY not in tree:
        raise ConfigError(f"{path} has no {POLICY}; give the folder of a policy program, or one file of Python")
    return Candidate.program(tree)


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts and POLICY in candidate.parts[AGENT]:
        return None
    return Failure(Status.MISSING_POLICY, f"the program has no file {POLICY}; put it at the top of its folder")


KIND = Kind(
    "episode",
    _open,
    Needs(confined=True, reads=("limits.*", "engine.lockstep")),
    Candidates(
        lambda info: Candidate.program(starter_program(info.public)),
        _read,
        _refusal,
        constant=lambda info: [Candidate.program(program) for program in constant_programs(info.public)],
    ),
    usage=lambda trajectory: None,
    checks=machine_checks,
    summed=True,
)
