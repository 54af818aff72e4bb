"""Runs all gates on a world, and writes the certificate."""

from __future__ import annotations

import contextlib
import io
import json
import math
import platform
import re
import string
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import heredity
from heredity._core.errors import ConfigError, HeredityError, HostError, IsolationError, RefusedError
from heredity._core.ids import digest_json
from heredity.kinds.world.dsl.bounded import SlowHookError, UnansweredHookError
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.gates.contract import (
    CERTIFICATE,
    Figures,
    Findings,
    Gate,
    GateReport,
    StuckError,
    Subject,
    UnjudgedError,
    files_digest,
)
from heredity.kinds.world.gates.levels import leak, levels
from heredity.kinds.world.gates.novelty import novelty
from heredity.kinds.world.gates.plays import (
    Explorer,
    Play,
    check_hooks,
    drawn,
    given,
    guarded,
    play,
    reliability,
    repeated,
    rng_of,
)
from heredity.kinds.world.gates.states import clocks, leaves, state_key
from heredity.kinds.world.verify import MALFORMED, SLACK, out_of_range, plain_actions
from heredity.kinds.world.world import SPLITS, Level

_GROWTH = 20_000
"""Maximum growth of a state within an episode, in values."""
_CLOSE = 5
"""Number of levels on which states are compared after every step."""


def execution(subject: Subject, findings: Findings) -> Figures:
    """Play every level in many ways; crashes, hangs, spontaneous changes and differences between equal plays are faults."""
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
                _check_isolation(subject, findings, level)
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
        f"the same actions give a different result the second time, at step {at + 1}; draw chance from the level's seed,"
        " and keep it in the state",
        played.level,
        played.actions[: at + 1],
    )


def _refusals(subject: Subject, findings: Findings, level: Level) -> None:
    """Check that refused actions leave the state unchanged."""
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


def _check_isolation(subject: Subject, findings: Findings, level: Level) -> None:
    """Check that concurrent episodes, and copies, are independent."""
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
    """Try every action at both ends of its parameters' ranges, at the start and later."""
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


_WORDS = re.compile(r"[a-z]+")
_RANGE = re.compile(r"(-?\d+) to (-?\d+)")
_FORM_LEVELS = 6


def form(subject: Subject, findings: Findings) -> Figures:
    """Check the description, the format of the levels, and that observations fit the skin's template and legend."""
    _description(subject, findings)
    _levels(subject, findings)
    _labels(subject, findings)
    accepted: set[str] = set()
    for level in subject.some(_FORM_LEVELS):
        explorer = Explorer(subject.world.description, rng_of(subject, level, "form"))
        played = play(subject, level, explorer)
        if played.error:
            continue
        _check_symbols(subject, findings, played)
        _check_numbers(subject, findings, level, played)
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
            "impossible action", f"{name!r} is described, but was refused wherever it was tried; fix or remove it"
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
        findings.add("same name", "two levels have the same name; give each level a unique name")
    for level in subject.levels:
        steps = level.data.get("steps", 1)
        if not isinstance(steps, int) or not 1 <= steps <= 1000:
            findings.add("horizon", f"steps is {steps!r}; give a whole number from 1 to 1000", level.id)


def _labels(subject: Subject, findings: Findings) -> None:
    """Find placeholders of the template whose label names another placeholder."""
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


def _check_symbols(subject: Subject, findings: Findings, played: Play) -> None:
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
        findings.add(
            "no JSON", f"observe returns a value that is not JSON: {error}", played.level, played.actions[:index]
        )


def _check_numbers(subject: Subject, findings: Findings, level: Level, played: Play) -> None:
    """Find displayed numbers that have the name of a state variable but do not follow it."""
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
                message = f"{name!r} is shown as {value:g}, but its gauge as {gauge[0]:g}; show the same value in both"
                findings.add("mislabelled", message, level.id, played.actions[:index])
            limits = _RANGE.search(subject.world.description.state.get(name, ""))
            if _number(value) and limits and not float(limits[1]) - 1 <= value <= float(limits[2]) + 1:
                message = f"{name!r} is shown as {value:g}, and state.{name} says {limits[0]}; show the value of that variable"
                findings.add("mislabelled", message, level.id, played.actions[:index])
            held = held_by.get(name)
            if _number(value) and isinstance(held, int | float) and name not in ("t", "steps"):
                before = apart.setdefault(name, {}).setdefault(held, value)
                if before != value:
                    message = f"{name!r} is shown as {value:g}, and as {before:g} before, where the state holds {held:g} both times"
                    findings.add("mislabelled", message, level.id, played.actions[:index])


def _by_name(state: Any) -> dict[str, Any]:
    """Return the state's values by name, for names that occur once."""
    named: dict[str, list[Any]] = {}
    for path, value in leaves(state).items():
        if path:
            named.setdefault(path[-1].strip("'"), []).append(value)
    return {name: values[0] for name, values in named.items() if len(values) == 1}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_LEVELS = 4
_PAIRS = 80
_ROUNDS = 4
_LOSS = re.compile(
    r"\b(less|minus|los[est]\w*|cost\w*|negative|penalt\w*|fine[sd]?|taken|tak(e|ing)|subtract\w*|-\s?\d)", re.I
)


def reward(subject: Subject, findings: Findings) -> Figures:
    """Look for income without progress, and for payments that the description does not allow."""
    cycles = 0
    for level in subject.levels:
        solution = given([a.to_json() for a in subject.world.levels.solve(level.data)])
        for policy in (solution, drawn(subject, level, "reward")):
            _contract(subject, findings, play(subject, level, policy, shown=False))
        _check_idle_income(subject, findings, level)
    for level in subject.some(_LEVELS):
        with guarded(subject, findings, level, "cycles"):
            cycles += _cycles(subject, findings, level)
    return {"levels": len(subject.levels), "cycles_tried": cycles}


