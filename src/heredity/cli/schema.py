"""`heredity schema`: JSON Schema of every format, and the same as tables of keys for people.

`docs/command_pages.py` writes the tables into the pages of the site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, cast

import typer

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Format(StrEnum):
    """Formats that have a schema."""

    results = "results"
    config = "config"
    journal = "journal"
    card = "card"
    team = "team"
    world = "world"


def schema(
    what: Annotated[Format, typer.Argument(help="results, config, journal, card, team or world.")],
    part: Annotated[
        str, typer.Argument(help="Show the keys of this part as a table, such as solver or gateway.providers.")
    ] = "",
    *,
    text: Annotated[bool, typer.Option("--text", help="Show the keys of every part as tables.")] = False,
) -> None:
    """Print the JSON Schema of a format, with the parts of every protocol that is installed; or its keys as tables.

    Example: heredity schema config solver
    """
    from heredity._core.errors import UnknownNameError

    if not part and not text:
        typer.echo(json.dumps({"$schema": DRAFT, **SCHEMAS[what]()}, indent=2, ensure_ascii=False))
        return
    tables = [table for table in tables_of(what) if not part or f"{table.path}.".startswith(f"{part}.")]
    if not tables:
        raise UnknownNameError("part", part, sorted({table.path for table in tables_of(what) if table.path}))
    typer.echo("\n\n".join(map(_as_text, tables)))


def results_schema() -> dict[str, Any]:
    """Return the schema of metrics.json: of a run or of a suite of any installed protocol."""
    from heredity.protocols.registry import PROTOCOLS
    from heredity.results.base import with_part
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults

    models: dict[str, Any] = {}
    for name in PROTOCOLS.names():
        metrics = PROTOCOLS.load(name).metrics
        models[f"run of {name}"] = with_part(RunResults, metrics.run_part)
        models[f"suite of {name}"] = with_part(SuiteResults, metrics.suite_part)
    return {"title": "metrics.json", **_any_of(models)}


def config_schema() -> dict[str, Any]:
    """Return the schema of a suite's configuration under any installed protocol."""
    from heredity.experiments.config import config_of
    from heredity.protocols.registry import PROTOCOLS

    return {"title": "A suite", **_any_of({name: config_of(name) for name in PROTOCOLS.names()})}


def journal_schema() -> dict[str, Any]:
    """Return the schema of a line of journal.jsonl."""
    from heredity.protocols.registry import PROTOCOLS
    from heredity.records.events import EVENTS
    from heredity.team.record import EVENTS as TEAM_EVENTS

    own = {kind: data for name in PROTOCOLS.names() for kind, data in PROTOCOLS.load(name).events.items()}
    return lines_schema({**EVENTS, **own, **TEAM_EVENTS})


def card_schema() -> dict[str, Any]:
    """Return the schema of card.json."""
    from heredity._core.described import Described
    from heredity.results.card import Card

    return Card.model_json_schema(mode="serialization", schema_generator=Described)


def team_schema() -> dict[str, Any]:
    """Return the schema of a `team.toml`."""
    from heredity._core.described import Described
    from heredity.team.settings import TeamSettings

    return {**TeamSettings.model_json_schema(schema_generator=Described), "title": "team.toml"}


def world_schema() -> dict[str, Any]:
    """Return the schema of a `world.yaml`, its rules and hooks included."""
    from heredity.engine.kind import KINDS

    return {**KINDS.load("world").schema(), "title": "world.yaml"}


