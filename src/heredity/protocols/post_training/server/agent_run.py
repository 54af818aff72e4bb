"""One post-training run by an outside agent: sets up its workspace, grades its checkpoints, and ends it on time."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from heredity._core.errors import BudgetError, CandidateError, ClosedError, ConfigError, HeredityError, RejectedError
from heredity._core.http import serve
from heredity.agents.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.agents.run import run_starts
from heredity.agents.terms import for_agent
from heredity.kinds.checkpoint.models.adapter import is_adapter, merge_adapter
from heredity.kinds.checkpoint.models.bases import saved_form
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of, holds_base, inspect
from heredity.kinds.checkpoint.tasks.overlap import HiddenTexts, Met, OwnTexts
from heredity.methods import Budget, Feedback, Trial
from heredity.protocols.post_training.events import (
    CHECKPOINT_KEPT,
    CODE_REVISED,
    SETTINGS_OVERRIDDEN,
    TEXTS_MET,
    CodeRevised,
    TextsMet,
)
from heredity.protocols.post_training.server.workspace import (
    FOLDER,
    PERCENT,
    KeptCheckpoints,
    TrainingTerms,
    TrainingWorkspace,
    archive,
)
from heredity.records import Blob, Event, read_journal
from heredity.records.agent_starts import Start, starts_of
from heredity.records.journal import Line
from heredity.sandbox.agent_bubblewrap import INSIDE
from heredity.session.session import Session
from heredity.session.session_log import Submission

INTERVAL_S = 15.0
"""Seconds between looks at the code outside submissions."""

MOST_BYTES = 512 << 20
"""Maximum total size of a run's versions: an agent could otherwise fill the host's disk."""

_LEAST_BYTES = 4096
_MOST_REASONS = 5
_FULL = "the versions of the code so far take all the room that there is for them; no later one is kept"

Note = Callable[[Line, Sequence[Blob]], Awaitable[None]]
"""Journals a revision with its blobs."""


class Revisions:
    """Journals the folder `code/` whenever it differs from the last record, while there is room.

    Files that cannot be kept are left out; the revision lists them with reasons. Without a blob, none could be kept.
    """

    def __init__(self, workspace: TrainingWorkspace, note: Note, recorded: Sequence[CodeRevised] = ()) -> None:
        """Watch a workspace.

        Args:
            workspace: the workspace of the code.
            note: journals a revision.
            recorded: the data of the recorded revisions.
        """
        self._workspace, self._note, self._number = workspace, note, len(recorded)
        self._last: tuple[str | None, str] = (
            (recorded[-1]["blob"], recorded[-1].get("reason", "")) if recorded else ("", "")
        )
        self._room = MOST_BYTES - sum(max(revision.get("bytes", 0), _LEAST_BYTES) for revision in recorded)
        self._full = any(revision.get("full", False) for revision in recorded)
        self._turn = asyncio.Lock()

    async def note(self, at_s: float) -> None:
        """Journal the code if it has changed; `at_s` is the run's clock in seconds."""
        async with self._turn:
            if self._full:
                return
            try:
                files, left_out = await asyncio.to_thread(self._workspace.code)
            except ConfigError as error:
                files, left_out = {}, [str(error)]
            if files or left_out:
                await self._journal(at_s, Blob.of(archive(files)) if files else None, sorted(files), _reason(left_out))

    async def watch(self, clock: Callable[[], float], interval_s: float = INTERVAL_S) -> None:
        """Check the code at every interval until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            await self.note(clock())

    async def _journal(self, at_s: float, blob: Blob | None, files: Sequence[str], reason: str = "") -> None:
        if (blob and blob.digest, reason) == self._last:
            return
        size = max(len(blob.data) if blob else 0, _LEAST_BYTES)
        self._full = size > self._room
        if self._full:
            blob, files, reason = None, [], _FULL
        self._room -= size
        self._last, self._number = (blob and blob.digest, reason), self._number + 1
        revised: CodeRevised = {
            "revision": self._number,
            "blob": blob and blob.digest,
            "files": files,
            "at_s": round(at_s, 3),
        }
        if blob:
            revised["bytes"] = len(blob.data)
        else:
            revised["full"] = self._full
        if reason:
            revised["reason"] = reason
        await self._note(CODE_REVISED.line(revised), [blob] if blob else [])


def _reason(left_out: Sequence[str]) -> str:
    more = [f"and {len(left_out) - _MOST_REASONS} more"] if len(left_out) > _MOST_REASONS else []
    return "; ".join([reason[:200] for reason in left_out[:_MOST_REASONS]] + more)


class TextWatch:
    """Journals the hidden items found in an agent's files (first, whenever there are more, and at the end).

    The agent is not told: it would learn which items are hidden.

    Args:
        root: its workspace.
        hidden: the texts of hidden items.
        given: top-level names in the workspace written by the host.
        note: journals a line.
        recorded: the record so far.
    """

    def __init__(
        self,
        root: Path,
        hidden: HiddenTexts,
        given: Sequence[str],
        note: Callable[[Line], Awaitable[None]],
        recorded: Sequence[TextsMet] = (),
    ) -> None:
        self._texts, self._sizes, self._note = OwnTexts(root, hidden, given), hidden.sizes, note
        self._last: TextsMet | None = recorded[-1] if recorded else None
        if self._last:
            for view, positions in self._last["views"].items():
                self._texts.met.items.setdefault(view, set()).update(positions)
            self._texts.met.files += self._last["files"]
        self._turn = asyncio.Lock()

    async def look(self, at_s: float, *, last: bool = False) -> None:
        """Search changed files; `at_s` is the run's clock in seconds, `last` is True at the end of the run.

        Raises:
            RecordError: if the disk is full or fails.
        """
        async with self._turn:
            texts = self._texts_met(await asyncio.to_thread(self._texts.look), at_s)
            before = self._last
            same = before is not None and (
                texts == {**before, "at_s": texts["at_s"]} if last else texts["views"] == before["views"]
            )
            if not same:
                self._last = texts
                await self._note(TEXTS_MET.line(texts))

    def _texts_met(self, met: Met, at_s: float) -> TextsMet:
        return {
            "at_s": round(at_s, 3),
            "views": {view: sorted(met.items.get(view, ())) for view in self._sizes},
            "sizes": dict(self._sizes),
            "files": list(met.files),
            "texts": met.texts,
            "bytes": met.bytes,
            "unread": met.unread,
        }


_MAX_BODY = 1 << 20
_MAX_PATH = 4096
_NOTE = "the checkpoint "
_MAX_NOTE = _MAX_REASON = 1000


class GradingSession(Protocol):
    """The part of a session that the server uses."""

    async def submit(self, trials: list[Trial], key: str) -> list[Feedback]:
        """See `SessionContract.submit`."""
        ...

    def remaining(self) -> Budget:
        """See `SessionContract.remaining`."""
        ...

    async def note(self, line: Line) -> None:
        """Journal an event."""
        ...

    def snapshot(self) -> list[Submission]:
        """Return every admitted submission in order."""
        ...

    def refused(self, key: str, category: str, message: str) -> None:
        """Journal a rejection made before submission."""
        ...


class _ProblemError(Exception):
    def __init__(self, message: str, code: int = 400) -> None:
        super().__init__(message)
        self.code = code


class GradingApp:
    """Answers one run's requests.

    Attributes:
        asgi: the application to serve.
        best: the best graded answer so far; None before the first.
    """

    def __init__(
        self,
        session: GradingSession,
        workspace: TrainingWorkspace,
        kept: KeptCheckpoints,
        revisions: Revisions,
        earlier: Sequence[Event] = (),
        choose_gpu: Callable[[str | None], None] | None = None,
        texts: TextWatch | None = None,
    ) -> None:
        """Build the application and restore its state from the session.

        Args:
            session: receives the checkpoints.
            workspace: the agent's workspace.
            kept: stores copies of checkpoints.
            revisions: records the code in force at each submission.
            earlier: the run's events so far.
            choose_gpu: selects one of the run's GPUs for the next grading, by name (None for the default device).
            texts: searches the agent's files for hidden items during grading.
        """
        self._texts = texts
        self._choose_gpu = choose_gpu
        self._session, self._workspace, self._kept, self._revisions = session, workspace, kept, revisions
        self._terms = workspace.terms
        self._grading = asyncio.Lock()
        self._answers: dict[str, dict[str, Any]] = {}
        self._started = earlier[0].at if earlier else time.time()
        self._last: float | None = None
        self._paths: dict[str, str] = {
            e.data["digest"]: e.data["note"].removeprefix(_NOTE) for e in earlier if e.kind == "candidate"
        }
        self._highest = -math.inf
        self.best: dict[str, Any] | None = None
        for submission in session.snapshot():
            if submission.status is not None:
                self._learn(submission.feedback(), submission.at_s, submission.completed_at)
        routes = [
            Route("/submit", self._submit, methods=["POST"]),
            Route("/set_baseline", self._set_baseline, methods=["POST"]),
            Route("/health", self._health),
            Route("/time", self._time),
        ]
        handlers = {_ProblemError: _problem, HTTPException: _unknown, HeredityError: _host_error}
        self.asgi = Starlette(routes=routes, exception_handlers=cast("Any", handlers))

    async def settle(self) -> None:
        """Register submissions that were never answered, from an earlier process or an agent that has ended.

        Raises:
            HostError: if the session is broken.
            RecordError: if the disk is full or fails.
        """
        async with self._grading:
            for submission in self._session.snapshot():
                checkpoint = self._kept.of(submission.candidate)
                answered = submission.status is not None and submission.candidate in self._answers
                if not answered and checkpoint is not None:
                    await self._grade(checkpoint, submission.at_s, submission.key)
            await self._kept.keep_best(self.best["candidate"] if self.best else None)

    def publish(self, ended: float | None = None) -> None:
        """Write scores.json and run_meta.json; `ended` is when the run ended, Unix seconds.

        Raises:
            RecordError: if they cannot be written.
        """
        self._workspace.write_status("scores.json", list(self._answers.values()))
        self._workspace.write_status("run_meta.json", self._meta(ended))

    def _meta(self, ended: float | None = None) -> dict[str, Any]:
        times = {"start_time": self._started, "last_submit_time": self._last, "end_time": ended}
        return self._terms.meta(times)

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "task": self._terms.task, "total_submissions": len(self._answers)})

    async def _time(self, request: Request) -> Response:
        left = self._session.remaining().seconds
        return JSONResponse({"meta": self._meta(), "now": time.time(), "remaining": left})

    async def _set_baseline(self, request: Request) -> Response:
        raise _ProblemError("the baseline is the base model's score and cannot be set", 403)

    async def _submit(self, request: Request) -> Response:
        path, gpu = await _wanted(request, self._terms.gpus)
        async with self._grading:
            try:
                self._choose(gpu)
                return JSONResponse(await self._graded(path))
            except CandidateError as error:
                reason = self._for_agent(str(error))
                self._session.refused(path[:_MAX_PATH], "invalid_checkpoint", reason)
                raise _ProblemError(reason) from error
            except ClosedError as error:
                raise _ProblemError(self._for_agent(f"the run is over: {error}"), 409) from error
            except (RejectedError, BudgetError) as error:
                raise _ProblemError(self._for_agent(str(error))) from error
            finally:
                self._choose(None)
                await asyncio.to_thread(self._kept.tidy)

    def _for_agent(self, message: str) -> str:
        return for_agent(message, self._workspace.root)[:_MAX_REASON]

    def _choose(self, gpu: str | None) -> None:
        if self._choose_gpu is not None:
            self._choose_gpu(gpu)

    async def _graded(self, path: str) -> dict[str, Any]:
        at = self._elapsed()
        await self._revisions.note(at)
        folder, checkpoint = await asyncio.to_thread(self._look_through, path)
        candidate = candidate_of(checkpoint)
        if await asyncio.to_thread(self._is_base, folder, checkpoint):
            return self._base(path, at)
        earlier = self._answers.get(candidate.digest)
        # A failure may be caused by the grading itself, so a repeated request is graded again.
        if earlier is not None and earlier["error"] is None:
            return {**earlier, "model_path": path, "cached": True, **self._standing()}
        await asyncio.to_thread(self._kept.keep, folder, checkpoint, self._terms.base_folder)
        self._paths[candidate.digest] = path
        try:
            if checkpoint.overridden:
                await self._session.note(
                    SETTINGS_OVERRIDDEN.line({"candidate": candidate.digest, "settings": list(checkpoint.overridden)})
                )
            answer = await self._grade(checkpoint, at, self._key(checkpoint, candidate.digest))
        except (RejectedError, BudgetError, ClosedError):
            await self._kept.drop(candidate.digest, "it was not graded")
            raise
        return {**answer, **self._standing(), **_notes(checkpoint)}

    def _key(self, checkpoint: Checkpoint, candidate: str) -> str:
        """Return the key of a submission: a new one each time the checkpoint is graded."""
        before = sum(s.candidate == candidate and s.status is not None for s in self._session.snapshot())
        return f"checkpoint/{checkpoint.digest}" + (f"/{before + 1}" if before else "")

    async def _grade(self, checkpoint: Checkpoint, at: float, key: str) -> dict[str, Any]:
        candidate = candidate_of(checkpoint)
        note = f"{_NOTE}{self._paths.get(candidate.digest, '')}"[:_MAX_NOTE]
        trial = Trial(candidate, range(self._terms.graded), note=note)
        async with self._looking(at):
            (feedback,) = await self._session.submit([trial], key)
        answer = self._learn(feedback, at, time.time())
        await self._kept.keep_best(self.best["candidate"] if self.best else None)
        await asyncio.to_thread(self.publish)
        return answer

    @asynccontextmanager
    async def _looking(self, at: float) -> AsyncGenerator[None]:
        """Search the agent's texts during grading, which takes longer."""
        looking = asyncio.create_task(self._texts.look(at)) if self._texts else None
        try:
            yield
        finally:
            if looking is not None:
                await looking

    def _look_through(self, path: str) -> tuple[Path, Checkpoint]:
        workspace, terms = self._workspace, self._terms
        folder = workspace.submitted(path)
        try:
            if is_adapter(folder, workspace.root):
                into = self._kept.fresh_folder()
                folder = merge_adapter(folder, (terms.base_folder, terms.base), into, inside=workspace.root)
                return folder, inspect(folder, base=terms.base)
            saved = partial(saved_form, terms.base_folder)
            return folder, inspect(folder, inside=workspace.root, base=terms.base, saved=saved)
        except OSError as error:
            raise CandidateError(
                f"{path:.200} cannot be read or merged ({error.strerror}); save it again and submit that"
            ) from error

    def _is_base(self, folder: Path, checkpoint: Checkpoint) -> bool:
        """Return whether a checkpoint is the untouched base, as its files are or saved in other types of floats."""
        terms, root = self._terms, self._workspace.root
        if checkpoint.digest == terms.base.digest:
            return True
        if checkpoint.metadata["dtypes"] == terms.base.metadata["dtypes"]:
            return False
        return holds_base(folder, terms.base_folder, inside=root if folder.is_relative_to(root) else None)

    def _learn(self, feedback: Feedback, elapsed_s: float, at: float | None) -> dict[str, Any]:
        score = None if math.isnan(feedback.mean) else round(feedback.mean * PERCENT, 4)
        baseline = round(self._terms.baseline * PERCENT, 4)
        failed = self._for_agent(feedback.failure.message) if feedback.failure else None
        answer: dict[str, Any] = {
            "submission_id": feedback.submit_id,
            "timestamp": at,
            "model_path": self._paths.get(feedback.candidate, ""),
            "score": score,
            "baseline_score": baseline,
            "improvement": None if score is None else round(score - baseline, 4),
            "elapsed_seconds": round(elapsed_s, 3),
            "candidate": feedback.candidate,
            "cached": False,
            "error": failed or ("no item could be graded" if score is None else None),
            **self._by_task({outcome.task: outcome.score for outcome in feedback.outcomes}),
        }
        self._answers[feedback.candidate] = answer
        self._last = at
        # Compare exact scores, not rounded ones: the judge will need the weights of the exact best.
        if feedback.mean > self._highest:
            self._highest, self.best = feedback.mean, answer
        return answer

    def _base(self, path: str, at: float) -> dict[str, Any]:
        baseline = round(self._terms.baseline * PERCENT, 4)
        same = {"score": baseline, "baseline_score": baseline, "improvement": 0.0, "error": None}
        flags = {"cached": True, "is_base_model": True}
        facts = {"submission_id": None, "timestamp": time.time(), "model_path": path, "elapsed_seconds": round(at, 3)}
        self._session.refused(path[:_MAX_PATH], "base_model", "the checkpoint is the untouched base model")
        return {**facts, **same, **flags, **self._by_task(), **self._standing()}

    def _by_task(self, scores: Mapping[int, float] | None = None) -> dict[str, Any]:
        """Return the part of an answer about each of several tasks; the baseline's scores by default."""
        parts = self._terms.parts
        task_scores = (
            {task_index: part.baseline for part in parts for task_index in part.task_indices}
            if scores is None
            else scores
        )
        return {"tasks": self._terms.by_task(task_scores)} if parts else {}

    def _standing(self) -> dict[str, Any]:
        best: Mapping[str, Any] | None = self.best
        names = ("submission_id", "score", "improvement", "model_path")
        return {
            "best": None if best is None else {name: best[name] for name in names},
            "total_submissions": len(self._answers),
        }

    def _elapsed(self) -> float:
        left = self._session.remaining().seconds
        return self._terms.timeout_s - left if left is not None else time.time() - self._started


