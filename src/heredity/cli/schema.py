"""`heredity schema`: JSON Schema of results, configurations, the journal, cards and descriptions of worlds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Format(StrEnum):
    """Formats that have a schema."""

    results = "results"
    config = "config"
    journal = "journal"
    card = "card"
    world = "world"


def schema(what: Annotated[Format, typer.Argument(help="results, config, journal, card or world.")]) -> None:
    """Print the JSON Schema of a format, with the parts of every protocol that is installed.

    Example: heredity schema journal
    """
    made = {
        Format.results: results_schema,
        Format.config: config_schema,
        Format.journal: journal_schema,
        Format.card: card_schema,
        Format.world: world_schema,
    }
    composed = made[what]()
    typer.echo(json.dumps({"$schema": DRAFT, **composed}, indent=2, ensure_ascii=False))


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
    from heredity.results.card import Card

    return Card.model_json_schema(mode="serialization")


def world_schema() -> dict[str, Any]:
    """Return the schema of a `world.yaml`, its rules and hooks included."""
    from heredity.engine.kind import KINDS

    return {**KINDS.load("world").schema(), "title": "world.yaml"}


def _any_of(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a union of models, each under its name."""
    from pydantic import TypeAdapter

    schemas, shared = TypeAdapter.json_schemas(
        [(name, "serialization", TypeAdapter[Any](m)) for name, m in models.items()]
    )
    return {"anyOf": [{**schema, "title": name} for (name, _), schema in schemas.items()], **shared}


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
