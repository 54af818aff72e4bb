"""Runs of resources: tools in the sandbox, policies in environments, and what needs no sandbox, as one operator.

An environment is run by a policy (and a policy by an environment): both give one episode. An environment resource names a
registered environment, `{"id": "CartPole-v1"}` or `{"taskset": "gymnasium/CartPole-v1"}`. Files and modules of the host are
refused, because environments run outside the sandbox.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.actor import Programs, ToolResult
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.kind import KINDS, Workers
from heredity.engine.runner import Job
from heredity.engine.space_numbers import POLICY
from heredity.engine.tools import TOOL_SECONDS, call_tool, check_arguments
from heredity.resources import Candidate, Instance, Registry
from heredity.results.status import FailureSource
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

STEPS = 1000
"""Steps of an episode by default."""

_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*(\?[\w=&.+-]*)?")
_EPISODE: Mapping[str, Any] = {
    "seed": {"type": "integer", "minimum": 0},
    "steps": {"type": "integer", "minimum": 1, "maximum": 100_000},
}
_INPUTS: Mapping[str, Mapping[str, Any]] = {
    "environment": {"agent": {"type": "string"}, **_EPISODE},
    "agent": {"environment": {"type": "string"}, **_EPISODE},
}


class ResourceRuns:
    """The operator `run`: fills in prompts, searches memories, calls tools, plays an episode of a policy in an environment.

    Args:
        programs: the sandbox for tools.
        unsafe: confine policies with the isolation available here (instead of refusing).
        seconds: timeout of a tool, in wall seconds.
    """

    def __init__(self, programs: Programs, *, unsafe: bool = False, seconds: float = TOOL_SECONDS) -> None:
        self._programs, self._unsafe, self._seconds = programs, unsafe, seconds
        self._one = asyncio.Lock()

    async def run(
        self,
        work: Callable[[Callable[[Registry], Instance]], Awaitable[Instance]],
        type_: str,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
    ) -> Any:
        """Run a resource.

        Args:
            work: calls a function with the registry, see `heredity.agents.registry.Connections.work`.
            type_: its type.
            name: its name.
            inputs: a prompt's places; a memory's `query` and `limit`; a tool's arguments. Of an environment the `agent`, the name
                of a resource with a policy (by default one that acts at random), a `seed` (0) and the maximum number of `steps`
                (1000); of an agent likewise, with the `environment`.
            version: its version; the head by default. The other resource of an episode may be `NAME@VERSION`.

        Returns:
            A prompt's text, a memory's entries, or the `ToolResult` of a tool or an episode. The value of an episode has
            `environment`, `agent`, `seed`, `return`, `length` and `terminated`.

        Raises:
            UnknownNameError: if a resource or version does not exist.
            ConfigError: if an input is wrong.
            IsolationError: if it is a model, or this machine cannot confine programs.
            HostError: if the sandbox or the environment fails.
        """
        given = dict(inputs or {})
        instance = await work(lambda registry: registry.get(type_, name, version))
        if type_ == "tool":
            return await self.call(instance, given)
        if type_ not in _INPUTS:
            return instance.run(given)
        schema = {"type": "object", "properties": _INPUTS[type_], "additionalProperties": False}
        check_arguments(schema, given, where=instance.version.label)
        other = "agent" if type_ == "environment" else "environment"
        if type_ == "agent" and other not in given:
            raise ConfigError(
                f"{instance.version.label} needs an environment; give the name of a resource of that type"
            )
        second: Instance | None = None
        if other in given:
            named, _, number = given[other].partition("@")
            second = await work(lambda registry: registry.get(other, named, number or None))
        environment, agent = (instance, second) if type_ == "environment" else (second, instance)
        assert environment is not None
        async with self._one:
            return await self._play(environment, agent, given.get("seed", 0), given.get("steps", STEPS))

    async def call(self, tool: Instance, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a tool that has already been built; see `heredity.engine.tools.run_tool`."""
        return await call_tool(tool, self._programs, arguments, seconds=self._seconds)

    async def _play(self, environment: Instance, agent: Instance | None, seed: int, steps: int) -> ToolResult:
        tasks = taskset(taskset_of(environment))
        kind = KINDS.load(tasks.info.kind)
        if kind.needs.model != "none" or not kind.needs.confined:
            raise ConfigError(
                f"{environment.version.label} has tasks of the kind {kind.name!r}, which no policy attempts; use `heredity run`"
            )
        if agent is not None and POLICY not in agent.tree:
            raise ConfigError(
                f"{agent.version.label} has no {POLICY}, and is not a policy; an agent that calls a model is run by `heredity run`"
            )
        candidate = kind.candidates.starter(tasks.info) if agent is None else Candidate.program(agent.tree)
        (task,) = tasks.draw("train", 1, seed)
        job = Job(tasks.info, candidate, task, policy_seed=seed)
        settings = EngineSettings(workers=Workers(count=1, unsafe=self._unsafe))
        async with Engine(settings, [kind.name]) as engine:
            (played,) = [trajectory async for _, trajectory in engine.run([job], Limits(steps=steps))]
        value = {
            "environment": environment.version.label,
            "agent": agent.version.label if agent else None,
            "seed": seed,
            "return": float(played.total_reward),
            "length": played.length,
            "terminated": played.terminated,
        }
        failure, ours = played.failure, played.failure_source is not FailureSource.CANDIDATE
        if failure is not None and ours and failure.error is not None:
            raise failure.error
        output = (played.stdout, played.stderr, played.seconds)
        if failure is None:
            return ToolResult(value, "", "", "", *output)
        return ToolResult(None, str(failure.category), failure.message, failure.traceback, *output)


def taskset_of(environment: Instance) -> str:
    """Return the name of an environment resource's taskset.

    Raises:
        ConfigError: if its `environment.json` names none, or one outside the registries.
    """
    about: Mapping[str, Any] = environment.value
    names = [about[key] for key in ("id", "taskset") if key in about]
    name = names[0] if len(names) == 1 else None
    if not isinstance(name, str) or not _PLAIN.fullmatch(name):
        raise ConfigError(
            f"environment.json of {environment.version.label} names {names!r:.80}; to be run it names a registered environment, as"
            ' {"id": "CartPole-v1"} or {"taskset": "gymnasium/CartPole-v1"}, and no file or module'
        )
    return name if "taskset" in about else f"gymnasium/{name}"
