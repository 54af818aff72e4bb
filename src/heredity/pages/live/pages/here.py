"""Context of a page: its suite and run, and the addresses of related pages."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from heredity._core.errors import UnknownNameError
from heredity.pages.live.index import Index
from heredity.pages.live.watching import STILL_S
from heredity.results.page import Mono, Named
from heredity.results.text import shorten

TABS = (
    ("Overview", ""),
    ("Lineage", "lineage"),
    ("Candidates", "candidates"),
    ("Submissions", "evaluations"),
    ("Rollouts", "rollouts"),
    ("Model calls", "calls"),
    ("Tasks", "tasks"),
    ("Trace", "trace"),
    ("Journal", "journal"),
    ("Report", "report"),
)


def part(text: object) -> str:
    """Encode a name as a part of an address."""
    return quote(str(text), safe="")


@dataclass(frozen=True)
class Suite:
    """Suite shown by a page.

    Attributes:
        root: path of the server.
        name: name of the suite.
        index: its index.
        alive: whether a process works on it.
        made_s: seconds that pages waited for the (first) index; 0 if it existed.
    """

    root: str
    name: str
    index: Index
    alive: bool
    made_s: float = 0.0

    def url(self, *parts: object, **query: object) -> str:
        """Return the address of a page of the suite."""
        tail = "".join(f"/{part(piece)}" for piece in parts if piece != "")
        return f"{self.root}/s/{part(self.name)}{tail}" + (f"?{urlencode(query)}" if query else "")

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        """Pages above those of its runs."""
        return [(self.name, self.url())]

    @property
    def follow(self) -> str:
        """Address of its change events."""
        return self.url("live")

    def runs(self) -> list[Run]:
        """Return its runs, sorted by name."""
        return [Run(self, row, json.loads(row["facts"])) for row in self.index.rows("SELECT * FROM runs ORDER BY name")]

    def run(self, name: str) -> Run:
        """Return a run.

        Raises:
            UnknownNameError: if the run does not exist.
        """
        rows = self.index.rows("SELECT * FROM runs WHERE name = ?", (name,))
        if not rows:
            raise UnknownNameError(
                "run", name, [row["name"] for row in self.index.rows("SELECT name FROM runs LIMIT 500")]
            )
        return Run(self, rows[0], json.loads(rows[0]["facts"]))


@dataclass(frozen=True)
class Run:
    """Run shown by a page: its row of the index and its facts."""

    suite: Suite
    row: sqlite3.Row
    facts: Mapping[str, Any]

    @property
    def id(self) -> int:
        """Its number in the index."""
        return self.row["id"]

    @property
    def name(self) -> str:
        """Its name."""
        return self.row["name"]

    @property
    def folder(self) -> Path:
        """Its folder, as listed: never built from a request."""
        folder = self.suite.index.folder
        return folder / "runs" / self.name if (folder / "runs" / self.name / "journal.jsonl").is_file() else folder

    @property
    def state(self) -> str:
        """Its state, in one word."""
        if self.row["damage"]:
            return "damaged"
        if self.facts.get("status"):
            return str(self.facts["status"])
        # The lock shows a process that has just died; for one on another machine, recent writes count.
        if not self.suite.alive and time.time() - self.facts.get("last", 0) > STILL_S:
            return "stopped"
        return "judging" if self.facts.get("closed") else "evolving"

    def url(self, *parts: object, **query: object) -> str:
        """Return the address of a page of the run."""
        return self.suite.url("r", self.name, *parts, **query)

    def link(self, name: str, *parts: object) -> Named:
        """Return a name that links to a page of the run."""
        return Named(name, run=self.url(*parts))

    def candidate(self, digest: str, length: int = 10) -> Named | Mono | None:
        """Return a digest that links to its candidate's page; plain in a run that does not record candidates."""
        if digest and not self.facts.get("candidates"):
            return Mono(digest, length)
        return Named(digest[:length], run=self.url("c", digest), title=digest) if digest else None

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        """Pages above those of the run."""
        return [*self.suite.crumbs, (shorten(self.name, 60), self.url())]

    def tabs(self, here: str) -> list[tuple[str, str, bool]]:
        """Return the tabs of the run; `here` is the current one."""
        counts = {
            "candidates": "candidates",
            "evaluations": "submissions",
            "rollouts": "rollouts",
            "calls": "calls",
            "tasks": "tasks",
        }
        return [
            (
                f"{name} {self.facts[counts[tail]]}" if self.facts.get(counts.get(tail, "")) else name,
                self.url(tail),
                tail == here,
            )
            for name, tail in TABS
            if tail != "tasks" or self.facts.get("tasks")
        ]
