"""Rows that events of a journal add to the tables of an index.

Journals may be untrusted, so values of an unexpected type are left out. Events of single protocols are not known here:
any event with `view`, `candidate` and `scores` is a score of a candidate on a view.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity.records import events as kinds
from heredity.records.journal import Event
from heredity.results.text import finite

MOST_LINE = 256 << 20
"""Maximum length of a line, in bytes."""

_CHUNK = 1 << 20


def lines_from(path: Path, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line without its newline) of each complete line from `offset` on; an incomplete last line is left out.

    Raises:
        RecordError: if the file cannot be read, is not a plain file, or has a line of more than `MOST_LINE` bytes.
    """
    descriptor = _opened(path)
    try:
        at, parts, held = offset, list[bytes](), 0
        while chunk := os.pread(descriptor, _CHUNK, at + held):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                joined = b"".join((*parts, line))
                yield at, joined
                at, held = at + len(joined) + 1, 0
                parts.clear()
            parts.append(rest)
            held += len(rest)
            if held > MOST_LINE:
                raise RecordError(f"{path} has a line of more than {MOST_LINE} bytes at byte {at}")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def bytes_at(path: Path, offset: int, length: int) -> bytes:
    """Return part of a plain file; it is shorter at the end of the file.

    Raises:
        RecordError: if it cannot be read.
    """
    descriptor = _opened(path)
    try:
        return os.pread(descriptor, length, offset)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def size_of(path: Path) -> int:
    """Return the size of a plain file, or 0 for anything else."""
    with suppress(OSError):
        about = path.stat(follow_symlinks=False)
        return about.st_size if stat.S_ISREG(about.st_mode) else 0
    return 0


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path} cannot be read: it is not a plain file")
    return descriptor


BRIEF = 300
"""Maximum characters of a text in an index; the journal has the whole text."""

Facts = dict[str, Any]
"""Facts about a run as JSON values, stored in its row."""


def brief(value: object, limit: int = BRIEF) -> str:
    """Return the start of a text, on one line."""
    if value is None:
        return ""
    if type(value) is int:
        return str(value)[:limit]
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    cut = " ".join(text[: 4 * limit].split())
    return _storable(cut if len(cut) <= limit else cut[:limit] + "…")


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping, or an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    """Return a sequence, or an empty one for any other value."""
    return value if isinstance(value, list | tuple) else ()


