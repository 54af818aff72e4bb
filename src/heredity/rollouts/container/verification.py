"""One attempt at a container task: the agent works, everything of it is ended, and only then the verifier is put in place.

The verifier starts in a fresh sandbox from what the agent left on the disk: no process of the agent is there any more, and
`/logs/verifier` and `/tests` are new, whatever the agent did to those places.
"""

from __future__ import annotations

import asyncio
import json
import math
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity.errors import CandidateError, ConfigError
from heredity.results.status import FailureSource
from heredity.sandbox.containers.bubblewrap import LOGS, TESTS
from heredity.sandbox.containers.contract import AGENT_S, Backend, ContainerSandbox, ExecResult, Image, Phase, Settled
from heredity.sandbox.containers.replay import host_free
from heredity.sandbox.engine_folder import EngineFolder
from heredity.spans import span
from heredity.tasks.containers import ContainerTask

Agent = str | Callable[[ContainerSandbox, ContainerTask], Awaitable[None]]
"""What attempts a task: a command for bash, or a function that is given the running sandbox."""

SOLUTION = "/solution"
"""Where the solution is when it is tried."""

_TEST = f"chmod +x {TESTS}/test.sh && {TESTS}/test.sh"
_MEND = f"chmod 755 / /logs {LOGS} {TESTS}; mkdir -p /tmp; chmod 1777 /tmp"
_SHOWN = 4000
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier says of a rollout.

    Attributes:
        status: `"ok"`, or why there is no reward: `"reward_missing"`, `"reward_empty"`, `"reward_invalid"` (no number, NaN,
            infinite), `"verifier_timeout"`, `"verifier_limit"` (it used too much); `"unrestorable"` is an agent's fault.
        failure_source: that of the environment if the task's verifier is at fault: the score is missing, not zero.
        reward: the main reward, higher is better; None where there is none. 0 where the candidate is to blame.
        rewards: every reward by name.
        message: one line.
        output: what the verifier printed, its end.
        seconds: wall time.
    """

    status: str
    failure_source: FailureSource
    reward: float | None
    rewards: Mapping[str, float] = field(default_factory=dict[str, float])
    message: str = ""
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ContainerRollout:
    """The record of one rollout.

    Attributes:
        verdict: what the verifier says.
        agent: how the agent's command ended; None for a function.
        agent_status: `"ok"`, `"timeout"`, `"memory"`, `"processes"`: why its work ended. Work is verified in any case.
        leftovers: command lines of processes that it left running; they were ended before the verifier began.
        discarded: files that it put where the verifier's own go; they were thrown away before the verifier began.
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


async def attempt(backend: Backend, task: ContainerTask, agent: Agent | None) -> ContainerRollout:
    """Let an agent attempt a task, and verify what it leaves.

    Args:
        backend: makes the environments.
        task: what is attempted.
        agent: who attempts it; None does nothing. What a function raises goes to the caller.

    Raises:
        ConfigError: if the backend cannot run the task.
        IsolationError: if this machine cannot isolate it.
        HostError: if a sandbox ends by itself.
    """
    started = time.monotonic()
    image = await backend.build(task)
    with span("container", kind="container", task=task.name) as step:
        sandbox = backend.sandbox(task, image, Phase())
        try:
            await sandbox.start()
            result, status = await _work(sandbox, task, agent)
            try:
                settled = await sandbox.settle()
            except CandidateError as error:
                verdict = Verdict("unrestorable", FailureSource.CANDIDATE, 0.0, message=str(error))
                return ContainerRollout(verdict, result, status, seconds=time.monotonic() - started)
        finally:
            await sandbox.stop()
        try:
            verdict = await verify(backend, task, settled.image)
        finally:
            await backend.discard(settled.image)
        step.set(status=verdict.status, failure_source=verdict.failure_source, score=verdict.reward, **_left(settled))
    return _record(verdict, result, status, settled, time.monotonic() - started)


def _left(settled: Settled) -> dict[str, Any]:
    """Return what is worth a word of what a rollout left behind; most leave nothing."""
    left = {
        "leftovers": len(settled.processes),
        "discarded": list(settled.discarded),
        "disk_full": settled.disk_full,
        "exceeded": settled.exceeded,
    }
    return {name: value for name, value in left.items() if value}


