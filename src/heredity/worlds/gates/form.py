"""The gate "format": what a world says of itself is complete, and what it shows fits what it says."""

from __future__ import annotations

import json
import re
import string
from typing import Any

from heredity.errors import HeredityError
from heredity.worlds.gates.contract import Figures, Findings, Subject
from heredity.worlds.gates.plays import Explorer, Play, given, play, rng_of
from heredity.worlds.gates.states import leaves
from heredity.worlds.world import SPLITS, Level

_WORDS = re.compile(r"[a-z]+")
_RANGE = re.compile(r"(-?\d+) to (-?\d+)")
_LEVELS = 6


def form(subject: Subject, findings: Findings) -> Figures:
    """Check the description, the levels' form, and that observations fit the skin's template and legend."""
    _description(subject, findings)
    _levels(subject, findings)
    _labels(subject, findings)
    accepted: set[str] = set()
    for level in subject.some(_LEVELS):
        explorer = Explorer(subject.world.description, rng_of(subject, level, "form"))
        played = play(subject, level, explorer)
        if played.error:
            continue
        _shown(subject, findings, played)
        _follows(subject, findings, level, played)
        solution = play(subject, level, given(subject.world.levels.solve(level.data)))
        accepted.update(
            action["action"] for action, step in zip(played.actions, played.steps, strict=True) if not step.refused
        )
        accepted.update(
            action.name
            for action, step in zip(solution.actions, solution.steps, strict=False)
            if action is not None and not step.refused
        )
    actions = subject.world.description.actions
    for name in sorted(set(actions) - accepted) if accepted else ():
        findings.add(
            "impossible action", f"{name!r} is described, and was refused wherever it was tried; mend or remove it"
        )
    return {"actions": len(actions), "actions_accepted": len(accepted), "levels": len(subject.levels)}


def _description(subject: Subject, findings: Findings) -> None:
    described = subject.world.description
    for name, action in described.actions.items():
        if len(action.description.split()) < 2:
            findings.add(
                "unexplained action", f"actions.{name}.description is {action.description!r}; say what the action does"
            )
    for field in ("instruction", "observation", "reward", "termination", "generator"):
        if not getattr(described, field).strip():
            findings.add("missing text", f"{field} is empty; write it")
    if not described.actions:
        findings.add("missing actions", "there are no actions; describe at least one")


def _levels(subject: Subject, findings: Findings) -> None:
    shipped = subject.world.shipped
    for split, count in SPLITS.items():
        if len(shipped[split]) != count:
            findings.add("missing levels", f"{split} has {len(shipped[split])} levels; ship {count}")
    names = [level.id for level in subject.levels]
    if len(set(names)) != len(names):
        findings.add("same name", "two levels have one name; name each level of its own")
    for level in subject.levels:
        steps = level.data.get("steps", 1)
        if not isinstance(steps, int) or not 1 <= steps <= 1000:
            findings.add("horizon", f"steps is {steps!r}; give a whole number from 1 to 1000", level.id)


def _labels(subject: Subject, findings: Findings) -> None:
    """Find places of the template whose label names another place of it."""
    parts = list(string.Formatter().parse(subject.world.description.skin.text))
    places = [label for _, label, _, _ in parts if label]
    named: dict[str, set[str]] = {}
    for before, label, _, _ in parts:
        words = _WORDS.findall(before.rsplit("\n", 1)[-1].rsplit(".", 1)[-1].lower())
        if label and len(label) > 1 and label.lower() not in words:
            named[label] = {other for other in places if other.lower() in words}
    for label, others in named.items():
        for other in sorted(others):
            if label in named.get(other, ()):
                message = f"skin.text shows {{{label}}} under the label of {{{other}}}, and the other way round; exchange them"
                findings.add("mislabelled", message)


def _shown(subject: Subject, findings: Findings, played: Play) -> None:
    skin = subject.world.description.skin
    for index, text in enumerate(played.shown):
        if not set(text) <= set(string.printable):
            odd = sorted(set(text) - set(string.printable))[0]
            findings.add(
                "unreadable",
                f"the observation holds {odd!r}; use printable ASCII",
                played.level,
                played.actions[:index],
            )
    episode = subject.world.start(next(level for level in subject.levels if level.id == played.level).data)
    for index in range(len(played.actions) + 1):
        if index:
            episode.step(played.actions[index - 1])
        omega = episode.observe()
        _values(findings, omega, played, index)
        strange = sorted({mark for row in omega.get("grid", ()) for mark in row} - {*skin.legend, *string.digits, " "})
        if strange and skin.legend:
            findings.add(
                "unexplained symbol",
                f"the grid shows {strange[0]!r}, which skin.legend does not explain; add it",
                played.level,
                played.actions[:index],
            )


def _values(findings: Findings, omega: dict[str, Any], played: Play, index: int) -> None:
    try:
        json.dumps(omega, allow_nan=False)
    except (TypeError, ValueError) as error:
        findings.add("no JSON", f"observe returns what JSON cannot hold: {error}", played.level, played.actions[:index])


def _follows(subject: Subject, findings: Findings, level: Level, played: Play) -> None:
    """Find numbers that are shown under the name of a variable of the state and do not follow it."""
    try:
        episode = subject.world.start(level.data)
    except HeredityError:
        return
    apart: dict[str, dict[float, float]] = {}
    for index in range(len(played.actions) + 1):
        if index:
            episode.step(played.actions[index - 1])
        omega, held_by = episode.observe(), _by_name(episode.state)
        for name, value in omega.items():
            gauge = omega.get("gauges", {}).get(name)
            if _number(value) and gauge is not None and gauge[0] != value:
                message = f"{name!r} is shown as {value:g}, and its gauge as {gauge[0]:g}; show one of them in both"
                findings.add("mislabelled", message, level.id, played.actions[:index])
            limits = _RANGE.search(subject.world.description.state.get(name, ""))
            if _number(value) and limits and not float(limits[1]) - 1 <= value <= float(limits[2]) + 1:
                message = f"{name!r} is shown as {value:g}, and state.{name} says {limits[0]}; show what its name says"
                findings.add("mislabelled", message, level.id, played.actions[:index])
            held = held_by.get(name)
            if _number(value) and isinstance(held, int | float) and name not in ("t", "steps"):
                before = apart.setdefault(name, {}).setdefault(held, value)
                if before != value:
                    message = f"{name!r} is shown as {value:g}, and as {before:g} before, where the state holds {held:g} both times"
                    findings.add("mislabelled", message, level.id, played.actions[:index])


def _by_name(state: Any) -> dict[str, Any]:
    """Return the values of a state by name, of names that stand in it once."""
    named: dict[str, list[Any]] = {}
    for path, value in leaves(state).items():
        if path:
            named.setdefault(path[-1].strip("'"), []).append(value)
    return {name: values[0] for name, values in named.items() if len(values) == 1}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
