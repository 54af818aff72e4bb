"""Details of a run's record: lines of the journal, model calls, spans and their timeline, rollouts.

Rollouts are shown step by step: pictures, numbers, texts of a world, a conversation, a shell.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgpack
import numpy as np
from markupsafe import Markup

from heredity._core.errors import HeredityError, RecordError, UnknownNameError
from heredity.engine.trajectory import Column, Trajectory, decode_one, to_json
from heredity.pages.live.drawing import Block, Field, Form, Shown, View, fragment
from heredity.pages.live.pages.here import Run
from heredity.pages.live.pages.lists import ROLLOUTS, tone, when
from heredity.pages.live.place import blob
from heredity.pages.live.rows import brief, bytes_at, mapping, sequence
from heredity.pages.report.svg import Axis, element, figure, group, label, x_axis
from heredity.results.charts import Lines, Series
from heredity.results.page import Code, Fact, Facts, Folded, Number, Row, Table, Text, columns_of
from heredity.results.text import clean, duration, shorten

MOST_BARS = 500
"""Maximum spans of a picture: the longest in its time window."""

_WIDTH, _ROW, _PAD, _MOST_LANES = 1080.0, 20.0, 8.0, 60


def trace_view(run: Run, begin: str, end: str) -> View:
    """Return the timeline of a run between two times, in seconds since its start; "" means an open end."""
    bounds = run.suite.index.rows(
        "SELECT min(start_ns) AS low, max(end_ns) AS high, count(*) AS n FROM spans WHERE run = ?", (run.id,)
    )[0]
    tabs = run.tabs("trace")
    if not bounds["n"]:
        note = Text("No trace available: spans are written as they end, and stay with the owner of the run.")
        return View("Trace", [Block("none", "", [note])], run.crumbs, tabs, follow=run.suite.follow)
    zero, whole = bounds["low"], max(1e-6, (bounds["high"] - bounds["low"]) / 1e9)
    start, stop = _seconds(begin, 0.0, whole), _seconds(end, whole, whole)
    start, stop = (start, stop) if start < stop else (0.0, whole)
    rows = run.suite.index.rows(
        "SELECT * FROM spans WHERE run = ? AND start_ns < ? AND end_ns > ? ORDER BY end_ns - start_ns DESC LIMIT ?",
        (run.id, zero + int(stop * 1e9), zero + int(start * 1e9), MOST_BARS),
    )
    drawn = Markup('<div class="wide-plot" tabindex="0" role="group" aria-label="Timeline">%s</div>') % Markup(
        timeline(run, rows, zero, start, stop)
    )
    about = Text(
        f"{len(rows)} of {bounds['n']} spans, the longest first; nested spans are below their parent. Each bar is a link.",
        "about",
    )
    fields = [Field("from", "From second", f"{start:.3f}"), Field("to", "to second", f"{stop:.3f}")]
    middle, half = (start + stop) / 2, (stop - start) / 4
    zooms = [
        ("Closer", middle - half, middle + half),
        ("Wider", middle - 4 * half, middle + 4 * half),
        ("Earlier", start - 2 * half, stop - 2 * half),
        ("Later", start + 2 * half, stop + 2 * half),
    ]
    links = [
        Markup('<a href="%s">%s</a>')
        % (run.url("trace", **{"from": f"{max(0.0, a):.3f}", "to": f"{min(whole, b):.3f}"}), name)
        for name, a, b in zooms
    ]
    nav = Markup('<p class="pager">%s <a href="%s">All</a> <a href="%s">As a list</a></p>') % (
        Markup(" ").join(links),
        run.url("trace"),
        run.url("spans"),
    )
    blocks = [
        Block("timeline", "", [about, drawn, nav, Form(run.url("trace"), "Show", fields)]),
        Block("totals", "By kind", [_totals(run)]),
    ]
    return View("Trace", blocks, run.crumbs, tabs, follow=run.suite.follow)


def timeline(run: Run, rows: Sequence[sqlite3.Row], zero: int, start: float, stop: float) -> str:
    """Draw spans as bars over time: each in the first free lane below that of its parent."""
    row_ends: list[float] = []
    lane_of: dict[str, int] = {}
    bars: list[str] = []
    axis = Axis(start, stop, _PAD, _WIDTH - _PAD)
    dropped = 0
    for row in sorted(rows, key=lambda row: (row["start_ns"], -row["end_ns"])):
        begin, end = (row["start_ns"] - zero) / 1e9, (row["end_ns"] - zero) / 1e9
        row_index = lane_of.get(row["parent"], -1) + 1
        while row_index < len(row_ends) and row_ends[row_index] > begin:
            row_index += 1
        if row_index >= _MOST_LANES:
            dropped += 1
            continue
        row_ends += [0.0] * (row_index + 1 - len(row_ends))
        row_ends[row_index] = end
        lane_of[row["id"]] = row_index
        bars.append(_bar(run, row, axis, begin, end, row_index))
    height = _PAD + len(row_ends) * _ROW
    more = (
        [label(f"{dropped} more spans at the same time", _WIDTH / 2, height + 44, "middle", "tick")] if dropped else []
    )
    picture = figure(
        _WIDTH,
        height + 48,
        f"Spans from second {start:.1f} to {stop:.1f}",
        x_axis(axis, height, _PAD, "seconds since the start of the trace"),
        *bars,
        *more,
    )
    return picture.replace('role="img"', 'role="group"', 1)


def _bar(run: Run, row: sqlite3.Row, axis: Axis, begin: float, end: float, row_index: int) -> str:
    left, right, top = axis.at(begin), axis.at(end), _PAD + row_index * _ROW
    words = f"{row['name']} {row['about']}".strip()
    tip = f"{words}, {row['kind']}, {duration(end - begin)} from second {begin:.2f}" + (
        f": {row['problem']}" if row["problem"] else ""
    )
    kind = row["kind"] if row["kind"] in ("model", "tool", "operator", "rollout", "commit", "run") else "other"
    wide = max(1.5, right - left)
    rect = element("rect", x=left, y=top + 2, width=wide, height=_ROW - 5, rx=2, opacity=0.78)
    room = int((wide - 8) / 7)
    text = [label(shorten(words, room), left + 4, top + 13.5)] if room >= 4 else []
    bar = group(rect, *text, class_=f"span {kind}{' bad' if row['problem'] else ''}", tip=tip)
    return element("a", bar, href=run.url("span", row["number"]))


def _totals(run: Run) -> Table:
    rows = run.suite.index.rows(
        "SELECT kind, count(*) AS n, sum(problem != '') AS bad, sum(end_ns - start_ns) AS ns "
        "FROM spans WHERE run = ? GROUP BY kind ORDER BY ns DESC LIMIT 40",
        (run.id,),
    )
    cells = tuple(
        Row((row["kind"], row["n"], row["bad"] or None, Number(row["ns"] / 1e9, form="duration"))) for row in rows
    )
    return Table(
        columns_of("Kind", "Spans", "With problems", "Total time"),
        cells,
        "Parallel spans count in full",
    )


def _seconds(text: str, otherwise: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return otherwise
    return min(max(0.0, value), most) if value == value else otherwise


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


MOST_CHARS = 100_000
MOST_TURNS = 1000
_SHELLS = frozenset({"shell", "bash"})


def cut(text: object) -> str:
    """Return a text as a page shows it: the middle of a very long one is left out, but exports have it."""
    text_of = text if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False, default=str)
    if len(text_of) <= MOST_CHARS:
        return text_of
    half = MOST_CHARS // 2
    return f"{text_of[:half]}\n… {len(text_of) - 2 * half} characters are not shown …\n{text_of[-half:]}"


def turns(messages: Sequence[Any]) -> Markup:
    """Draw messages as the gateway writes them: role, content, tool calls as [id, name, arguments]."""
    made: list[dict[str, Any]] = []
    for number, given in enumerate(messages[:MOST_TURNS], 1):
        message = mapping(given)
        role, text = str(message.get("role", "unknown")), cut(message.get("content") or "")
        calls = [_conversation_call(sequence(call)) for call in sequence(message.get("tool_calls"))[:200]]
        role_known = role if role in ("user", "assistant", "tool", "system") else "unknown"
        lead = shorten(" ".join(text[:200].split()), 110)
        made.append(
            {
                "number": number,
                "role": role_known,
                "who": role,
                "text": text,
                "lead": lead,
                "calls": calls,
                "scene": False,
                "images": len(sequence(message.get("images"))),
            }
        )
    drawn = fragment("turns.html.j2", turns=made)
    more = len(messages) - len(made)
    return drawn + Markup("<p>%d more turns are not shown.</p>") % more if more > 0 else drawn


def scenes(steps: Sequence[tuple[int, str, str, str]]) -> Markup:
    """Draw steps of a text world: number, observation, action, reward."""
    made: list[dict[str, Any]] = []
    for number, seen, done, gave in steps:
        plain = {"calls": [], "images": 0, "lead": ""}
        made.append({"number": number, "role": "user", "who": "seen", "text": cut(seen), "scene": True, **plain})
        if done:
            made.append(
                {
                    "number": number,
                    "role": "assistant",
                    "who": f"done, reward {gave}",
                    "text": cut(done),
                    "scene": False,
                    **plain,
                }
            )
    return fragment("turns.html.j2", turns=made)


def _conversation_call(call: Sequence[Any]) -> dict[str, str]:
    name, arguments = (str(call[1]), call[2]) if len(call) >= 3 else ("unknown", "")
    given: Any = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = arguments
    command = mapping(given).get("command") if name in _SHELLS else None
    return {"name": name, "arguments": cut(given), "command": cut(command) if isinstance(command, str) else ""}


MOST_LINE = 4 << 20
"""Maximum bytes of a journal line on a page; the file has the rest."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


