"""What the audit of a world folder reports: findings, one of each kind, and a row for each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from heredity.rollouts.world.folder_plays import Action, Played

SLACK = 5e-4
"""By this share a total has to be above a bound to beat it: bounds are written down rounded."""
_MOST_OTHERS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of thing that was found.

    Attributes:
        kind: such as `"invalid-income"`.
        fault: whether it is a fault; the others are worth knowing.
        text: what it is, where it shows best.
        level: the `world_id` there, `""` if it is not about one.
        seed: what chance began with; None if it takes no play to see it.
        actions: what to do to see it, `[]` if nothing.
        levels: all levels where it was found.
        others: what else of the kind was found.
    """

    kind: str
    fault: bool
    text: str
    level: str = ""
    seed: int | None = None
    actions: Sequence[Action] = ()
    levels: Sequence[str] = ()
    others: Sequence[str] = ()

    @property
    def reproduction(self) -> str:
        """Level, seed and actions in one line, equal ones together."""
        runs = [(action, len(list(same))) for action, same in groupby(self.actions, key=repr)]
        steps = ", ".join(f"{action} x {count}" if count > 1 else action for action, count in runs)
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.level}{seed}: {steps}" if steps else f"{self.level}{seed}"


class FindingList:
    """Collects findings, and makes one of all of a kind: that which tells most, then the one that came first."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[float, Finding]]] = {}

    def add(self, kind: str, fault: bool, text: str, played: Played | None = None, weight: float = 0.0) -> None:
        """Note something; `weight` says how telling it is."""
        level, seed, actions = "", None, ()
        if played is not None:
            level, seed, actions = played.level or "a generated level", played.seed, played.actions
        self._rows.setdefault(kind, []).append((weight, Finding(kind, fault, text, level, seed, actions)))

    def of_level(self, kind: str, fault: bool, text: str, level: str) -> None:
        """Note something about a level that takes no play to see."""
        self._rows.setdefault(kind, []).append((0.0, Finding(kind, fault, text, level)))

    def all(self) -> list[Finding]:
        """Return one finding of each kind, faults first."""
        merged = [_merged(rows) for rows in self._rows.values()]
        return sorted(merged, key=lambda finding: not finding.fault)


def _merged(rows: Sequence[tuple[float, Finding]]) -> Finding:
    first = max(rows, key=lambda row: row[0])[1]
    levels = tuple(dict.fromkeys(finding.level for _, finding in rows if finding.level))
    others = tuple(dict.fromkeys(finding.text for _, finding in rows if finding.text != first.text))[:_MOST_OTHERS]
    return Finding(first.kind, first.fault, first.text, first.level, first.seed, first.actions, levels, others)


@dataclass(slots=True)
class LevelRow:
    """What was found on a level.

    Attributes:
        level: the `world_id`.
        upper_bound: the declared one; None if there is none.
        best: the play that paid most, of actions that fit.
        abused: one that paid more, with actions that do not fit; None if there is none.
        moments: how many moments an exhaustive search reached, time apart.
        most: the most that can be had, where all moments were reached; None where not.
        solvable: `"shown"`: a play reached the bound; `"in part"`: one was paid something; `"unsolvable"`: an exhaustive search
            showed that nothing pays; else `"not shown"`.
    """

    level: str
    upper_bound: float | None
    best: Played | None = None
    abused: Played | None = None
    moments: int = 0
    most: float | None = None
    solvable: str = "not shown"

    @property
    def corrected(self) -> float | None:
        """The most that was shown to be had by actions that fit, where it is exact or more than the declared bound says."""
        best = self.best.total if self.best else 0.0
        if self.most is not None:
            return self.most
        return best if self.upper_bound is None or best > self.upper_bound * (1 + SLACK) else self.upper_bound

    @property
    def basis(self) -> str:
        """What `corrected` is: `"exact"`, `"at least"` (it was collected), or `"declared"` (nothing speaks against it)."""
        if self.most is not None:
            return "exact"
        return "declared" if self.corrected == self.upper_bound else "at least"

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        best = self.best.total if self.best else None
        share = best / self.upper_bound if best is not None and self.upper_bound else None
        head = {"level": self.level, "bound": self.upper_bound, "best": best, "share": share}
        more = {"abused": self.abused.total if self.abused else None, "moments": self.moments}
        return {**head, **more, "corrected": self.corrected, "basis": self.basis, "solvable": self.solvable}


@dataclass(slots=True)
class FolderReport:
    """The audit of a folder.

    Attributes:
        folder: where it is.
        found: what was found.
        levels: one row for each level; `copies`: those whose file holds the same as another.
        plays: how many plays it took, and `steps` of searches; `seconds`: how long.
        unjudged: why it came to no end, so that what it did not find says nothing; `""` if it did.
    """

    folder: str
    found: FindingList = field(default_factory=FindingList)
    levels: list[LevelRow] = field(default_factory=list[LevelRow])
    copies: set[str] = field(default_factory=set[str])
    plays: int = 0
    steps: int = 0
    seconds: float = 0.0
    unjudged: str = ""

    @property
    def findings(self) -> list[Finding]:
        """One finding of each kind, faults first."""
        return self.found.all()

    @property
    def faults(self) -> int:
        """How many kinds of faults there are."""
        return sum(finding.fault for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "folder": self.folder,
            "faults": self.faults,
            "plays": self.plays,
            "steps": self.steps,
            "seconds": self.seconds,
            "unjudged": self.unjudged,
            "findings": [asdict(finding) for finding in self.findings],
            "levels": [row.to_json() for row in self.levels],
        }
