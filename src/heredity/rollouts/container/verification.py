"""One attempt at a container task: the agent works, everything of it is ended, and only then the verifier is put in place.

The verifier starts in a fresh sandbox from what the agent left on the disk: no process of the agent is there any more, and
`/logs/verifier` and `/tests` are new, whatever the agent did to those places. A separate verifier starts from an environment
that the agent has never seen, and gets the declared artifacts alone.
"""

from __future__ import annotations

import asyncio
import fnmatch
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity.errors import CandidateError, ConfigError
from heredity.results.status import FailureSource
from heredity.rollouts.container.verifier import Verdict, verify
from heredity.sandbox.containers.contract import (
    AGENT_S,
    Backend,
    ContainerSandbox,
    ExecResult,
    KeptSandbox,
    Phase,
    Settled,
)
from heredity.sandbox.containers.replay import host_free
from heredity.sandbox.engine_folder import EngineFolder
from heredity.spans import span
from heredity.tasks.containers import Artifact, ContainerTask

Agent = str | Callable[[ContainerSandbox, ContainerTask], Awaitable[None]]
"""What attempts a task: a command for bash, or a function that is given the running sandbox."""

SOLUTION = "/solution"
"""Where the solution is when it is tried."""

_SHOWN = 4000
_ARTIFACTS = "/logs/artifacts"


@dataclass(frozen=True, slots=True)
class ContainerRollout:
    """The record of one rollout.

    Attributes:
        verdict: what the verifier says.
        agent: how the agent's command ended; None for a function.
        agent_status: `"ok"`, `"timeout"`, `"memory"`, `"processes"`: why its work ended. Work is verified in any case.
        leftovers: command lines of processes that it left running; they were ended before the verifier began.
        discarded: files that it put where the verifier's own go, links that lead there, and pipes and the like; they were thrown
            away before the verifier began.
        disk_full: whether its disk was full at the end.
        seconds: wall time of all of it.
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
    """What an agent left: how it ended, what is on its disk, and the folder of its artifacts if there are any."""

    result: ExecResult | None
    status: str
    settled: Settled
    artifacts: Path | None


class Controls:
    """On which states the verifiers of tasks work that no candidate has touched; found out once for each task that asks.

    Args:
        backend: makes the environments.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend, self._asked = backend, dict[str, asyncio.Task[str]]()

    async def works_on(self, task: ContainerTask) -> str:
        """Return the state on which a task's verifier gives a reward, in words; nothing if there is none.

        Raises:
            HostError: if a sandbox ends by itself.
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
    """Let an agent attempt a task, and verify what it leaves.

    A verifier that fails is asked once more, since a busy machine can make it fail too. If it fails again, and works on the
    untouched environment or on that of the solution, then what the agent left made it fail: that counts 0.

    Args:
        backend: makes the environments.
        task: what is attempted.
        agent: who attempts it; None does nothing. What a function raises goes to the caller.
        controls: what is known of the verifiers of tasks, shared by attempts; by default found out anew.

    Raises:
        ConfigError: if the backend cannot run the task.
        IsolationError: if this machine cannot isolate it.
        HostError: if a sandbox ends by itself.
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
        left = _left(work.settled)
        step.set(status=verdict.status, failure_source=verdict.failure_source, score=verdict.reward, **left)
    return _record(verdict, work, time.monotonic() - started)


async def oracle(backend: Backend, task: ContainerTask) -> ContainerRollout:
    """Attempt a task with its own solution.

    Raises:
        ConfigError: if there is none, or the backend cannot run the task.
    """
    if task.solution_folder is None:
        raise ConfigError(f"{task.folder} has no solution/solve.sh; write one, so that the task can be checked")
    return await attempt(backend, task, solve)


async def solve(sandbox: ContainerSandbox, task: ContainerTask) -> None:
    """Do what a task's own solution does.

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
    message = f"{again.message}; on {state} it works, so that it failed of what the agent left"
    return replace(again, failure_source=FailureSource.CANDIDATE, reward=0.0, rewards={}, message=message)


async def _verified(backend: Backend, task: ContainerTask, work: _Work) -> Verdict:
    if not task.separate:
        return await verify(backend, task, work.settled.image)
    own = task.verifier_task
    return await verify(backend, own, await backend.build(own), work.artifacts)


class _UnrestorableError(CandidateError):
    """What an agent left cannot be kept."""

    def __init__(self, error: CandidateError, result: ExecResult | None, status: str) -> None:
        self.result, self.status = result, status
        super().__init__(str(error))


@asynccontextmanager
async def _worked(backend: Backend, task: ContainerTask, agent: Agent | None) -> AsyncGenerator[_Work]:
    """Let an agent work, and keep what it leaves until the block ends."""
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
    """Fetch the artifacts of a task into a folder, each by its path; what is not there the verifier will miss."""
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
    """Remove what patterns name: each stands for the end of a path, from the beginning of a part of it on."""
    for path in sorted(target.rglob("*"), reverse=True) if patterns and target.is_dir() else ():
        parts = path.relative_to(target).parts
        ends = ["/".join(parts[index:]) for index in range(len(parts))]
        if any(fnmatch.fnmatchcase(end, pattern) for end in ends for pattern in patterns):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _left(settled: Settled) -> dict[str, Any]:
    """Return what is worth a word of what a rollout left behind; most leave nothing."""
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
