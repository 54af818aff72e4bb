"""`run_attacks`: runs every attack against the real sandbox, judged by the host's observations and traps."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import secrets
import selectors
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import heredity
from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, UnknownNameError
from heredity.attacks import episode, machine, outside
from heredity.attacks.contract import PRINTED, STEPS, TIMEOUTS, Attack, arena, state_secret
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.sandbox.seccomp import call_numbers
from heredity.tasks import Task

_SECRET_FILES = {"secret": "secret.txt", "journal": "journal.jsonl", "sealed": "sealed.json", "run": "run.toml"}
_WITH_SIBLING = ("kernel", "processes", "state", "exhaustion")
_ENDING_S = 5.0
_MOST_MEMORY = 1 << 30


class Grounds:
    """Surroundings of one attack: secret files, listening sockets, a sibling process. A context manager.

    Args:
        category: category of the attack; sockets and a process are created only for attacks on them.
        engine: the engine's folder.
        calls: numbers of system calls by name.

    Attributes:
        needles: texts that must not leave the sandbox.
        flag: the word with which the attack's program claims success.
    """

    def __init__(self, category: str, engine: Path, calls: dict[str, int]) -> None:
        self._category, self._engine, self._calls = category, engine, calls
        self._temporary = EngineFolder()
        self.folder = self._temporary.path / "grounds"
        self.folder.mkdir()
        self.flag, self.mark = secrets.token_hex(16), "atk" + secrets.token_hex(5)
        self.needles: list[str] = []
        self._listeners: Listeners | None = None
        self._sibling: subprocess.Popen[bytes] | None = None
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Grounds:
        (self.folder / "kept").mkdir()
        for name in _SECRET_FILES.values():
            (self.folder / "kept" / name).write_text(json.dumps({"kept": self._canary()}) + "\n")
        other = self._engine / "programs" / f"other-{self.mark}"
        other.mkdir()
        (other / "policy.py").write_text(f"SECRET = {self._canary()!r}\n")
        if self._category == "network":
            self._listeners = Listeners(self.folder, self.mark)
        if self._category in _WITH_SIBLING:
            surroundings = {"SECRET": self._canary(), "PATH": os.environ.get("PATH", "")}
            self._sibling = subprocess.Popen(
                [sys.executable, "-S", "-c", "import time; time.sleep(600)"], env=surroundings
            )
        self._before = self._state()
        return self

    def __exit__(self, *_: object) -> None:
        if self._listeners:
            self._listeners.close()
        if self._sibling:
            self._sibling.kill()
            self._sibling.wait()
        self._temporary.remove()

    @property
    def secret(self) -> Path:
        """Path of a file that no program may read."""
        return self.folder / "kept" / _SECRET_FILES["secret"]

    def target(self) -> dict[str, Any]:
        """Return the attack program's target information: everything but the secrets."""
        listeners = self._listeners
        return {
            "flag": self.flag,
            "mark": self.mark,
            "calls": self._calls,
            **{key: str(self.folder / "kept" / name) for key, name in _SECRET_FILES.items()},
            "folder": str(self.folder / "kept"),
            "engine": str(self._engine),
            "other_program": str(self._engine / "programs" / f"other-{self.mark}" / "policy.py"),
            "heredity": str(Path(heredity.__file__).parent),
            "packages": package_folders(),
            "libraries": foreign_libraries(),
            "home": str(Path.home()),
            "host_pid": os.getpid(),
            "sibling_pid": self._sibling.pid if self._sibling else os.getpid(),
            "tcp_port": listeners.tcp_port if listeners else 9,
            "udp_port": listeners.udp_port if listeners else 9,
            "unix_path": listeners.unix_path if listeners else "/run/none",
            "abstract": listeners.abstract if listeners else "none",
        }

    def leaks(self, texts: Iterable[str]) -> list[str]:
        """Return leaks from the sandbox: secrets, and claims of success."""
        reasons: list[str] = []
        for text in texts:
            reasons += [f"a secret came out: {needle[:14]}…" for needle in self.needles if needle in text]
            reasons += [f"it says: {claim.strip()}" for claim in re.findall(rf"^{self.flag}(.*)", text, re.MULTILINE)]
        return reasons

    def touched(self, programs: Sequence[SourceTree]) -> list[str]:
        """Return changes on the host: files, connections, processes, surviving threads."""
        reasons: list[str] = []
        if self._state() != self._before:
            reasons.append("a file of the host was changed")
        places = (
            self.folder,
            self.folder / "kept",
            self._engine,
            self._engine / "programs",
            Path("/tmp"),
            Path("/dev/shm"),
            Path("/"),
        )
        reasons += [f"{path} was made" for folder in places for path in folder.glob(f"{self.mark}*")]
        if self._listeners:
            self._listeners.close()
        if self._listeners and self._listeners.reached:
            reasons.append(f"a listener of the host was reached: {self._listeners.reached}")
        if self._sibling and self._sibling.poll() is not None:
            reasons.append("a process of the host was ended")
        for program in programs:
            kept = self._engine / "programs" / program.digest
            if kept.exists() and not _unchanged(kept, program):
                reasons.append("the snapshot of the program was changed")
        heaviest = largest_worker()
        if heaviest > _MOST_MEMORY:
            reasons.append(f"an environment worker has grown to {heaviest >> 20} MB")
        deadline = time.monotonic() + _ENDING_S
        while alive := _threads_named(self.mark):
            if time.monotonic() > deadline:
                reasons.append(f"{alive} of its threads are still there")
                break
            time.sleep(0.02)
        return reasons

    def _canary(self) -> str:
        self.needles.append("CANARY-" + secrets.token_hex(16))
        return self.needles[-1]

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for path in sorted((self.folder / "kept").iterdir()):
            stat = path.stat()
            state[path.name] = (path.read_bytes(), stat.st_mode, stat.st_mtime_ns, stat.st_uid, stat.st_nlink)
        return state


