"""One attempt at a container task: the agent works, all its processes are ended, and only then the verifier is put in place.

The verifier starts in a fresh sandbox from the agent's disk: the agent's processes are gone, and `/logs/verifier` and
`/tests` are new, regardless of the agent's changes to them. A separate verifier starts from an environment that the
agent has never seen, and gets only the declared artifacts.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import math
import shlex
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import CandidateError, ConfigError
from heredity._core.spans import span
from heredity.results.status import FailureSource
from heredity.sandbox.containers.bubblewrap import LOGS, TESTS
from heredity.sandbox.containers.contract import (
    AGENT_S,
    Backend,
    ContainerSandbox,
    ExecResult,
    Image,
    KeptSandbox,
    Phase,
    Settled,
)
from heredity.sandbox.containers.replay import host_free
from heredity.sandbox.containers.task import Artifact, ContainerTask

_TEST = f"chmod +x {TESTS}/test.sh && {TESTS}/test.sh"
_MEND = f"chmod 755 / /logs {LOGS} {TESTS}; mkdir -p /tmp; chmod 1777 /tmp"
_NAMES = ("reward.json", "reward.txt")
_VERIFIER_SHOWN = 4000
_LARGEST = 1 << 20
_KILLED, _SIGNALS = 128, 64


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verifier's result for a rollout.

    Attributes:
        status: `"ok"`, or the reason for a missing reward: `"reward_missing"`, `"reward_empty"`, `"reward_invalid"`
            (not a number, NaN, infinite, not a regular file of one name), `"verifier_timeout"`, `"verifier_limit"`
            (it exceeded a limit), `"verifier_killed"`; `"unrestorable"` is a failure of the agent.
        failure_source: the candidate if its work broke a verifier that works without it; the environment if the
            verifier does not work: then the score is missing, not zero.
        reward: the main reward, higher is better; None if there is none. 0 if the failure source is the candidate.
        rewards: every reward by name.
        message: one line.
        output: the end of the verifier's output.
        seconds: wall time.
    """

    status: str
    failure_source: FailureSource
    reward: float | None
    rewards: Mapping[str, float] = field(default_factory=dict[str, float])
    message: str = ""
    output: str = ""
    seconds: float = 0.0


async def verify(backend: Backend, task: ContainerTask, image: Image, artifacts: Path | None = None) -> Verdict:
    """Run a task's verifier on an agent's work.

    Args:
        backend: creates the sandbox.
        task: the verifier's task; for a separate one, `ContainerTask.verifier_task`.
        image: the agent's disk, or the environment of a separate verifier.
        artifacts: files of the agent for a separate verifier, by their paths below this folder.

    Raises:
        HostError: if a sandbox ends unexpectedly.
        ConfigError: if the verifier requests variables of the host.
    """
    started = time.monotonic()
    phase = Phase(verifying=True, env=host_free(task, "verifier.env", task.verifier.env))
    sandbox = backend.sandbox(task, image, phase)
    try:
        try:
            await sandbox.start()
            if artifacts is not None:
                await _put_artifacts(sandbox, task, artifacts)
            if task.build_folder is None:
                await sandbox.upload(task.tests_folder, TESTS)
        except CandidateError as error:
            message = f"the agent's work cannot be verified: {error}"
            return Verdict(
                "unrestorable", FailureSource.CANDIDATE, 0.0, message=message, seconds=time.monotonic() - started
            )
        # The agent may have removed or locked the folder, which must not look like a failure of the verifier.
        command = f"{{ {_MEND}; cd {shlex.quote(image.workdir)}; }} >/dev/null 2>&1; {_TEST}"
        done = await sandbox.exec(command, timeout_s=task.verifier.timeout_s, workdir="/")
        # Agent programs started by the verifier may go on and write.
        await sandbox.quiet()
        with EngineFolder() as folder:
            fetched = folder / "rewards"
            fetched.mkdir()
            status, message, rewards = await _fetch_rewards(sandbox, done, fetched)
    finally:
        await sandbox.stop()
    return Verdict(
        status=status,
        failure_source=FailureSource.NONE if status == "ok" else FailureSource.ENVIRONMENT,
        reward=main_reward(rewards) if status == "ok" else None,
        rewards=rewards,
        message=message,
        output=(done.stdout + done.stderr)[-_VERIFIER_SHOWN:],
        seconds=time.monotonic() - started,
    )