def line_of(run: Run, row: sqlite3.Row, name: str = "journal.jsonl") -> Any:
    """Return the JSON value of a line of a file, or the beginning of a line that is too long, as text."""
    data = bytes_at(run.folder / name, row["offset"], min(row["length"], MOST_LINE))
    if row["length"] <= MOST_LINE:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            pass
    return f"{data[:100_000].decode('utf-8', 'replace')} … {row['length']} bytes in total"


def event_view(run: Run, number: str) -> View:
    """Return a line of the journal, with links to the candidates that it names."""
    row = row_of(run, "events", "seq", number, "line of the journal")
    value = line_of(run, row)
    data = mapping(mapping(value).get("data"))
    named = {
        digest_named
        for digest_named in _digests(data)
        if run.suite.index.rows("SELECT 1 FROM candidates WHERE run = ? AND digest = ?", (run.id, digest_named))
    }
    facts = (Fact("Event", row["kind"]), Fact("At", when(run, row["at"])), Fact("Bytes", row["length"]))
    links: list[Shown] = (
        [Facts(tuple(Fact("Candidate", run.candidate(digest_named)) for digest_named in sorted(named)))]
        if named
        else []
    )
    if "submit_id" in data:
        rows = run.suite.index.rows(
            "SELECT id FROM evaluations WHERE run = ? AND number = ?",
            (run.id, data["submit_id"] if isinstance(data["submit_id"], int) else -1),
        )
        links += [
            Facts((Fact("Submission", run.link(f"{data['submit_id']}", "e", submission["id"])),)) for submission in rows
        ]
    near = [
        (name, run.url("event", seq), False)
        for name, seq in (("Previous line", row["seq"] - 1), ("Next line", row["seq"] + 1))
        if 0 <= seq < run.row["lines"]
    ]
    block = Block("line", "", [*links, Code(cut(value), "text", "As recorded in the journal")])
    return View(
        f"Line {row['seq']}: {brief(row['kind'], 60)}",
        [block],
        [*run.crumbs, ("Journal", run.url("journal"))],
        [*run.tabs("journal"), *near],
        Facts(facts),
    )


