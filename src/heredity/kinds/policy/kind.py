"""The kind of episodes: confined policy programs act in environments, without a language model, on all cores."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HostError
from heredity._core.ids import generator
from heredity._core.outside import read_bytes
from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.runner import Job, Runner
from heredity.engine.space_numbers import POLICY, Space, bounds, space_of, starter_program, starts
from heredity.engine.trajectory import Failure, Trajectory
from heredity.kinds.policy.environments.registry import machine_checks
from heredity.kinds.policy.episode import Rollout
from heredity.records.run_folder import check_no_record
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import FailureSource, Status
from heredity.sandbox import isolation as isolations
from heredity.sandbox.limits import Limits

_MAX_PROGRAMS = 256
_START_S = 120.0
_WORKER_MODULE = "heredity.kinds.policy.environment_worker"
_WORKER_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


@dataclass(slots=True)
class _Child:
    """One environment worker: its process, its connection, and its pending jobs."""

    process: subprocess.Popen[bytes]
    writer: asyncio.StreamWriter
    core: int | None
    owed: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    listener: asyncio.Task[None] | None = None


class EpisodeRunner:
    """Runs episodes of policies in environments.

    One trusted environment worker per core steps the environments; each has a zygote that forks a confined process for
    every episode (or one for `lockstep` episodes, which then share module state: faster, less separated).

    Args:
        workers: environment workers (by default one per core this process may use).
        lockstep: episodes per policy process. 1 isolates episodes from each other.
        unsafe: run with the layers of isolation available here instead of refusing when one is missing.
        scratch_bytes: memory-backed scratch space of each policy; `Limits.scratch_bytes` bounds one file in it.
        folder: where the engine keeps programs; a temporary folder by default.

    Raises:
        IsolationError: if this machine cannot isolate policies and `unsafe` is False.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        lockstep: int = 1,
        unsafe: bool = False,
        scratch_bytes: int = 16 << 20,
        folder: Path | None = None,
    ) -> None:
        self.isolation = isolations.resolve(unsafe=unsafe)
        self.lockstep = lockstep
        self._count = workers or len(os.sched_getaffinity(0))
        self._own_folder = EngineFolder() if folder is None else None
        self._folder = self._own_folder.path if self._own_folder else folder or Path()
        self._settings = isolations.zygote_settings(self.isolation, self._folder, scratch_bytes)
        self._children: list[_Child] = []
        self._starting = asyncio.Lock()
        self._requests = itertools.count(1)
        self._results: dict[int, asyncio.Queue[tuple[int, Trajectory]]] = {}
        self._programs: dict[str, Path] = {}

    async def start(self) -> None:
        """Start the environment workers now instead of with the first jobs."""
        async with self._starting:
            self._children = [c for c in self._children if c.process.poll() is None]
            missing = self._count - len(self._children)
            await asyncio.gather(*(self._spawn(core) for core in self._free_cores(missing)))

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends.

        Every job yields exactly one trajectory; that of a failed rollout names the failure source. When the caller
        stops early, jobs that have not started are dropped.
        """
        if not jobs:
            return
        await self.start()
        request = next(self._requests)
        queue: asyncio.Queue[tuple[int, Trajectory]] = asyncio.Queue()
        self._results[request] = queue
        profiles: dict[int, Mapping[str, Any]] = {}
        try:
            shares = self._share(len(jobs))
            for child, positions in shares:
                rollouts = [self._attempt((request, p), jobs[p], limits, profiles) for p in positions]
                child.owed.update((request, p) for p in positions)
                self._tell(child, rollouts)
            for _ in range(len(jobs)):
                yield await queue.get()
        finally:
            del self._results[request]
            for child in self._children:
                if any(r == request for r, _ in child.owed):
                    child.owed = {o for o in child.owed if o[0] != request}
                    if not child.writer.is_closing():
                        self._tell(child, request)

    async def close(self) -> None:
        """End every process the runner started."""
        for child in self._children:
            child.writer.close()
            if child.listener is not None:
                child.listener.cancel()
            try:
                await asyncio.to_thread(child.process.wait, 5)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        self._children.clear()
        if self._own_folder:
            self._own_folder.remove()

    async def __aenter__(self) -> EpisodeRunner:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _share(self, count: int) -> list[tuple[_Child, range]]:
        children = sorted(self._children, key=lambda c: len(c.owed))[: max(1, count)]
        return [(child, range(start, count, len(children))) for start, child in enumerate(children) if start < count]

    def _attempt(
        self,
        indices: tuple[int, int],
        job: Job,
        limits: Limits,
        profiles: dict[int, Mapping[str, Any]],
    ) -> Rollout:
        info = job.taskset
        profile = profiles.get(id(info))
        if profile is None:
            spaces = {"obs": info.public["obs_space"], "action": info.public["action_space"]}
            profile = profiles[id(info)] = {**spaces, "meta": json.dumps(dict(info.public))}
        return Rollout(
            request=indices[0],
            position=indices[1],
            task_id=job.task.id,
            candidate=job.candidate.digest,
            program=str(self._program(job.candidate.agent)),
            environment=info.spec,
            profile=profile,
            task=job.task.spec,
            episode_index=job.episode_index,
            policy_seed=job.policy_seed,
            media=job.options or {},
            limits=limits,
            lockstep=self.lockstep,
        )

    def _program(self, tree: SourceTree) -> Path:
        folder = self._programs.pop(tree.digest, None)
        if folder is None:
            folder = self._folder / "programs" / tree.digest
            staged = folder.with_suffix(".new")
            staged.mkdir(parents=True, exist_ok=True)
            tree.write_to(staged)
            if folder.exists():
                shutil.rmtree(staged)
            else:
                staged.rename(folder)
        self._programs[tree.digest] = folder
        if len(self._programs) > _MAX_PROGRAMS and not any(c.owed for c in self._children):
            oldest = next(iter(self._programs))
            shutil.rmtree(self._programs.pop(oldest), ignore_errors=True)
        return folder

    def _free_cores(self, count: int) -> list[int | None]:
        """Return a separate core for each new worker; None for each if there are more workers than cores."""
        cores = sorted(os.sched_getaffinity(0))
        if self._count > len(cores):
            return [None] * count
        taken = {c.core for c in self._children}
        free: list[int | None] = [core for core in cores if core not in taken]
        return free[:count]

    async def _spawn(self, core: int | None) -> None:
        ours, theirs = socket.socketpair()
        process = _start_worker(theirs)
        theirs.close()
        ours.setblocking(False)
        writer, ready = None, False
        try:
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=1 << 24)
            settings = json.dumps({**self._settings, "core": core}).encode()
            writer.write(len(settings).to_bytes(8, "little") + settings)
            ready = await _answers(reader)
        finally:
            if not ready:  # Cancelled as well, or it would go on starting in a deleted folder.
                process.kill()
                (writer or ours).close()
                process.wait()
        if writer is None or not ready:
            raise HostError(
                f"an environment worker did not start (status {process.returncode}); what it printed above says why"
            )
        child = _Child(process, writer, core)
        child.listener = asyncio.create_task(self._listen(child, reader))
        self._children.append(child)

    @staticmethod
    def _tell(child: _Child, message: Any) -> None:
        data = pickle.dumps(message, protocol=5)
        child.writer.write(len(data).to_bytes(8, "little") + data)

    async def _listen(self, child: _Child, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(8), "little")
                data = await reader.readexactly(size)
                request, position = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:12], "little")
                child.owed.discard((request, position))
                if request in self._results:
                    self._results[request].put_nowait((position, Trajectory.decode(memoryview(data)[12:])))
        except (asyncio.IncompleteReadError, ConnectionError):
            self._lost(child)

    def _lost(self, child: _Child) -> None:
        """Report a dead environment worker's pending jobs as failures of the host or a simulator, never of the candidate."""
        if child in self._children:
            self._children.remove(child)
        child.writer.close()
        status = child.process.wait()
        failure = Failure(Status.HOST_ERROR, f"an environment worker ended with status {status}")
        for request, position in sorted(child.owed):
            if request in self._results:
                lost = Trajectory("", "", Status.HOST_ERROR, FailureSource.HOST, 0.0, 0, False, {}, failure=failure)
                self._results[request].put_nowait((position, lost))
        child.owed.clear()


async def _answers(reader: asyncio.StreamReader) -> bool:
    """Return True if a worker reports that it is ready, with an empty message."""
    try:
        return int.from_bytes(await asyncio.wait_for(reader.readexactly(8), _START_S), "little") == 0
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return False


def _start_worker(connection: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", _WORKER_MODULE, str(connection.fileno())],
        pass_fds=[connection.fileno()],
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            **_WORKER_ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(os.path.abspath(p or ".") for p in sys.path),
        },
        start_new_session=True,
    )


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
            # The first of a choice stands for zero, regardless of its number.
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
