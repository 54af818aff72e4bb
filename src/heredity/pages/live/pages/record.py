"""Details of rows: a line of the journal, a model call with its prompt, a span."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from heredity._core.errors import HeredityError, UnknownNameError
from heredity.pages.live.drawing import Block, Shown, View, fragment
from heredity.pages.live.index.rows import brief, bytes_at, mapping, sequence
from heredity.pages.live.pages.here import Run
from heredity.pages.live.pages.lists import when
from heredity.pages.live.place import blob
from heredity.results.page import Code, Fact, Facts, Number, Text
from heredity.results.text import clean, shorten

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
        UnknownNameError: if there is no such row.
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