class Listeners:
    """Sockets of the host that listen and record every connection."""

    def __init__(self, folder: Path, name: str) -> None:
        self.reached: list[str] = []
        self.unix_path, self.abstract = str(folder / "socket"), f"heredity-{name}"
        made = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": (socket.AF_UNIX, socket.SOCK_STREAM, self.unix_path),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract),
        }
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[str, socket.socket] = {}
        for kind, (family, type_, address) in made.items():
            self._sockets[kind] = listener = socket.socket(family, type_)
            listener.bind(address)
            if type_ == socket.SOCK_STREAM:
                listener.listen()
            self._selector.register(listener, selectors.EVENT_READ, kind)
        self.tcp_port, self.udp_port = (self._sockets[kind].getsockname()[1] for kind in ("tcp", "udp"))
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, "")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Record arrivals and stop listening."""
        if not self._thread.is_alive():
            return
        self._wake.close()
        self._thread.join()
        for listener in (*self._sockets.values(), self._woken):
            listener.close()
        self._selector.close()

    def _watch(self) -> None:
        waiting = True
        while waiting:
            for key, _ in self._selector.select():
                if not key.data:
                    waiting = False
                    continue
                listener = self._sockets[key.data]
                self.reached.append(key.data)
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(1024)


def package_folders() -> list[str]:
    """Return the package folders of this interpreter, and the folder that contains heredity."""
    paths = sysconfig.get_paths()
    base = f"{sys.base_prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    folders = [paths["purelib"], paths["platlib"], base, str(Path(heredity.__file__).parents[1])]
    return [folder for folder in dict.fromkeys(folders) if Path(folder).is_dir()]


def foreign_libraries() -> list[str]:
    """Return shared libraries of installed packages that programs may not import."""
    libraries: list[str] = []
    for name in ("msgpack", "pydantic_core", "mujoco", "Box2D"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            libraries += [str(path) for path in sorted(Path(spec.origin).parent.glob("*.so*"))[:2]]
    return libraries


def largest_worker() -> int:
    """Return the resident memory, in bytes, of the largest child process."""
    largest = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == os.getpid():
            largest = max(largest, int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
    return largest


def _unchanged(folder: Path, program: SourceTree) -> bool:
    try:
        return SourceTree.from_folder(folder) == program
    except ConfigError:
        return False


def _threads_named(mark: str) -> int:
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for task in (process / "task").iterdir():
                count += (task / "comm").read_text().strip() == mark
        except OSError:  # it has ended
            continue
    return count


ATTACKS: tuple[Attack, ...] = (
    *outside.FILES,
    *outside.NETWORK,
    *machine.KERNEL,
    *machine.PROCESSES,
    *machine.EXHAUSTION,
    *episode.INSIDE,
    *episode.WIRE,
)
"""Every attack, by category."""

LIMITS = Limits(
    init_s=8.0, act_s=5.0, episode_s=15.0, memory_bytes=256 << 20, scratch_bytes=1 << 20, output_bytes=PRINTED
)
"""Default limits of an attack."""

_AT_ONCE = 6
_MORE_TIME = (2, 6)
_KIT = Path(__file__).parent / "guest" / "kit.py"
_VARIABLE = "HEREDITY_CANARY"
_SLACK_S = 20.0

RunnerFactory = Callable[[Path], EpisodeRunner]
"""Makes the engine under attack, with its files in the given folder."""


def run_attacks(
    runner_factory: RunnerFactory | None = None,
    names: Iterable[str] | None = None,
    *,
    on_attempt: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Run attacks against the sandbox of this machine.

    Args:
        runner_factory: makes the engine under attack (default one with every layer of isolation).
        names: names of attacks (default all).
        on_attempt: called with each attempt as it ends.

    Returns:
        `{"tried": int, "succeeded": int, "attempts": [{"name", "category", "what", "outcome", "detail", "succeeded"}]}`
        in the order of `ATTACKS`. `outcome` is the status of its episodes, or `"refused"` if it was rejected as a
        program.

    Raises:
        UnknownNameError: if a name is not an attack.
        IsolationError: if this machine cannot isolate policies.
    """
    return asyncio.run(attempt_all(runner_factory, names, on_attempt=on_attempt))


