"""Choose a benchmark from a pool of worlds (AutoEnv, section 3.3 and tables 1, A6 and A7).

Worlds that are too easy or too hard for scripted players are excluded. The rest is sampled down to the requested
size, so that kinds of reward, observation and semantics are balanced and worlds differ in behaviour. All chance comes
from the gates' named seeds, so the same pool gives the same result.

Capabilities, the columns of table A7, are detected from the behaviour of the state. No words of a world are read,
except its declared semantics, since a state does not show whether words are inverse. Each capability is a rule over a
few plays of an exploring player and of the solution. The agreement of the rules with descriptions is measured
(docs/world-exports.md); they support a curator's decision and prove nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, FiniteFloat, TypeAdapter

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_text
from heredity._core.refusals import reading
from heredity.kinds.world.description import CAPABILITIES
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.gates.contract import CERTIFICATE, Findings, Subject, files_digest
from heredity.kinds.world.gates.novelty import Fingerprint, distance, fingerprint
from heredity.kinds.world.gates.plays import PLAYERS, Explorer, Policy, reliability, rng_of
from heredity.kinds.world.gates.states import Leaves, leaves
from heredity.kinds.world.world import Level, World

_LEVELS = 3
_MOVED = 0.15
"""Least share of steps at which a coordinate changes by one, for an agent's position."""
_GAUGES = 2
_SYMBOLS = 6
_AHEAD = 0.3

LeafPath = tuple[str, ...]


@dataclass(frozen=True)
class _Change:
    """The effect of a step: leaves before and after; whether the action was refused."""

    before: Leaves
    after: Leaves
    refused: bool

    def changed(self) -> list[LeafPath]:
        return [path for path, value in self.after.items() if self.before.get(path) != value]


def capabilities(subject: Subject, means: Mapping[str, float]) -> tuple[str, ...]:
    """Return the detected capabilities, in the order of `CAPABILITIES`.

    Args:
        subject: the world with its levels.
        means: mean shares of the bound by player (see `heredity.kinds.world.gates.plays`).
    """
    changes = [change for level in subject.some(_LEVELS) for change in _changes(subject, level)]
    clocks = _clocks(changes)
    meta = subject.world.description.meta
    asked = {
        "navigation": _walks(changes),
        "memory": meta.observation == "partial",
        "inversion": meta.semantics == "inverse",
        "control": len(_gauges(changes, clocks)) >= _GAUGES,
        "pattern": _symbols(changes) >= _SYMBOLS,
        "planning": means["solution"] - means["greedy"] >= _AHEAD,
        "adversarial": _moves_by_itself(changes, clocks),
    }
    return tuple(name for name in CAPABILITIES if asked[name])


def _changes(subject: Subject, level: Level) -> list[_Change]:
    explorer = Explorer(subject.world.description, rng_of(subject, level, "traits"))
    solution = iter(subject.world.levels.solve(level.data))
    changes: list[_Change] = []
    policies: list[Policy] = [explorer, lambda _: next(solution, None), lambda _: None]
    for policy in policies:
        episode: Episode = subject.world.start(level.data)
        before = leaves(episode.state)
        while not episode.done:
            step = episode.step(policy(episode))
            after = leaves(episode.state)
            changes.append(_Change(before, after, step.refused))
            before = after
    return changes


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clocks(changes: Sequence[_Change]) -> set[LeafPath]:
    """Return paths of counters: numbers that change by the same amount at almost every step."""
    steps: dict[LeafPath, Counter[float]] = {}
    for change in changes:
        for path, value in change.after.items():
            old = change.before.get(path)
            if _number(value) and _number(old):
                steps.setdefault(path, Counter())[value - old] += 1  # type: ignore[operator]
    return {path for path, tally in steps.items() if any(by and n >= 0.9 * tally.total() for by, n in tally.items())}


def _walks(changes: Sequence[_Change]) -> bool:
    """Return True if some pair of integers is a position that changes in single steps."""
    moved: Counter[LeafPath] = Counter()
    taken = [change for change in changes if not change.refused]
    for change in taken:
        for path in {path[:-1] for path in change.changed()}:
            pair = [(change.before.get((*path, key)), change.after.get((*path, key))) for key in ("0", "1")]
            if all(type(old) is type(new) is int for old, new in pair) and (*path, "2") not in change.after:
                moved[path] += sum(abs(new - old) for old, new in pair) == 1  # type: ignore[operator]
    return any(count >= _MOVED * len(taken) for count in moved.values())


def _gauges(changes: Sequence[_Change], clocks: set[LeafPath]) -> set[LeafPath]:
    """Return paths of numbers that go both up and down, by different amounts: stocks and dials, not positions or clocks."""
    ups: dict[LeafPath, set[float]] = {}
    for change in changes:
        for path in change.changed():
            old, new = change.before.get(path), change.after[path]
            if _number(old) and _number(new) and path not in clocks:
                ups.setdefault(path, set()).add(new - old)  # type: ignore[operator]
    return {path for path, by in ups.items() if any(d > 0 for d in by) and any(d < 0 for d in by) and len(by) > _GAUGES}


def _symbols(changes: Sequence[_Change]) -> int:
    """Return the largest number of leaves in one list or grid that change during play."""
    lists: dict[LeafPath, set[LeafPath]] = {}
    for change in changes:
        for path in change.changed():
            if path and path[-1].isdecimal():
                lists.setdefault(path[:-1], set()).add(path)
    return max(map(len, lists.values()), default=0)


def _moves_by_itself(changes: Sequence[_Change], clocks: set[LeafPath]) -> bool:
    """Return True if much of the state, clocks aside, changes also when an action is refused, so something else acts."""
    refused = [change for change in changes if change.refused]
    acts = [any(path not in clocks for path in change.changed()) for change in refused]
    return bool(acts) and sum(acts) > len(acts) / 2


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