def _notes(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the part of an answer about settings that the checkpoint overrides."""
    what = ", ".join(checkpoint.overridden)
    return {"note": f"not the base model's, whose own are used: {what[:_MAX_NOTE]}"} if what else {}


async def _wanted(request: Request, gpus: Sequence[str]) -> tuple[str, str | None]:
    """Return the path of the checkpoint to grade, and the requested GPU, if any."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _MAX_BODY:
            raise _ProblemError(f"the body exceeds {_MAX_BODY} bytes; send only the path of the checkpoint", 413)
    try:
        body: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _ProblemError(f'the body is not JSON ({error}); send {{"model_path": "output/final"}}') from None
    path = cast("dict[str, Any]", body).get("model_path") if isinstance(body, dict) else None
    if not isinstance(path, str) or not path.strip() or len(path) > _MAX_PATH or not path.isprintable():
        raise _ProblemError(f'model_path is {path!a:.80}; send {{"model_path": "output/final"}}')
    return path.strip(), _gpu(cast("dict[str, Any]", body).get("gpu"), gpus)


def _gpu(named: Any, gpus: Sequence[str]) -> str | None:
    # Agents written for other labs always name a GPU; without GPUs the name has no effect.
    if named is None or not gpus:
        return None
    if isinstance(named, bool) or str(named) not in gpus:
        raise _ProblemError(
            f"gpu is {named!r:.80}; the GPUs of this run are {', '.join(gpus)}: name one of them, or none"
        )
    return str(named)


async def _problem(request: Request, error: _ProblemError) -> Response:
    return JSONResponse({"error": str(error).encode("utf-8", "replace").decode()}, error.code)


async def _unknown(request: Request, error: HTTPException) -> Response:
    routes = "POST /submit, GET /time, GET /health"
    return JSONResponse(
        {"error": f"{request.method} {request.url.path}: {error.detail}; there are {routes}"}, error.status_code
    )


async def _host_error(request: Request, error: HeredityError) -> Response:
    # Tell the agent that the host failed but not how: the message may contain paths and hidden items.
    return JSONResponse({"error": "the host failed to grade; submit the same checkpoint again"}, 500)


async def train_with_agent(
    session: Session,
    folder: Path,
    terms: TrainingTerms,
    agent: CommandAgent,
    broker: BrokerDoor | None = None,
    choose_gpu: Callable[[str | None], None] | None = None,
    hidden: HiddenTexts | None = None,
) -> AgentExit | None:
    """Run an agent until it exits or its time is over; return how it ended, None if it was not started.

    A grading in progress when time is over is completed (it was submitted in time). If an earlier process was killed,
    the agent is restarted in its workspace for the remaining time, unless it had ended.

    Args:
        session: receives checkpoints; its budget of seconds is the run's.
        folder: the run's folder: `workspace`, `models` and `logs` are in it.
        terms: the terms of the run for the agent.
        agent: the agent to run, with the variables of the run contract.
        broker: its access to language models.
        choose_gpu: selects the GPU for the next grading (see `GradingApp`).
        hidden: hidden items to search for in the agent's files.

    Raises:
        IsolationError: if the agent cannot be confined on this machine.
        RecordError: if the workspace cannot be written.
        HostError: if the grading fails; resume the run.
    """
    folder = await asyncio.to_thread(folder.resolve)
    run = await asyncio.to_thread(_Run.open, session, folder, terms, choose_gpu, hidden)
    left = session.remaining().seconds
    ended: AgentExit | None = None
    if agent.continuing.wait(run.starts) is not None and (left is None or left > 0):
        ended = await _work(run, agent, folder, broker)
    if session.broken is not None:
        return ended
    await run.app.settle()
    if run.texts is not None:
        await run.texts.look(session.clock.now(), last=True)
    await asyncio.to_thread(run.app.publish, time.time())
    return ended


@dataclass(frozen=True, slots=True)
class _Run:
    session: Session
    workspace: TrainingWorkspace
    revisions: Revisions
    app: GradingApp
    starts: Sequence[Start]
    texts: TextWatch | None

    @classmethod
    def open(
        cls,
        session: Session,
        folder: Path,
        terms: TrainingTerms,
        choose_gpu: Callable[[str | None], None] | None = None,
        hidden: HiddenTexts | None = None,
    ) -> _Run:
        """Set up the workspace and resume from the end of the journal."""
        workspace = TrainingWorkspace(folder / "workspace", terms)
        workspace.prepare()
        earlier = read_journal(folder / "journal.jsonl")
        noted = {data["candidate"] for data in CHECKPOINT_KEPT.all(earlier)}
        kept = KeptCheckpoints(folder / FOLDER, session.note, noted)
        kept.find()
        revisions = Revisions(workspace, session.note, list(CODE_REVISED.all(earlier)))
        met = list(TEXTS_MET.all(earlier))
        texts = TextWatch(workspace.root, hidden, workspace.host_files, session.note, met) if hidden else None
        app = GradingApp(session, workspace, kept, revisions, earlier, choose_gpu, texts)
        app.publish()
        return cls(session, workspace, revisions, app, starts_of(earlier), texts)


async def _work(run: _Run, agent: CommandAgent, folder: Path, broker: BrokerDoor | None) -> AgentExit | None:
    """Serve an agent until it is not restarted, and complete the grading of an earlier process."""
    workspace, session = run.workspace, run.session
    inside = str(workspace.root) if agent.unsafe else INSIDE
    environment = {**agent.environment, **workspace.terms.environment(inside)}
    ready = replace(agent, environment=environment, host_files=workspace.host_files)
    async with serve(run.app.asgi) as endpoints:

        async def start(agent: CommandAgent) -> AgentExit:
            limits = [limit for limit in (agent.time_limit_s, session.remaining().seconds) if limit is not None]
            ended = await run_agent(
                replace(agent, time_limit_s=min(limits, default=None)),
                workspace=workspace.root,
                socket=endpoints.unix,
                url=endpoints.url,
                logs=folder / "logs",
                ended=session.finished,
                broker=broker,
            )
            if session.broken is None:
                await run.revisions.note(session.clock.now())
            # The session may have noticed the end of time first.
            late = ended.reason == "session_ended" and session.remaining().seconds == 0
            return replace(ended, reason="time_limit") if late else ended

        beside = [
            asyncio.create_task(run.revisions.watch(session.clock.now)),
            asyncio.create_task(run.app.settle()),
        ]
        try:
            return await run_starts(session, folder / "journal.jsonl", ready, start)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
