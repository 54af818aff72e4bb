"""Journal: an append-only record of a run, a chain of JSON objects, one per line.

Each line is the canonical JSON of `{"at", "data", "kind", "seq"}`, in the first line also `format`, with a last field
`chain`: the SHA-256 of the previous line's (32 zero bytes before the first) and that canonical JSON. So the last
line's, the head, identifies the whole journal: it reveals any changed or missing line. A line is complete when its
newline is written; anything after the last newline was left by a crash and is cut. Any other mismatch is damage,
which is reported and never repaired.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import canonical_json
from heredity._core.outside import ANY_SIZE, read_bytes

START = bytes(32)
"""Head of a chain without lines."""

_TAIL = len(b',"chain":""}') + 64

FORMAT = 4
"""Version of the journal and of the blobs that it names, in the journal's first line."""

Line = tuple[str, Mapping[str, Any]]
"""Entry to append: the kind of an event and its data."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a journal.

    Attributes:
        seq: position, from 0 without gaps.
        at: Unix time in seconds at which it was appended.
        kind: kind of event, such as `"submission.admitted"` (see docs/file-formats.md).
        data: its data, as JSON values.
    """

    seq: int
    at: float
    kind: str
    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the event as one JSON object, without its checksum."""
        return asdict(self)


class Journal:
    """Append-only file of events with one writer; safe to use from several threads.

    Attributes:
        path: the file.
        cut_bytes: length of the incomplete last line that was cut on opening.
    """

    def __init__(self, path: Path, fd: int, scan: _Scan, cut_bytes: int, now: Callable[[], float]) -> None:
        self.path = path
        self.cut_bytes = cut_bytes
        self._fd = fd
        self._events = scan.events
        self._offsets = scan.offsets
        self._head = scan.head
        self._end = scan.end
        self._synced = scan.end
        self._now = now
        self._broken: str | None = None
        self._writing = threading.Lock()
        self._syncing = threading.Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, now: Callable[[], float] = time.time) -> Journal:
        """Create a journal, or open it and cut an incomplete last line.

        The caller holds the run folder's lock: two writers would break the chain.

        Raises:
            DamagedRecordError: if a complete line does not match its checksum; the message has its number, and the
                file
                is left untouched.
            RecordError: if the file cannot be read or created.
        """
        path = Path(path)
        try:
            new = not path.exists()
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                size = os.fstat(fd).st_size
                scan = _scan(_read_all(fd, size), path)
                if scan.end < size:
                    os.ftruncate(fd, scan.end)
                os.fsync(fd)
                if new:
                    sync_folder(path.parent)
            except BaseException:
                os.close(fd)
                raise
        except OSError as error:
            raise RecordError(f"{path} cannot be opened as a journal: {error.strerror}") from error
        return cls(path, fd, scan, size - scan.end, now)

    @property
    def events(self) -> Sequence[Event]:
        """Every event, in order; the list grows as events are appended."""
        return self._events

    def append(self, kind: str, data: Mapping[str, Any]) -> Event:
        """Append one event and hand it to the operating system; `sync` makes it durable.

        Raises:
            RecordError: if the disk is full or the data is not JSON; the journal is unchanged.
        """
        return self.append_many([(kind, data)])[0]

    def append_many(self, items: Sequence[Line]) -> list[Event]:
        """Append several events with one write, all of them or none.

        Raises:
            RecordError: as `append`.
        """
        with self._writing:
            self._check_usable()
            first, at = len(self._events), round(self._now(), 6)
            events = [Event(first + i, at, kind, data) for i, (kind, data) in enumerate(items)]
            head, lines = self._head, list[bytes]()
            for event in events:
                line, head = _encode(event, head)
                lines.append(line)
            self._write(b"".join(lines))
            for line, event in zip(lines, events, strict=True):
                self._offsets.append(self._end)
                self._end += len(line)
                self._events.append(event)
            self._head = head
        return events

    def sync(self) -> bool:
        """Make every appended event durable; one call covers all earlier ones.

        Returns:
            Whether the disk was called: False if there was nothing new.

        Raises:
            RecordError: if the disk reports an error; nothing may be appended after that, and the run has to be
                resumed.
        """
        with self._syncing:
            with self._writing:
                self._check_usable()
                target = self._end
            if target == self._synced:
                return False
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                self._broken = f"{self.path} could not be synced ({error.strerror})"
                raise RecordError(f"{self._broken}; check the disk, then resume the run") from error
            self._synced = target
            return True

    def cut_from(self, seq: int) -> None:
        """Remove the events from `seq` on: a unit of several lines that was written only in part.

        Raises:
            RecordError: if the file cannot be truncated.
        """
        with self._syncing, self._writing:
            self._check_usable()
            if not 0 <= seq < len(self._events):
                raise RecordError(f"{self.path} has {len(self._events)} events; event {seq} does not exist")
            end = self._offsets[seq]
            head = START if seq == 0 else self._head_before(end)
            try:
                os.ftruncate(self._fd, end)
                os.fsync(self._fd)
            except OSError as error:
                raise RecordError(f"{self.path} cannot be truncated: {error.strerror}") from error
            self.cut_bytes += self._end - end
            del self._events[seq:], self._offsets[seq:]
            self._end = self._synced = end
            self._head = head

    def close(self) -> None:
        """Close the file. Appending afterwards raises `RecordError`; closing twice is harmless."""
        with self._syncing, self._writing:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1

    def _check_usable(self) -> None:
        if self._fd < 0:
            raise RecordError(f"{self.path} is closed; open the run again")
        if self._broken:
            raise RecordError(f"{self._broken}; resume the run in a new process")

    def _head_before(self, end: int) -> bytes:
        return bytes.fromhex(os.pread(self._fd, 64, end - len(b'"}\n') - 64).decode())

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            self._undo_partial_write()
            raise RecordError(
                f"{self.path} could not be written: {error.strerror}; free some space, then resume the run"
            ) from error

    def _undo_partial_write(self) -> None:
        try:
            os.ftruncate(self._fd, self._end)
        except OSError as error:
            # The incomplete line is cut when the journal is next opened; nothing may follow it until then.
            self._broken = f"{self.path} ends in an incomplete line ({error.strerror})"


@dataclass(frozen=True, slots=True)
class Chain:
    """Content of a journal.

    Attributes:
        events: its lines, in order.
        head: identifies all of them, 64 hexadecimal characters; zeros for none.
        torn_bytes: length of an incomplete last line.
    """

    events: list[Event]
    head: str
    torn_bytes: int


def read_journal(path: str | os.PathLike[str]) -> list[Event]:
    """Read a journal without a lock and without changing it; an incomplete last line is left out.

    Raises:
        DamagedRecordError: as `Journal.open`.
        RecordError: if the file does not exist.
    """
    return read_chain(path).events


def read_chain(path: str | os.PathLike[str]) -> Chain:
    """Read a journal with the head of its chain (see `read_journal`)."""
    path = Path(path)
    try:
        data = read_bytes(path, ANY_SIZE)
        scan = _scan(data, path)
        return Chain(scan.events, scan.head.hex(), len(data) - scan.end)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; expected the journal of a run") from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@dataclass(slots=True)
class _Scan:
    events: list[Event]
    offsets: list[int]
    head: bytes
    end: int


def _encode(event: Event, head: bytes) -> tuple[bytes, bytes]:
    fields = {"seq": event.seq, "at": event.at, "kind": event.kind, "data": event.data}
    if event.seq == 0:
        fields["format"] = FORMAT
    try:
        payload = canonical_json(fields)
    except (TypeError, ValueError) as error:
        raise RecordError(f"the event {event.kind!r} cannot be written as JSON: {error}") from error
    head = _chained(head, payload)
    return b'%b,"chain":"%b"}\n' % (payload[:-1], head.hex().encode()), head


def _chained(head: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(head + payload).digest()


def _scan(data: bytes, path: Path) -> _Scan:
    scan = _Scan([], [], START, 0)
    # Incomplete text after the last newline, or nothing.
    for seq, line in enumerate(data.split(b"\n")[:-1]):
        event, scan.head = decode_line(line, seq, scan.head, path)
        scan.events.append(event)
        scan.offsets.append(scan.end)
        scan.end += len(line) + 1
    return scan


def decode_line(line: bytes, seq: int, head: bytes, path: Path) -> tuple[Event, bytes]:
    """Return the event of one line, without its newline, and the head of the chain after it.

    Args:
        line: the line.
        seq: its number, from 0.
        head: head of the chain before it; `START` for the first.
        path: the journal, for messages.

    Raises:
        DamagedRecordError: if it does not follow that head, or is not an event.
        RecordError: if the journal has another version.
    """
    payload = line[:-_TAIL] + b"}"
    head = _chained(head, payload)
    if line[-_TAIL:] != b',"chain":"%b"}' % head.hex().encode():
        if b'"chain":"' not in line[-_TAIL:]:
            _check_format(line, seq, path)
        raise DamagedRecordError(_damage(path, seq, "its checksum does not match, or a line before it is missing"))
    return _decode(payload, seq, path), head


def _decode(payload: bytes, seq: int, path: Path) -> Event:
    try:
        fields: Any = json.loads(payload)
        seq_at_kind_data: list[Any] = [fields[name] for name in ("seq", "at", "kind", "data")]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedRecordError(_damage(path, seq, f"it is not an event ({error})")) from error
    types = zip(seq_at_kind_data, (int, int | float, str, dict), strict=True)
    if not all(isinstance(value, expected) for value, expected in types):
        raise DamagedRecordError(_damage(path, seq, "it is not an event (a field is of the wrong type)"))
    event = Event(*seq_at_kind_data)
    _check_format(payload, seq, path)
    if event.seq != seq:
        raise DamagedRecordError(_damage(path, seq, f"it has seq {event.seq!r} where {seq} was expected"))
    return event


def _check_format(line: bytes, seq: int, path: Path) -> None:
    """Refuse the first line of a journal of another version; earlier versions had no such chain."""
    try:
        fields = cast("dict[str, Any]", json.loads(line)) if seq == 0 else {"format": FORMAT}
        version = fields.get("format", 1)
    except (ValueError, AttributeError, RecursionError):
        return
    if version != FORMAT:
        raise RecordError(
            f"{path} has format {version}, and this version of Heredity reads format {FORMAT}: repeat the run,  "
            "or read it with the version that wrote it"
        )


def _damage(path: Path, seq: int, what: str) -> str:
    return f"{path} is damaged in line {seq + 1}: {what}; restore the file from a copy, nothing was changed"


def _read_all(fd: int, size: int) -> bytes:
    chunks: list[bytes] = []
    offset = 0
    while offset < size:
        chunk = os.pread(fd, min(size - offset, 1 << 26), offset)
        if not chunk:
            break
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)
