"""The kind of program tasks: candidates are programs, and a scorer measures them."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HostError
from heredity._core.outside import json_value
from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.program.taskset import KIND as NAME
from heredity.kinds.program.taskset import ProgramTask, read_program_task
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.resources.evolve_blocks import check_fixed
from heredity.results.status import FailureSource, Status
from heredity.sandbox.bubblewrap_root import interpreter
from heredity.sandbox.limits import Limits
from heredity.sandbox.native import WORK, Bounds, Ended, NativeRuns
from heredity.tasks import TasksetInfo

_ASK = """
import json, os, sys, sysconfig
print(json.dumps({
    "base": os.path.realpath(sys.base_prefix), "version": sys.version_info[:2],
    "paths": [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path],
}))
"""
_ASK_S = 60.0
_LEAST = (3, 9)
_PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Interpreter:
    """A Python interpreter for programs and scorers.

    Attributes:
        program: path of the base interpreter, the same in the sandbox.
        packages: folders of installed packages.
        shown: all folders to mount read-only in the sandbox, in addition to those that it always mounts.
    """

    program: Path
    packages: tuple[Path, ...]
    shown: tuple[Path, ...]


@cache
def interpreter_of(path: Path | None) -> Interpreter:
    """Return the Python of an environment, or the one that runs Heredity.

    Raises:
        HostError: if it does not run, or is too old.
    """
    if path is None:
        there = _folders([sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path])
        return Interpreter(interpreter(), there, there)
    try:
        asked = subprocess.run(
            [path, "-I", "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
            cwd="/",
            start_new_session=True,
        )
        about = json.loads(asked.stdout)
        base, version = Path(about["base"]), tuple[int, int](about["version"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        output = getattr(error, "stderr", None) or error
        raise HostError(f"{path} does not run as a Python: {str(output).strip()[-300:]}; name one that does") from error
    if version < _LEAST:
        raise HostError(f"{path} is Python {version[0]}.{version[1]}; programs and scorers need 3.9 or later")
    there = _folders(about["paths"])
    own = () if base.is_relative_to("/usr") else tuple(base / name for name in ("bin", "lib") if (base / name).is_dir())
    return Interpreter(base / "bin" / f"python{version[0]}.{version[1]}", there, (*own, *there))


def _folders(paths: list[str]) -> tuple[Path, ...]:
    """Return the folders that hold packages."""
    return tuple(path for path in map(Path, dict.fromkeys(paths)) if path.name in _PACKAGES and path.is_dir())


_GUEST = Path(__file__).with_name("guest.py")
_START_S = 5.0
"""CPU seconds for starting, added to a program's own."""
_CLOCK = 4.0
"""Wall seconds per CPU second: a program that takes longer is waiting or sleeping."""
_OUTPUT_BYTES = 16 << 20
_MOST_REPLY = 2 << 20
"""Maximum size of metrics and texts in bytes, since parsing blocks the event loop; answers are passed on unparsed."""
_ANSWER = b"answer\n"
_MOST_RECORDED = 64 << 10
"""Maximum size of a recorded answer, in bytes of JSON; larger ones are not recorded."""
_DISK_BYTES = 256 << 20
_SCRIPT = "cp -r /source/. . && exec {python} -B -P .guest.py"