def whole(value: object) -> int | None:
    """Return an integer that a table can hold, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else None


class Writer:
    """Adds the events of one run to the tables.

    Args:
        connection: the index, inside a transaction.
        run: number of the run.
        facts: facts about the run; updated with each event.
    """

    def __init__(self, connection: sqlite3.Connection, run: int, facts: Facts) -> None:
        self._connection, self._run, self.facts = connection, run, facts
        self._events: list[tuple[Any, ...]] = []
        self._rollouts: list[tuple[Any, ...]] = []

    def take(self, event: Event, offset: int, length: int) -> None:
        """Add one event, which is at `offset` in the journal."""
        self.facts.setdefault("started", event.at)
        self.facts["last"] = event.at
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event)
        elif {"view", "candidate", "scores"} <= event.data.keys():
            self._scored(event)
        elif all(isinstance(event.data.get(name), str) for name in ("task", "status", "folder")):
            self._task(event)
        self._events.append((self._run, event.seq, event.at, brief(event.kind, 80), offset, length, brief(event.data)))

    def flush(self) -> None:
        """Write buffered rows."""
        run = self._connection.executemany
        run("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", self._events)
        run(
            "INSERT INTO rollouts (run, evaluation, position, task, score, length, status, message, seconds) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self._rollouts,
        )
        self._events.clear()
        self._rollouts.clear()

    def count(self, name: str, by: float = 1) -> None:
        """Add to a count of the facts."""
        self.facts[name] = self.facts.get(name, 0) + by

    def started(self, event: Event) -> None:
        """Record the description of the run."""
        data, evolver = event.data, mapping(event.data.get("evolver"))
        names = ("protocol", "taskset", "taskset_version", "isolation", "execution", "config_digest", "commitment")
        self.facts |= {name: brief(data.get(name)) for name in names}
        self.facts |= {
            "evolver": brief(evolver.get("name")),
            "kind": brief(evolver.get("kind")),
            "seed": whole(data.get("seed")),
        }
        self.facts["budget"] = {brief(k, 40): finite(v) for k, v in list(mapping(data.get("budget")).items())[:8]}
        self.facts["conditions"] = {
            brief(k, 80): brief(v, 120) for k, v in list(mapping(data.get("conditions")).items())[:60]
        }
        self.facts["packages"] = {
            brief(k, 60): brief(v, 60) for k, v in list(mapping(data.get("packages")).items())[:80]
        }

    def candidate(self, event: Event) -> None:
        """Add a candidate, or the new parents of a known one."""
        data = event.data
        digest, parents = brief(data.get("digest")), [brief(parent) for parent in sequence(data.get("parents"))[:50]]
        row = self._connection.execute(
            "SELECT parents FROM candidates WHERE run = ? AND digest = ?", (self._run, digest)
        ).fetchone()
        if row is not None:
            merged = json.dumps(list(dict.fromkeys([*json.loads(row[0]), *parents]))[:50])
            self._connection.execute(
                "UPDATE candidates SET parents = ? WHERE run = ? AND digest = ?", (merged, self._run, digest)
            )
            return
        self._add(digest, data.get("blob"), parents, data.get("note"), event.at)

    def _add(self, digest: str, blob: object, parents: Sequence[str], note: object, at: float) -> None:
        number = self.facts.get("candidates", 0) + 1
        made = (self._run, digest, number, brief(blob), json.dumps(list(parents)), brief(note), at)
        done = self._connection.execute(
            "INSERT OR IGNORE INTO candidates VALUES (?, ?, ?, ?, ?, ?, ?, '', NULL, '')", made
        )
        self.count("candidates", done.rowcount)

    def decided(self, event: Event) -> None:
        """Add a commit or a refusal."""
        digest, accepted = brief(event.data.get("candidate")), event.data.get("accepted") is True
        self._connection.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?)", (self._run, event.seq, digest, accepted)
        )
        self._state(digest, "committed" if accepted else "refused")
        self.count("commits" if accepted else "refusals")

    def selected(self, event: Event) -> None:
        """Record the candidate by which the run is judged."""
        self.facts["selected"] = brief(event.data.get("candidate"))
        self._state(self.facts["selected"], "selected")

    def admitted(self, event: Event) -> None:
        """Add a submission that is under way."""
        data, charge = event.data, whole(event.data.get("charge")) or 0
        self.count("charged", charge)
        self.count("submissions")
        made = (
            self._run,
            whole(data.get("submit_id")),
            "train",
            brief(data.get("candidate")),
            event.at,
            charge,
            event.seq,
        )
        self._connection.execute(
            "INSERT INTO evaluations (run, number, view, candidate, at, charge, admitted, status, rollouts, failed, blob) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'under way', 0, 0, '')",
            made,
        )

    def completed(self, event: Event) -> None:
        """Add the result of a submission, with its rollouts."""
        data, outcomes = event.data, [mapping(outcome) for outcome in sequence(event.data.get("outcomes"))]
        row = self._connection.execute(
            "SELECT id FROM evaluations WHERE run = ? AND number = ?", (self._run, whole(data.get("submit_id")))
        ).fetchone()
        if row is None:
            return
        scores, status, usage = (
            [finite(o.get("score")) for o in outcomes],
            brief(data.get("status")),
            mapping(data.get("usage")),
        )
        mean = None if not scores or None in scores else sum(s for s in scores if s is not None) / len(scores)
        failed = sum(o.get("status") != "ok" for o in outcomes)
        counts = [finite(usage.get(name)) for name in ("input_tokens", "output_tokens")]
        tokens = None if None in counts else sum(c for c in counts if c is not None)
        done = (status, mean, len(outcomes), failed, finite(data.get("seconds")), brief(data.get("blob")), tokens)
        self._connection.execute(
            "UPDATE evaluations SET status = ?, mean = ?, rollouts = ?, failed = ?, seconds = ?, blob = ?, tokens = ?, cost = ?, "
            "seq = ? WHERE id = ?",
            (*done, finite(usage.get("cost_usd")), event.seq, row[0]),
        )
        seconds = sequence(data.get("rollout_seconds"))
        for i, outcome in enumerate(outcomes):
            failure = mapping(outcome.get("failure"))
            self._rollout(
                row[0],
                i,
                task=f"task {brief(outcome.get('task'), 120)}",
                score=scores[i],
                length=outcome.get("length"),
                status=outcome.get("status"),
                message=failure.get("message"),
                seconds=seconds[i] if i < len(seconds) else None,
            )
        if mean is not None and status == "ok":
            self.facts["best"] = max(mean, self.facts.get("best", mean))
            self._score(brief(data.get("candidate")), mean, "train")
        for name, value in (("tokens", tokens), ("cost", finite(usage.get("cost_usd")))):
            if value is not None:
                self.count(name, value)

    def called(self, event: Event) -> None:
        """Add a call of the method's model."""
        data, usage = event.data, mapping(event.data.get("usage"))
        amounts = [finite(usage.get(name)) for name in ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")]
        texts = (
            brief(data.get("purpose")),
            brief(data.get("model")),
            whole(data.get("place")) or 0,
            brief(data.get("error")),
        )
        self.count("calls")
        self._connection.execute(
            "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._run, event.seq, event.at, *texts, *amounts),
        )

    def noted(self, event: Event) -> None:
        """Record the progress of the run."""
        data = event.data
        if event.kind == kinds.RUN_FINISHED.name:
            self.facts["status"] = brief(data.get("status"))
        elif event.kind == kinds.SESSION_CLOSED.name:
            self.facts["closed"] = brief(data.get("reason"))
        elif event.kind == kinds.EVOLVER_FAILED.name:
            self.facts["failure"] = brief(data.get("message"))
        elif event.kind == kinds.RUN_RESUMED.name:
            self.count("resumes")

    def _scored(self, event: Event) -> None:
        data, view, candidate = event.data, brief(event.data.get("view"), 60), brief(event.data.get("candidate"))
        scores = [finite(score) for score in sequence(data.get("scores"))]
        present = [score for score in scores if score is not None]
        mean = sum(present) / len(present) if present else None
        reference = brief(data.get("name"), 60)
        if data.get("candidate_blob"):
            self._add(candidate, data["candidate_blob"], [], f"reference {reference}", event.at)
        lists = {name: sequence(data.get(name)) for name in ("statuses", "lengths", "errors", "tasks", "seconds")}
        seconds = finite(data.get("seconds"))
        row = self._connection.execute(
            "INSERT INTO evaluations (run, view, candidate, at, charge, status, mean, rollouts, failed, seconds, blob, seq) "
            "VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                self._run,
                view,
                candidate,
                event.at,
                f"reference {reference}" if reference else "ok",
                mean,
                len(scores),
                len(scores) - len(present),
                seconds,
                brief(data.get("blob")),
                event.seq,
            ),
        ).fetchone()
        for i, score in enumerate(scores):
            at = {name: values[i] if i < len(values) else None for name, values in lists.items()}
            task = at["tasks"].get("id") if isinstance(at["tasks"], Mapping) else f"{view} {i}"
            status = at["statuses"] or ("ok" if score is not None else "missing")
            self._rollout(
                row[0],
                i,
                task=brief(task, 120),
                score=score,
                length=at["lengths"],
                status=status,
                message=at["errors"],
                seconds=at["seconds"],
            )
        if mean is not None and not reference:
            self._score(candidate, mean, view)
            if view == "heldout" and candidate == self.facts.get("selected"):
                self.facts["heldout"] = mean

    def _task(self, event: Event) -> None:
        """Add the result of a task with a separate record, such as a team's."""
        data = event.data
        solved = data.get("correct", data.get("right"))
        numbers = [whole(data.get(name)) for name in ("rounds", "steps", "hops")]
        texts = brief(data["task"], 120), brief(data["status"], 60)
        tools = ", ".join(brief(tool, 40) for tool in sequence(data.get("tools"))[:20])
        row = (self._run, event.seq, event.at, *texts, solved if isinstance(solved, bool) else None, *numbers, tools)
        amounts = finite(data.get("seconds")), finite(data.get("tokens"))
        self._connection.execute(
            f"INSERT OR REPLACE INTO tasks VALUES ({', '.join('?' * 13)})", (*row, *amounts, brief(data["folder"], 400))
        )
        self.count("tasks")

    def _rollout(
        self,
        evaluation: int,
        position: int,
        *,
        task: str,
        score: float | None,
        length: Any,
        status: Any,
        message: Any,
        seconds: Any,
    ) -> None:
        self.count("rollouts")
        texts = brief(status, 60), brief(message)
        self._rollouts.append((self._run, evaluation, position, task, score, whole(length), *texts, finite(seconds)))

    def _state(self, digest: str, state: str) -> None:
        """Set the state of a candidate; a selected one stays selected."""
        self._connection.execute(
            "UPDATE candidates SET state = ? WHERE run = ? AND digest = ? AND state != 'selected'",
            (state, self._run, digest),
        )

    def _score(self, digest: str, mean: float, view: str) -> None:
        """Set the score of a candidate: its best on train tasks, or the last one on a view that judged it."""
        self._connection.execute(
            "UPDATE candidates SET score = CASE WHEN ? = 'train' AND view = 'train' THEN max(score, ?) ELSE ? END, view = ? "
            "WHERE run = ? AND digest = ? AND NOT (? = 'train' AND view NOT IN ('', 'train'))",
            (view, mean, mean, view, self._run, digest, view),
        )


