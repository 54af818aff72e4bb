"""The session over HTTP: EvoPolicyGym's endpoints and fields, so that agents written for it work unchanged."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from heredity._core.errors import BudgetError, ClosedError, HeredityError, RejectedError, SessionError
from heredity.agents.feedback import encode_json
from heredity.agents.terms import RunTerms, for_agent
from heredity.agents.workspace import Workspace
from heredity.methods.contract import SessionContract, Trial
from heredity.resources import Candidate
from heredity.results.text import clean
from heredity.session.admission import MalformedError

MAX_EPISODES = 100_000
"""Limit on the entries of one expanded list, so that a short text cannot fill the memory."""

_ITEM = re.compile(r"(\d{1,9})(?:([-:])(\d{1,9}))?")


def parse_episodes(value: Any) -> list[int]:
    """Return the train task indices of a request, in order, with repeats.

    Args:
        value: a list of non-negative integers, or a text such as `"0-3,7"` (inclusive) or `"0:2,4:8"` (half-open).

    Raises:
        RejectedError: if the value is neither, is empty, or expands to more than `MAX_EPISODES` entries.
    """
    if isinstance(value, str):
        task_indices = _expand(value)
    elif isinstance(value, list):
        task_indices = [_checked_task_index(v) for v in cast("list[Any]", value)]
    else:
        given = "nothing" if value is None else repr(value)[:80]
        raise RejectedError(f'env_instances is {given}; give a list such as [0, 1] or a text such as "0-3,7"')
    if not task_indices:
        raise RejectedError("env_instances is empty; name at least one train case")
    if len(task_indices) > MAX_EPISODES:
        raise RejectedError(f"env_instances has {len(task_indices)} entries; at most {MAX_EPISODES} are accepted")
    return task_indices


def _checked_task_index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RejectedError(
            f"env_instances has the entry {repr(value)[:80]}; every entry is a train task index, 0 or more"
        )
    return value


def _expand(text: str) -> list[int]:
    task_indices: list[int] = []
    for item in text.split(",") if text.strip() else []:
        for task_index in _expand_item(item.strip()):
            task_indices.append(task_index)
            if len(task_indices) > MAX_EPISODES:
                raise RejectedError(f"env_instances {text[:80]!r} names more than {MAX_EPISODES} episodes")
    return task_indices


def _expand_item(item: str) -> Iterator[int]:
    match = _ITEM.fullmatch(item)
    if match is None or not item.isascii():
        raise RejectedError(
            f'env_instances has the part {item[:40]!r}; write "7", "0-3" (inclusive) or "0:4" (half-open)'
        )
    first, sign, last = int(match[1]), match[2], match[3]
    if sign is None:
        return iter((first,))
    stop = int(last) + (sign == "-")
    if stop <= first:
        raise RejectedError(f"env_instances has the range {item!r}, which names no case; the end comes after the start")
    return iter(range(first, stop))


MAX_BODY_BYTES = 1 << 20
_MAX_SNAPSHOTS = 256
_MAX_NOTE = 200
_MAX_KEY = 180


class AgentSession(SessionContract, Protocol):
    """A session that an agent may end, and whose end can be awaited."""

    async def close(self, reason: str) -> None:
        """Stop admitting submissions, and record the reason."""
        ...

    async def finished(self) -> None:
        """Wait until the session is completely finished."""
        ...


@dataclass(frozen=True, slots=True)
class _Ask:
    """A checked request to submit."""

    tasks: tuple[int, ...]
    key: str
    note: str


class RefusedError(Exception):
    """A request that is refused without a charge."""

    def __init__(self, status: str, message: str, code: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class SessionApp:
    """Answers one run's requests: `/info`, `/task`, `/submit`, `/finish`, `/health`.

    A submission is answered after its feedback is in the workspace. Requests are served concurrently.

    Attributes:
        asgi: the application to serve.
        terms: the terms of the run.
    """

    def __init__(
        self,
        session: AgentSession,
        workspace: Workspace,
        *,
        initial: Candidate | None = None,
        on_refusal: Callable[[str, str, str], object] | None = None,
        more: Sequence[Route] = (),
    ) -> None:
        """Build the application.

        Args:
            session: receives submissions.
            workspace: holds the submitted program and receives feedback.
            initial: the run's initial candidate, the first submission's parent.
            on_refusal: called with (key, category, message) for requests too malformed to show to the session.
            more: further routes, such as the agent's tools.
        """
        self.session = session
        self.workspace = workspace
        self.terms: RunTerms = workspace.terms
        self._on_refusal = on_refusal
        self._finished = False
        self._in_flight = 0
        self._snapshots: OrderedDict[str, Candidate] = OrderedDict()
        last = workspace.last_summary()
        self._parent = str(last["candidate"]) if last else initial.digest if initial else None
        self._submits = int(last["submit_index"]) + 1 if last else 0
        routes = [
            Route("/info", self._info),
            Route("/task", self._task),
            Route("/health", self._health),
            Route("/submit", self._submit, methods=["POST"]),
            Route("/finish", self._finish, methods=["POST"]),
            *more,
        ]
        handlers = {RefusedError: self._refusal, HTTPException: _http_error, HeredityError: _host_error}
        self.asgi = Starlette(routes=routes, exception_handlers=cast("Any", handlers))

    @property
    def finalized(self) -> bool:
        """True once nothing more can be submitted."""
        return self._finished or self.session.remaining().exhausted

    def state(self) -> dict[str, Any]:
        """Return the changing part of `GET /info`."""
        remaining = self.session.remaining()
        return {
            "remaining_budget": remaining.episodes,
            "n_submits": self._submits,
            "is_finalized": self.finalized,
            "submit_in_progress": self._in_flight > 0,
            "remaining_seconds": remaining.seconds,
        }

    async def _refusal(self, request: Request, error: RefusedError) -> Response:
        return _problem(error.status, for_agent(str(error), self.workspace.root), error.code)

    async def _info(self, request: Request) -> Response:
        return json_answer({**self.terms.describe(), "state": self.state()})

    async def _task(self, request: Request) -> Response:
        return PlainTextResponse(self.workspace.briefing.task(self.terms), media_type="text/markdown")

    async def _health(self, request: Request) -> Response:
        return json_answer({"status": "ok"})

    async def _submit(self, request: Request) -> Response:
        body = await read_object(request)
        key = _key(body, request)
        try:
            ask = self._check(body, key)
            return json_answer(await self._attempt(ask))
        except RefusedError as refusal:
            if self._on_refusal and not isinstance(refusal.__cause__, SessionError):
                self._on_refusal(key, refusal.status, str(refusal))
            raise

    def _check(self, body: dict[str, Any], key: str) -> _Ask:
        note = body.get("note", "")
        if not isinstance(note, str):
            raise RefusedError("invalid_request", f"note is {repr(note)[:80]}; give a text, or leave it out")
        try:
            tasks = parse_episodes(body.get("env_instances"))
        except RejectedError as error:
            raise RefusedError("invalid_env_instance", str(error)) from None
        return _Ask(tuple(tasks), key, clean(" ".join(note.split()))[:_MAX_NOTE])

    async def _attempt(self, ask: _Ask) -> dict[str, Any]:
        candidate = await self._candidate(ask.key)
        parents = (self._parent,) if self._parent and self._parent != candidate.digest else ()
        trial = Trial(candidate, ask.tasks, parents=parents, note=ask.note)
        self._in_flight += 1
        try:
            feedback = (await self.session.submit([trial], ask.key))[0]
            summary = await self.workspace.publish(feedback)
        except (BudgetError, RejectedError, ClosedError) as error:
            self._snapshots.pop(ask.key, None)
            self._finished = self._finished or isinstance(error, ClosedError)
            raise _refused_by_session(error) from error
        finally:
            self._in_flight -= 1
        self._parent = candidate.digest
        self._submits = max(self._submits, feedback.submit_id)
        return {"submit_id": feedback.submit_id - 1, "status": feedback.status, "summary": summary}

    async def _candidate(self, key: str) -> Candidate:
        # A request repeated because its answer was lost concerns the program at that time.
        if key in self._snapshots:
            return self._snapshots[key]
        try:
            tree = await asyncio.to_thread(self.workspace.snapshot)
        except RejectedError as error:
            raise RefusedError("invalid_request", str(error)) from None
        candidate = self._snapshots.setdefault(key, Candidate.program(tree))
        while len(self._snapshots) > _MAX_SNAPSHOTS:
            self._snapshots.popitem(last=False)
        return candidate

    async def _finish(self, request: Request) -> Response:
        body = await read_object(request, optional=True)
        wanted = body.get("submit_ids", [])
        ids = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
        unknown = [i for i in ids if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < self._submits]
        if unknown:
            available = f"0 to {self._submits - 1}" if self._submits else "none yet"
            raise RefusedError(
                "invalid_request", f"there is no submission {repr(unknown[0])[:40]}; there are: {available}"
            )
        if not self._finished:
            self._finished = True
            await self.session.close("finished")
        return json_answer({"status": "finished", "submit_ids": ids, "state": self.state()})


def _refused_by_session(error: SessionError) -> RefusedError:
    if isinstance(error, ClosedError):
        return RefusedError("run_closed", str(error), 409)
    if isinstance(error, MalformedError):
        return RefusedError(error.category, str(error))
    return RefusedError("budget_invalid" if isinstance(error, BudgetError) else "invalid_request", str(error))


def _key(body: dict[str, Any], request: Request) -> str:
    key = body.get("key", request.headers.get("idempotency-key"))
    if key is None:
        return f"request-{secrets.token_hex(8)}"
    if not isinstance(key, str) or not 0 < len(key) <= _MAX_KEY or not key.isprintable():
        raise RefusedError("invalid_request", f"key is {repr(key)[:80]}; give 1 to {_MAX_KEY} printable characters")
    return f"agent-{key}"


async def read_object(request: Request, *, optional: bool = False) -> dict[str, Any]:
    """Return the JSON object that a request sends; raises RefusedError, also where it is too long."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            raise RefusedError("invalid_request", f"the body exceeds {MAX_BODY_BYTES} bytes; send a shorter one", 413)
    if optional and not data.strip():
        return {}
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"the body is not JSON ({error}); send an object such as " + '{"env_instances": [0, 1]}'
        raise RefusedError("invalid_request", message) from None
    if not isinstance(value, dict):
        raise RefusedError("invalid_request", 'the body is not an object; send one such as {"env_instances": [0, 1]}')
    return cast("dict[str, Any]", value)


def json_answer(value: Any, code: int = 200) -> Response:
    """Return an answer in JSON."""
    return Response(encode_json(value), status_code=code, media_type="application/json")


def _problem(status: str, message: str, code: int) -> Response:
    # The name of a file that is not UTF-8 has no encoding.
    printable = message.encode("utf-8", "replace").decode()
    return JSONResponse({"status": status, "error": {"message": printable}}, status_code=code)


async def _http_error(request: Request, error: HTTPException) -> Response:
    routes = "GET /info, GET /task, POST /submit, POST /finish, GET /health"
    message = f"{request.method} {request.url.path}: {error.detail}; there are: {routes}"
    return _problem("invalid_request", message, error.status_code)


async def _host_error(request: Request, error: HeredityError) -> Response:
    # The agent learns that the host failed, never how: the message may contain paths and hidden cases.
    return _problem("host_error", "the host failed to answer; the same request with the same key may be repeated", 500)
