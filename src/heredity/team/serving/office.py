"""Tasks of a served team: each in a separate folder, several at once, all surviving the process.

    async with Office(settings, folder) as office:
        run = office.start("When was the bridge built?")
        print((await run.ended()).answer)

A task is on disk before `start` returns. An office opened on the folder again resumes every task that has not ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, HeredityError, RecordError, RejectedError, UnknownNameError
from heredity._core.outside import json_value, read_text
from heredity.agents.models import models_for_agent
from heredity.models.gateway import Gateway
from heredity.records.lock import RunLock
from heredity.team.assembly import work
from heredity.team.bus import describe
from heredity.team.participant import Outcome
from heredity.team.planning import OneAgent, Plan, checked
from heredity.team.settings import TeamSettings
from heredity.team.team import Team, TeamResult, write_whole
from heredity.team.tools.documents import ENDINGS
from heredity.team.view import View, plan_json

_SPLIT_S = 0.1
_BEAT_S = 5.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Request of a task.

    Attributes:
        task: the task, in words.
        files: names of the task's files.
        agent: the agent that does it alone (the whole team if empty).
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


AT_ONCE = 4
MOST_WAITING = 100
MOST_TASK = 100_000
TASK_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FILES = 100
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,120}")


class Office:
    """A team's tasks; entered with `async with`.

    Args:
        settings: the team's configuration.
        folder: the folder of the tasks (created if missing), for this process alone.
        at_once: limit on simultaneous tasks; others wait.
        unsafe: run programs with the isolation available here.

    Attributes:
        settings: the team's configuration.
        runs: all tasks, in the order of their submission.
    """

    def __init__(self, settings: TeamSettings, folder: Path, *, at_once: int = AT_ONCE, unsafe: bool = False) -> None:
        self.settings = settings
        self.runs: dict[str, TaskRun] = {}
        self._folder, self._unsafe = folder, unsafe
        self._turns = asyncio.Semaphore(at_once)
        self._lock: RunLock | None = None
        self._closing = False

    async def __aenter__(self) -> Office:
        """Take the folder and resume unfinished tasks.

        Raises:
            RunLockedError: if another process serves it.
            RecordError: if it cannot be used.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(f"{self._folder} cannot be made: {error.strerror}; name another folder") from error
        self._lock = RunLock.acquire(self._folder / "lock")
        try:
            folders = sorted(
                (read_task(path.parent) for path in self._folder.glob("*/task.json")), key=lambda r: r.asked.at
            )
        except BaseException:
            self._lock.release()
            raise
        for run in folders:
            self.runs[run.id] = run
            if not run.over:
                self._begin(run)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        jobs = [run.job for run in self.runs.values() if run.job is not None and not run.job.done()]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        if self._lock is not None:
            self._lock.release()

    @property
    def closing(self) -> bool:
        """True while closing: unfinished tasks are resumed another time."""
        return self._closing

    @property
    def agents(self) -> dict[str, str]:
        """Agents of the team, with their abilities."""
        return {name: agent.description for name, agent in self.settings.agents.items()}

    def start(
        self,
        task: str,
        files: Mapping[str, bytes] | None = None,
        *,
        agent: str = "",
        approve: bool = False,
        task_id: str = "",
    ) -> TaskRun:
        """Accept a task; it is on disk when this returns, and starts when its turn comes.

        Args:
            task: the task, in words.
            files: the task's files, by name.
            agent: the agent that does it alone.
            approve: have a person approve the plan before each round.
            task_id: a name for it; a new one by default.

        Raises:
            ConfigError: if the task is empty or too long, or the agent does not exist.
            RejectedError: if too many tasks wait (or the name is taken).
            RecordError: if it cannot be written.
        """
        if not task.strip() or len(task) > MOST_TASK:
            raise ConfigError(f"task: it has {len(task)} characters; say in 1 to {MOST_TASK:,} what is to be done")
        _check_files(files or {})
        if agent and agent not in self.agents:
            raise UnknownNameError("agent", agent, self.agents)
        if sum(not run.over for run in self.runs.values()) >= MOST_WAITING:
            raise RejectedError(f"{MOST_WAITING} tasks have not ended yet; wait for some, or cancel them")
        task_id = task_id or f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
        if not TASK_ID.fullmatch(task_id) or task_id in self.runs:
            raise RejectedError(
                f"task_id: {task_id!r:.80} is taken, or not a name of lower-case letters, digits and '-'"
            )
        run = TaskRun(
            task_id, self._folder / task_id, Asked(task, tuple(sorted(files or {})), agent, approve, time.time())
        )
        try:
            run.folder.mkdir()
            _write_files(run.folder / "files", files or {})
            write_whole(run.folder / "task.json", json.dumps(self._to_json(run.asked), indent=1, ensure_ascii=False))
        except (OSError, UnicodeEncodeError) as error:
            raise RecordError(f"{run.folder} cannot be written: {error}") from error
        self.runs[task_id] = run
        self._begin(run)
        return run

    def get(self, task_id: str) -> TaskRun:
        """Return a task; raises UnknownNameError if the name does not exist."""
        if task_id not in self.runs:
            raise UnknownNameError("task", task_id, self.runs)
        return self.runs[task_id]

    async def cancel(self, task_id: str) -> TaskRun:
        """End a task and its work; one that has ended stays as it is.

        Raises:
            UnknownNameError: if the name does not exist.
        """
        run = self.get(task_id)
        if run.over:
            return run
        team = run.team
        requests = (
            [m.id for m in team.bus.record.messages.values() if not m.parent and m.kind == "task"] if team else []
        )
        if team is not None and any([await team.bus.cancel(request) for request in requests]):
            await run.ended()
            return run
        if run.job is not None:
            run.job.cancel()
            await asyncio.gather(run.job, return_exceptions=True)
        if not run.over:
            run.end(TeamResult(Outcome.CANCELLED, "", "cancelled before it started"))
        return run

    def resume(self, task_id: str) -> TaskRun:
        """Resume a stopped task.

        Raises:
            UnknownNameError: if the name does not exist.
            RejectedError: if it has not stopped.
        """
        run = self.get(task_id)
        if run.state != "stopped":
            raise RejectedError(f"the task {task_id} has not stopped; it is {run.state}")
        run.problem = ""
        run.go_to("queued")
        self._begin(run)
        return run

    def approve(self, task_id: str, text: str = "") -> TaskRun:
        """Approve a task's plan (see `TaskRun.approve`)."""
        run = self.get(task_id)
        run.approve(text, list(self.agents))
        return run

    def _begin(self, run: TaskRun) -> None:
        run.job = asyncio.create_task(self._work(run), name=f"task {run.id}")

    async def _work(self, run: TaskRun) -> None:
        async with self._turns:
            run.go_to("working")
            asked = run.asked
            try:
                settings = _settings(run.folder)
                result = await work(
                    settings,
                    run.folder,
                    asked.task,
                    {name: run.folder / "files" / name for name in asked.files},
                    opened=run.opened,
                    review=run.review if asked.approve else None,
                    watch=run.planned,
                    planner=OneAgent(asked.agent) if asked.agent else None,
                    unsafe=self._unsafe,
                    door=models_for_agent,
                )
                run.end(result)
            except asyncio.CancelledError:
                run.go_to("queued")
                raise
            except Exception as error:  # noqa: BLE001 - a task that fails in a way nobody thought of stops, and no other does
                run.problem = str(error) if isinstance(error, HeredityError) else describe(error)
                run.go_to("stopped")
            finally:
                run.team = None

    def _to_json(self, asked: Asked) -> dict[str, Any]:
        return {**asdict(asked), "settings": self.settings.model_dump(mode="json")}


def _check_files(files: Mapping[str, bytes]) -> None:
    if len(files) > _FILES:
        raise ConfigError(f"files: {len(files)} are given; at most {_FILES} can be")
    for name in files:
        # A name, not a path: nothing outside the task's folder is written or read.
        if not _FILE.fullmatch(name) or Path(name).suffix.lower() not in ("", *ENDINGS):
            raise ConfigError(
                f"files: {name!r:.80} is not a name of a document; give one of letters, digits, ' ', '.', '_', '-' that ends in "
                f"{', '.join(ENDINGS)}"
            )


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    if files:
        folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _settings(folder: Path) -> TeamSettings:
    """Return the team's configuration at the start of the task, which is used when the task is resumed."""
    return TeamSettings.model_validate(json_value(read_text(folder / "task.json"))["settings"])
