"""`ProgramRunner`: programs measured by scorers, each measurement in a sandbox of its own.

With `verify(answer)` the program is called in one sandbox and its answer judged in another, where nothing of the program is: it
cannot reach what judges it. With `evaluate(program_path)` the evaluator runs the program itself, in the same sandbox, as evaluators
of OpenEvolve do; such a program can write its own score, and a score is to be believed as far as the program has been read.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from heredity.errors import ConfigError, HostError
from heredity.outside import json_value
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job
from heredity.rollouts.program.interpreter import Interpreter, interpreter_of
from heredity.rollouts.rollout import RolloutError, attributed
from heredity.rollouts.streams import as_completed
from heredity.rollouts.trajectory import Column, Failure, Trajectory
from heredity.sandbox.limits import Limits
from heredity.sandbox.native import WORK, Bounds, Ended, NativeRuns
from heredity.tasks.programs.blocks import check_fixed
from heredity.tasks.programs.task import ProgramTask, read_program_task

_GUEST = Path(__file__).with_name("guest.py")
_START_S = 5.0
"""Processor seconds for starting, beside what a program may use."""
_CLOCK = 4.0
"""Seconds by the clock for each of the processor's: what takes longer waits, or sleeps."""
_OUTPUT_BYTES = 16 << 20
_DISK_BYTES = 256 << 20
_SCRIPT = "cp -r /source/. . && exec {python} -B -P .guest.py"


@dataclass(slots=True)
class _Record:
    """A measurement while it lasts."""

    job: Job
    log: str = ""
    cpu_s: float = 0.0
    peak_bytes: int = 0
    stages: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a measurement that something ended before its time."""
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
        cost = {"cpu_s": self.cpu_s, "peak_bytes": float(self.peak_bytes)}
        ids = self.job.task.id, self.job.candidate.digest
        return Trajectory(
            *ids, status, source, score, 1, failure is None, columns, stderr=self.log, failure=failure, cost=cost
        )


class ProgramRunner:
    """Measures programs; see the module.

    Args:
        workers: measurements at the same time; one per core by default.
    """

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._runs: NativeRuns | None = None

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Measure programs (see `Runner.run`): each may take `limits.episode_s` of the processor and `limits.memory_bytes`."""
        runs = self._runs = self._runs or NativeRuns(self._workers)

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            record = _Record(job)
            return position, await attributed(record, _measured(runs, record, limits))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """End the processes."""
        if self._runs is not None:
            self._runs.close()
            self._runs = None


async def _measured(runs: NativeRuns, record: _Record, limits: Limits) -> Trajectory:
    task = read_task(str(record.job.task.spec["folder"]), str(record.job.task.spec["digest"]))
    request: dict[str, Any] = {
        "do": "evaluate",
        "program": f"{WORK}/{task.declared.program}",
        "scorer": f"{WORK}/{task.declared.scorer}",
        "seed": record.job.task.spec.get("seed"),
        "stages": task.declared.stages,
    }
    own = dict(record.job.candidate.agent.items())
    _check_marks(task, own)
    files = {name: data for name, data in task.files.items() if name != task.declared.program}
    python = await asyncio.to_thread(interpreter_of, task.python)
    call = partial(_call, runs, record, limits, python)
    if task.form == "evaluate":
        reply = await call(request, {**own, **files})
    else:
        solved = await call({**request, "do": "solve"}, own)
        if "answer" not in solved:
            raise _broken("the program", "an answer", solved)
        # Nothing of the program is where its answer is judged.
        reply = await call({**request, "do": "verify", "answer": solved["answer"]}, files)
    return _scored(record, task, reply)


def _check_marks(task: ProgramTask, own: Mapping[str, bytes]) -> None:
    """Refuse a program whose author, an outside agent for one, changed what its marks say is to stay."""
    try:
        check_fixed(task.program, own.get(task.declared.program, b"").decode())
    except (ConfigError, UnicodeDecodeError) as error:
        raise RolloutError(
            f"{task.declared.program}: {error}", status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE
        ) from error


