"""Records a model's answers and replays them: free, offline and exactly as they were.

A recording is a file of lines, each the canonical JSON of one call: `digest` and `request`, then `reply` or `error`,
and `crc`, the CRC-32 of the rest. A line is complete once its newline is written. Anything after the last newline was
torn by a crash, and is cut when the file is opened for recording. A kill of the process loses at most the line being
written; a power cut may lose more.
"""

from __future__ import annotations

import difflib
import fcntl
import json
import os
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, DamagedRecordError, ProviderError, RecordError, UnknownNameError
from heredity._core.ids import canonical_json, digest_json
from heredity._core.outside import ANY_SIZE, json_value, read_bytes
from heredity.models.contract import (
    Delta,
    Message,
    Model,
    Reply,
    Request,
    apis_of,
    conversation_text,
    options_of,
    streamed,
)
from heredity.models.scripted import pieces

_SHOWN = ("tools", "sampling", "tool_choice", "options", "original")
_ERROR_FIELDS = ("kind", "transient", "retry_after_s")


class Recording:
    """A model that records every call of another model, failed calls included.

    Several recordings, in several processes, may write to one file.

    Args:
        model: the model to record.
        path: the recording, created or continued.

    Raises:
        RecordError: if the file cannot be created.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self._model, self._path = model, path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RecordError(f"{path} cannot be opened for recording: {error.strerror}") from error
        self._append(b"")

    @property
    def name(self) -> str:
        """The other model's."""
        return self._model.name

    @property
    def apis(self) -> frozenset[str]:
        """The other model's (see `apis_of`)."""
        return apis_of(self._model)

    @property
    def options(self) -> frozenset[str]:
        """The other model's (see `options_of`)."""
        return options_of(self._model)

    async def reply(self, request: Request) -> Reply:
        """Have the other model answer, and record the answer.

        Raises:
            ProviderError: as raised by the other model; the error is recorded.
            RecordError: if the call cannot be recorded.
        """
        try:
            reply = await self._model.reply(request)
        except ProviderError as error:
            self._write(request, error=error)
            raise
        self._write(request, reply=reply)
        return reply

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Pass on the other model's stream, and record the reply once it is complete."""
        try:
            async with aclosing(cast("Any", streamed(self._model, request))) as deltas:
                async for delta in deltas:
                    if delta.reply is not None:
                        self._write(request, reply=delta.reply)
                    yield delta
        except ProviderError as error:
            self._write(request, error=error)
            raise

    async def close(self) -> None:
        """Close the file; the other model is left open."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _write(self, request: Request, *, reply: Reply | None = None, error: ProviderError | None = None) -> None:
        line: dict[str, Any] = {"digest": request.digest, "request": request.to_json()}
        if reply is not None:
            line["reply"] = reply.to_json()
        if error is not None:
            line["error"] = {"message": str(error), **{name: getattr(error, name) for name in _ERROR_FIELDS}}
        line["crc"] = _crc(line)
        self._append(canonical_json(line) + b"\n")

    def _append(self, line: bytes) -> None:
        """Add a whole line, after cutting what another writer may have left unfinished."""
        if self._fd < 0:
            raise RecordError(f"{self._path} is closed; open the recording again")
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            try:
                end = _end_of_lines(self._fd)
                if end < os.fstat(self._fd).st_size:
                    os.ftruncate(self._fd, end)
                view = memoryview(line)
                while view:
                    view = view[os.write(self._fd, view) :]
            finally:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
        except OSError as error:
            raise RecordError(f"{self._path} could not be written: {error.strerror}; is the disk full?") from error


class Replayed:
    """A model that answers from a recording, by the request's digest.

    A request that was recorded several times gets its answers in the order of the recording, errors too.

    Attributes:
        apis: the APIs in which the recorded requests were written (see `apis_of`).
        options: the options that they have (see `options_of`).

    Args:
        path: the file.
        wrap: start again with the first answer once a request has used all of its answers; otherwise that is an
            error.
        strict: compare an unrecorded request with all recorded ones, and show the nearest in the error.

    Raises:
        ConfigError: if the file does not exist.
        DamagedRecordError: if a complete line fails its checksum; the message has the line number.
    """

    def __init__(self, path: Path, *, wrap: bool = False, strict: bool = True) -> None:
        self._path, self._wrap, self._strict = path, wrap, strict
        self._answers: dict[str, list[Reply | ProviderError]] = {}
        self._requests: dict[str, str] = {}
        self._given = Counter[str]()
        apis, options = set[str](), set[str]()
        for line in _read(path):
            digest = line["digest"]
            options |= set(line["request"].get("options", ()))
            apis |= {line["request"]["original"]["api"]} if "original" in line["request"] else set[str]()
            self._requests.setdefault(digest, _as_text(line["request"]))
            self._answers.setdefault(digest, []).append(_answer(line))
        self.apis, self.options = frozenset(apis), frozenset(options)

    @property
    def name(self) -> str:
        """`replay/` and the path."""
        return f"replay/{self._path}"

    async def reply(self, request: Request) -> Reply:
        """Answer as recorded: text, usage, cost, time and the name of the model that answered.

        Raises:
            ProviderError: the recorded one; or of kind `"unscripted"`, if the request was not recorded, or not as
                often.
        """
        answers = self._answers.get(request.digest)
        if answers is None:
            raise ProviderError("unscripted", self._unknown(request), transient=False)
        nth = self._given[request.digest]
        if nth >= len(answers) and not self._wrap:
            raise ProviderError(
                "unscripted",
                f"{self._path} has {len(answers)} answers to this request and all were given; record more, or set wrap",
                transient=False,
            )
        self._given[request.digest] += 1
        answer = answers[nth % len(answers)]
        if isinstance(answer, ProviderError):
            raise _copy(answer)
        return answer

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer as recorded, word by word."""
        reply = await self.reply(request)
        for piece in pieces(reply.text):
            yield Delta(piece)
        yield Delta(reply=reply)

    def _unknown(self, request: Request) -> str:
        what = f"{self._path} does not have this request among its {len(self._requests)}"
        if not self._strict or not self._requests:
            return f"{what}; record it"
        mine = _as_text(request.to_json())
        digest = max(self._requests, key=lambda d: difflib.SequenceMatcher(None, self._requests[d], mine).quick_ratio())
        diff = difflib.unified_diff(
            self._requests[digest].splitlines(), mine.splitlines(), "recorded", "asked", n=0, lineterm=""
        )
        return f"{what}; the nearest differs in:\n" + "\n".join(list(diff)[:40])