def _digests(value: Any, depth: int = 0) -> set[str]:
    if isinstance(value, str):
        return {value} if _DIGEST.fullmatch(value) else set()
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    digests = (
        {digest for item in list(inner)[:200] for digest in _digests(item, depth + 1)} if depth < 4 else set[str]()
    )
    return set(sorted(digests)[:40])


def call_view(run: Run, number: str) -> View:
    """Return a call of the method's model: prompt, reply, usage."""
    row = row_of(run, "calls", "seq", number, "model call")
    event = row_of(run, "events", "seq", number, "line of the journal")
    data = mapping(mapping(line_of(run, event)).get("data"))
    facts = (
        Fact("Purpose", row["purpose"]),
        Fact("Model", row["model"]),
        Fact("Tokens in", Number(row["input"], form="tokens")),
        Fact("Tokens out", Number(row["output"], form="tokens")),
        Fact("From cache", Number(row["cached"], form="tokens")),
        Fact("Cost", Number(row["cost"], form="cost")),
    )
    try:
        answer = mapping(json.loads(blob(run.folder, str(data.get("blob", "")))))
        blocks = _call(row, answer)
    except (HeredityError, ValueError, RecursionError) as error:
        blocks = [Block("none", "", [Text(f"The conversation is not available: {error}", "warning")])]
    near = run.suite.index.rows(
        "SELECT max(seq) AS at FROM calls WHERE run = ? AND seq < ? UNION ALL SELECT min(seq) FROM calls WHERE run = ? AND seq > ?",
        (run.id, row["seq"]) * 2,
    )
    beside = [
        (name, run.url("call", call["at"]), False)
        for name, call in zip(("Previous call", "Next call"), near, strict=True)
        if call["at"] is not None
    ]
    tabs = [*run.tabs("calls"), *beside]
    return View(
        f"Model call {row['seq']}", blocks, [*run.crumbs, ("Model calls", run.url("calls"))], tabs, Facts(facts)
    )