def _any_of(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a union of models, each under its name."""
    from pydantic import TypeAdapter

    from heredity._core.described import Described

    schemas, shared = TypeAdapter.json_schemas(
        [(name, "serialization", TypeAdapter[Any](m)) for name, m in models.items()], schema_generator=Described
    )
    return {"anyOf": [{**schema, "title": name} for (name, _), schema in schemas.items()], **shared}


def lines_schema(events: Mapping[str, type]) -> dict[str, Any]:
    """Return the schema of a journal's lines.

    Args:
        events: the type of the data of each kind of event.
    """
    from pydantic import TypeAdapter
    from pydantic.json_schema import JsonSchemaMode

    from heredity._core.described import Described
    from heredity.records.journal import FORMAT

    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (name, "serialization", TypeAdapter[Any](data)) for name, data in sorted(events.items())
    ]
    data_of, shared = TypeAdapter.json_schemas(inputs, schema_generator=Described)
    always = {
        "seq": {"type": "integer", "minimum": 0},
        "at": {"type": "number"},
        "chain": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "format": {"const": FORMAT, "description": "Only in the first line."},
    }
    lines = [
        {
            "title": name,
            "type": "object",
            "properties": {**always, "kind": {"const": name}, "data": data_of[name, "serialization"]},
            "required": ["seq", "at", "kind", "data", "chain"],
            "additionalProperties": False,
        }
        for name in sorted(events)
    ]
    return {"title": "A line of journal.jsonl", "anyOf": lines, **shared}


SCHEMAS = {
    Format.results: results_schema,
    Format.config: config_schema,
    Format.journal: journal_schema,
    Format.card: card_schema,
    Format.team: team_schema,
    Format.world: world_schema,
}
"""Format to the function that returns its schema."""

HEADS = ("key", "default", "values", "meaning")
"""Columns of a table of keys."""


@dataclass(frozen=True)
class KeyTable:
    """The keys of one part of a format.

    Attributes:
        path: dotted path of the part, `NAME` for any key and `[]` for any item; empty for the whole.
        users: the protocols whose part differs from the usual one in these rows; empty for the usual one.
        about: description of the part.
        rows: a row for each key: its name, default, values and meaning.
    """

    path: str
    users: tuple[str, ...]
    about: str
    rows: tuple[tuple[str, str, str, str], ...]


def tables_of(what: Format) -> list[KeyTable]:
    """Return the tables of keys of a format: parts in order, each followed by how protocols differ."""
    schema = SCHEMAS[what]()
    shared = schema.get("$defs", {})
    variants = schema.get("anyOf", [schema])
    if what is Format.journal:
        return [_event_table(line, shared) for line in variants]
    found: dict[str, dict[str, dict[str, KeyTable]]] = {}
    for variant in variants:
        # "run of policy-evolution" has the root "run"; a configuration is named after its protocol alone.
        root, _, user = str(variant["title"]).rpartition(" of ")
        found.setdefault(root, {})[user] = {table.path: table for table in _walk(variant, shared, root)}
    tables = [
        table
        for walked in found.values()
        for path in _in_order(path for tables in walked.values() for path in tables)
        for table in _told_apart(path, walked)
    ]
    return list(map(_written, tables)) if what in (Format.results, Format.card) else tables


def _in_order(paths: Iterable[str]) -> list[str]:
    """Return each path once, the parts of a section right after it."""
    once = list(dict.fromkeys(paths))
    sections = list(dict.fromkeys(path.partition(".")[0] for path in once))
    return sorted(once, key=lambda path: sections.index(path.partition(".")[0]))


def _told_apart(path: str, walked: Mapping[str, Mapping[str, KeyTable]]) -> Iterator[KeyTable]:
    """Yield the table that most protocols have at a path, then the differences of the others."""
    have = {name: tables[path] for name, tables in walked.items() if path in tables}
    forms = list(have.values())
    usual = max(forms, key=forms.count)
    alone = len(forms) < len(walked)
    yield KeyTable(path, tuple(name for name in have if have[name] == usual) if alone else (), usual.about, usual.rows)
    for form in dict.fromkeys(forms):
        rows = tuple(row for row in form.rows if row not in usual.rows)
        about = form.about if form.about != usual.about else ""
        if rows or about:
            yield KeyTable(path, tuple(name for name in have if have[name] == form), about, rows)


def _event_table(line: Mapping[str, Any], shared: Mapping[str, Any]) -> KeyTable:
    data = _resolved(line["properties"]["data"], shared)
    rows = tuple(_row(name, key, data, shared) for name, key in data.get("properties", {}).items())
    return _written(KeyTable(str(line["title"]), (), _sentence(data), rows))


def _written(table: KeyTable) -> KeyTable:
    """Return the table without defaults, which say nothing of files that Heredity writes."""
    return replace(table, rows=tuple((key, "", values, meaning) for key, _, values, meaning in table.rows))


def _walk(schema: Mapping[str, Any], shared: Mapping[str, Any], root: str) -> Iterator[KeyTable]:
    """Yield a table for each part, breadth first; a part that is met again has its table where it was met first."""
    waiting, met = [(root, schema)], set[str]()
    for path, part in waiting:
        whole = _resolved(part, shared)
        keys: Mapping[str, Any] = whole.get("properties", {})
        rows: list[tuple[str, str, str, str]] = []
        for name, key in keys.items():
            suffix, reference = _part_of(key)
            inner = shared.get(reference, {})
            if "properties" in inner and reference not in met:
                met.add(reference)
                waiting.append((f"{path}.{name}{suffix}".lstrip("."), {"$ref": f"#/$defs/{reference}"}))
            rows.append(_row(name, key, whole, shared))
        yield KeyTable(path, (), _sentence(whole), tuple(rows))


def _part_of(key: Mapping[str, Any], suffix: str = "") -> tuple[str, str]:
    """Return how a key's value leads to a part: the rest of its path, and the name of its definition, or `""`."""
    if "$ref" in key:
        return suffix, key["$ref"].rpartition("/")[2]
    if isinstance(key.get("additionalProperties"), dict):
        return _part_of(key["additionalProperties"], f"{suffix}.NAME")
    if isinstance(key.get("items"), dict):
        return _part_of(key["items"], f"{suffix}[]")
    others = [option for option in key.get("anyOf", ()) if option.get("type") != "null"]
    return _part_of(others[0], suffix) if len(others) == 1 else ("", "")


def _resolved(part: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    return shared[part["$ref"].rpartition("/")[2]] if "$ref" in part else part


def _sentence(part: Mapping[str, Any]) -> str:
    """Return the description of a part on one line, without the name of a section that it may begin with."""
    text = re.sub(r"^`\[?[\w.]+\]?`[:.,] ?", "", " ".join(str(part.get("description", "")).split()))
    return text[:1].upper() + text[1:]


def _row(
    name: str, key: Mapping[str, Any], whole: Mapping[str, Any], shared: Mapping[str, Any]
) -> tuple[str, str, str, str]:
    needed = name in whole.get("required", ()) and "default" not in key
    default = "required" if needed else _literal(key.get("default"))
    meaning = key.get("description") or _sentence(shared.get(_part_of(key)[1], {}))
    return name, default, _values(key, shared), " ".join(meaning.split())


def _literal(value: Any) -> str:
    return "" if value in (None, "", [], {}) else json.dumps(value, ensure_ascii=False)


_NO_BOUND = 100_000
"""Bounds from here on only keep out nonsense; tables omit them."""

_RANGES = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


def _values(key: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """Return the values that a key takes: words, a range, or a type."""
    if "anyOf" in key:
        return " or ".join(dict.fromkeys(_values(o, shared) for o in key["anyOf"] if o.get("type") != "null"))
    if "$ref" in key:
        inner = _resolved(key, shared)
        return "table" if "properties" in inner else _values(inner, shared)
    if words := key.get("enum", [key["const"]] if "const" in key else []):
        return ", ".join(text for text in map(_literal, words) if text)
    bounds = [f"{word} {key[sign]:,}" for sign, word in _RANGES.items() if abs(key.get(sign, _NO_BOUND)) < _NO_BOUND]
    kind = key.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(_values({"type": each}, shared) for each in cast("list[str]", kind))
    if kind == "array":
        return f"list of {_values(key['items'], shared)}" if isinstance(key.get("items"), dict) else "list"
    if kind == "object":
        inner = key.get("additionalProperties")
        return f"table of {_values(inner, shared)}" if isinstance(inner, dict) and inner else "table"
    word = {"boolean": "true or false", "string": "text"}.get(str(kind), str(kind))
    return " ".join([word, ", ".join(bounds)]).rstrip()


def _as_text(table: KeyTable) -> str:
    from heredity.cli.bars import columns, wrapped

    head = f"[{table.path}]" if table.path else "top level"
    head += f" under {', '.join(table.users)}" if table.users else ""
    lines = [head, *([wrapped(table.about)] if table.about else [])]
    if table.rows:
        heads, *rows = filled_columns(table)
        lines.append(columns(heads, rows))
    return "\n".join(lines)


def filled_columns(table: KeyTable) -> list[tuple[str, ...]]:
    """Return the heads and the rows of a table, without columns that are empty in all rows."""
    filled = [column for column in range(len(HEADS)) if any(row[column] for row in table.rows)]
    return [tuple(line[column] for column in filled) for line in (HEADS, *table.rows)]