def open_model(rest: str, settings: object | None = None) -> Replayed:
    """Open `replay/PATH`.

    Args:
        rest: path of the recording.
        settings: a mapping with `wrap` and `strict`, or None.

    Raises:
        ConfigError: if a setting is unknown, or the file does not exist.
        DamagedRecordError: if the recording is damaged.
    """
    given = dict(cast("Mapping[str, Any]", settings)) if isinstance(settings, Mapping) else {}
    for key in given:
        if key not in ("wrap", "strict"):
            raise UnknownNameError("setting of a replayed model", key, ("wrap", "strict"))
    return Replayed(Path(rest), **given)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        data = read_bytes(path, ANY_SIZE)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; give the path of a recording") from error
    whole = data[: data.rfind(b"\n") + 1]
    return [_line(line, f"{path}, line {number}") for number, line in enumerate(whole.splitlines(), 1)]


def _line(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json_value(line)
        crc = value.pop("crc")
        intact = crc == _crc(value) and value["digest"] == digest_json(value["request"])
    except (ValueError, AttributeError, LookupError, TypeError) as error:
        raise DamagedRecordError(
            f"{where} is not a line of a recording; restore the file, or remove the line"
        ) from error
    if not intact:
        raise DamagedRecordError(f"{where} does not match its checksum; restore the file, or remove the line")
    return value


def _answer(line: Mapping[str, Any]) -> Reply | ProviderError:
    if "reply" in line:
        return Reply.from_json(line["reply"])
    given = dict(line["error"])
    return ProviderError(given.pop("kind"), given.pop("message"), **given)


def _copy(error: ProviderError) -> ProviderError:
    # An exception collects tracebacks, so each instance is raised once.
    return ProviderError(error.kind, str(error), transient=error.transient, retry_after_s=error.retry_after_s)


def _as_text(request: Mapping[str, Any]) -> str:
    """Return a request as lines that can be compared."""
    messages = conversation_text([Message.from_json(m) for m in request["messages"]])
    rest = [f"{key}: {json.dumps(request[key], sort_keys=True)}" for key in _SHOWN if key in request]
    calls = [f"calls: {json.dumps(m['tool_calls'])}" for m in request["messages"] if "tool_calls" in m]
    return "\n".join([messages, *calls, *rest])


def _crc(line: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(canonical_json(line)):08x}"


def _end_of_lines(fd: int) -> int:
    """Return where the last complete line of a file ends."""
    end = os.fstat(fd).st_size
    while end:
        start = max(0, end - 65536)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
