"""The gate "levels": distinct, reproducible from their seeds, solvable, with bounds that hold and are approached."""

from __future__ import annotations

import copy
import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from heredity._core.errors import HostError, IsolationError
from heredity._core.ids import canonical_json, generator
from heredity.kinds.world.contract import Action
from heredity.kinds.world.gates.contract import Figures, Findings, StuckError, Subject, watched
from heredity.kinds.world.gates.plays import Explorer, Greedy, Play, check_hooks, drawn, given, play, repeated, rng_of
from heredity.kinds.world.verify import MALFORMED, SLACK, out_of_range
from heredity.kinds.world.world import DIFFICULTIES, Level

_LEVELS = 4
_CHANGES = 250
_PARTS = 4
"""Minimum number of values in a list or table to count as printed."""
_ALWAYS = {"t", "steps", "message", "grid", "gauges"}
_OPPOSITE = re.compile(
    r"\b(invers\w*|invert\w*|revers\w*|swapped|mirrored|opposite of what|the opposite|mean the contrary|misleading|lies about)\b",
    re.I,
)


def leak(subject: Subject, findings: Findings) -> Figures:
    """Look for hidden values among the exposed ones, and for words that reveal inverse semantics."""
    described = subject.world.description
    hides = list[str]()
    for level in subject.some(_LEVELS):
        plays = list(_plays(subject, level))
        for played in plays:
            _places(subject, findings, level, played)
            _check_printed(findings, level, played)
        if described.meta.observation == "partial":
            hides.append(_hides(subject, level))
    if hides and "yes" not in hides:
        _everything(findings, subject.some(_LEVELS)[0], at_first="until refused" not in hides)
    if described.meta.semantics == "inverse":
        _check_words(subject, findings)
    return {"levels": min(_LEVELS, len(subject.levels)), "hides": hides}


def _plays(subject: Subject, level: Level) -> Iterator[Play]:
    described = subject.world.description
    yield play(subject, level, Explorer(described, rng_of(subject, level, "leak")))
    yield play(subject, level, drawn(subject, level, "leak"))
    yield play(subject, level, repeated(*MALFORMED, *out_of_range(described)), 20)


def _places(subject: Subject, findings: Findings, level: Level, played: Play) -> None:
    """Find exposed values that no skin shows, but programs receive."""
    if played.error:
        return
    template = string.Formatter().parse(subject.world.description.skin.text)
    shown = _ALWAYS | {label for _, label, _, _ in template if label}
    episode = subject.world.start(level.data)
    for index in range(min(4, len(played.actions)) + 1):
        if index:
            episode.step(played.actions[index - 1])
        for name in sorted(set(episode.observe()) - shown):
            message = f"observe exposes {name!r}, which skin.text has no placeholder for; show it or leave it out"
            findings.add("exposed, not shown", message, level.id, played.actions[:index])


def _check_printed(findings: Findings, level: Level, played: Play) -> None:
    """Find lists and tables of the level printed in a text."""
    wanted = {written: where for where, value in _compounds(level.data, "level") for written in _forms(value)}
    messages = ["", *(step.message for step in played.steps)]
    for index, (text, message) in enumerate(zip(played.shown, messages, strict=False)):
        whole = f"{text}\n{message}"
        for written, where in wanted.items():
            if written in whole:
                passage = f"{where} of the level is printed in the text as {written[:40]!r}; describe only visible parts, in words"
                findings.add("written out", passage, level.id, played.actions[:index])
                return


def _compounds(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping | list):
        inner = cast(Any, value)
        if len(json.dumps(_plain(inner))) >= 3 * _PARTS and len(inner) >= _PARTS:
            yield where, inner
        pairs = inner.items() if isinstance(inner, Mapping) else enumerate(inner)
        for key, part in pairs:
            yield from _compounds(part, f"{where}.{key}")


def _forms(value: Any) -> set[str]:
    plain = _plain(value)
    forms = {repr(plain), json.dumps(plain), json.dumps(plain, separators=(",", ":"))}
    return forms | {repr(tuple(plain))} if isinstance(plain, list) else forms


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in cast(Mapping[str, Any], value).items()}
    return [_plain(part) for part in cast(list[Any], value)] if isinstance(value, list | tuple) else value


def _hides(subject: Subject, level: Level) -> str:
    """Look for a change of the level that matters later and is invisible before the first action.

    Returns:
        `"yes"`; `"until refused"` if it shows after unreadable actions; `"no"`.
    """
    rng = rng_of(subject, level, "changes")
    wrong = _unreadable(subject)
    plays, before = _later(subject, level), play(subject, level, given(wrong), len(wrong))
    hides = "no"
    for _ in range(_CHANGES):
        changed = _changed(subject, level, rng)
        if changed is None:
            continue
        original = play(subject, changed, given(wrong), len(wrong))
        if original.error or original.shown[0] != before.shown[0]:
            continue
        if any(_differs(subject, changed, one) for one in plays):
            if (original.shown, original.steps) == (before.shown, before.steps):
                return "yes"
            hides = "until refused"
    return hides