def _contract(subject: Subject, findings: Findings, played: Play) -> None:
    """Compare the payments of a play with the description."""
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
            message = f"a step pays {paid:g}, but neither `reward` nor `instruction` mentions a loss; mention it there"
            findings.add("unannounced loss", message, played.level, trace)
        elif paid != round(paid) and not re.search(r"\d\.\d|times|share|half|per cent|%|fraction|quarter", words):
            message = f"a step pays {paid:g}, but `reward` and `instruction` mention only integers; mention it there"
            findings.add("text contradicts", message, played.level, trace)


def _check_idle_income(subject: Subject, findings: Findings, level: Level) -> None:
    """Look for income from refused actions, and from actions described as idle."""
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
    """Look for actions that pay and return to their starting state, ignoring time: along walks, and one or two at a time."""
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
    pairs += [[a, b] for a in _unique_by_name(plain) for b in _unique_by_name(plain)]
    halfway = start.copy()
    for action in walked.actions[: len(walked.actions) // 2]:
        halfway.step(action)
    for actions in pairs:
        for at, way in ((start, 0), (halfway, len(walked.actions) // 2)):
            _repeat_cycle(findings, level, at.copy(), walked.actions[:way], actions, without)
    return 2 * len(pairs)


def _unique_by_name(plain: Sequence[Any]) -> list[Any]:
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
            _repeat_cycle(findings, level, episode.copy(), actions[:index], actions[at:index], without)
            return


def _repeat_cycle(
    findings: Findings,
    level: Level,
    episode: Episode,
    before: Sequence[Any],
    actions: Sequence[Any],
    without: frozenset[tuple[str, ...]],
) -> None:
    """Record actions that pay in every round and return to the starting state each time."""
    if episode.done:
        return
    for action in actions:  # The first round may make progress.
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
        message = f"{len(actions)} actions pay {episode.total - total:g} each time and return to the starting state"  # pyright: ignore[reportPossiblyUnboundVariable]
        findings.add("farmable", message, level.id, [*before, *actions, *actions])


FORMAT = 1
_TRIES = 2

GATES: Mapping[str, Gate] = {
    "format": form,
    "execution": execution,
    "levels": levels,
    "reward": reward,
    "reliability": reliability,
    "novelty": novelty,
    "leak": leak,
}
"""The gates, in order of execution."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The result of the gates.

    Attributes:
        world: its name.
        digest: digest of its folder, without the certificate.
        seed: source of all chance of the gates.
        gates: a report for each executed gate.
    """

    world: str
    digest: str
    seed: int
    gates: tuple[GateReport, ...]

    @property
    def admitted(self) -> bool:
        """True if every gate was executed and passed."""
        return len(self.gates) == len(GATES) and all(report.passed for report in self.gates)

    def to_json(self) -> dict[str, Any]:
        """Return the certificate: the same for the same world, seed and versions."""
        return {
            "format": FORMAT,
            "world": self.world,
            "digest": self.digest,
            "admitted": self.admitted,
            "seed": self.seed,
            "versions": {"heredity": heredity.__version__, "python": platform.python_version()},
            "gates": [report.to_json() for report in self.gates],
        }

    def write(self, folder: Path) -> Path:
        """Write the certificate into a folder and return its path.

        Raises:
            ConfigError: if it cannot be written.
        """
        path = folder / CERTIFICATE
        try:
            path.write_text(json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}; name another folder with --out") from error
        return path


def admit(
    subject: Subject,
    done: Callable[[str], None] = lambda gate: None,
    *,
    first: bool = False,
    only: Collection[str] = tuple(GATES),
) -> Admission:
    """Run the gates on a world.

    If the world's code raises in a gate, the gate rejects it with the exception as the finding. No further gate runs
    after a hang, or after a gate that could not be judged.

    Args:
        subject: the world with its levels. Its code runs in this process, in the main thread, so that hangs can be
            interrupted.
        done: called after each gate.
        first: stop at the first gate that rejects.
        only: names of the gates to run; admission always requires all gates.
    """
    reports: list[GateReport] = []
    for name in (name for name in GATES if name in only):
        reports.append(_run_gate(name, subject))
        done(name)
        stuck = reports[-1].unjudged or any(finding.kind == "hang" for finding in reports[-1].findings)
        if stuck or (first and not reports[-1].passed):
            break
    return Admission(subject.world.name, files_digest(subject.world), subject.seed, tuple(reports))


def _run_gate(name: str, subject: Subject) -> GateReport:
    """Run a gate; one that could not be judged is run once more."""
    reason = ""
    for _ in range(_TRIES):
        findings, figures = Findings(), dict[str, Any]()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                figures = GATES[name](subject, findings)
        except (UnjudgedError, UnansweredHookError) as error:
            reason = str(error)
            continue
        except StuckError as error:
            findings.add("hang", f"{error}; every action needs an answer", error.level, error.actions)
        except (HostError, IsolationError):
            raise
        except SlowHookError as error:
            findings.add("hang", f"{error}; every action needs an answer")
        except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
            findings.add("crash", f"the world raises {type(error).__name__}: {error}")
        return GateReport(name, findings.all(), figures)
    return GateReport(name, (), {}, unjudged=f"could not be judged, tried {_TRIES} times: {reason}")
