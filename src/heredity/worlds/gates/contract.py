"""What a gate is given and what it says: a subject, findings of one kind each, a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity.ids import digest_bytes, digest_json
from heredity.worlds.contract import Action
from heredity.worlds.gates.patience import PATIENCE
from heredity.worlds.world import SPLITS, Level, World

CERTIFICATE = "certificate.json"

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: a word for it; a gate finds each kind once.
        message: what was seen where it was seen first, and what is expected instead.
        count: how often it was seen.
        level: where it was seen first; empty where it is no matter of a level.
        actions: what leads there from the level's start, as an agent gives it.
    """

    kind: str
    message: str
    count: int = 1
    level: str = ""
    actions: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; what JSON cannot write of a malformed action is written as text."""
        actions = json.loads(json.dumps(list(self.actions), default=repr).replace("NaN", '"NaN"'))
        head = {"kind": self.kind, "message": self.message, "count": self.count}
        return {**head, "trace": {"level": self.level, "actions": actions} if self.level else None}


class Findings:
    """Collects findings: the first of each kind with its trace, the others as a count."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, level: str = "", actions: Iterable[Any] = ()) -> None:
        """Note a fault."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            given = tuple(action.to_json() if isinstance(action, Action) else action for action in actions)
            self._first[kind] = Finding(kind, message, 1, level, given)

    def __contains__(self, kind: str) -> bool:
        return kind in self._first

    def all(self) -> tuple[Finding, ...]:
        """Return what was found, in the order in which it was."""
        return tuple(
            Finding(one.kind, one.message, self._counts[kind], one.level, one.actions)
            for kind, one in self._first.items()
        )


@dataclass(frozen=True, slots=True)
class GateReport:
    """What a gate came to.

    Attributes:
        gate: its name.
        findings: why it rejects; none is passed.
        figures: what was done and measured.
        left_out: why it was not executed; `""` if it was.
        unjudged: why it could not be brought to an end, so that it says nothing about the world; `""` if it could.
    """

    gate: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any]
    left_out: str = ""
    unjudged: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing was found; not if it could not be judged."""
        return not self.findings and not self.unjudged

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        findings = [finding.to_json() for finding in self.findings]
        if self.left_out:
            return {"gate": self.gate, "passed": None, "left_out": self.left_out}
        if self.unjudged:
            return {"gate": self.gate, "passed": None, "unjudged": self.unjudged}
        return {"gate": self.gate, "passed": self.passed, "findings": findings, "figures": dict(self.figures)}


@dataclass(frozen=True)
class Subject:
    """A world at the gates.

    Attributes:
        world: the world.
        levels: its shipped levels, test before validation.
        seed: what all chance of the gates comes from.
        patience: processor seconds that an episode may take before its lines are counted (`gates.patience`).
        library: worlds that it must not be a copy of, by name.
    """

    world: World
    levels: Sequence[Level]
    seed: int = 0
    patience: float = PATIENCE
    library: Mapping[str, World] = field(default_factory=dict[str, World])

    @classmethod
    def of(cls, world: World, *, seed: int = 0, patience: float = PATIENCE, library: Mapping[str, World]) -> Subject:
        """Return a world with all its levels."""
        levels = [level for split in SPLITS for level in world.shipped[split]]
        return cls(world, levels, seed, patience, library)

    def some(self, count: int) -> list[Level]:
        """Return some of the levels, spread over the difficulties."""
        step = max(1, len(self.levels) / count)
        return [self.levels[int(step * index)] for index in range(min(count, len(self.levels)))]


Gate = Callable[[Subject, Findings], Figures]
"""Looks at a subject, notes what it finds, and returns its figures."""


def files_digest(world: World) -> str:
    """Return the digest of the files of a world, without its certificate."""
    return digest_json({name: digest_bytes(data) for name, data in world.sources.items() if name != CERTIFICATE})
