"""Steps that answer questions: tool calls by agents, and patterns that extract values from the results.

One agent does a step: it calls tools, and patterns extract values from each result. Extracted values fill the
placeholders `{name}` of later calls; `{name*}` takes every match, as a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heredity.library.localweb.site import slug

Call = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """Step of one agent.

    Attributes:
        agent: name of the agent.
        calls: tool calls, each with `tool`, `with` (its arguments) and `find` (patterns by name).
        after: indices of the steps whose results it needs.
    """

    agent: str
    calls: tuple[Call, ...]
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class LocalQuestion:
    """A question.

    Attributes:
        id: unique name.
        level: 1 to 3.
        text: text of the question.
        answer: the right answer.
        steps: steps that find it.
        file: the attached document of the archive (empty for none).
        last: name of the last step's value that is the answer.
    """

    id: str
    level: int
    text: str
    answer: str
    steps: tuple[Step, ...]
    last: str
    file: str = ""

    @property
    def calls(self) -> list[str]:
        """Tools called, in order; their number is the number of hops."""
        return [call["tool"] for step in self.steps for call in step.calls]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tools, sorted: `browse`, `python`, `read`."""
        return tuple(sorted({"browse" if tool.startswith("browser_") else tool for tool in self.calls}))

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents needed, sorted."""
        return tuple(sorted({step.agent for step in self.steps}))


def read(path: str, find: dict[str, str], **more: Any) -> Call:
    """Return a call that reads a page or document."""
    return {"tool": "read", "with": {"path": path, **more}, "find": find}


def browse(action: str, find: dict[str, str] | None = None, **arguments: Any) -> Call:
    """Return a call of a browser action."""
    return {"tool": f"browser_{action}", "with": arguments, "find": find or {}}


def python(code: str) -> Call:
    """Return a call that computes `result`."""
    return {"tool": "python", "with": {"code": code}, "find": {"result": r"(?s)\A'?(.*?)'?\s*\Z"}}


def reader(*calls: Call, after: Sequence[int] = ()) -> Step:
    """Return a step of the agent that reads."""
    return Step("reader", calls, tuple(after))


def surfer(*calls: Call, after: Sequence[int] = ()) -> Step:
    """Return a step of the agent with the browser."""
    return Step("surfer", calls, tuple(after))


def coder(code: str, *after: int) -> Step:
    """Return a step of the agent that computes."""
    return Step("coder", (python(code),), after)


def row(name: str) -> str:
    """Return the pattern of a row of a page's table: the cell next to a name."""
    return rf"\| {name} \| ([^\n(]+?)(?: \(|\n|\Z)"


def page(folder: str, name: str) -> str:
    """Return the path of a thing's page."""
    return f"{folder}/{slug(name)}.html"


DONOR = r'cell "{name}".*\n.*\n *- cell "(.+?)"'
PERSON = "people/{person|slug}.html"


def visits(year: int) -> str:
    """Return the pattern of a year's visits, in the workbook."""
    return rf"A\d+: {year} \| B\d+: (\d+)"


def chair(day: object) -> str:
    """Return the pattern of the chair of a day's meeting, in the minutes."""
    return rf"council, {day}\s+In the chair: (.+)"
