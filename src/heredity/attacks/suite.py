"""`run_attacks`: runs every attack against the real sandbox, judged by the host's observations."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, UnknownNameError
from heredity.attacks import exhaustion, files, inside, kernel, network, processes, wire
from heredity.attacks.arena import STEPS, arena, state_secret
from heredity.attacks.contract import PRINTED, TIMEOUTS, Attack
from heredity.attacks.grounds import Grounds
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.runner import EpisodeRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.sandbox.seccomp import call_numbers
from heredity.tasks import Task

ATTACKS: tuple[Attack, ...] = (
    *files.ATTACKS,
    *network.ATTACKS,
    *kernel.ATTACKS,
    *processes.ATTACKS,
    *exhaustion.ATTACKS,
    *inside.ATTACKS,
    *wire.ATTACKS,
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
