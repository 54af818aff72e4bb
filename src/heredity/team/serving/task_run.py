"""One task of a served team: its request, its state and result, and its followers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import RecordError, RejectedError
from heredity._core.outside import json_value, read_text
from heredity.models.gateway import Gateway
from heredity.team.messages import Outcome
from heredity.team.plan import Plan, checked
from heredity.team.team import Team, TeamResult, write_whole
from heredity.team.view import View, plan_json

_SPLIT_S = 0.1
_BEAT_S = 5.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Request of a task.

    Attributes:
        task: the task, in words.
        files: names of the task's files.
        agent: the agent that does it alone; the whole team if empty.
        approve: have a person approve the plan before each round.
        at: Unix time.
    """

    task: str
    files: tuple[str, ...] = ()
    agent: str = ""
    approve: bool = False
    at: float = 0.0


class TaskRun:
    """One task; made by an `Office`.

    Attributes:
        id: its name, also that of its folder.
        folder: its folder.
        asked: the request.
        state: `"queued"`, `"working"`, `"waiting"` for a person, `"stopped"` by a failure outside the team, or its
            outcome.
        result: the result; None until it ends.
        problem: the reason it stopped.
    """

    def __init__(self, task_id: str, folder: Path, asked: Asked) -> None:
        self.id, self.folder, self.asked = task_id, folder, asked
        self.state = "queued"
        self.result: TeamResult | None = None
        self.problem = ""
        self.view = View()
        self.plan: Plan | None = None
        self.team: Team | None = None
        self.job: asyncio.Task[None] | None = None
        self._review: asyncio.Future[Plan] | None = None
        self._changed = asyncio.Event()

    @property
    def over(self) -> bool:
        """True once it has ended."""
        return self.result is not None

    async def ended(self) -> TeamResult:
        """Wait for the result and return it.

        Raises:
            RecordError: if it stopped: a provider, a sandbox or the disk failed; it can be resumed.
        """
        while self.result is None:
            if self.state == "stopped":
                raise RecordError(f"the task {self.id} has stopped: {self.problem}; resume it")
            await self._changed.wait()
        return self.result

    async def changes(self) -> AsyncGenerator[None]:
        """Yield at once, after each change, a few times a second at most, and every five seconds; ends with the task."""
        while True:
            changed = self._changed
            yield
            if self.over or self.state == "stopped":
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), _BEAT_S)
            await asyncio.sleep(_SPLIT_S)

    def touch(self) -> None:
        """Notify followers of a change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def go_to(self, state: str) -> None:
        """Enter another state."""
        self.state = state
        self.touch()

    def opened(self, team: Team, _: Gateway) -> None:
        """Follow a team at work."""
        self.team = team

        def more() -> None:
            self.view.take(team.bus.record.events)
            self.touch()

        team.bus.record.follow(more)
        self.view = View()
        more()

    def planned(self, plan: Plan) -> None:
        """Record the current plan."""
        self.plan = plan
        self.touch()

    async def review(self, plan: Plan) -> Plan:
        """Wait until a person approves or edits the plan."""
        self._review = asyncio.get_running_loop().create_future()
        self.go_to("waiting")
        try:
            return await self._review
        finally:
            self._review = None
            self.go_to("working")

    def approve(self, text: str, agents: Sequence[str]) -> None:
        """Approve the plan: unchanged, or as edited in a plan.md.

        Raises:
            RejectedError: if the task does not wait for an approval.
            PlanError: if the edited plan cannot be carried out; the task goes on waiting.
        """
        if self._review is None or self.plan is None or self._review.done():
            raise RejectedError(f"the task {self.id} does not wait for a plan to be approved; it is {self.state}")
        plan = checked(self.plan.edited(text), agents) if text.strip() else self.plan
        self._review.set_result(plan)

    def end(self, result: TeamResult) -> None:
        """Record the result."""
        document = json.dumps(asdict(replace(result, plan="")), ensure_ascii=False, indent=1)
        write_whole(self.folder / "result.json", document)
        self.result = result
        self.go_to(_state_of(result))

    def to_json(self, after: int = 0, limit: float = 0.0) -> dict[str, Any]:
        """Return all data of interest to a person (docs/teams.md), with messages after a number."""
        result = self.result
        seen = self.view.to_json(after, None if not self.over else self._last())
        started = self.view.started or self.asked.at
        return {
            **self.head(),
            "answer": result.answer if result else "",
            "error": (result.error if result else "") or self.problem,
            "rounds": result.rounds if result else len(self.plan.rounds) if self.plan else 0,
            "plan": plan_json(self.plan) if self.plan else None,
            "seconds": {"used": round((self._last() if self.over else time.time()) - started, 3), "limit": limit},
            **seen,
        }

    def head(self) -> dict[str, Any]:
        """Return its entry in a list."""
        asked = self.asked
        return {
            "id": self.id,
            "state": self.state,
            "task": asked.task,
            "files": list(asked.files),
            "agent": asked.agent,
            "approve": asked.approve,
            "at": asked.at,
        }

    def _last(self) -> float:
        messages = self.view.since(0)
        return messages[-1].at if messages else self.asked.at


def read_task(folder: Path) -> TaskRun:
    """Read a task from disk.

    Raises:
        RecordError: if it is damaged.
    """
    try:
        data = cast("dict[str, Any]", json_value(read_text(folder / "task.json")))
        asked = Asked(
            str(data["task"]),
            tuple(data.get("files", ())),
            str(data.get("agent", "")),
            bool(data.get("approve")),
            float(data.get("at", 0.0)),
        )
        run = TaskRun(folder.name, folder, asked)
        if (folder / "result.json").exists():
            given = cast("dict[str, Any]", json_value(read_text(folder / "result.json")))
            given["outcome"] = Outcome(given["outcome"])
            run.result = TeamResult(**given)
            run.state = _state_of(run.result)
        run.view = View.of(folder)
        run.plan = run.view.plan_of(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{folder} holds no readable task ({error}); move it out of this folder") from error
    return run


def _state_of(result: TeamResult) -> str:
    return "done" if result.outcome is Outcome.OK else str(result.outcome)
