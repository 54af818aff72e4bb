"""The gate "novelty": compares the behaviour of a world, not its words, with the library."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from heredity.kinds.world.gates.contract import Figures, Findings, Subject, files_digest
from heredity.kinds.world.gates.plays import drawn, given, play
from heredity.kinds.world.verify import plain_actions
from heredity.kinds.world.world import world, world_names

_DIGITS = re.compile(r"\d+")
NEAR = 0.33
"""Worlds closer than this are copies.

Different plays of one world are up to 0.26 apart, two worlds of the library at least 0.41.
"""
STORED = Path(__file__).with_name("fingerprints.json")
"""Stored fingerprints of the installed worlds, which take half a second each to compute."""
_PLAYS = 3
_PLACES = 6

Fingerprint = Mapping[str, float]


def novelty(subject: Subject, findings: Findings) -> Figures:
    """Find the nearest other world of the library, and reject a near copy."""
    others = {name: of_library(name) for name, other in subject.library.items() if other.folder != subject.world.folder}
    if not others:
        return {"compared": 0, "nearest": None, "distance": None}
    mine = fingerprint(subject)
    distances = {name: distance(mine, other, others.values()) for name, other in others.items()}
    nearest = min(distances, key=distances.__getitem__)
    if distances[nearest] < NEAR:
        apart = f"{distances[nearest]:.2f} apart, expected at least {NEAR:g}"
        message = f"it behaves like {nearest} ({apart}); change its rules"
        findings.add("near copy", message)
    figures: Figures = {"compared": len(others), "nearest": nearest, "distance": round(distances[nearest], 4)}
    return {**figures, "near": NEAR, "fingerprint": rounded(mine)}


def fingerprint(subject: Subject) -> Fingerprint:
    """Return figures of a world's behaviour: blind players and the solution on its levels, ignoring all words."""
    described, levels, subject = subject.world.description, subject.levels, replace(subject, seed=0)
    blind = [play(subject, level, drawn(subject, level, f"novelty-{n}")) for level in levels for n in range(_PLAYS)]
    solved = [play(subject, level, given(subject.world.levels.solve(level.data))) for level in levels]
    steps = [(action["action"], step) for one in blind for action, step in zip(one.actions, one.steps, strict=False)]
    count = max(1, len(steps))
    refused = sorted(
        np.mean([step.refused for name, step in steps if name == action] or [0.0]) for action in described.actions
    )
    bounds = np.array([level.upper_bound.value for level in levels])
    bound = {level.id: level.upper_bound.value or 1.0 for level in levels}
    horizon = {level.id: level.data.get("steps", described.max_steps) for level in levels}
    messages = {_DIGITS.sub("#", step.message) for _, step in steps}
    paid = [step.reward for _, step in steps if step.reward]
    used = [len({a.name for a in one.actions if a is not None}) / max(1, len(described.actions)) for one in solved]
    return {
        "actions": math.log(len(described.actions) + 1),
        "parameters": math.log(1 + sum(len(action.params) for action in described.actions.values())),
        "choices": math.log(len(plain_actions(described)) + 1),
        "binary": float(described.meta.reward == "binary"),
        "horizon": math.log(np.mean([*horizon.values()])),
        "bound": math.log(1 + bounds.mean()),
        "bound_spread": float(bounds.std() / (bounds.mean() or 1.0)),
        "refused_least": float(refused[0]),
        "refused_middle": float(np.median(refused)),
        "refused_most": float(refused[-1]),
        "blind_share": float(np.mean([one.total / bound[one.level] for one in blind])),
        "paid_steps": len(paid) / count,
        "losses": sum(pay < 0 for pay in paid) / count,
        "blind_length": float(np.mean([len(one.steps) / horizon[one.level] for one in blind])),
        "texts": len({text for one in blind for text in one.shown}) / (count + len(blind)),
        "messages": math.log(1 + len(messages)),
        "solution_length": float(np.mean([len(one.steps) / horizon[one.level] for one in solved])),
        "solution_pays": float(np.mean([np.mean([step.reward > 0 for step in one.steps] or [0]) for one in solved])),
        "solution_actions": float(np.mean(used)),
        "beginnings": len({one.shown[0] for one in solved if one.shown}) / max(1, len(solved)),
    }


@cache
def of_library(name: str) -> Fingerprint:
    """Return the fingerprint of an installed world: the stored one, unless the world has changed since."""
    made, stored = world(name), _stored().get(name)
    if stored is not None and stored["digest"] == files_digest(made):
        return stored["fingerprint"]
    return rounded(fingerprint(Subject.of(made, library={})))


def stored_text() -> str:
    """Return the contents of `fingerprints.json`: a newly computed fingerprint of every installed world."""
    lines: list[str] = []
    for name in world_names():
        made = world(name)
        taken = {"digest": files_digest(made), "fingerprint": rounded(fingerprint(Subject.of(made, library={})))}
        lines.append(f" {json.dumps(name)}: {json.dumps(taken)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def _stored() -> Mapping[str, Any]:
    return json.loads(STORED.read_text(encoding="utf-8"))


def rounded(figures: Fingerprint) -> Fingerprint:
    """Return a fingerprint rounded for storage."""
    return {key: round(value, _PLACES) for key, value in figures.items()}


def distance(one: Fingerprint, other: Fingerprint, library: Collection[Fingerprint]) -> float:
    """Return the distance of two worlds: the root mean square of differences, each in the library's standard deviations."""
    spreads = {key: float(np.std([print_[key] for print_ in library])) or 1.0 for key in one}
    return math.sqrt(float(np.mean([((one[key] - other[key]) / spreads[key]) ** 2 for key in one])))
