"""Commands that describe what is installed: `heredity methods`, `suites`, `tasks` and `sites`, and `heredity schema`.

`docs/command_pages.py` writes the tables of keys of `heredity schema` into the pages of the site.
"""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from heredity.cli import interface
from heredity.cli.bars import activity
from heredity.cli.interface import WholeHelp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic.fields import FieldInfo

    from heredity.tasks import Task, Taskset, TasksetInfo

methods_app = typer.Typer(cls=WholeHelp, invoke_without_command=True, rich_markup_mode=None)

_SIGNS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


@methods_app.callback()
def methods(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """Methods, which are built-in evolvers: list, show."""
    if context.invoked_subcommand is None:
        _list_methods(as_json=as_json)


@methods_app.command("list")
def list_methods(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """List the installed methods, as `heredity methods` alone does.

    Example: heredity methods list
    """
    _list_methods(as_json=as_json)


def _list_methods(*, as_json: bool) -> None:
    from heredity.cli.bars import columns
    from heredity.methods.registry import METHODS

    rows = [(name, purpose_of(name)) for name in METHODS.names()]
    if as_json:
        typer.echo(json.dumps([{"name": name, "about": about} for name, about in rows], indent=1, ensure_ascii=False))
    else:
        typer.echo(columns(("method", "purpose"), rows))


@methods_app.command("show")
def show_method(
    name: Annotated[
        str,
        typer.Argument(help="Name of a method, such as grpo.", show_default=False, autocompletion=interface.methods),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show the purpose of a method and its options, which a suite sets under [methods.NAME].

    Example: heredity methods show grpo
    """
    from heredity.cli.bars import columns

    rows = options_of(name)
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    typer.echo(f"{name}: {purpose_of(name)}\n")
    typer.echo(columns(("option", "default", "values", "meaning"), [[*map(str, row.values())] for row in rows]))


def options_of(name: str) -> list[dict[str, Any]]:
    """Return the options of a method: `option`, `default`, `values` (a range or a list, as text) and `meaning`.

    Raises:
        UnknownNameError: if no such method is installed.
    """
    from heredity.methods.registry import METHODS

    return [
        {
            "option": option,
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
            "values": _option_values(field),
            "meaning": field.description or "",
        }
        for option, field in METHODS.load(name).options_model.model_fields.items()
    ]


def _option_values(field: FieldInfo) -> str:
    from typing import get_args

    limits = [
        f"{word} {value:,.12g}"
        for constraint in field.metadata
        for sign, word in _SIGNS.items()
        if (value := getattr(constraint, sign, None)) is not None
    ]
    if limits:
        return ", ".join(limits)
    if field.annotation is bool:
        return "true or false"
    return ", ".join(value for value in get_args(field.annotation) if isinstance(value, str))


def purpose_of(name: str) -> str:
    """Return what a method does, in a sentence without its full stop.

    Raises:
        UnknownNameError: if no such method is installed.
    """
    from heredity.methods.registry import METHODS

    return inspect.cleandoc(METHODS.load(name).__doc__ or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")


suites_app = typer.Typer(cls=WholeHelp, invoke_without_command=True, rich_markup_mode=None)


@suites_app.callback()
def suites(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """Installed suites: list, show. `heredity run NAME` runs one."""
    if context.invoked_subcommand is None:
        _list_suites(as_json=as_json)


@suites_app.command("list")
def list_suites(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """List the installed suites, as `heredity suites` alone does.

    Example: heredity suites list
    """
    _list_suites(as_json=as_json)


def _list_suites(*, as_json: bool) -> None:
    from heredity.cli.bars import columns
    from heredity.experiments.config import headline
    from heredity.experiments.config import suites as installed

    files = installed()
    if as_json:
        rows = [{"name": name, "about": headline(file), "file": str(file)} for name, file in files.items()]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        typer.echo(columns(("suite", "purpose"), [(name, headline(file)) for name, file in files.items()]))


@suites_app.command("show")
def show_suite(
    name: Annotated[
        str, typer.Argument(help="Name of a suite, such as demo.", show_default=False, autocompletion=interface.suites)
    ],
) -> None:
    """Print a suite's TOML; start your own with `heredity suites show demo > mine.toml`.

    Example: heredity suites show demo
    """
    from heredity.experiments.config import suite_file

    typer.echo(suite_file(name).read_text(encoding="utf-8"), nl=False)


tasks_app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

_SAMPLE = 3
SAMPLE_ENTROPY = 0
"""Seed of the sample. Runs are judged on other tasks, drawn from a suite's secret."""


@tasks_app.command("list")
def list_tasksets(*, as_json: AsJson = False) -> None:
    """List the named tasksets; files of questions and other environments are also valid names.

    Example: heredity tasks list
    """
    from heredity.tasks.registry import taskset_names

    names = taskset_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@tasks_app.command("show")
def show_taskset(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a taskset, such as questions/gsm8k.", show_default=False, autocompletion=interface.tasksets
        ),
    ],
    split: Annotated[str, typer.Option("--split", help="Split: train, validation or heldout.")] = "train",
    count: Annotated[
        int | None,
        typer.Option("--count", min=0, max=100_000, help="Number of tasks.", show_default="3, or all of fewer"),
    ] = None,
    answers: Annotated[bool, typer.Option("--answers", help="Include secrets: answers, or seeds.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a taskset and a sample of its tasks, which no run uses.

    Example: heredity tasks show gymnasium/CartPole-v1 --split train --count 2
    """
    from heredity.tasks.registry import taskset

    chosen = taskset(name)
    tasks = _draw_tasks(chosen, split, count)
    rows = [_task_row(chosen.info, task, answers=answers) for task in tasks]
    if as_json:
        about = {"name": chosen.info.name, "version": chosen.info.version, "kind": chosen.info.kind}
        info = chosen.info
        public = {
            **about,
            "group": info.group,
            "family": info.family,
            "public": dict(info.public),
            "notes": [*info.notes],
        }
        typer.echo(json.dumps({**public, "tasks": rows}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{chosen.info.description.strip()}\n\nversion  {chosen.info.version}")
    for note in chosen.info.notes:
        typer.echo(f"note     {note}")
    for line in dict.fromkeys(str(chosen.info.public.get("instructions", "")).splitlines()):
        typer.echo(f"added to each question  {line}")
    if not rows and count is None:
        typer.echo(f"\nthe split {split} has no tasks; choose another with --split, or add questions")
    for row in rows:
        typer.echo(f"\n--- {row['id']}")
        if "prompt" in row:
            typer.echo(row["prompt"])
        if answers:
            typer.echo(f"\nsecret  {json.dumps(row['secret'], ensure_ascii=False)}")


def _draw_tasks(chosen: Taskset, split: str, count: int | None) -> Sequence[Task]:
    """Return `count` tasks of a split, or by default up to three."""
    from heredity._core.errors import ConfigError, UnknownNameError

    for most in () if count is not None else range(_SAMPLE, 0, -1):
        try:
            return chosen.draw(split, most, SAMPLE_ENTROPY)
        except UnknownNameError:
            raise
        except ConfigError:  # the split has fewer
            continue
    return chosen.draw(split, count or 0, SAMPLE_ENTROPY)


def _task_row(info: TasksetInfo, task: Task, *, answers: bool) -> dict[str, Any]:
    from heredity.engine.kind import KINDS

    row = {"id": task.id, **KINDS.load(info.kind).shown(task)}
    secret = {key: value for key, value in task.spec.items() if key not in row}
    return {**row, "secret": secret} if answers else row


sites_app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

_NAME = Annotated[str, typer.Argument(help="Name of a site, such as local-web.", show_default=False)]


@sites_app.command("list")
def list_sites() -> None:
    """Print the names of the installed sites.

    Example: heredity sites list
    """
    from heredity.engine.questions.pools import SITES

    for name in SITES.names():
        typer.echo(name)


@sites_app.command()
def serve(
    name: _NAME,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="TCP port; 0 takes a free one.")] = 0,
) -> None:
    """Serve a site on 127.0.0.1 until Ctrl-C; the first line printed is its address.

    Example: heredity sites serve local-web --port 8000
    """
    from heredity.engine.questions.pools import SITES

    with activity(), SITES.load(name).serving(port) as address:
        typer.echo(f"http://{address}/")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            typer.echo("ended", err=True)


@sites_app.command()
def write(
    name: _NAME,
    folder: Annotated[Path, typer.Argument(help="Folder to write to; created if missing.", show_default=False)],
) -> None:
    """Write the pages and documents of a site into a folder, and its questions with answers as questions.jsonl.

    Example: heredity sites write local-web varnholm
    """
    from heredity._core.errors import ConfigError
    from heredity.engine.questions.pools import SITES

    site = SITES.load(name)
    try:
        site.write(folder)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}; give another folder") from error
    typer.echo(str(folder))


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

    protocols = [PROTOCOLS.load(name).events for name in PROTOCOLS.names()]
    return lines_schema([pair for events in (EVENTS, *protocols, TEAM_EVENTS) for pair in events.items()])


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


def lines_schema(events: Iterable[tuple[str, type]]) -> dict[str, Any]:
    """Return the schema of a journal's lines.

    Args:
        events: kinds of events, each with the type of its data; protocols may add fields to one, as another type.
    """
    from pydantic import TypeAdapter
    from pydantic.json_schema import JsonSchemaMode

    from heredity._core.described import Described
    from heredity.records.journal import FORMAT

    ordered = sorted(dict.fromkeys(events), key=lambda pair: (pair[0], pair[1].__name__))
    inputs: list[tuple[tuple[str, type], JsonSchemaMode, TypeAdapter[Any]]] = [
        (pair, "serialization", TypeAdapter[Any](pair[1])) for pair in ordered
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
            "properties": {**always, "kind": {"const": name}, "data": data_of[(name, data), "serialization"]},
            "required": ["seq", "at", "kind", "data", "chain"],
            "additionalProperties": False,
        }
        for name, data in ordered
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
        tables = dict[str, KeyTable]()
        for table in (_event_table(line, shared) for line in variants):
            usual = tables.setdefault(table.path, table)
            tables[table.path] = replace(usual, rows=tuple(dict.fromkeys((*usual.rows, *table.rows))))
        return list(tables.values())
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
