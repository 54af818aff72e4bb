"""Choose a benchmark from a pool of worlds (AutoEnv, section 3.3 and tables 1, A6 and A7).

Worlds that are too easy or too hard for scripted players are excluded. The rest is sampled down to the requested size,
so that kinds of reward, observation and semantics are balanced and worlds differ in behaviour. Capabilities are
detected from the behaviour of the state. All chance comes from the gates' named seeds, so the same pool gives the same
result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, FiniteFloat, TypeAdapter

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_text
from heredity._core.refusals import reading
from heredity.kinds.world.gates.contract import CERTIFICATE, Findings, Subject, files_digest
from heredity.kinds.world.gates.novelty import Fingerprint, distance, fingerprint
from heredity.kinds.world.gates.plays import PLAYERS, reliability
from heredity.kinds.world.traits import capabilities
from heredity.kinds.world.world import World

AXES: Mapping[str, tuple[str, str]] = {
    "reward": ("binary", "accumulative"),
    "observation": ("full", "partial"),
    "semantics": ("aligned", "inverse"),
}
"""The balanced axes: the columns of table 1."""

EASY, HARD = 0.9, 0.0
"""Default limits on mean shares of the bound: a world is too easy if one-step lookahead gets `EASY` or more, and too
hard if the strongest search gets less than `HARD`, that is, if it loses.
"""


@dataclass(frozen=True)
class Candidate:
    """A world of the pool with its measurements.

    Attributes:
        world_name: its name or path.
        world: the world.
        means: mean shares of the bound, by player of the reliability gate.
        fingerprint: figures of its behaviour.
        found: capabilities detected from the behaviour of its state.
    """

    world_name: str
    world: World
    means: Mapping[str, float]
    fingerprint: Fingerprint
    capabilities_found: tuple[str, ...]

    def value(self, axis: str) -> str:
        """Return its value on an axis."""
        return str(getattr(self.world.description.meta, axis))

    def row(self) -> dict[str, Any]:
        """Return its row of table A6, and of table A7 as detected and as declared."""
        described = self.world.description
        return {
            "world": self.world_name,
            "title": described.meta.title,
            **{axis: self.value(axis) for axis in AXES},
            "actions": len(described.actions),
            "lines": lines_of(self.world),
            "means": dict(self.means),
            "found": list(self.capabilities_found),
            "declared": list(described.meta.capabilities),
        }


@dataclass(frozen=True)
class Curation:
    """The result of a curation.

    Attributes:
        chosen: the benchmark, in the order in which worlds were taken.
        left: suitable worlds that were not taken.
        out: reasons why others were excluded, by path.
    """

    chosen: tuple[Candidate, ...]
    left: tuple[Candidate, ...]
    out: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values: the worlds, table 1, and the agreement of detected and declared capabilities."""
        return {
            "worlds": [one.row() for one in self.chosen],
            "left": [one.world_name for one in self.left],
            "out": dict(self.out),
            "table_1": table_1(self.chosen),
            "agreement": agreement(self.chosen),
        }


def candidate(world_name: str, world: World, means: Mapping[str, float] | None = None) -> Candidate:
    """Measure a world.

    Args:
        world_name: its name or path.
        world: the world, with its levels.
        means: the players' scores from a certificate; without them the players play.
    """
    subject = Subject.of(world, library={})
    got: Mapping[str, float] = means if means is not None else reliability(subject, Findings())["means"]
    return Candidate(
        world_name, world, {name: got[name] for name in PLAYERS}, fingerprint(subject), capabilities(subject, got)
    )


def curate(
    pool: Sequence[Candidate],
    size: int,
    *,
    easy: float = EASY,
    hard: float = HARD,
    out: Mapping[str, str] | None = None,
) -> Curation:
    """Choose at most `size` worlds from a pool.

    Worlds are taken one at a time. The next one keeps kinds of reward, observation and semantics most even; on a tie,
    it is the one that behaves most unlike those taken, then the first by name.

    Args:
        pool: the worlds.
        size: maximum number, at least 1.
        easy: see `EASY`.
        hard: see `HARD`.
        out: worlds refused before, with reasons.
    """
    refused, open_ = dict(out or {}), list[Candidate]()
    for one in sorted(pool, key=lambda one: one.world_name):
        reason = _refusal(one, easy, hard)
        if reason:
            refused[one.world_name] = reason
        else:
            open_.append(one)
    prints = [one.fingerprint for one in open_]
    chosen: list[Candidate] = []
    while open_ and len(chosen) < size:
        best = min(open_, key=lambda one: (_unevenness([*chosen, one]), -_apart(one, chosen, prints), one.world_name))
        open_.remove(best)
        chosen.append(best)
    return Curation(tuple(chosen), tuple(open_), refused)


