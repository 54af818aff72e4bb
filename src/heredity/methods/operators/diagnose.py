"""Diagnose and draw: hypotheses informed by the previous round's signals, then several independent proposals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.errors import ConfigError
from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import improve
from heredity.methods.proposals import Proposed, Turn
from heredity.methods.targets import may_be_added
from heredity.resources import Candidate
from heredity.resources.assembly import variables

Items = list[dict[str, Any]]


async def reflect(turn: Turn) -> Items | Failed:
    """Ask why the agent failed: hypotheses with `cause`, `variables` and `tasks`, the most important first."""
    read = _reader("hypotheses", "cause")
    return await turn.dialogue.ask("reflect", turn.data(), read, (turn.number, turn.stage))


async def select(turn: Turn, hypotheses: Items) -> Items | Failed:
    """Ask for changes: selections with `variable`, `change` and the number of a hypothesis.

    Selections of variables that may not change are dropped.
    """
    data = turn.data(hypotheses=hypotheses)
    limits: list[str] = data["limits"]["new_variables"]
    allowed = {*turn.variables, *limits}

    def read(reply: Mapping[str, Any]) -> Items:
        selections = _reader("selections", "variable")(reply)
        kept = [s for s in selections if s["variable"] in allowed or may_be_added(s["variable"], limits)]
        if not kept:
            raise ConfigError(f"no selection names a variable that may change; these may: {', '.join(sorted(allowed))}")
        return kept

    return await turn.dialogue.ask("select", data, read, (turn.number, turn.stage))


def _reader(key: str, text: str) -> Any:
    """Return a reader of a list of objects that each have a text under `text`; a bare text becomes such an object."""

    def read(reply: Mapping[str, Any]) -> Items:
        given = reply.get(key)
        if not isinstance(given, list):
            raise ConfigError(f'"{key}" is {given!r:.80}; expected a list')
        items: list[Any] = [{text: entry} if isinstance(entry, str) else entry for entry in given]
        for item in items:
            if not isinstance(item, dict) or not isinstance(item.get(text), str):
                raise ConfigError(f'an entry of "{key}" is {item!r:.80}; expected an object with a text under "{text}"')
        return items

    return read


async def draw_proposals(turn: Turn) -> list[Proposed]:
    """Reflect once, then improve once per requested candidate (Diagnose and Improve of E.3.6 and E.3.7)."""
    hypotheses = await reflect(turn)
    if isinstance(hypotheses, Failed):
        return [hypotheses]
    draws = range(turn.options.candidates)
    return await together(improve(turn, draw, hypotheses=hypotheses) for draw in draws)


def text_of(candidate: Candidate) -> str:
    """Return all of a candidate's variables as one text: the y that similarities compare."""
    return "\n".join(f"{name}\n{text}" for name, text in sorted(variables(candidate).items()))