@dataclass(slots=True)
class _Record:
    """The state of a measurement while it lasts."""

    job: Job
    log: str = ""
    cpu_s: float = 0.0
    peak_bytes: int = 0
    answer: str = ""

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a measurement that an error ended early."""
        return self._trajectory(status, failure_source, 0.0, {}, {}, Failure(status, message, trace, 0))

    def measured(self, score: float, metrics: Mapping[str, Any], texts: Mapping[str, str]) -> Trajectory:
        """Return the record of a measurement."""
        return self._trajectory(Status.OK, FailureSource.NONE, score, metrics, texts)

    def _trajectory(
        self,
        status: str,
        source: FailureSource,
        score: float,
        metrics: Mapping[str, Any],
        texts: Mapping[str, str],
        failure: Failure | None = None,
    ) -> Trajectory:
        columns: dict[str, Column] = {
            "obs": ["the program", "its score"],
            "action": ["measured"],
            "reward": [score],
            "terminated": [failure is None],
            "truncated": [False],
            "info/metrics": [dict(metrics)],
            "info/texts": [dict(texts)],
        }
        if self.answer:
            columns["info/answer"] = [self.answer]
        cost = {"cpu_s": self.cpu_s, "peak_bytes": float(self.peak_bytes)}
        ids = self.job.task.id, self.job.candidate.digest
        return Trajectory(
            *ids, status, source, score, 1, failure is None, columns, stderr=self.log, failure=failure, cost=cost
        )


class ProgramRunner:
    """Measures programs; see the module.

    Args:
        workers: maximum concurrent measurements; one per core by default.
    """

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._runs: NativeRuns | None = None
        self._folder: EngineFolder | None = None
        self._lock = asyncio.Lock()

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Measure programs (see `Runner.run`), each within `limits.episode_s` of CPU time and `limits.memory_bytes`."""
        self._runs = self._runs or NativeRuns(self._workers)
        self._folder = self._folder or EngineFolder()
        bench = _Bench(self._runs, self._folder.path, limits, self._lock)

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            record = _Record(job)
            return position, await attributed(record, _measured(bench, record))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """End the processes."""
        if self._runs is not None:
            self._runs.close()
            self._runs = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


@dataclass(frozen=True)
class _Bench:
    """Resources for measuring programs.

    Attributes:
        runs: starts sandboxes.
        folder: folder for their files.
        limits: of each measurement.
        lock: held while the metrics that count are determined.
    """

    runs: NativeRuns
    folder: Path
    limits: Limits
    lock: asyncio.Lock


_counted: dict[tuple[str, str], tuple[str, ...]] = {}
"""Metrics that count, for tasks that name none, by the digest of the task and its start program."""


async def _measured(bench: _Bench, record: _Record) -> Trajectory:
    task = read_task(str(record.job.task.spec["folder"]), str(record.job.task.spec["digest"]))
    own = dict(record.job.candidate.agent.items())
    _check_marks(task, own)
    start = own == {task.declared.program: task.program.encode()}
    counted = () if start else await _metrics_that_count(bench, record.job, task)
    metrics, texts = await _judged(bench, record, task, own)
    counted = counted or _counted.setdefault((task.digest, task.program), _names(task, metrics))
    value = score_of(metrics, counted)
    if value is None:
        raise RolloutError(
            _unscored(counted, metrics, texts),
            status=Status.NON_FINITE_RETURN,
            failure_source=FailureSource.CANDIDATE,
        )
    return record.measured(task.declared.score_of(value), metrics, texts)


async def _metrics_that_count(bench: _Bench, job: Job, task: ProgramTask) -> tuple[str, ...]:
    """Return the metrics whose mean is the score: those of the start program, so that other programs cannot choose theirs."""
    if task.declared.metric:
        return (task.declared.metric,)
    key = task.digest, task.program
    async with bench.lock:
        if key not in _counted:
            try:
                metrics, _ = await _judged(bench, _Record(job), task, {task.declared.program: task.program.encode()})
            except RolloutError as error:
                raise RolloutError(
                    f"the start program cannot be scored, so the metrics that count are unknown ({error}); set metric in task.toml"
                ) from error
            _counted[key] = _names(task, metrics)
        return _counted[key]


def _names(task: ProgramTask, metrics: Mapping[str, float | None]) -> tuple[str, ...]:
    if task.declared.metric:
        return (task.declared.metric,)
    if "combined_score" in metrics:
        return ("combined_score",)
    return tuple(sorted(name for name, value in metrics.items() if value is not None))