def _unreadable(subject: Subject) -> list[object]:
    return [*MALFORMED, *out_of_range(subject.world.description)][:3]


def _everything(findings: Findings, level: Level, *, at_first: bool) -> None:
    if at_first:
        message = (
            "the world is called partial, but everything relevant is visible at the start; hide it, or call it full"
        )
        findings.add("nothing hidden", message, level.id)
    else:
        message = "everything relevant shows after unreadable actions; errors must not reveal it"
        findings.add("shown in errors", message, level.id, [None])


def _later(subject: Subject, level: Level) -> list[Play]:
    plan = [action.to_json() for action in subject.world.levels.solve(level.data)]
    policies = [given(plan), *(drawn(subject, level, f"later-{n}") for n in range(3))]
    policies.append(Explorer(subject.world.description, rng_of(subject, level, "later")))
    return [play(subject, level, policy) for policy in policies]


def _differs(subject: Subject, changed: Level, played: Play) -> bool:
    again = play(subject, changed, given(played.actions), len(played.actions))
    return (again.steps, again.shown) != (played.steps, played.shown)


def _changed(subject: Subject, level: Level, rng: np.random.Generator) -> Level | None:
    """Return a level with one part replaced from another level, or with two values of one list exchanged."""
    data: dict[str, Any] = copy.deepcopy(_plain(level.data))
    keys = [key for key in data if key != "steps"]
    if not keys:
        return None
    key = keys[int(rng.integers(len(keys)))]
    if rng.random() < 0.3:
        other = subject.levels[int(rng.integers(len(subject.levels)))]
        data[key] = copy.deepcopy(_plain(other.data.get(key)))
    else:
        data[key] = _exchanged(data[key], rng)
    same = data == _plain(level.data)
    return None if same else Level(level.id, level.seed, level.difficulty, data, level.upper_bound, level.reference)


def _exchanged(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, str) and len(value) > 1:
        return "".join(_exchanged(list(value), rng))
    if isinstance(value, dict) and value:
        table = cast(dict[str, Any], value)
        key = list(table)[int(rng.integers(len(table)))]
        return {**table, key: _exchanged(table[key], rng)}
    if isinstance(value, list) and value:
        row = cast(list[Any], value)
        at = int(rng.integers(len(row)))
        if rng.random() < 0.6 and not (isinstance(row[at], str) and len(row[at]) == 1):
            return [*row[:at], _exchanged(row[at], rng), *row[at + 1 :]]
        to = int(rng.integers(len(row)))
        both = rng.random() < 0.5
        row[at], row[to] = row[to], row[at] if both else row[to]
        return row
    if isinstance(value, bool):
        return not value
    return value + int(rng.choice([-1, 1])) if isinstance(value, int) else value


def _check_words(subject: Subject, findings: Findings) -> None:
    described = subject.world.description
    texts = {"instruction": described.instruction}
    texts |= {f"actions.{name}": action.description for name, action in described.actions.items()}
    texts |= {f"skin.legend.{symbol}": words for symbol, words in described.skin.legend.items()}
    texts["skin.text"] = described.skin.text
    for where, words in texts.items():
        if match := _OPPOSITE.search(words):
            message = f"{where} says {match[0]!r}: agents must discover inverse words themselves; leave it out"
            findings.add("given away", message)


_APPROACHED = 0.6
"""Share of a bound that some player must reach on some level."""
_REMADE = 3
_PROBES = 3
_MAKING = 30
"""Time factor for generating and solving levels, relative to an episode, since both may search."""


def levels(subject: Subject, findings: Findings) -> Figures:
    """Check every level and its bound."""
    shares: list[float] = []
    fresh = _fresh_levels(subject, findings)
    solutions = {level.id: _solution(subject, findings, level) for level in (*subject.levels, *fresh)}
    for level in (*subject.levels, *fresh):
        _stored(subject, findings, level)
        most = solutions[level.id].total
        for name in ("levels-1", "levels-2"):
            most = max(most, _beaten(findings, level, play(subject, level, drawn(subject, level, name), shown=False)))
        for player in (Explorer, Greedy):
            policy = player(subject.world.description, rng_of(subject, level, "levels"))
            most = max(most, _beaten(findings, level, play(subject, level, policy, shown=False)))
        if level.upper_bound.value > 0:
            shares.append(most / level.upper_bound.value)
    if shares and max(shares) < _APPROACHED:
        findings.add(
            "bound too high",
            f"no player reaches more than {max(shares):.2f} of a bound on any level; lower the bounds",
            subject.levels[0].id,
        )
    for level in subject.some(_REMADE):
        _check_regeneration(subject, findings, level)
    _distinct(subject, findings, solutions)
    asked = check_hooks(subject, findings)
    return {
        **({"fresh": len(fresh), "hooks_asked_again": asked} if asked else {}),
        "levels": len(subject.levels),
        "kinds_of_bounds": sorted({level.upper_bound.kind for level in subject.levels}),
        "best_share_mean": sum(shares) / len(shares) if shares else None,
        "regenerated": _REMADE,
    }


