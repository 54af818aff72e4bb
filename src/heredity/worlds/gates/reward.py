"""The gate "reward": nothing pays for no progress, and what pays is what the text says."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from typing import Any

from heredity.worlds.episode import Episode
from heredity.worlds.gates.contract import Figures, Findings, Subject
from heredity.worlds.gates.plays import Explorer, Play, drawn, given, guarded, play, repeated, rng_of
from heredity.worlds.gates.states import clocks, state_key
from heredity.worlds.verify import MALFORMED, SLACK, out_of_range, plain_actions
from heredity.worlds.world import Level

_LEVELS = 4
_PAIRS = 80
_ROUNDS = 4
_LOSS = re.compile(
    r"\b(less|minus|los[est]\w*|cost\w*|negative|penalt\w*|fine[sd]?|taken|tak(e|ing)|subtract\w*|-\s?\d)", re.I
)


def reward(subject: Subject, findings: Findings) -> Figures:
    """Look for income without progress, and for pay that the description does not allow."""
    cycles = 0
    for level in subject.levels:
        solution = given([a.to_json() for a in subject.world.levels.solve(level.data)])
        for policy in (solution, drawn(subject, level, "reward")):
            _contract(subject, findings, play(subject, level, policy, shown=False))
        _nothing(subject, findings, level)
    for level in subject.some(_LEVELS):
        with guarded(subject, findings, level, "cycles"):
            cycles += _cycles(subject, findings, level)
    return {"levels": len(subject.levels), "cycles_tried": cycles}


def _contract(subject: Subject, findings: Findings, played: Play) -> None:
    """Compare what a play paid with what the description says of pay."""
    described, last = subject.world.description, len(played.steps) - 1
    words = f"{described.reward} {described.instruction}"
    for index, step in enumerate(played.steps):
        paid, trace = step.reward, played.actions[: index + 1]
        if not math.isfinite(paid):
            findings.add("no number", f"a step pays {paid}; pay a number", played.level, trace)
        elif described.meta.reward == "binary":
            if paid not in (0.0, 1.0) or (paid and index != last):
                message = (
                    f"a step pays {paid:g}; binary worlds pay 1 for success, which ends the episode, and nothing else"
                )
                findings.add("not binary", message, played.level, trace)
        elif paid < 0 and not _LOSS.search(words):
            message = f"a step pays {paid:g}, and neither `reward` nor `instruction` speaks of a loss; say so there"
            findings.add("unannounced loss", message, played.level, trace)
        elif paid != round(paid) and not re.search(r"\d\.\d|times|share|half|per cent|%|fraction|quarter", words):
            message = f"a step pays {paid:g}, and `reward` and `instruction` name whole numbers only; say so there"
            findings.add("text contradicts", message, played.level, trace)


def _nothing(subject: Subject, findings: Findings, level: Level) -> None:
    """Look for income of what is refused, and of what is described as idle."""
    described = subject.world.description
    idle = [[a.to_json()] for a in plain_actions(described) if described.actions[a.name].idle]
    for what, actions in [
        ("refused", [None]),
        ("refused", [*MALFORMED, *out_of_range(described)]),
        *(("idle", a) for a in idle),
    ]:
        played = play(subject, level, repeated(*actions), shown=False)
        if played.total > SLACK:
            findings.add(
                "income for nothing",
                f"{what} actions earn {played.total:g}; they must not pay",
                level.id,
                played.actions,
            )


def _cycles(subject: Subject, findings: Findings, level: Level) -> int:
    """Look for actions that pay and lead back to where they began, time apart: along walks, and one or two at a time."""
    described, rng = subject.world.description, rng_of(subject, level, "cycles")
    explorer = Explorer(described, rng)
    start = subject.world.start(level.data)
    walked = play(subject, level, explorer, shown=False)
    without = clocks(start, walked.actions)
    _along(findings, level, start.copy(), walked.actions, without)
    _along(
        findings,
        level,
        start.copy(),
        play(subject, level, drawn(subject, level, "cycles"), shown=False).actions,
        without,
    )
    plain = [action.to_json() for action in plain_actions(described)]
    pairs: list[list[Any]] = [[action] for action in plain]
    pairs += [[plain[int(i)] for i in rng.integers(len(plain), size=2)] for _ in range(_PAIRS)]
    pairs += [[a, b] for a in _one_each(plain) for b in _one_each(plain)]
    halfway = start.copy()
    for action in walked.actions[: len(walked.actions) // 2]:
        halfway.step(action)
    for actions in pairs:
        for at, way in ((start, 0), (halfway, len(walked.actions) // 2)):
            _again(findings, level, at.copy(), walked.actions[:way], actions, without)
    return 2 * len(pairs)


def _one_each(plain: Sequence[Any]) -> list[Any]:
    return list({action["action"]: action for action in plain}.values())[:8]


def _along(
    findings: Findings, level: Level, episode: Episode, actions: Sequence[Any], without: frozenset[tuple[str, ...]]
) -> None:
    visited: dict[Hashable, tuple[int, float]] = {state_key(episode.state, without): (0, 0.0)}
    for index, action in enumerate(actions, 1):
        episode.step(action)
        if episode.done:
            return
        key = state_key(episode.state, without)
        at, total = visited.setdefault(key, (index, episode.total))
        if episode.total > total + SLACK:
            _again(findings, level, episode.copy(), actions[:index], actions[at:index], without)
            return


def _again(
    findings: Findings,
    level: Level,
    episode: Episode,
    before: Sequence[Any],
    actions: Sequence[Any],
    without: frozenset[tuple[str, ...]],
) -> None:
    """Note actions that pay in round after round, and lead back each time."""
    if episode.done:
        return
    for action in actions:  # the first round may get somewhere
        episode.step(action)
        if episode.done:
            return
    key = state_key(episode.state, without)
    for _ in range(_ROUNDS):
        total = episode.total
        for action in actions:
            episode.step(action)
            if episode.done:
                return
        if episode.total <= total + SLACK:
            return
    if state_key(episode.state, without) == key:
        message = f"{len(actions)} actions pay {episode.total - total:g} each time and lead back to where they began"  # pyright: ignore[reportPossiblyUnboundVariable]
        findings.add("farmable", message, level.id, [*before, *actions, *actions])