_HANDLERS: dict[str, Callable[[Writer, Event], None]] = {
    kinds.RUN_STARTED.name: Writer.started,
    kinds.CANDIDATE.name: Writer.candidate,
    kinds.CANDIDATE_DECIDED.name: Writer.decided,
    kinds.JUDGING_SELECTED.name: Writer.selected,
    kinds.SUBMISSION_ADMITTED.name: Writer.admitted,
    kinds.SUBMISSION_COMPLETED.name: Writer.completed,
    kinds.MODEL_CALLED.name: Writer.called,
    **dict.fromkeys(
        (e.name for e in (kinds.RUN_FINISHED, kinds.SESSION_CLOSED, kinds.EVOLVER_FAILED, kinds.RUN_RESUMED)),
        Writer.noted,
    ),
}


def span_rows(run: int, lines: Iterable[tuple[int, int, bytes]]) -> list[tuple[Any, ...]]:
    """Return the rows of spans.

    Args:
        run: number of the run.
        lines: number of each span, its offset in the file, and the line.
    """
    return [row for number, offset, line in lines if (row := _span(run, number, offset, line)) is not None]


def _span(run: int, number: int, offset: int, line: bytes) -> tuple[Any, ...] | None:
    try:
        fields = mapping(json.loads(line))
    except (ValueError, RecursionError):
        return None
    start, end, attributes = (
        whole(fields.get("start_ns")),
        whole(fields.get("end_ns")),
        mapping(fields.get("attributes")),
    )
    if start is None or end is None:
        return None
    status = attributes.get("status", "ok")
    problem = fields.get("error") or attributes.get("error") or ("" if status in ("ok", "finished") else status)
    about = next((attributes[key] for key in ("model", "tool", "task", "run", "candidate") if attributes.get(key)), "")
    named = (brief(fields.get("span_id"), 60), brief(fields.get("parent_id"), 60), brief(fields.get("name"), 80))
    return (
        run,
        number,
        *named,
        brief(fields.get("kind"), 40),
        start,
        end,
        brief(problem),
        brief(about, 120),
        offset,
        len(line),
    )


def _storable(text: str) -> str:
    """Return text that can be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
