"""The interface of gates: a subject as input; findings, one of each kind, and a report as output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity._core.ids import digest_bytes, digest_json
from heredity.kinds.world.contract import Action
from heredity.kinds.world.gates.patience import PATIENCE
from heredity.kinds.world.world import SPLITS, Level, World

CERTIFICATE = "certificate.json"

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: its name; a gate reports each kind once.
        message: the first occurrence, and the expected behaviour.
        count: number of occurrences.
        level: level of the first occurrence; empty if it does not concern a level.
        actions: actions that lead there from the level's start, in an agent's format.
    """

    kind: str
    message: str
    count: int = 1
    level: str = ""
    actions: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; parts of a malformed action that are not JSON become text."""
        actions = json.loads(json.dumps(list(self.actions), default=repr).replace("NaN", '"NaN"'))
        head = {"kind": self.kind, "message": self.message, "count": self.count}
        return {**head, "trace": {"level": self.level, "actions": actions} if self.level else None}


class Findings:
    """Collects findings: the first of each kind with its trace, the others as a count."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, level: str = "", actions: Iterable[Any] = ()) -> None:
        """Record a fault."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            given = tuple(action.to_json() if isinstance(action, Action) else action for action in actions)
            self._first[kind] = Finding(kind, message, 1, level, given)

    def __contains__(self, kind: str) -> bool:
        return kind in self._first

    def all(self) -> tuple[Finding, ...]:
        """Return the findings, in order."""
        return tuple(
            Finding(one.kind, one.message, self._counts[kind], one.level, one.actions)
            for kind, one in self._first.items()
        )


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate.

    Attributes:
        gate: its name.
        findings: the reasons for rejection; an empty list passes.
        figures: counts and measurements.
        left_out: reason why it was not executed; `""` if it was.
        unjudged: reason why it did not finish, so that it says nothing about the world; `""` if it did.
    """

    gate: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any]
    left_out: str = ""
    unjudged: str = ""

    @property
    def passed(self) -> bool:
        """True if there are no findings; False if it could not be judged."""
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
    """A world under test.

    Attributes:
        world: the world.
        levels: its shipped levels, test before validation.
        seed: source of all chance of the gates.
        patience: CPU seconds of an episode before its lines are counted (`gates.patience`).
        library: worlds that it must not copy, by name.
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
"""Signature of a gate: inspects a subject, records findings, and returns its figures."""


def files_digest(world: World) -> str:
    """Return the digest of the files of a world, without its certificate."""
    return digest_json({name: digest_bytes(data) for name, data in world.sources.items() if name != CERTIFICATE})