async def attempt_all(
    runner_factory: RunnerFactory | None = None,
    names: Iterable[str] | None = None,
    *,
    on_attempt: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Run attacks as `run_attacks` does, inside a running event loop."""
    chosen = _chosen(names)
    gate = asyncio.Semaphore(_AT_ONCE)
    with EngineFolder() as engine, _planted_variable() as canary:
        (folder := engine / "attacks").mkdir()
        runner = runner_factory(folder) if runner_factory else EpisodeRunner(folder=folder)
        siege = _Siege(runner, folder, canary)

        async def attempt(attack: Attack) -> dict[str, Any]:
            async with gate:
                result = await siege.attempt(attack)
            if on_attempt:
                on_attempt(result)
            return result

        async with runner:
            await runner.start()
            attempts = await asyncio.gather(*map(attempt, chosen))
    succeeded = sum(a["succeeded"] for a in attempts)
    return {"tried": len(attempts), "succeeded": succeeded, "attempts": attempts}


def _chosen(names: Iterable[str] | None) -> list[Attack]:
    attacks = {attack.name: attack for attack in ATTACKS}
    if names is None:
        return list(ATTACKS)
    wanted = set(names)
    for name in wanted - attacks.keys():
        raise UnknownNameError("attack", name, attacks)
    return [attack for attack in ATTACKS if attack.name in wanted]


@contextmanager
def _planted_variable() -> Generator[str]:
    # The environment workers must inherit it, the zygotes must not.
    os.environ[_VARIABLE] = canary = "CANARY-" + secrets.token_hex(16)
    try:
        yield canary
    finally:
        del os.environ[_VARIABLE]


class _Siege:
    """One engine under attack."""

    def __init__(self, runner: EpisodeRunner, folder: Path, canary: str) -> None:
        self._runner, self._folder, self._canary = runner, folder, canary
        self._calls = _call_numbers()

    async def attempt(self, attack: Attack) -> dict[str, Any]:
        """Run and judge one attack; retry with more time if a busy machine gave it too little."""
        limits = replace(LIMITS, **attack.limits)
        outcome, detail, reasons = await self._once(attack, limits)
        for factor in _MORE_TIME:
            if outcome not in TIMEOUTS - attack.stopped_by:
                break
            more = {name: getattr(limits, name) * factor for name in ("init_s", "act_s", "episode_s")}
            outcome, detail, reasons = await self._once(attack, replace(limits, **more))
        return {
            "name": attack.name,
            "category": attack.category,
            "what": attack.what,
            "outcome": outcome,
            "detail": "; ".join(dict.fromkeys(reasons))[:500] if reasons else detail[:200],
            "succeeded": bool(reasons),
        }

    async def _once(self, attack: Attack, limits: Limits) -> tuple[str, str, list[str]]:
        with Grounds(attack.category, self._folder, self._calls) as grounds:
            plain = {
                "policy.py": attack.program,
                "kit.py": _KIT.read_text(encoding="utf-8"),
                "target.json": json.dumps(grounds.target()),
                **attack.files,
            }
            try:
                tree = (
                    attack.submit(grounds.folder / "mine", grounds.secret, plain)
                    if attack.submit
                    else SourceTree(plain)
                )
            except ConfigError as error:
                return "refused", str(error), await asyncio.to_thread(grounds.touched, ())
            trajectories = await self._play(attack, tree, limits, grounds)
            reasons = [reason for t in trajectories for reason in judge(attack, t, limits)]
            reasons += await asyncio.to_thread(grounds.touched, [tree])
            reasons += grounds.leaks(text for t in trajectories for text in _texts(t))
        worst = next((t for t in trajectories if t.failure), trajectories[0])
        message = (
            worst.failure.message if worst.failure else worst.stdout.strip().rpartition("\n")[2]
        ) or "nothing to say"
        return worst.status, message, reasons

    async def _play(self, attack: Attack, tree: SourceTree, limits: Limits, grounds: Grounds) -> list[Trajectory]:
        info, candidate = arena(attack.action), Candidate.program(tree)
        trajectories: list[Trajectory] = []
        grounds.needles.append(self._canary)
        for count in attack.rounds:
            seeds = [secrets.randbelow(1 << 30) + (1 << 30) for _ in range(count)]
            grounds.needles += [text for seed in seeds for text in (str(seed), state_secret(seed))]
            tasks = [Task(f"train/{i}", "train", i, {"seed": seed, "options": {}}) for i, seed in enumerate(seeds)]
            jobs = [Job(info, candidate, task, len(trajectories) + i, 7 + i) for i, task in enumerate(tasks)]
            trajectories += [trajectory async for _, trajectory in self._runner.run(jobs, limits)]
        return trajectories


def judge(attack: Attack, trajectory: Trajectory, limits: Limits) -> list[str]:
    """Return the faults of an attacked episode: rewards, failure source, exceeded limits."""
    reasons: list[str] = []
    if trajectory.failure_source not in ("none", "candidate"):
        message = trajectory.failure.message if trajectory.failure else ""
        reasons.append(f"the failure is laid on the {trajectory.failure_source}: {message}")
    if trajectory.total_reward != trajectory.length or trajectory.length > STEPS:
        reasons.append(f"{trajectory.total_reward} of reward in {trajectory.length} steps, of which there are {STEPS}")
    if any(trajectory.columns.get("info/foreign", ())):
        reasons.append("the environment got an action that its space does not hold")
    if max(map(len, (trajectory.stdout, trajectory.stderr))) > limits.output_bytes:
        reasons.append("its output was kept beyond the limit")
    if trajectory.seconds > limits.init_s + limits.act_s * STEPS + limits.episode_s + _SLACK_S:
        reasons.append(f"it went on for {trajectory.seconds:.1f} s")
    if attack.stopped_by and trajectory.status not in attack.stopped_by:
        reasons.append(f"it ended as {trajectory.status} rather than {' or '.join(sorted(attack.stopped_by))}")
    return reasons


def _texts(trajectory: Trajectory) -> Sequence[str]:
    failure = trajectory.failure
    texts = [trajectory.stdout, trajectory.stderr]
    return [*texts, failure.message, failure.traceback] if failure else texts


def _call_numbers() -> dict[str, int]:
    numbers = call_numbers()
    return {name: numbers.get(name, -1) for name in _mentioned_calls()}


def _mentioned_calls() -> set[str]:
    pattern = re.compile(r"""(?:wins|call|call_quietly)\(["'](\w+)["']""")
    return {name for attack in ATTACKS for name in pattern.findall(attack.program)}