def _record(
    verdict: Verdict, result: ExecResult | None, status: str, settled: Settled, seconds: float
) -> ContainerRollout:
    return ContainerRollout(
        verdict=verdict,
        agent=result,
        agent_status=settled.exceeded or status,
        leftovers=settled.processes,
        discarded=settled.discarded,
        disk_full=settled.disk_full,
        seconds=seconds,
    )


async def oracle(backend: Backend, task: ContainerTask) -> ContainerRollout:
    """Attempt a task with its own solution.

    Raises:
        ConfigError: if there is none, or the backend cannot run the task.
    """
    solution = task.solution_folder
    if solution is None:
        raise ConfigError(f"{task.folder} has no solution/solve.sh; write one, so that the task can be checked")
    env = host_free(task, "solution.env", task.solution_env)

    async def solve(sandbox: ContainerSandbox, task: ContainerTask) -> None:
        await sandbox.upload(solution, SOLUTION)
        command = f"chmod +x {SOLUTION}/solve.sh && {SOLUTION}/solve.sh"
        done = await sandbox.exec(command, timeout_s=task.agent.timeout_s or AGENT_S, env=env)
        if done.code != 0:
            raise ConfigError(
                f"{solution / 'solve.sh'} failed with code {done.code} ({done.reason}): "
                f"{(done.stdout + done.stderr).strip()[-_SHOWN:]}; correct it"
            )

    return await attempt(backend, task, solve)


async def verify(backend: Backend, task: ContainerTask, image: Image) -> Verdict:
    """Run a task's verifier on what an agent left.

    Raises:
        HostError: if a sandbox ends by itself.
        ConfigError: if the verifier asks for variables of the host.
    """
    started = time.monotonic()
    phase = Phase(verifying=True, env=host_free(task, "verifier.env", task.verifier.env))
    sandbox = backend.sandbox(task, image, phase)
    try:
        try:
            await sandbox.start()
            await sandbox.upload(task.tests_folder, TESTS)
        except CandidateError as error:
            message = f"what the agent left cannot be verified: {error}"
            return Verdict(
                "unrestorable", FailureSource.CANDIDATE, 0.0, message=message, seconds=time.monotonic() - started
            )
        # The agent may have removed the folder, or closed it: that must not look like a fault of the verifier.
        command = f"{{ {_MEND}; cd {shlex.quote(image.workdir)}; }} >/dev/null 2>&1; {_TEST}"
        done = await sandbox.exec(command, timeout_s=task.verifier.timeout_s, workdir="/")
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
        output=(done.stdout + done.stderr)[-_SHOWN:],
        seconds=time.monotonic() - started,
    )


def main_reward(rewards: Mapping[str, float]) -> float:
    """Return the reward named `reward`, or else the only one, or else the mean of all."""
    return rewards["reward"] if "reward" in rewards else math.fsum(rewards.values()) / len(rewards)


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


async def _fetch_rewards(
    sandbox: ContainerSandbox, done: ExecResult, folder: Path
) -> tuple[str, str, dict[str, float]]:
    """Return a status, a message and the rewards; `reward.json` wins over `reward.txt`."""
    if done.reason == "timeout":
        return "verifier_timeout", "the verifier did not end in its time; raise verifier.timeout_sec", {}
    if done.reason in ("memory", "processes"):
        return "verifier_limit", f"the verifier was ended: it exceeded its bound on {done.reason}", {}
    for name in ("reward.json", "reward.txt"):
        try:
            await sandbox.download(f"{LOGS}/{name}", folder / name)
        except CandidateError:
            continue
        return _read_rewards(folder / name)
    return "reward_missing", f"the verifier ended with code {done.code} and left no reward in {LOGS}", {}


def _read_rewards(path: Path) -> tuple[str, str, dict[str, float]]:
    if path.stat().st_size > _LARGEST:
        return "reward_invalid", f"{path.name} is larger than {_LARGEST} bytes", {}
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text:
        return "reward_empty", f"{path.name} is empty", {}
    try:
        parsed: Any = json.loads(text) if path.suffix == ".json" else float(text)
    except (ValueError, RecursionError):
        return "reward_invalid", f"{path.name} is {text[:100]!r}; expected a number or numbers by name", {}
    rewards: dict[str, Any] = dict(parsed) if isinstance(parsed, dict) else {"reward": parsed}
    for name, value in rewards.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return "reward_invalid", f"{path.name}: {name} is {value!r}; expected a finite number", {}
    if not rewards:
        return "reward_empty", f"{path.name} has no reward", {}
    return "ok", "", {name: float(value) for name, value in rewards.items()}
