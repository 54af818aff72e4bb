"""Reports of a folder's audit: findings, one of each kind, and a row per level."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from heredity._core.ids import digest_bytes, digest_json
from heredity._core.outside import json_value, read_text
from heredity.kinds.world.folders.folder import WorldFolder
from heredity.kinds.world.folders.plays import Action, Played

Row = dict[str, Any]


def digest_of(folder: WorldFolder, steps: int, levels: Sequence[str]) -> str:
    """Return the digest of everything that a report depends on: the folder, the options, and the auditing code."""
    return digest_json([folder.digest, steps, sorted(levels), _code()])


def kept_report(out: Path, folder: WorldFolder, digest: str) -> Row | None:
    """Return the stored report of a folder, as JSON values; None if there is none or it is outdated."""
    try:
        row = json_value(read_text(_path(out, folder.path)))
    except (OSError, ValueError):
        return None
    same = isinstance(row, dict) and row.get("digest") == digest and row.get("folder") == str(folder.path)
    return row if same and not row.get("unjudged") else None


def keep(out: Path, report: FolderReport, digest: str) -> Row:
    """Store a report, and return it as JSON values."""
    out.mkdir(parents=True, exist_ok=True)
    row = {**report.to_json(), "digest": digest}
    path = _path(out, Path(report.folder))
    written = path.with_suffix(".part")
    written.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    written.replace(path)  # Written atomically, so that a kill leaves no partial report.
    return row


def _path(out: Path, folder: Path) -> Path:
    return out / f"{folder.name}.json"


@cache
def _code() -> str:
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return digest_json({path.name: digest_bytes(path.read_bytes()) for path in paths})


SLACK = 5e-4
"""Relative tolerance before a total counts as beating a bound: written bounds are rounded."""
_MOST_OTHERS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of finding, with its clearest occurrence.

    Attributes:
        kind: such as `"invalid-income"`.
        fault: True for a fault; the others are notes.
        text: description of the clearest occurrence.
        level: the `world_id` there, `""` if it is not about a level.
        seed: the seed there; None if no play is needed to reproduce it.
        actions: the actions that reproduce it, `[]` if none.
        levels: all affected levels.
        others: further cases of the kind.
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
        """Level, seed and actions in one line, repeated actions merged."""
        runs = [(action, len(list(same))) for action, same in groupby(self.actions, key=repr)]
        steps = ", ".join(f"{action} x {count}" if count > 1 else action for action, count in runs)
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.level}{seed}: {steps}" if steps else f"{self.level}{seed}"


class FindingList:
    """Collects findings and merges those of a kind: the clearest one is kept, then the first."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[float, Finding]]] = {}

    def add(self, kind: str, fault: bool, text: str, played: Played | None = None, weight: float = 0.0) -> None:
        """Record a finding; `weight` is its clarity."""
        level, seed, actions = "", None, ()
        if played is not None:
            level, seed, actions = played.level or "a generated level", played.seed, played.actions
        self._rows.setdefault(kind, []).append((weight, Finding(kind, fault, text, level, seed, actions)))

    def of_level(self, kind: str, fault: bool, text: str, level: str) -> None:
        """Record a finding about a level that needs no play to reproduce."""
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
    """The results for a level.

    Attributes:
        level: the `world_id`.
        upper_bound: the declared one; None if there is none.
        best: the best-paid play of valid actions.
        abused: a play that paid more, with invalid actions; None if there is none.
        moments: number of states reached by an exhaustive search, ignoring time.
        most: the maximum reward, if all states were reached; else None.
        solvable: `"shown"`: a play reached the bound; `"in part"`: one earned something; `"unsolvable"`: an exhaustive
            search found no reward; else `"not shown"`.
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
        """The reward proved reachable by valid actions, if it is exact or exceeds the declared bound."""
        best = self.best.total if self.best else 0.0
        if self.most is not None:
            return self.most
        return best if self.upper_bound is None or best > self.upper_bound * (1 + SLACK) else self.upper_bound

    @property
    def basis(self) -> str:
        """The basis of `corrected`: `"exact"`, `"at least"` (it was collected), or `"declared"` (not refuted)."""
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
        folder: its path.
        found: the findings.
        levels: one row per level; `copies`: those whose file has the same contents as another.
        plays: number of plays, and `steps` of searches; `seconds`: duration.
        unjudged: reason why it did not finish, so that missing findings mean nothing; `""` if it did.
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
        """Number of kinds of faults."""
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
