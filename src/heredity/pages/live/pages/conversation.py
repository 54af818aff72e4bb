"""Conversations: of a solver with its tools, of a method with its model; shell commands look as in a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from heredity.pages.live.drawing import fragment
from heredity.pages.live.index.rows import mapping, sequence
from heredity.results.text import shorten

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
        calls = [_call(sequence(call)) for call in sequence(message.get("tool_calls"))[:200]]
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


def _call(call: Sequence[Any]) -> dict[str, str]:
    name, arguments = (str(call[1]), call[2]) if len(call) >= 3 else ("unknown", "")
    given: Any = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = arguments
    command = mapping(given).get("command") if name in _SHELLS else None
    return {"name": name, "arguments": cut(given), "command": cut(command) if isinstance(command, str) else ""}
