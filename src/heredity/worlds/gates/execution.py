"""The gate "execution": every level is played by players that are careless, idle or wrong, and nothing breaks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

from heredity.errors import HostError, IsolationError
from heredity.ids import digest_json
from heredity.worlds.contract import RefusedError
from heredity.worlds.gates.contract import Figures, Findings, Subject
from heredity.worlds.gates.plays import Explorer, Play, check_hooks, drawn, given, guarded, play, repeated, rng_of
from heredity.worlds.gates.states import leaves, state_key
from heredity.worlds.verify import MALFORMED, out_of_range, plain_actions
from heredity.worlds.world import Level

_GROWTH = 20_000
"""Values by which a state may grow within an episode."""
_CLOSE = 5
"""Levels on which states are looked at after every step."""


def execution(subject: Subject, findings: Findings) -> Figures:
    """Play every level in many ways; what crashes, hangs, changes by itself or differs between equal plays is a fault."""
    steps = 0
    for index, level in enumerate(subject.levels):
        digest, out = digest_json(dict(level.data)), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            if index == 0:
                _growth(subject, findings, level)
            if "growth" in findings:
                break
            steps += sum(len(played.steps) for played in _players(subject, findings, level))
            if "crash" not in findings:
                _refusals(subject, findings, level)
                _beside(subject, findings, level)
                if index % max(1, len(subject.levels) // _CLOSE) == 0:
                    _ends_of_ranges(subject, findings, level)
        if out.getvalue():
            findings.add("output", f"the world prints {out.getvalue()[:60]!r}; return messages instead", level.id)
        if digest_json(dict(level.data)) != digest:
            findings.add(
                "shared level", "playing changes the level itself; copy in `start` what the state changes", level.id
            )
    figures = {"levels": len(subject.levels), "steps": steps}
    asked = check_hooks(subject, findings)
    return {**figures, "hooks_asked_again": asked} if asked else figures


def _players(subject: Subject, findings: Findings, level: Level) -> Iterator[Play]:
    described = subject.world.description
    names = {action.name: action for action in plain_actions(described)}
    rng = rng_of(subject, level, "repeated")
    name = list(names)[int(rng.integers(len(names)))]
    policies = {
        "random": drawn(subject, level, "random"),
        "explorer": Explorer(described, rng_of(subject, level, "explorer")),
        "idle": repeated(None),
        "malformed": repeated(*MALFORMED, *out_of_range(described)),
        "repeating": repeated(names[name].to_json()),
    }
    for policy in policies.values():
        played = play(subject, level, policy)
        played.report(findings)
        again = play(subject, level, given(played.actions), len(played.actions))
        if not played.error:
            _same(findings, played, again)
        yield played


def _same(findings: Findings, played: Play, again: Play) -> None:
    if (played.steps, played.shown) == (again.steps, again.shown):
        return
    pairs = enumerate(zip(played.steps, played.shown[1:], again.steps, again.shown[1:], strict=False))
    at = next((index for index, (a, b, c, d) in pairs if (a, b) != (c, d)), 0)
    findings.add(
        "not deterministic",
        f"the same actions lead to something else the second time, at step {at + 1}; draw chance from the level's seed,"
        " and keep it in the state",
        played.level,
        played.actions[: at + 1],
    )


def _refusals(subject: Subject, findings: Findings, level: Level) -> None:
    """Look whether what is refused changes the state before it is refused."""
    described, dynamics = subject.world.description, subject.world.dynamics
    rng = rng_of(subject, level, "refusals")
    walk, plain, taken = Explorer(described, rng), plain_actions(described), list[Any]()
    with guarded(subject, findings, level, "refused actions"):
        episode = subject.world.start(level.data)
        while not episode.done and episode.t < 12:
            before = state_key(episode.state)
            for index in rng.permutation(len(plain))[:12]:
                twin = episode.copy()
                try:
                    dynamics.act(twin.state, plain[int(index)])
                except RefusedError:
                    if state_key(twin.state) != before:
                        trace = [*taken, plain[int(index)]]
                        findings.add(
                            "refusal changes", "a refused action changed the state; refuse first", level.id, trace
                        )
            taken.append(walk(episode))
            episode.step(taken[-1])


def _beside(subject: Subject, findings: Findings, level: Level) -> None:
    """Look whether episodes at the same time, and copies, go on by themselves."""
    with guarded(subject, findings, level, "episodes side by side"):
        explorer = Explorer(subject.world.description, rng_of(subject, level, "beside"))
        one, other = subject.world.start(level.data), subject.world.start(level.data)
        taken = list[Any]()
        while not one.done and one.t < 10:
            held, shown = state_key(one.state), one.observe()
            if not other.done:
                other.step(explorer(other))
            twin = one.copy()
            twin.step(explorer(twin))
            if state_key(one.state) != held or one.observe() != shown:
                findings.add(
                    "shared state",
                    "another episode or a copy changed this one; keep everything in the state",
                    level.id,
                    taken,
                )
                return
            taken.append(explorer(one))
            one.step(taken[-1])


def _ends_of_ranges(subject: Subject, findings: Findings, level: Level) -> None:
    """Try every action at the ends of its parameters' ranges, at the beginning and on the way."""
    described = subject.world.description
    with guarded(subject, findings, level, "a walk"):
        explorer = Explorer(described, rng_of(subject, level, "ends"))
        episode, taken = subject.world.start(level.data), list[Any]()
        while not episode.done and episode.t < 10:
            if episode.t % 5 == 0:
                _try_each(findings, level, episode, taken, plain_actions(described))
            taken.append(explorer(episode))
            episode.step(taken[-1])


def _try_each(findings: Findings, level: Level, episode: Any, taken: list[Any], actions: Sequence[Any]) -> None:
    for action in actions:
        try:
            episode.copy().step(action)
        except (HostError, IsolationError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
            message = f"{type(error).__name__}: {error}; every well-typed action needs an answer"
            findings.add("crash", message, level.id, [*taken, action])


def _growth(subject: Subject, findings: Findings, level: Level) -> None:
    with guarded(subject, findings, level, "a whole episode"):
        episode, policy = subject.world.start(level.data), drawn(subject, level, "growth")
        before = len(leaves(episode.state))
        while not episode.done:
            episode.step(policy(episode))
        grown = len(leaves(episode.state)) - before
        if grown > _GROWTH:
            findings.add(
                "growth", f"the state grew by {grown} values in an episode; keep only what is needed", level.id
            )