def main_reward(rewards: Mapping[str, float]) -> float:
    """Return the reward named `reward`, or else the only one, or else the mean of all."""
    return rewards["reward"] if "reward" in rewards else math.fsum(rewards.values()) / len(rewards)


async def _put_artifacts(sandbox: ContainerSandbox, task: ContainerTask, artifacts: Path) -> None:
    """Put artifacts at their original paths; a folder then holds only the agent's files."""
    folders = [a.source for a in task.artifacts if (artifacts / a.source.lstrip("/")).is_dir()]
    for folder in folders:
        await sandbox.exec(f"find {shlex.quote(folder)} -mindepth 1 -delete", workdir="/")
    await sandbox.upload(artifacts, "/")


async def _fetch_rewards(
    sandbox: ContainerSandbox, done: ExecResult, folder: Path
) -> tuple[str, str, dict[str, float]]:
    """Return a status, a message and the rewards; `reward.json` wins over `reward.txt`."""
    if done.reason == "timeout":
        return "verifier_timeout", "the verifier timed out; raise verifier.timeout_sec", {}
    if done.reason in ("memory", "processes"):
        return "verifier_limit", f"the verifier was ended: it exceeded its limit on {done.reason}", {}
    if _KILLED < done.code <= _KILLED + _SIGNALS:
        # Its killer may have written a reward before.
        return "verifier_killed", f"the verifier was ended by signal {done.code - _KILLED}", {}
    listed = await sandbox.exec(f"cd {LOGS} && stat -c '%n|%F|%h|%s' -- {' '.join(_NAMES)}", workdir="/")
    files = dict(line.split("|", 1) for line in listed.stdout.splitlines() if "|" in line)
    for name in _NAMES:
        if name not in files:
            continue
        kind, links, size = files[name].split("|")
        if not kind.startswith("regular") or links != "1" or int(size) > _LARGEST:
            description = f"a {kind} of {size} bytes with {links} names"
            return (
                "reward_invalid",
                f"{name} is {description}; expected a file with one name, of at most {_LARGEST} bytes",
                {},
            )
        try:
            await sandbox.download(f"{LOGS}/{name}", folder / name)
        except CandidateError as error:
            return "reward_invalid", f"{name} cannot be read: {error}", {}
        return _read_rewards(folder / name)
    return "reward_missing", f"the verifier ended with code {done.code} and left no reward in {LOGS}", {}


def _is_finite(value: Any) -> bool:
    # An integer beyond the range of floats would raise in `isfinite`.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _read_rewards(path: Path) -> tuple[str, str, dict[str, float]]:
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text:
        return "reward_empty", f"{path.name} is empty", {}
    try:
        parsed: Any = json.loads(text) if path.suffix == ".json" else float(text)
    except (ValueError, RecursionError):
        return "reward_invalid", f"{path.name} is {text[:100]!r}; expected a number or numbers by name", {}
    rewards: dict[str, Any] = dict(parsed) if isinstance(parsed, dict) else {"reward": parsed}
    for name, value in rewards.items():
        if not _is_finite(value):
            return "reward_invalid", f"{path.name}: {name} is {value!r}; expected a finite number", {}
    if not rewards:
        return "reward_empty", f"{path.name} has no reward", {}
    return "ok", "", {name: float(value) for name, value in rewards.items()}


Agent = str | Callable[[ContainerSandbox, ContainerTask], Awaitable[None]]
"""An agent: a command for bash, or a function that receives the running sandbox."""

SOLUTION = "/solution"
"""Path of the solution while it runs."""

_SHOWN = 4000
_ARTIFACTS = "/logs/artifacts"


@dataclass(frozen=True, slots=True)
class ContainerRollout:
    """The record of one rollout.

    Attributes:
        verdict: the verifier's result.
        agent: the result of the agent's command; None for a function.
        agent_status: `"ok"`, `"timeout"`, `"memory"`, `"processes"`: the reason its work ended. Work is verified in
            any case.
        leftovers: command lines of processes that it left running; they were ended before the verifier started.
        discarded: files that it put at the verifier's paths, links that lead there, pipes and the like; deleted
            before the verifier started.
        disk_full: true if its disk was full at the end.
        seconds: wall time of the whole rollout.
    """

    verdict: Verdict
    agent: ExecResult | None = None
    agent_status: str = "ok"
    leftovers: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    disk_full: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Work:
    """An agent's work: how it ended, its disk, and the folder of its artifacts, if any."""

    result: ExecResult | None
    status: str
    settled: Settled
    artifacts: Path | None