def table_1(worlds: Sequence[Candidate]) -> dict[str, dict[str, float]]:
    """Return count, ratio, actions and lines by column of table 1, and of all worlds together."""
    columns = {
        value: [one for one in worlds if one.value(axis) == value] for axis, values in AXES.items() for value in values
    }
    return {name: _column(group, len(worlds)) for name, group in {**columns, "all": list(worlds)}.items()}


def agreement(worlds: Sequence[Candidate]) -> dict[str, dict[str, int]]:
    """Return for each capability how often it is detected and declared, only detected, only declared, and neither."""
    from heredity.kinds.world.description import CAPABILITIES

    words = {(True, True): "both", (True, False): "found", (False, True): "declared", (False, False): "neither"}
    counts = {name: dict.fromkeys(words.values(), 0) for name in CAPABILITIES}
    for one in worlds:
        for name in CAPABILITIES:
            counts[name][words[name in one.capabilities_found, name in one.world.description.meta.capabilities]] += 1
    return counts


def lines_of(world: World) -> int:
    """Return the number of lines of a world's rules: Python and YAML, without levels and empty lines."""
    texts = [data for name, data in world.sources.items() if name.endswith((".py", ".yaml"))]
    return sum(bool(line.strip()) for data in texts for line in data.decode(errors="replace").splitlines())


def _refusal(one: Candidate, easy: float, hard: float) -> str:
    greedy, much = one.means["greedy"], one.means["search-much"]
    if max(greedy, one.means["random"]) >= easy:
        return f"too easy: {max(greedy, one.means['random']):.2f} of the bounds without a plan, at least {easy:g}"
    return f"too hard: the strongest search gets {much:.2f} of the bounds, less than {hard:g}" if much < hard else ""


def _unevenness(worlds: Sequence[Candidate]) -> int:
    counts = [[sum(one.value(axis) == value for one in worlds) for value in values] for axis, values in AXES.items()]
    cells = [tuple(one.value(axis) for axis in AXES) for one in worlds]
    return sum((a - b) ** 2 for a, b in counts) + max(map(cells.count, cells))


def _apart(one: Candidate, chosen: Sequence[Candidate], prints: Sequence[Fingerprint]) -> float:
    return min((distance(one.fingerprint, other.fingerprint, prints) for other in chosen), default=math.inf)


def _column(group: Sequence[Candidate], count: int) -> dict[str, float]:
    rows = [one.row() for one in group]
    means = {key: float(np.mean([row[key] for row in rows])) if rows else math.nan for key in ("actions", "lines")}
    plain = {key: None if math.isnan(mean) else round(mean, 2) for key, mean in means.items()}
    return {"count": len(group), "ratio": round(len(group) / max(1, count), 4), **plain}  # type: ignore[dict-item]


class _Gate(BaseModel):
    gate: str
    figures: dict[str, Any] = {}


class _Certificate(BaseModel):
    """Required fields of a `certificate.json`; others are ignored."""

    admitted: bool
    digest: str
    gates: tuple[_Gate, ...]


def certified(folder: Path) -> Mapping[str, float]:
    """Return the players' scores from a folder's certificate.

    Raises:
        ConfigError: if it is missing, or was issued for other files.
    """
    path = folder / CERTIFICATE
    remedy = f"run heredity worlds admit {folder}"
    with reading(path, "JSON", remedy, model=_Certificate):
        certificate = _Certificate.model_validate(json_value(read_text(path)))
    means = [gate.figures.get("means") for gate in certificate.gates if gate.gate == "reliability"]
    with reading(f"{path}: the gate reliability", "one that says what players got", remedy):
        [certified] = TypeAdapter(list[dict[str, FiniteFloat]]).validate_python(means)
    if not certificate.admitted or certificate.digest != files_digest(World(folder)):
        raise ConfigError(
            f"{path} rejects the world, or was issued for other files than {certificate.digest!r:.80}; {remedy}"
        )
    return certified
