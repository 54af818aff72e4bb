"""The verifier of a container task: it runs in a fresh sandbox, clean of what an agent said, and leaves rewards.

`/logs/verifier` is a mount that no agent has seen, and it is read when no process runs any more: a regular file with one name.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity.errors import CandidateError
from heredity.results.status import FailureSource
from heredity.sandbox.containers.bubblewrap import LOGS, TESTS
from heredity.sandbox.containers.contract import Backend, ContainerSandbox, ExecResult, Image, Phase
from heredity.sandbox.containers.replay import host_free
from heredity.sandbox.engine_folder import EngineFolder
from heredity.tasks.containers import ContainerTask

_TEST = f"chmod +x {TESTS}/test.sh && {TESTS}/test.sh"
_MEND = f"chmod 755 / /logs {LOGS} {TESTS}; mkdir -p /tmp; chmod 1777 /tmp"
_NAMES = ("reward.json", "reward.txt")
_SHOWN = 4000
_LARGEST = 1 << 20
_KILLED, _SIGNALS = 128, 64


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier says of a rollout.

    Attributes:
        status: `"ok"`, or why there is no reward: `"reward_missing"`, `"reward_empty"`, `"reward_invalid"` (no number, NaN,
            infinite, no regular file of one name), `"verifier_timeout"`, `"verifier_limit"` (it used too much),
            `"verifier_killed"`; `"unrestorable"` is an agent's fault.
        failure_source: that of the candidate where its work made a verifier fail that works without it; that of the
            environment where the verifier does not: then the score is missing, not zero.
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


async def verify(backend: Backend, task: ContainerTask, image: Image, artifacts: Path | None = None) -> Verdict:
    """Run a task's verifier on what an agent left.

    Args:
        backend: makes the sandbox.
        task: whose verifier; of a separate one, `ContainerTask.verifier_task`.
        image: what the agent left, or the environment of a separate verifier.
        artifacts: files of the agent that a separate verifier gets, by their paths below this folder.

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
            if artifacts is not None:
                await _put_artifacts(sandbox, task, artifacts)
            if task.build_folder is None:
                await sandbox.upload(task.tests_folder, TESTS)
        except CandidateError as error:
            message = f"what the agent left cannot be verified: {error}"
            return Verdict(
                "unrestorable", FailureSource.CANDIDATE, 0.0, message=message, seconds=time.monotonic() - started
            )
        # The agent may have removed the folder, or closed it: that must not look like a fault of the verifier.
        command = f"{{ {_MEND}; cd {shlex.quote(image.workdir)}; }} >/dev/null 2>&1; {_TEST}"
        done = await sandbox.exec(command, timeout_s=task.verifier.timeout_s, workdir="/")
        # What the verifier has started of the agent's may go on, and write.
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
        output=(done.stdout + done.stderr)[-_SHOWN:],
        seconds=time.monotonic() - started,
    )


def main_reward(rewards: Mapping[str, float]) -> float:
    """Return the reward named `reward`, or else the only one, or else the mean of all."""
    return rewards["reward"] if "reward" in rewards else math.fsum(rewards.values()) / len(rewards)


async def _put_artifacts(sandbox: ContainerSandbox, task: ContainerTask, artifacts: Path) -> None:
    """Put artifacts where the agent had them; a folder is then the agent's alone."""
    folders = [a.source for a in task.artifacts if (artifacts / a.source.lstrip("/")).is_dir()]
    for folder in folders:
        await sandbox.exec(f"find {shlex.quote(folder)} -mindepth 1 -delete", workdir="/")
    await sandbox.upload(artifacts, "/")


async def _fetch_rewards(
    sandbox: ContainerSandbox, done: ExecResult, folder: Path
) -> tuple[str, str, dict[str, float]]:
    """Return a status, a message and the rewards; `reward.json` wins over `reward.txt`."""
    if done.reason == "timeout":
        return "verifier_timeout", "the verifier did not end in its time; raise verifier.timeout_sec", {}
    if done.reason in ("memory", "processes"):
        return "verifier_limit", f"the verifier was ended: it exceeded its bound on {done.reason}", {}
    if _KILLED < done.code <= _KILLED + _SIGNALS:
        # What has killed it may have written a reward before.
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
    # A whole number beyond every float would raise in `isfinite`.
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
