"""Improve: checks new texts for variables and applies them to the committed candidate (Autogenesis, section E.3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.methods.operators.dialogue import Failed
from heredity.methods.proposals import Proposed, Revision, Turn
from heredity.methods.targets import UnchangedError, checked_edits


@dataclass(frozen=True, slots=True)
class Edits:
    """A reply of the form `improve`: variable to new text (None removes it), the reason, and the expectation."""

    values: Mapping[str, str | None]
    why: str
    expects: str


async def improve(turn: Turn, draw: int = 0, **more: Any) -> Proposed:
    """Ask for edits and apply them.

    Args:
        turn: the current turn of the loop.
        draw: number of the proposal in the turn, from 0.
        **more: additional input for the model: `hypotheses`, `selections`, `gradients`.
    """
    edits = await ask_edits(turn, draw, **more)
    return edits if isinstance(edits, Failed) else apply(turn, edits)


async def ask_edits(turn: Turn, draw: int, only: str = "", **more: Any) -> Edits | Failed:
    """Ask for edits that can be applied, without applying them; arguments as `improve`.

    Args:
        turn: the current turn of the loop.
        draw: number of the proposal in the turn, from 0.
        only: the one variable to rewrite; empty for any.
        **more: additional input for the model.
    """
    data, refused = turn.data(draw=draw, **more), dict[str, str | None]()

    def read(reply: Mapping[str, Any]) -> Edits:
        edits = edits_in(reply)
        if only and set(edits.values) != {only}:
            raise ConfigError(f"{only} was to be rewritten, and nothing else")
        try:
            _made(turn, edits)
        except UnchangedError:
            pass  # A model that wants to leave things as they are is not asked again.
        except ConfigError:
            refused.clear()
            refused.update(edits.values)
            raise
        return edits

    edits = await turn.dialogue.ask("improve", data, read, (turn.number, turn.stage, draw))
    return replace(edits, edits=refused) if isinstance(edits, Failed) and refused else edits


def apply(turn: Turn, edits: Edits) -> Proposed:
    """Build the revision from edits; `Failed` gives the reason for the model if they cannot be applied."""
    try:
        return _made(turn, edits)
    except ConfigError as error:
        return Failed(f"improve: {error}", edits.values)


def _made(turn: Turn, edits: Edits) -> Revision:
    for variable, value in edits.values.items():
        if value is not None and len(value) > turn.options.value_chars:
            raise ConfigError(
                f"the new text of {variable} has {len(value)} characters; {turn.options.value_chars} are allowed"
            )
    made = checked_edits(turn.base.candidate, turn.targets, edits.values)
    return Revision(made, edits.values, edits.why, edits.expects)


def edits_in(reply: Mapping[str, Any]) -> Edits:
    """Read a reply of the form `improve`.

    Raises:
        ConfigError: if it has no edits, or one of them is malformed.
    """
    given = reply.get("edits")
    if not isinstance(given, list) or not given:
        raise ConfigError(f'"edits" is {given!r:.80}; expected a list with at least one edit')
    values: dict[str, str | None] = {}
    reasons: list[str] = []
    for edit in cast("list[Any]", given):
        if not isinstance(edit, dict) or not isinstance(edit.get("variable"), str) or "value" not in edit:
            raise ConfigError(f'an edit is {edit!r:.80}; expected an object with "variable" and "value"')
        if edit["value"] is not None and not isinstance(edit["value"], str):
            raise ConfigError(f"the value of {edit['variable']} is {edit['value']!r:.80}; expected a text or null")
        if edit["variable"] in values:
            raise ConfigError(f"{edit['variable']} is edited twice; give one whole new text")
        values[edit["variable"]] = edit["value"]
        reasons.append(one_line(edit.get("why")))
    return Edits(values, "; ".join(filter(None, reasons)), one_line(reply.get("expects")))


def one_line(value: Any, chars: int = 200) -> str:
    """Return a text on one line, cut to `chars`; `""` for other values."""
    return " ".join(value.split())[:chars] if isinstance(value, str) else ""
