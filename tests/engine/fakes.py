"""Fakes: models that are functions of the request, programs that run in this process, and candidates in one line."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heredity._core.errors import HeredityError, HostError, ProviderError
from heredity.engine.actor import Service, ToolResult
from heredity.models import Reply, Request, ToolCall
from heredity.models.contract import Usage
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree

USED = Usage(10, 2, 0, 0.001)


@dataclass
class ListedModel:
    """Gives its replies in order: texts, replies, or errors to raise; keeps what it was asked."""

    replies: list[str | Reply | Exception]
    asked: list[Request] = field(default_factory=list)
    name: str = "listed"

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self.replies[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, usage=USED) if isinstance(answer, str) else answer


@dataclass
class SlowModel:
    """Never answers; says how many of its calls are under way."""

    active: int = 0
    name: str = "slow"

    async def reply(self, request: Request) -> Reply:
        self.active += 1
        try:
            await asyncio.sleep(3600)
        finally:
            self.active -= 1
        raise AssertionError


def saying(answer: Callable[[Request], str | Reply]) -> Scripted:
    return Scripted(answer)


def calling(*calls: tuple[str, Any], text: str = "") -> Reply:
    """A reply that calls tools; arguments that are no text are sent as JSON."""
    made = [
        ToolCall(f"c{i}", name, given if isinstance(given, str) else json.dumps(given))
        for i, (name, given) in enumerate(calls)
    ]
    return Reply(text, tuple(made), "tool_calls", USED)


def provider_error(kind: str, *, transient: bool = True) -> ProviderError:
    return ProviderError(kind, f"a {kind} on purpose", transient=transient)


def candidate(**files: str) -> Candidate:
    """`prompt_system="…"` becomes the part prompt/system with prompt.md; likewise tool_NAME, memory_NAME, agent_solver."""
    names = {
        "prompt": "prompt.md",
        "tool": "tool.py",
        "memory": "memory.jsonl",
        "agent": "agent.py",
        "skill": "SKILL.md",
    }
    parts: dict[str, SourceTree] = {}
    for key, text in files.items():
        kind, _, name = key.partition("_")
        tree = {names[kind]: text}
        if kind in ("tool", "skill"):
            tree["resource.json"] = json.dumps({"description": f"Does {name}."})
        parts[f"{'tool' if kind == 'skill' else kind}/{name.replace('_', '-')}"] = SourceTree(tree)
    return Candidate(parts)


def with_manifest(given: Candidate, part: str, **manifest: Any) -> Candidate:
    return Candidate(
        {**given.parts, part: given.parts[part].with_file("resource.json", json.dumps(manifest))},
    )


@dataclass
class InProcessPrograms:
    """Runs programs in a thread of this process: for programs that a test wrote itself."""

    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    most_at_once: int = 0
    active: int = 0
    fail: HeredityError | None = None

    async def call(
        self,
        tree: SourceTree,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        services: Mapping[str, Service] | None = None,
    ) -> ToolResult:
        if self.fail is not None:
            raise self.fail
        self.calls.append((function, arguments))
        self.active += 1
        self.most_at_once = max(self.most_at_once, self.active)
        try:
            await asyncio.sleep(0.01)
            return await self._run(tree, function, json.loads(json.dumps(arguments)), services or {})
        finally:
            self.active -= 1

    async def _run(
        self, tree: SourceTree, function: str, arguments: Any, services: Mapping[str, Service]
    ) -> ToolResult:
        loop, failed = asyncio.get_running_loop(), list[HostError]()

        def ask(name: str, value: Any = None) -> Any:
            try:
                return asyncio.run_coroutine_threadsafe(services[name](value), loop).result(10)
            except HostError as error:
                failed.append(error)
                raise SystemExit from error
            except (HeredityError, LookupError, TypeError, ValueError, AttributeError) as error:
                raise RuntimeError(str(error)) from error

        module, _, name = function.partition(":")
        space: dict[str, Any] = {"__name__": module}

        def work() -> ToolResult:
            try:
                exec(compile(tree.text(f"{module}.py"), f"{module}.py", "exec"), space)
                return ToolResult(json.loads(json.dumps(space[name](**arguments))))
            except BaseException as error:  # noqa: BLE001 - a program may raise anything
                return ToolResult(error="tool_error", message=repr(error), traceback=traceback.format_exc())

        guest = types.ModuleType("heredity_guest")
        guest.ask = ask  # type: ignore[attr-defined]
        sys.modules["heredity_guest"] = guest
        result = await asyncio.to_thread(work)
        if failed:
            raise failed[0]
        return result