class Controls:
    """The states, without a candidate's work, on which the verifiers of tasks work; determined once per task on demand.

    Args:
        backend: creates the environments.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend, self._asked = backend, dict[str, asyncio.Task[str]]()

    async def works_on(self, task: ContainerTask) -> str:
        """Return the state on which a task's verifier gives a reward, in words; empty if there is none.

        Raises:
            HostError: if a sandbox ends unexpectedly.
        """
        key = f"{task.folder} {task.digest}"
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = asyncio.create_task(self._works_on(task))
        try:
            return await asyncio.shield(asked)
        except BaseException:
            if asked.done() and self._asked.get(key) is asked:
                del self._asked[key]
            raise

    async def _works_on(self, task: ContainerTask) -> str:
        async with _worked(self._backend, task, None) as idle:
            if (await _verified(self._backend, task, idle)).status == "ok":
                return "the untouched environment"
        if task.solution_folder is None:
            return ""
        try:
            async with _worked(self._backend, task, solve) as solved:
                return "the solution" if (await _verified(self._backend, task, solved)).status == "ok" else ""
        except (ConfigError, CandidateError):
            return ""


async def attempt(
    backend: Backend, task: ContainerTask, agent: Agent | None, controls: Controls | None = None
) -> ContainerRollout:
    """Let an agent attempt a task, and verify its work.

    A verifier that fails is run once more, since a busy machine can make it fail too. If it fails again, and works on
    the untouched environment or on that of the solution, the agent's work made it fail: that scores 0.

    Args:
        backend: creates the environments.
        task: the task.
        agent: the agent; None does nothing. Exceptions of a function propagate.
        controls: shared results about the verifiers of tasks; determined anew by default.

    Raises:
        ConfigError: if the backend cannot run the task.
        IsolationError: if this machine cannot isolate it.
        HostError: if a sandbox ends unexpectedly.
    """
    started, controls = time.monotonic(), controls or Controls(backend)
    with span("container", kind="container", task=task.name) as step:
        try:
            async with _worked(backend, task, agent) as work:
                verdict = await _judged(backend, task, work, controls)
        except _UnrestorableError as error:
            verdict = Verdict("unrestorable", FailureSource.CANDIDATE, 0.0, message=str(error))
            step.set(status=verdict.status, failure_source=verdict.failure_source, score=0.0)
            return ContainerRollout(verdict, error.result, error.status, seconds=time.monotonic() - started)
        left = _leftovers_of(work.settled)
        step.set(status=verdict.status, failure_source=verdict.failure_source, score=verdict.reward, **left)
    return _record(verdict, work, time.monotonic() - started)


async def oracle(backend: Backend, task: ContainerTask) -> ContainerRollout:
    """Attempt a task with the solution in its folder.

    Raises:
        ConfigError: if there is none, or the backend cannot run the task.
    """
    if task.solution_folder is None:
        raise ConfigError(f"{task.folder} has no solution/solve.sh; write one, so that the task can be checked")
    return await attempt(backend, task, solve)


async def solve(sandbox: ContainerSandbox, task: ContainerTask) -> None:
    """Run a task's own solution.

    Raises:
        ConfigError: if it fails.
    """
    solution = task.solution_folder
    assert solution is not None, "checked before"
    await sandbox.upload(solution, SOLUTION)
    command, env = (
        f"chmod +x {SOLUTION}/solve.sh && {SOLUTION}/solve.sh",
        host_free(task, "solution.env", task.solution_env),
    )
    done = await sandbox.exec(command, timeout_s=task.agent.timeout_s or AGENT_S, env=env)
    if done.code != 0:
        raise ConfigError(
            f"{solution / 'solve.sh'} failed with code {done.code} ({done.reason}): "
            f"{(done.stdout + done.stderr).strip()[-_SHOWN:]}; correct it"
        )


async def _judged(backend: Backend, task: ContainerTask, work: _Work, controls: Controls) -> Verdict:
    verdict = await _verified(backend, task, work)
    if verdict.reward is not None:
        return verdict
    again = await _verified(backend, task, work)
    if again.reward is not None:
        return again
    state = await controls.works_on(task)
    if not state:
        return again
    message = f"{again.message}; it works on {state}, so the agent's work made it fail"
    return replace(again, failure_source=FailureSource.CANDIDATE, reward=0.0, rewards={}, message=message)


async def _verified(backend: Backend, task: ContainerTask, work: _Work) -> Verdict:
    if not task.separate:
        return await verify(backend, task, work.settled.image)
    own = task.verifier_task
    return await verify(backend, own, await backend.build(own), work.artifacts)


class _UnrestorableError(CandidateError):
    """The agent's disk cannot be kept."""

    def __init__(self, error: CandidateError, result: ExecResult | None, status: str) -> None:
        self.result, self.status = result, status
        super().__init__(str(error))


