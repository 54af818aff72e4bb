"""The agent's list of a world's actions: as values, and as text with the symbols of its grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.kinds.world.actions import expected
from heredity.kinds.world.description import ActionDescription, Description


def listed_actions(actions: Mapping[str, ActionDescription]) -> list[dict[str, Any]]:
    """Return each action's name, description, and accepted parameters."""
    return [
        {
            "name": name,
            "description": action.description,
            "parameters": {
                key: f"{expected(kind)}; {kind.description}".strip("; ") for key, kind in action.params.items()
            },
        }
        for name, action in actions.items()
    ]


def actions_text(described: Description) -> str:
    """Return a world's actions and the symbols of its grids as text for an agent, one per line."""
    lines = ["Actions:"]
    for action in listed_actions(described.actions):
        lines.append(f"- {action['name']}: {action['description']}")
        lines += [f"    {key}: {kind}" for key, kind in action["parameters"].items()]
    if described.skin.legend:
        lines += ["", "Symbols:", *(f"  {symbol!r}: {words}" for symbol, words in described.skin.legend.items())]
    return "\n".join(lines)
