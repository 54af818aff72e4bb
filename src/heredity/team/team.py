"""A team: a planning agent, sub-agents, a shared memory, and the folder that holds all of its work.

    async with open_team(folder, {"researcher": agent}, ModelPlanner(model)) as team:
        result = await team.run("In which year was the bridge built?")

A folder holds one session: `journal.jsonl`, the current `plan.md`, and the final `memory.jsonl`. Running the same
task in the folder again after a kill resumes it.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity._core.ids import digest_json
from heredity.team.agent import SubAgent
from heredity.team.bus import Bus
from heredity.team.memory import SharedMemory, to_jsonl
from heredity.team.participant import Context, Handler, Kind, Message, Outcome, Participant
from heredity.team.planning import ROUNDS, Plan, Planner, PlanningAgent
from heredity.team.record import open_record

PLANNER = "planner"


@dataclass(frozen=True, slots=True)
class Member:
    """A sub-agent of a team.

    Attributes:
        description: its abilities, for the planner.
        handler: handles its steps, usually a `SubAgent`.
        concurrency: number of steps it does at once.
    """

    description: str
    handler: Handler | SubAgent
    concurrency: int = 4


@dataclass(frozen=True, slots=True)
class TeamResult:
    """The result of a task.

    Attributes:
        outcome: the outcome.
        answer: the answer ("" without one).
        error: the reason for a missing answer.
        rounds: number of times the plan was made or revised.
        plan: the last plan.md.
        seconds: wall time in this process.
    """

    outcome: Outcome
    answer: str = ""
    error: str = ""
    rounds: int = 0
    plan: str = ""
    seconds: float = 0.0


class Team:
    """A running team; made by `open_team`.

    Attributes:
        bus: carries its messages.
        memory: its shared memory.
        folder: its folder.
        after: called with the result of each task, where a team learns from it for later ones.
    """

    def __init__(self, bus: Bus, memory: SharedMemory, folder: Path) -> None:
        self.bus = bus
        self.memory = memory
        self.folder = folder
        self.after: Callable[[Mapping[str, Any], TeamResult], Awaitable[None]] | None = None

    async def run(self, task: str, files: Sequence[str] = (), seconds: float = 3600.0) -> TeamResult:
        """Do a task, or resume it where an earlier process stopped.

        Args:
            task: the task, in words.
            files: names of the task's files.
            seconds: time limit of the whole task.

        Raises:
            RecordError: if the disk fails.
        """
        started = time.monotonic()
        body: dict[str, Any] = {"task": task, **({"files": list(files)} if files else {})}
        key = f"task-{digest_json(body)[:12]}"
        result = await self.bus.outside.request(PLANNER, body, key=key, timeout=seconds)
        write_whole(self.folder / "memory.jsonl", to_jsonl(self.memory.entries.values()))
        outcome = _result(result, self._plan(), time.monotonic() - started)
        if self.after is not None:
            await self.after(body, outcome)
        return outcome

    def _plan(self) -> str:
        path = self.folder / "plan.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""


@asynccontextmanager
async def open_team(
    folder: Path,
    members: Mapping[str, Member],
    planner: Planner,
    *,
    rounds: int = ROUNDS,
    step_seconds: float = 1800.0,
    review: Callable[[Plan], Awaitable[Plan]] | None = None,
    between: Callable[[Plan, Context], Awaitable[None]] | None = None,
    watch: Callable[[Plan], None] = lambda _: None,
    memory: SharedMemory | None = None,
) -> AsyncGenerator[Team]:
    """Open a team in a folder, for this process alone.

    Args:
        folder: created if missing.
        members: sub-agents by name.
        planner: makes and revises the plan.
        rounds: limit on rounds of planning.
        step_seconds: time limit of each step.
        review: shows the plan of each round to a person and returns it as edited.
        between: called after each round (where a team improves itself).
        watch: called with each version of the plan.
        memory: the memory used by the members' tools, with its earlier entries (by default an empty one). The record's
            notes are added.

    Raises:
        RunLockedError: if another process works in the folder.
        RecordError: if the folder cannot be used.
    """
    with open_record(folder) as record:
        shared = memory or SharedMemory()
        for message in record.messages.values():
            shared.take(message)

        def keep(plan: Plan) -> None:
            write_whole(folder / "plan.md", plan.to_markdown())
            watch(plan)

        async with Bus(record, session=folder.name, timeout=step_seconds) as bus:

            def agents() -> dict[str, str]:
                # All participants that accept tasks can be given steps, including later arrivals.
                return {p.name: p.description for p in bus.participants if Kind.TASK in p.accepts and p.name != PLANNER}

            lead = PlanningAgent(
                planner, agents, keep=keep, review=review, between=between, rounds=rounds, timeout=step_seconds
            )
            register_team(bus, lead, members, shared)
            yield Team(bus, shared, folder)


def register_team(bus: Bus, lead: PlanningAgent, members: Mapping[str, Member], memory: SharedMemory) -> None:
    """Register a team's memory, members and planning agent on its bus."""
    bus.register(memory.participant())
    for name, member in members.items():
        bus.register(Participant(name, member.handler, member.description, concurrency=member.concurrency))
    bus.register(Participant(PLANNER, lead, "plans, and gives steps to agents"))


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file atomically; its folder is created if missing.

    Raises:
        RecordError: if it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    except OSError as error:
        raise RecordError(
            f"{path} cannot be written: {error.strerror}; free some space, then run the task again"
        ) from error


def _result(result: Message, plan: str, seconds: float) -> TeamResult:
    if not result.ok:
        return TeamResult(result.outcome or Outcome.FAILED, "", result.error, plan=plan, seconds=seconds)
    value = result.value
    return TeamResult(Outcome.OK, value["answer"], "", value["rounds"], value["plan"], seconds)