@asynccontextmanager
async def _worked(backend: Backend, task: ContainerTask, agent: Agent | None) -> AsyncGenerator[_Work]:
    """Let an agent work, and keep its disk until the block ends."""
    sandbox = backend.sandbox(task, await backend.build(task), Phase())
    own = EngineFolder() if task.separate else nullcontext()
    with own as artifacts_folder:
        try:
            await sandbox.start()
            result, status = await _work(sandbox, task, agent)
            artifacts = (
                None if artifacts_folder is None else await _collected(sandbox, task, artifacts_folder / "artifacts")
            )
            try:
                settled = await sandbox.settle()
            except CandidateError as error:
                raise _UnrestorableError(error, result, status) from error
        finally:
            await sandbox.stop()
        try:
            yield _Work(result, status, settled, artifacts)
        finally:
            await backend.discard(settled.image)


async def _work(sandbox: ContainerSandbox, task: ContainerTask, agent: Agent | None) -> tuple[ExecResult | None, str]:
    seconds = task.agent.timeout_s or AGENT_S
    if agent is None:
        return None, "ok"
    if isinstance(agent, str):
        result = await sandbox.exec(agent, timeout_s=seconds)
        return result, "ok" if result.reason in ("exited", "not_started") else result.reason
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            await agent(sandbox, task)
    except TimeoutError:
        if not clock.expired():
            raise
        return None, "timeout"
    return None, "ok"


async def _collected(sandbox: KeptSandbox, task: ContainerTask, folder: Path) -> Path:
    """Fetch the artifacts of a task into a folder, each by its path; missing ones are left for the verifier to notice."""
    for hook in task.verifier.collect:
        await sandbox.exec(hook.command, timeout_s=hook.timeout_s)
    for artifact in (Artifact(_ARTIFACTS), *task.artifacts):
        target = folder / artifact.source.lstrip("/")
        try:
            await asyncio.to_thread(target.parent.mkdir, parents=True, exist_ok=True)
            await sandbox.download(artifact.source, target)
        except (CandidateError, FileExistsError):
            continue
        await asyncio.to_thread(_exclude, target, artifact.exclude)
    return folder


def _exclude(target: Path, patterns: tuple[str, ...]) -> None:
    """Remove files that match patterns, each the end of a path that starts at a whole path component."""
    for path in sorted(target.rglob("*"), reverse=True) if patterns and target.is_dir() else ():
        parts = path.relative_to(target).parts
        ends = ["/".join(parts[index:]) for index in range(len(parts))]
        if any(fnmatch.fnmatchcase(end, pattern) for end in ends for pattern in patterns):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _leftovers_of(settled: Settled) -> dict[str, Any]:
    """Return the notable leftovers of a rollout; most have none."""
    left = {
        "leftovers": len(settled.processes),
        "discarded": list(settled.discarded),
        "disk_full": settled.disk_full,
        "exceeded": settled.exceeded,
    }
    return {name: value for name, value in left.items() if value}


def _record(verdict: Verdict, work: _Work, seconds: float) -> ContainerRollout:
    settled = work.settled
    return ContainerRollout(
        verdict=verdict,
        agent=work.result,
        agent_status=settled.exceeded or work.status,
        leftovers=settled.processes,
        discarded=settled.discarded,
        disk_full=settled.disk_full,
        seconds=seconds,
    )