async def _call(
    runs: NativeRuns,
    record: _Record,
    limits: Limits,
    python: Interpreter,
    request: Mapping[str, Any],
    files: Mapping[str, bytes],
) -> dict[str, Any]:
    """Call the guest in a sandbox of its own, with these files in its folder."""
    seconds = limits.episode_s + _START_S
    bounds = Bounds(
        seconds, _CLOCK * seconds, limits.memory_bytes, _OUTPUT_BYTES, max(_DISK_BYTES, limits.scratch_bytes)
    )
    folder = await asyncio.to_thread(_written, files)
    try:
        ended = await runs.run(
            ("/bin/sh", "-c", _SCRIPT.format(python=shlex.quote(str(python.program)))),
            bounds,
            work=folder,
            stdin=json.dumps(request).encode(),
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
    judging = request["do"] == "verify"
    return _answer(ended, "the scorer" if judging else "the program", judging, limits)


def _written(files: Mapping[str, bytes]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="heredity-program-"))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / ".guest.py").write_bytes(_GUEST.read_bytes())
    return folder


def _answer(ended: Ended, who: str, judging: bool, limits: Limits) -> dict[str, Any]:
    """Return what the guest answered; raise what it met."""
    source = FailureSource.ENVIRONMENT if judging else FailureSource.CANDIDATE
    if ended.reason in ("cpu", "wall"):
        waited = "" if ended.reason == "cpu" else ", most of which it waited"
        raise RolloutError(
            f"{who} had no answer within {limits.episode_s:g} seconds{waited}; make it faster, or raise limits.episode_s",
            status=Status.ROLLOUT_TIMEOUT,
            failure_source=source,
        )
    try:
        reply = json_value(ended.stdout) if ended.reason == "exited" else None
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        last = ended.stderr.strip().splitlines()[-1:] or ["nothing"]
        memory = ended.reason == "memory" or ended.code == -9 or "MemoryError" in last[0]
        raise RolloutError(
            f"{who} ended without an answer (exit code {ended.code}, {ended.reason}); it said last: {last[0]:.300}",
            ended.stderr[-4000:],
            status=Status.OOM if memory else Status.ACT_ERROR,
            failure_source=source,
        )
    answer = cast(dict[str, Any], reply)
    if "error" not in answer:
        return answer
    if answer.get("where") == "scorer" and judging:
        raise RolloutError(
            f"the scorer failed: {answer['error']}: {answer['message']}", str(answer.get("traceback", ""))
        )
    status = Status.INVALID_ACTION if answer.get("where") == "answer" else Status.ACT_ERROR
    raise RolloutError(
        f"{answer['error']}: {answer['message']}",
        str(answer.get("traceback", "")),
        status=status,
        failure_source=FailureSource.CANDIDATE,
    )


def _scored(record: _Record, task: ProgramTask, reply: Mapping[str, Any]) -> Trajectory:
    metrics, texts = reply.get("metrics"), reply.get("texts", {})
    if not isinstance(metrics, dict) or not isinstance(texts, dict):
        raise _broken("the scorer", "metrics", reply)
    values = cast(dict[str, float | None], metrics)
    value = score_of(values, task.declared.metric)
    if value is None:
        name = task.declared.metric or "of the metrics"
        raise RolloutError(
            f"the scorer gave no finite number {name} (it gave {', '.join(values) or 'none'})",
            status=Status.NON_FINITE_RETURN,
            failure_source=FailureSource.CANDIDATE,
        )
    return record.measured(-value if task.declared.minimise else value, values, cast(dict[str, str], texts))


def score_of(metrics: Mapping[str, float | None], metric: str) -> float | None:
    """Return the metric that counts: the one that is named, `combined_score`, or the mean of all; None if there is none."""
    if metric:
        return metrics.get(metric)
    if "combined_score" in metrics:
        return metrics["combined_score"]
    numbers = [value for value in metrics.values() if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _broken(who: str, what: str, reply: Mapping[str, Any]) -> RolloutError:
    return RolloutError(
        f"{who} was to give {what}, and gave {', '.join(reply) or 'nothing'}",
        status=Status.ACT_ERROR,
        failure_source=FailureSource.CANDIDATE,
    )


@cache
def read_task(folder: str, digest: str) -> ProgramTask:
    """Return a task that is known to have a digest.

    Raises:
        HostError: if it has another one by now, or cannot be read.
    """
    try:
        task = read_program_task(Path(folder))
    except (ConfigError, OSError) as error:
        raise HostError(f"the task cannot be read any more: {error}") from error
    if task.digest != digest:
        raise HostError(f"{folder} has changed since its tasks were drawn; start another run")
    return task
