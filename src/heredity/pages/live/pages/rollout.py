"""Recorded rollouts step by step: pictures, numbers, texts of a world, a conversation, a shell; and evaluations."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgpack
import numpy as np
from markupsafe import Markup

from heredity._core.errors import HeredityError, RecordError, UnknownNameError
from heredity.engine.trajectory import Column, Trajectory, decode_one, to_json
from heredity.pages.live.drawing import Block, Shown, View, fragment
from heredity.pages.live.pages.here import Run
from heredity.pages.live.pages.lists import ROLLOUTS, tone
from heredity.pages.live.pages.record import cut, scenes, turns
from heredity.pages.live.place import blob
from heredity.results.charts import Lines, Series
from heredity.results.page import Code, Fact, Facts, Folded, Number, Row, Table, Text, columns_of

STEPS = 100
"""Number of steps on a page."""

_KINDS = {
    ".png": ("image/png", b"\x89PNG"),
    ".gif": ("image/gif", b"GIF8"),
    ".jpg": ("image/jpeg", b"\xff\xd8"),
    ".jpeg": ("image/jpeg", b"\xff\xd8"),
    ".mp4": ("video/mp4", b""),
    ".webm": ("video/webm", b"\x1aE\xdf\xa3"),
}
_LINES = 8
_POINTS = 1500
_PRINTED = 20_000


def rollout_row(run: Run, number: str) -> sqlite3.Row:
    """Return the row of a rollout with that of its evaluation.

    Raises:
        UnknownNameError: if the run has no rollout of this number.
    """
    query = (
        "SELECT t.*, e.view, e.number, e.candidate, e.blob, e.at FROM rollouts t JOIN evaluations e ON e.id = t.evaluation "
        "WHERE t.run = ? AND t.id = ?"
    )
    rows = run.suite.index.rows(query, (run.id, int(number))) if number.isdigit() and len(number) < 18 else []
    if not rows:
        raise UnknownNameError("rollout", number, [])
    return rows[0]


def trajectory(run: Run, row: sqlite3.Row) -> Trajectory:
    """Return the trajectory of a rollout.

    Raises:
        RecordError: if none is recorded, or it cannot be read.
    """
    if not row["blob"]:
        raise RecordError("this rollout has no recorded trajectory: only scores of hidden tasks are stored")
    data = blob(run.folder, row["blob"])
    try:
        return decode_one(data, row["position"])
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        MemoryError,
        msgpack.UnpackException,
    ) as error:
        raise RecordError(f"the trajectory cannot be read ({type(error).__name__}: {error})") from error


def rollout_view(run: Run, number: str, start: int) -> View:
    """Return the page of a rollout; `start` is the first step shown."""
    row = rollout_row(run, number)
    made_for = row["view"] if row["number"] is None else f"submission {row['number']}"
    facts = [
        Fact("Score", Number(row["score"])),
        Fact("Status", row["status"]),
        Fact("Steps", row["length"]),
        Fact("Time", Number(row["seconds"], form="duration")),
        Fact("Made for", run.link(made_for, "e", row["evaluation"])),
        Fact("Candidate", run.candidate(row["candidate"])),
    ]
    near = run.suite.index.rows(
        "SELECT id, position FROM rollouts WHERE evaluation = ? AND abs(position - ?) = 1 ORDER BY position",
        (row["evaluation"], row["position"]),
    )
    beside = [
        (
            f"{'Previous' if neighbour['position'] < row['position'] else 'Next'} rollout",
            run.url("o", neighbour["id"]),
            False,
        )
        for neighbour in near
    ]
    tabs = [*run.tabs("rollouts"), *beside]
    try:
        record = trajectory(run, row)
        blocks = _blocks(run, row, record, start)
    except HeredityError as error:
        blocks = [Block("none", "", [Text(str(error)), *([Text(row["message"])] if row["message"] else [])])]
    return View(
        row["task"] or "Rollout", blocks, [*run.crumbs, ("Rollouts", run.url("rollouts"))], tabs, Facts(tuple(facts))
    )


def _blocks(run: Run, row: sqlite3.Row, record: Trajectory, start: int) -> list[Block]:
    blocks: list[Block] = []
    if record.failure is not None:
        messages_of_failure = [Text(f"{record.failure.category}: {cut(record.failure.message)}", "warning")]
        trace = [Code(cut(record.failure.traceback), "text", "Traceback")] if record.failure.traceback else []
        blocks.append(Block("failure", f"Failed by {record.failure_source}", [*messages_of_failure, *trace]))
    if media := _media(run, row, record):
        blocks.append(Block("frames", "Observations", [media]))
    messages = record.columns.get("messages")
    spoken = isinstance(messages, list) and bool(messages)
    if isinstance(messages, list) and spoken:
        blocks.append(Block("conversation", "Conversation", [turns(messages)]))
    if record.length and not spoken:
        blocks += _numbers(record)
        blocks.append(Block("steps", "Steps", list(_steps(run, row, record, start))))
    elif record.columns.get("obs") is not None and len(record.columns["obs"]):
        blocks.append(Block("outcome", "Outcome", [Code(cut(to_json(record.columns["obs"][-1])), "text")]))
    blocks.append(Block("more", "More", _more(run, row, record)))
    return blocks


def _more(run: Run, row: sqlite3.Row, record: Trajectory) -> list[Shown]:
    parts: list[Shown] = []
    infos = {name.removeprefix("info/"): column for name, column in record.columns.items() if name.startswith("info/")}
    last = {name: to_json(column[-1]) for name, column in infos.items() if len(column)}
    facts = tuple(Fact(name, cut(value)[:2000]) for name, value in list(last.items())[:60] if value is not None)
    if facts:
        parts.append(Folded("Info of the last step", (Facts(facts),), open=len(facts) <= 8))
    if record.cost:
        parts.append(Facts(tuple(Fact(name, Number(amount)) for name, amount in list(record.cost.items())[:40])))
    for name, printed in (("stdout", record.stdout), ("stderr", record.stderr)):
        if printed:
            parts.append(Code(cut(printed), "text", name, folded=len(printed) > _PRINTED))
    address = run.url("export", "rollout.jsonl", o=row["id"])
    parts.append(Markup('<p><a href="%s" download>Every step as JSON lines</a></p>') % address)
    return parts


def _media(run: Run, row: sqlite3.Row, record: Trajectory) -> Markup | None:
    names = [name for name, data in record.media.items() if kind_of(name, data)]
    addresses = {name: run.url("media", row["id"], list(record.media).index(name)) for name in names}
    frames = [(name, addresses[name]) for name in names if kind_of(name, record.media[name]).startswith("image/")][
        :3000
    ]
    video = next((addresses[name] for name in names if kind_of(name, record.media[name]).startswith("video/")), "")
    if not frames and not video:
        return None
    return fragment("frames.html.j2", frames=frames, video=video, frames_json=json.dumps(frames))


def kind_of(name: str, data: bytes) -> str:
    """Return the media type of a picture or a video for browsers, by its name and first bytes; "" for other files."""
    kind, begins = _KINDS.get("." + name.rpartition(".")[2].lower(), ("", b""))
    fits = data[4:8] == b"ftyp" if kind == "video/mp4" else data.startswith(begins)
    return kind if kind and fits else ""


def _numbers(record: Trajectory) -> list[Block]:
    rewards = _plain(record.columns.get("reward"))
    if rewards is None or len(rewards) < 2:
        return []
    total = np.cumsum(rewards)
    charts = [_curve("Reward so far", "reward", [("", total)])]
    for name in ("obs", "action"):
        column = _plain(record.columns.get(name))
        if column is not None and len(column) > 1 and column.size // len(column) <= _LINES:
            flat = column.reshape(len(column), -1)
            title = "Observation" if name == "obs" else "Action"
            charts.append(_curve(title, name, [(f"{i}", flat[:, i]) for i in range(flat.shape[1])]))
    return [Block("curves", "Curves", charts)]


def _curve(title: str, y: str, columns: Sequence[tuple[str, Any]]) -> Lines:
    series: list[Series] = []
    for number, (name, values) in enumerate(columns):
        step = max(1, len(values) // _POINTS)
        points = tuple((float(t), float(values[t])) for t in range(0, len(values), step) if np.isfinite(values[t]))
        series.append(Series(name if len(columns) > 1 else "", number, points))
    return Lines(title, "step", y, tuple(series), whole=True, wide=True)


def _plain(column: Column | None) -> Any:
    """Return a numeric column as an array, or None."""
    array = column if isinstance(column, np.ndarray) else None
    return array.astype(np.float64) if array is not None and array.dtype.kind in "iufb" and array.size else None


def _steps(run: Run, row: sqlite3.Row, record: Trajectory, start: int) -> Iterator[Shown]:
    seen, done = list(record.step_values("obs")), list(record.step_values("action"))
    rewards = record.columns.get("reward", [])
    start = min(max(0, start), max(0, record.length - 1)) // STEPS * STEPS
    numbers = range(start, min(record.length, start + STEPS, len(done)))
    if seen and isinstance(seen[0], str):
        steps = [(t, seen[t], _as_text(done[t]), f"{float(rewards[t]):.4g}") for t in numbers if t < len(seen)]
        if numbers.stop == record.length and len(seen) > record.length and isinstance(seen[-1], str):
            steps.append((record.length, seen[-1], "", ""))
        yield scenes(steps)
    else:
        cells = [
            Row((t, _as_text(seen[t])[:400] if t < len(seen) else None, _as_text(done[t])[:200], float(rewards[t])))
            for t in numbers
        ]
        yield Table(
            columns_of("Step", "Observation", "Action", "Reward", left=("Step", "Observation", "Action")),
            tuple(cells[:24]),
            f"Steps {start} to {max(start, numbers.stop - 1)} of {record.length}",
        )
        if len(cells) > 24:
            yield Table(
                columns_of("Step", "Observation", "Action", "Reward", left=("Step", "Observation", "Action")),
                tuple(cells[24:]),
                "More steps",
                folded=True,
            )
    pages = [(t, run.url("o", row["id"], step=t)) for t in (start - STEPS, start + STEPS) if 0 <= t < record.length]
    if pages:
        links = Markup(" · ").join(
            Markup('<a href="%s#steps">steps from %d</a>') % (address, t) for t, address in pages
        )
        yield Markup('<p class="pager">%s</p>') % links


def _as_text(value: Any) -> str:
    plain = to_json(value)
    return plain if isinstance(plain, str) else json.dumps(_rounded(plain), default=str)[:5000]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}") if np.isfinite(value) else str(value)
    if isinstance(value, list):
        return [_rounded(item) for item in value[:400]]
    return value


def evaluation_view(run: Run, number: str) -> View:
    """Return the page of a submission or a judgement: its candidate, and each of its rollouts."""
    rows = (
        run.suite.index.rows("SELECT * FROM evaluations WHERE run = ? AND id = ?", (run.id, int(number)))
        if number.isdigit() and len(number) < 18
        else []
    )
    if not rows:
        raise UnknownNameError("submission", number, [])
    row = rows[0]
    title = f"Judged on {row['view']}" if row["number"] is None else f"Submission {row['number']}"
    facts = (
        Fact("Mean", Number(row["mean"])),
        Fact("Status", row["status"]),
        Fact("Rollouts", row["rollouts"]),
        Fact("Failed", row["failed"]),
        Fact("Time", Number(row["seconds"], form="duration")),
        Fact("Candidate", run.candidate(row["candidate"])),
    )
    query = f"{ROLLOUTS.select} WHERE t.evaluation = ? ORDER BY t.position LIMIT 300"
    cells = [Row(tuple(ROLLOUTS.row(run, rollout))) for rollout in run.suite.index.rows(query, (row["id"],))]
    first = f"the first {len(cells)} of " if len(cells) < row["rollouts"] else ""
    parts: list[Shown] = [
        Table(ROLLOUTS.columns, tuple(cells), f"{first}{row['rollouts']} rollouts", "No rollout has ended.")
    ]
    lines = [run.link(f"line {row[name]}", "event", row[name]) for name in ("admitted", "seq") if row[name] is not None]
    record_facts = Facts(tuple(Fact("In the journal" if i == 0 else "and", line) for i, line in enumerate(lines)))
    blocks = [Block("rollouts", "Rollouts", parts), Block("record", "Record", [record_facts])]
    status = [] if tone(row["status"]).tone is None else [Text(f"It ended with {row['status']}.", "warning")]
    return View(
        title,
        blocks,
        [*run.crumbs, ("Submissions", run.url("evaluations"))],
        run.tabs("evaluations"),
        Facts(facts),
        status,
        follow=run.suite.follow,
    )


def as_csv(run: Run) -> Iterator[str]:
    """Yield every rollout of a run as CSV, some thousand at a time."""
    names = (
        "id",
        "view",
        "submission",
        "position",
        "task",
        "candidate",
        "score",
        "length",
        "status",
        "seconds",
        "message",
    )
    last, head = -1, True
    while head or last >= 0:
        rows = run.suite.index.rows(
            "SELECT t.id, e.view, e.number, t.position, t.task, e.candidate, t.score, t.length, t.status, t.seconds, t.message "
            "FROM rollouts t JOIN evaluations e ON e.id = t.evaluation WHERE t.run = ? AND t.id > ? ORDER BY t.id LIMIT 5000",
            (run.id, last),
        )
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        if head:
            writer.writerow(names)
        # Spreadsheets would read a cell with this prefix as a formula.
        writer.writerows([f"'{v}" if isinstance(v, str) and v[:1] in "=+-@\t\r" else v for v in row] for row in rows)
        yield buffer.getvalue()
        head, last = False, rows[-1]["id"] if rows else -1


def as_lines(record: Trajectory) -> Iterator[str]:
    """Yield the steps of a trajectory as JSON lines, or the messages of a conversation."""
    messages = record.columns.get("messages")
    for item in messages if isinstance(messages, list) and messages else record.rows():
        yield json.dumps(item, default=str) + "\n"
