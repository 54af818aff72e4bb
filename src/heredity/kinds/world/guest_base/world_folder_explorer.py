"""Runs everything that the audit tries in a level: searches of its states, then probes along the best plays."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from world_folder_choices import Choices
from world_folder_moments import Action, Moments
from world_folder_probes import Probes, nodes_of, number_places
from world_folder_search import Extent, Follower, Log, exhaust

_RANDOM = 3
_NODES = 24
_PROBES = 10
_FARMED = 24
_LARGE = 60
_PAYERS = 8
_MOST_CRASHES = 12


def explore(world: Any, level: str | None, seed: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Search a level.

    Args:
        world: the guest's `World`.
        level: the `world_id`; None generates a level.
        seed: seed of the level's chance.
        asked: `actions`, `examples`, `idle`, `refused` (pairs of a defect and an action), `horizon`, `upper_bound` (or
            None), `steps` (step budget), `draws` (seed of the search, default 0).

    Returns:
        `total` and `best` (reward and actions of the best-paid play), `abused` (the same for a play that may include
        invalid actions, or None), `moments`, `exhausted`, `most`, `steps`, `chance`, `claims`, `crashes` and `malformed`.
    """
    own = asked.get("draws", 0)
    draws = random.Random(f"{level}/{seed}/{own}" if own else f"{level}/{seed}")
    choices = Choices(asked["actions"], asked["examples"], draws)
    refused: Sequence[tuple[str, Action]] = [(what, action) for what, action in asked["refused"]]
    still: list[Action] = [*asked["idle"], *(action for _, action in refused)]

    def idle(_: Any) -> Action:
        return still[0]

    def any_action(env: Any) -> Action:
        return choices.random(vars(env).get("_state"))

    plays = [idle] * 2 + [any_action] * _RANDOM
    moments = Moments(world, level, seed, plays, asked["horizon"])
    horizon = _horizon(moments, asked["horizon"])
    chance_before = moments.uses_chance
    log, extent = _run_searches(moments, choices, horizon, asked, draws)
    if moments.uses_chance != chance_before:  # States were restored without it, so the findings do not count.
        log, extent = _run_searches(moments, choices, horizon, asked, draws)
    probes = Probes(moments, refused, asked["idle"])
    _probe(moments, choices, probes, log, asked)
    abused = _abused(moments, choices, probes, log, horizon, asked["steps"] // 4) if probes.payers else None
    return {
        "total": log.total,
        "best": log.best,
        "abused": abused,
        "moments": extent.moments,
        "exhausted": extent.exhausted,
        "most": extent.most,
        "steps": moments.steps,
        "chance": moments.uses_chance,
        "claims": list(probes.claims.values()),
        "crashes": [[failed, actions] for failed, actions in log.crashes.items()][:_MOST_CRASHES],
        "malformed": [[failed, what, actions] for failed, (what, actions) in probes.crashes.items()][:_MOST_CRASHES],
    }


def _horizon(moments: Moments, most: int) -> int:
    """Return the length of episodes, if at least two ended there and none of several continued."""
    lengths = sorted(map(len, moments.played))
    return lengths[-1] if 0 < lengths[-1] < most and lengths[-2] == lengths[-1] else most


def _run_searches(
    moments: Moments, choices: Choices, horizon: int, asked: Mapping[str, Any], draws: random.Random
) -> tuple[Log, Extent]:
    log, extent, budget = Log(), Extent(0, False), int(asked["steps"])
    upper_bound = asked["upper_bound"]
    enough = float("inf") if upper_bound is None else upper_bound * 1.001 if upper_bound > 1 else upper_bound - 1e-9
    if choices.complete and not moments.uses_chance:
        extent = exhaust(moments, choices.fixed, horizon, (budget, enough), log, draws)
    if not extent.exhausted and log.total < enough:
        Follower(moments, lambda env: choices.here(vars(env).get("_state")), choices, log).run(horizon, budget)
    return log, extent


def _probe(moments: Moments, choices: Choices, probes: Probes, log: Log, asked: Mapping[str, Any]) -> None:
    nodes = nodes_of(log, moments, moments.played[-2:], _NODES)
    for node in nodes:
        probes.income(node, max(_PROBES, 2 * len(asked["refused"]) // len(nodes)))
    listed = {action["name"]: action["params"] for action in asked["actions"]}
    paid = [pair for rows in log.paid.values() for pair in rows]
    for moment, action in paid[:_FARMED]:
        probes.farm(moment, action, choices.fixed)
    moved = [pair for rows in log.moved.values() for pair in rows]
    for moment, action in [*paid, *moved][:_LARGE]:
        probes.amounts(moment, action, number_places(action, listed.get(action["action"], {})))


def _abused(moments: Moments, choices: Choices, probes: Probes, log: Log, horizon: int, steps: int) -> list[Any]:
    """Return total and actions of a play with invalid actions, inserted into the best play or anywhere by a search."""
    abuse_log, payers = Log(), [*probes.payers.values()][:_PAYERS]
    for payer in payers:
        for at in {0, max(0, len(log.best) - 1)}:
            _replay(moments, [*log.best[:at], *[payer] * (horizon - len(log.best)), *log.best[at:]], abuse_log)
    Follower(moments, lambda env: [*choices.here(vars(env).get("_state")), *payers], choices, abuse_log).run(
        horizon, steps
    )
    return [abuse_log.total, abuse_log.best]


def _replay(moments: Moments, actions: Sequence[Action], log: Log) -> None:
    over, total = moments.begin(), 0.0
    for index, action in enumerate(actions, 1):
        if over:
            return
        taken = moments.step(action)
        total += taken.reward
        log.note(taken, actions[:index], total)
        over = taken.done or bool(taken.failed)
