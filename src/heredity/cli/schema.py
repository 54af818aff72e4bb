"""`heredity schema`: JSON Schema of what is written and read: results, configurations, the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Format(StrEnum):
    """What there is a schema of."""

    config = "config"
    journal = "journal"


def schema(what: Annotated[Format, typer.Argument(help="config or journal.")]) -> None:
    """Print the JSON Schema of a format, with the parts of every protocol that is installed."""
    composed = {Format.config: config_schema, Format.journal: journal_schema}[what]()
    typer.echo(json.dumps({"$schema": DRAFT, **composed}, indent=2, ensure_ascii=False))


def config_schema() -> dict[str, Any]:
    """Return the schema of a suite.toml, as JSON values."""
    from heredity.experiments.config import Config

    return Config.model_json_schema()


def journal_schema() -> dict[str, Any]:
    """Return the schema of a line of journal.jsonl."""
    from heredity.protocols.harness_evolution import events as harness
    from heredity.protocols.post_training import events as training
    from heredity.records.events import EVENTS

    return lines_schema({**EVENTS, **harness.EVENTS, **training.EVENTS})


def lines_schema(events: Mapping[str, type]) -> dict[str, Any]:
    """Return the schema of a journal's lines.

    Args:
        events: the type of the data of each kind of event.
    """
    from pydantic import TypeAdapter
    from pydantic.json_schema import JsonSchemaMode

    from heredity.records.journal import FORMAT

    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (name, "serialization", TypeAdapter[Any](data)) for name, data in sorted(events.items())
    ]
    data_of, shared = TypeAdapter.json_schemas(inputs)
    always = {
        "seq": {"type": "integer", "minimum": 0},
        "at": {"type": "number"},
        "crc": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
        "format": {"const": FORMAT, "description": "In the first line alone."},
    }
    lines = [
        {
            "title": name,
            "type": "object",
            "properties": {**always, "kind": {"const": name}, "data": data_of[name, "serialization"]},
            "required": ["seq", "at", "kind", "data", "crc"],
            "additionalProperties": False,
        }
        for name in sorted(events)
    ]
    return {"title": "A line of journal.jsonl", "anyOf": lines, **shared}