def _call(row: sqlite3.Row, answer: Mapping[str, Any]) -> list[Block]:
    request, reply, error = (mapping(answer.get(name)) for name in ("request", "reply", "error"))
    message = mapping(reply.get("message")) or reply
    asked = list(sequence(request.get("messages")))
    blocks = [Block("asked", "Asked", [turns(asked)])]
    if error:
        blocks.append(
            Block("answer", "No answer", [Text(f"{error.get('kind')}: {cut(error.get('message'))}", "warning")])
        )
    else:
        blocks.append(Block("answer", "Answered", [turns([{"role": "assistant", **message}])]))
    why = (
        "This prompt was sent before in this run; each repetition is a separate call."
        if row["place"]
        else "This prompt was sent for the first time in this run."
    )
    cached = Text(
        "The provider took part of the prompt from its cache."
        if row["cached"]
        else "The provider did not report any cached part of the prompt."
    )
    settings = [Fact(str(name), brief(value, 200)) for name, value in mapping(request.get("sampling")).items()]
    settings += [
        Fact(str(name), brief(value, 200))
        for name, value in reply.items()
        if name not in ("message", "content", "role", "tool_calls")
    ]
    tools = [str(sequence(tool)[0]) for tool in sequence(request.get("tools")) if sequence(tool)]
    settings += [Fact("tools", ", ".join(tools)[:500])] if tools else []
    return [*blocks, Block("usage", "Cost", [Text(why), cached, Facts(tuple(settings))])]


def span_view(run: Run, number: str) -> View:
    """Return a span: its attributes, and the spans inside it."""
    row = row_of(run, "spans", "number", number, "span")
    value = mapping(line_of(run, row, "spans.jsonl"))
    parents = (
        run.suite.index.rows("SELECT number, name FROM spans WHERE run = ? AND id = ?", (run.id, row["parent"]))
        if row["parent"]
        else []
    )
    inner = run.suite.index.rows(
        "SELECT number, name, about, start_ns, end_ns FROM spans WHERE run = ? AND parent = ? ORDER BY start_ns LIMIT 200",
        (run.id, row["id"]),
    )
    facts = [
        Fact("Kind", row["kind"]),
        Fact("Time", Number((row["end_ns"] - row["start_ns"]) / 1e9, form="duration")),
        Fact("At", when(run, row["start_ns"] / 1e9)),
    ]
    facts += [Fact("Inside", run.link(parent["name"] or "span", "span", parent["number"])) for parent in parents[:1]]
    parts: list[Shown] = [Text(row["problem"], "warning")] if row["problem"] else []
    attributes = mapping(value.get("attributes"))
    long = {name: text for name, text in attributes.items() if isinstance(text, str) and len(text) > 120}
    parts.append(
        Facts(
            tuple(
                Fact(str(name), brief(value, 200)) for name, value in list(attributes.items())[:80] if name not in long
            )
        )
    )
    parts += [Code(cut(text), "text", str(name)) for name, text in long.items()]
    if inner:
        items = [
            Markup('<li><a href="%s">%s</a> %s, %.3f s</li>')
            % (
                run.url("span", child["number"]),
                clean(child["name"]),
                clean(child["about"]),
                (child["end_ns"] - child["start_ns"]) / 1e9,
            )
            for child in inner
        ]
        parts.append(Markup("<h3>Inside it</h3><ul>%s</ul>") % Markup("").join(items))
    return View(
        f"Span {row['name']}",
        [Block("span", "", parts)],
        [*run.crumbs, ("Trace", run.url("trace"))],
        run.tabs("trace"),
        Facts(tuple(facts)),
    )


def row_of(run: Run, table: str, key: str, number: str, what: str) -> sqlite3.Row:
    """Return a row of a run's table by its number.

    Raises:
        UnknownNameError: if the row does not exist.
    """
    numeric = number.isdigit() and len(number) < 18
    rows = (
        run.suite.index.rows(f"SELECT * FROM {table} WHERE run = ? AND {key} = ?", (run.id, int(number)))
        if numeric
        else []
    )
    if not rows:
        raise UnknownNameError(what, number, [])
    return rows[0]