async def _judged(
    bench: _Bench, record: _Record, task: ProgramTask, own: Mapping[str, bytes]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the scorer's metrics and texts for a program's files."""
    request: dict[str, Any] = {
        "do": "evaluate",
        "program": f"{WORK}/{task.declared.program}",
        "scorer": f"{WORK}/{task.declared.scorer}",
        "seed": record.job.task.spec.get("seed"),
        "stages": task.declared.stages,
        "metric": task.declared.metric,
        "minimise": task.declared.minimise,
    }
    files = {name: data for name, data in task.files.items() if name != task.declared.program}
    python = await asyncio.to_thread(interpreter_of, task.python)
    call = partial(_call, bench, record, python)
    if task.form == "evaluate":
        ended = await call(request, {**own, **files})
        reply = _reply(ended, "the program", FailureSource.CANDIDATE, bench.limits)
    else:
        solved = await call({**request, "do": "solve"}, own)
        if solved.reason != "exited" or not solved.stdout.startswith(_ANSWER):
            raise _broken(
                "the program", "an answer", _reply(solved, "the program", FailureSource.CANDIDATE, bench.limits)
            )
        # The program's files are absent where its answer is judged.
        answer = solved.stdout.removeprefix(_ANSWER)
        if len(answer) <= _MOST_RECORDED:
            record.answer = answer.decode()
        ended = await call({**request, "do": "verify"}, files, answer)
        reply = _reply(ended, "the scorer", FailureSource.ENVIRONMENT, bench.limits)
    metrics, texts = reply.get("metrics"), reply.get("texts", {})
    if not isinstance(metrics, dict) or not isinstance(texts, dict):
        raise _broken("the scorer", "metrics", reply)
    numbers = {name: _number(value) for name, value in cast("dict[str, Any]", metrics).items()}
    return numbers, {name: str(text) for name, text in cast("dict[str, Any]", texts).items()}


def _check_marks(task: ProgramTask, own: Mapping[str, bytes]) -> None:
    """Reject a program whose author, such as an outside agent, changed parts that its marks protect."""
    try:
        check_fixed(task.program, own.get(task.declared.program, b"").decode("utf-8-sig"))
    except (ConfigError, UnicodeDecodeError) as error:
        raise RolloutError(
            f"{task.declared.program}: {error}", status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE
        ) from error


def _clock_s(limits: Limits) -> float:
    """Return the wall time limit of a measurement, in seconds."""
    return _CLOCK * (limits.episode_s + _START_S)


async def _call(
    bench: _Bench,
    record: _Record,
    python: Interpreter,
    request: Mapping[str, Any],
    files: Mapping[str, bytes],
    answer: bytes = b"",
) -> Ended:
    """Call the guest in a new sandbox, with these files in its folder."""
    limits = bench.limits
    bounds = Bounds(
        limits.episode_s + _START_S,
        _clock_s(limits),
        limits.memory_bytes,
        _OUTPUT_BYTES,
        max(_DISK_BYTES, limits.scratch_bytes),
    )
    folder = await asyncio.to_thread(_written, bench.folder, files)
    try:
        ended = await bench.runs.run(
            ("/bin/sh", "-c", _SCRIPT.format(python=shlex.quote(str(python.program)))),
            bounds,
            work=folder,
            stdin=json.dumps(request).encode() + b"\n" + answer,
            shown=python.shown,
            environment={
                "PYTHONPATH": ":".join(map(str, python.packages)),
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
                "MPLBACKEND": "agg",
            },
            compiling=True,
        )
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    record.cpu_s += ended.cpu_s
    record.peak_bytes = max(record.peak_bytes, ended.peak_bytes)
    record.log = (record.log + ended.stderr)[-limits.output_bytes :]
    return ended


def _written(parent: Path, files: Mapping[str, bytes]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="program-", dir=parent))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / ".guest.py").write_bytes(_GUEST.read_bytes())
    return folder


def _reply(ended: Ended, who: str, source: FailureSource, limits: Limits) -> dict[str, Any]:
    """Return the guest's reply; raise the error it reports."""
    if ended.reason in ("cpu", "wall"):
        within = f"{limits.episode_s:g} seconds of CPU time"
        if ended.reason == "wall":
            within = f"{_clock_s(limits):g} seconds of wall time, mostly asleep or waiting"
        raise RolloutError(
            f"{who} gave no answer within {within}; make it faster, or raise limits.episode_s",
            status=Status.ROLLOUT_TIMEOUT,
            failure_source=source,
        )
    reply, unread = _object(ended)
    if unread:
        last = ended.stderr.strip().splitlines()[-1:]
        memory = ended.reason == "memory" or ended.code == -9 or "MemoryError" in "".join(last)
        raise RolloutError(
            f"{who} {unread}{f'; the last line it printed: {last[0]:.300}' if last else ''}",
            ended.stderr[-4000:],
            status=Status.OOM if memory else Status.ACT_ERROR,
            failure_source=source,
        )
    if "error" not in reply:
        return reply
    judging = source is FailureSource.ENVIRONMENT
    failure = str(reply["error"]), str(reply.get("traceback", ""))
    if reply.get("where") == "scorer" and judging:
        raise RolloutError(*failure)
    status = Status.INVALID_ACTION if reply.get("where") == "answer" else Status.ACT_ERROR
    raise RolloutError(*failure, status=status, failure_source=FailureSource.CANDIDATE)


def _object(ended: Ended) -> tuple[dict[str, Any], str]:
    """Return the JSON object that a guest wrote, and the problem if it wrote none."""
    if ended.reason != "exited" or not ended.stdout:
        return {}, _ending(ended)
    if len(ended.stdout) > _MOST_REPLY:
        return {}, f"gave {len(ended.stdout):,} bytes of metrics and texts; give at most {_MOST_REPLY:,}"
    try:
        reply = json_value(ended.stdout)
    except ValueError as error:
        return {}, f"wrote something that is not JSON: {error!s:.200}"
    return (
        (cast("dict[str, Any]", reply), "")
        if isinstance(reply, dict)
        else ({}, "wrote something that is not a JSON object")
    )


def _ending(ended: Ended) -> str:
    """Describe how a process ended that gave no answer."""
    if ended.reason == "memory":
        return "exceeded its memory limit (limits.memory_bytes)"
    if ended.reason == "output":
        return f"wrote more than {_OUTPUT_BYTES >> 20} MiB to where its answer belongs"
    if ended.code < 0:
        signals = {one.value: one.name for one in signal.Signals}
        return f"was ended by {signals.get(-ended.code, f'signal {-ended.code}')} before it gave an answer"
    return f"ended with exit code {ended.code} before it gave an answer"


def _number(value: Any) -> float | None:
    """Return a number that an evaluator wrote; None for other values, which a program in its process may have written."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def score_of(metrics: Mapping[str, float | None], counted: Sequence[str]) -> float | None:
    """Return the mean of the metrics that count; None if there are none, or one of them is not finite."""
    numbers = [value for name in counted if (value := metrics.get(name)) is not None]
    return sum(numbers) / len(numbers) if numbers and len(numbers) == len(counted) else None


def _unscored(counted: Sequence[str], metrics: Mapping[str, float | None], texts: Mapping[str, str]) -> str:
    missing = [name for name in counted if metrics.get(name) is None]
    if not missing:
        given = [f"{name} is NaN or infinite" for name, value in metrics.items() if value is None and name not in texts]
        given += [f"{name} is {text!r:.60}" for name, text in texts.items()]
        return f"the scorer gave no finite number ({', '.join(given) or 'no metric at all'}); return finite numbers"
    given = "; ".join(
        f"{name} is {texts[name]!r:.100}" if name in texts else f"{name} is NaN or infinite"
        for name in missing
        if name in texts or name in metrics
    )
    given = given or f"it gave {', '.join(metrics)[:400] or 'no metric at all'}"
    return f"the scorer gave no finite number for {', '.join(missing)} ({given}); return one, or choose another metric"


def _broken(who: str, what: str, reply: Mapping[str, Any]) -> RolloutError:
    return RolloutError(
        f"{who} was to give {what}, and gave {', '.join(reply) or 'nothing'}",
        status=Status.ACT_ERROR,
        failure_source=FailureSource.CANDIDATE,
    )


@cache
def read_task(folder: str, digest: str) -> ProgramTask:
    """Return a task with an expected digest.

    Raises:
        HostError: if its digest has changed, or it cannot be read.
    """
    try:
        task = read_program_task(Path(folder))
    except (ConfigError, OSError) as error:
        raise HostError(f"the task cannot be read any more: {error}") from error
    if task.digest != digest:
        raise HostError(f"{folder} has changed since its tasks were drawn; start another run")
    return task


def _open(opening: Opening) -> Runner:
    return ProgramRunner(opening.workers.count)


def start_program(info: TasksetInfo) -> Candidate:
    """Return the start program of a task."""
    task = read_task(str(info.spec["folder"]), str(info.spec["digest"]))
    return Candidate.program(SourceTree({task.declared.program: task.program}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts:
        return None
    return Failure(Status.MISSING_POLICY, "there is no program; submit a folder with the program that evolves")


KIND = Kind(
    NAME,
    _open,
    Needs(
        confined=True,
        commands=True,
        reads=("limits.episode_s", "limits.memory_bytes", "limits.scratch_bytes", "limits.output_bytes"),
    ),
    Candidates(starter=start_program, read=_read, refusal=_refusal),
    usage=lambda trajectory: None,
)
