"""The gate "levels": distinct, reproducible from their seeds, solvable, with bounds that hold and are approached."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from heredity._core.errors import HostError, IsolationError
from heredity._core.ids import canonical_json, generator
from heredity.kinds.world.contract import Action
from heredity.kinds.world.gates.contract import Figures, Findings, Subject
from heredity.kinds.world.gates.patience import StuckError, watched
from heredity.kinds.world.gates.plays import Explorer, Greedy, Play, check_hooks, drawn, given, play, rng_of
from heredity.kinds.world.verify import SLACK
from heredity.kinds.world.world import DIFFICULTIES, Level

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