def _fresh_levels(subject: Subject, findings: Findings) -> list[Level]:
    """Make levels from unpredictable seeds; a world with hooks might recognize the shipped ones."""
    made: list[Level] = []
    if subject.world.dynamics.hooks is None:
        return made
    rng = generator(subject.seed, "gates", "fresh levels")
    for difficulty in DIFFICULTIES:
        seed = int(rng.integers(2**31))
        try:
            with watched(_MAKING * subject.patience):
                made.append(subject.world.make(seed, difficulty))
        except (HostError, IsolationError, StuckError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
            findings.add("fresh level", f"seed {seed}, difficulty {difficulty}: {error}")
    return made


def _solution(subject: Subject, findings: Findings, level: Level) -> Play:
    plan: Sequence[Action] = ()
    try:
        with watched(_MAKING * subject.patience):
            plan = subject.world.levels.solve(level.data)
    except (HostError, IsolationError, StuckError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
        findings.add("crash", f"`solve` raises {type(error).__name__}: {error}", level.id)
    played = play(subject, level, given([action.to_json() for action in plan]), shown=False)
    played.report(findings)
    bound, binary = level.upper_bound, subject.world.description.meta.reward == "binary"
    trace = played.actions
    if played.total <= 0 or (binary and played.total < 1.0 - SLACK):
        findings.add(
            "unsolvable", f"the reference solution gets {played.total:g}; show a way to the goal", level.id, trace
        )
    if bound.kind == "exact" and played.total < bound.value - SLACK:
        message = f"the bound is called exact, and its solution gets {played.total:g} of {bound.value:g}"
        findings.add("bound not reached", message, level.id, trace)
    _beaten(findings, level, played)
    return played


def _beaten(findings: Findings, level: Level, played: Play) -> float:
    if played.total > level.upper_bound.value + SLACK:
        message = f"a player gets {played.total:g}, more than the bound of {level.upper_bound.value:g}; raise it"
        findings.add("bound beaten", message, level.id, played.actions)
    return played.total


def _stored(subject: Subject, findings: Findings, level: Level) -> None:
    bound = level.upper_bound
    if not bound.value > 0:
        findings.add("bound", f"the bound is {bound.value:g}; it must be above 0", level.id)
    if subject.world.description.meta.reward == "binary" and bound.value != 1.0:
        findings.add("bound", f"a binary world pays at most 1, but the bound is {bound.value:g}", level.id)
    if not bound.reason.strip():
        findings.add("bound", "the bound has no reason; write one", level.id)


def _check_regeneration(subject: Subject, findings: Findings, level: Level) -> None:
    """Generate a level twice from its seed, and compare both with each other and with the shipped level."""
    made: list[Any] = []
    try:
        for _ in range(2):
            rng = generator(level.seed, "world", subject.world.name, level.difficulty)
            with watched(_MAKING * subject.patience):
                made.append(json.loads(canonical_json(subject.world.levels.generate(rng, level.difficulty))))
    except (HostError, IsolationError, StuckError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
        findings.add("crash", f"`generate` raises {type(error).__name__}: {error}", level.id)
        return
    if made[0] != made[1]:
        findings.add("seed", "one seed gives two different levels; take all chance from the generator given", level.id)
    elif made[0] != dict(level.data):
        findings.add("seed", f"seed {level.seed} does not give the shipped level; regenerate the levels", level.id)


def _distinct(subject: Subject, findings: Findings, solutions: dict[str, Play]) -> None:
    """Find levels that no player can distinguish: blind plays and both solutions have the same result."""
    seen: dict[bytes, list[Level]] = {}
    rngs = [drawn(subject, subject.levels[0], f"distinct-{probe}") for probe in range(_PROBES)]
    probes = [play(subject, subject.levels[0], policy).actions for policy in rngs]
    for level in subject.levels:
        blind = [play(subject, level, given(actions), len(actions)) for actions in probes]
        steps = [[(step.reward, step.message) for step in one.steps] for one in blind]
        key = canonical_json([level.upper_bound.value, [one.shown for one in blind], steps])
        for other in seen.setdefault(key, []):
            plays = [(solutions[level.id], other), (solutions[other.id], level)]
            if all(play(subject, on, given(way.actions), shown=False).steps == way.steps for way, on in plays):
                message = f"players cannot distinguish {level.id} from {other.id}; ship different levels"
                findings.add("duplicate", message, level.id, solutions[level.id].actions)
                break
        seen[key].append(level)
