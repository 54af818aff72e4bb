"""The audit of a world folder: finds its faults, each with a way to reproduce it.

Published environments pay for nonexistent actions, have bounds that can be beaten, contain duplicate or unsolvable
levels, and crash on odd parameters (see docs/world-folders.md). The audit knows no world's rules.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders.findings import (
    SLACK,
    Action,
    Explored,
    FolderReport,
    LevelRow,
    Played,
    Plays,
    UnjudgedError,
)
from heredity.kinds.world.folders.findings import Finding as Found
from heredity.kinds.world.folders.folder import (
    FILES,
    TEST,
    VALIDATION,
    FolderLevel,
    WorldFolder,
    enumerate_actions,
    malformed_actions,
    misfit,
    questions,
    surely_fits,
)
from heredity.kinds.world.gates.admit import GATES, Admission
from heredity.kinds.world.gates.contract import Finding, GateReport
from heredity.kinds.world.gates.plays import paired_interval

_GENERATED = 3
_OTHER_SEED = 1


async def try_repeats(
    folder: WorldFolder,
    programs: SandboxedPrograms,
    rows: Sequence[LevelRow],
    report: FolderReport,
    sequences: Sequence[Sequence[Action]],
) -> None:
    """Play the same actions in two fresh processes, and in a third that visits the levels in reverse order."""
    runs: list[dict[str, list[Played]]] = []
    made: list[list[Played]] = []
    for run in range(3):
        async with Plays(folder, programs) as plays:
            order = rows if run < 2 else rows[::-1]
            runs.append({row.level: [await plays.play(row.level, actions) for actions in sequences] for row in order})
            if run < 2:
                made.append([await plays.play(None, (), seed) for seed in range(_GENERATED)])
            else:
                for row in rows:
                    await try_chance(plays, row, report, sequences)
            report.plays += plays.count
    for row in rows:
        for first, second, later in zip(*(run[row.level] for run in runs), strict=True):
            if _differs(first, second):
                where, step = _first_difference(first, second)
                text = f"the same seed and actions gave a different result {where}"
                shown = replace(first, actions=first.actions[:step])
                report.found.add("not-deterministic", True, text, shown, -step)
                break
            if _differs(first, later):
                where, _ = _first_difference(first, later)
                text = f"episodes leave state in the process: a later one differed {where}"
                report.found.add("leaks-state", False, text, first)
                break
    _check_generator(report, *made)


async def try_files(
    folder: WorldFolder, programs: SandboxedPrograms, level: str, report: FolderReport, actions: Sequence[Action]
) -> None:
    """Play and generate a level while recording the files it opens."""
    async with Plays(folder, programs, watch=True) as plays:
        played = await plays.play(level, actions)
        touched = await plays.touched()
        await plays.play(None, ())
        later = [(what, path) for what, path in await plays.touched() if not path.startswith(f"{TEST}/")]
        report.plays += plays.count
    for what, path in dict.fromkeys((*touched, *later)):
        if what == "write":
            report.found.add("writes", False, f"it writes {path} in its own folder", played)
        else:
            report.found.add("outside", True, f"{what} {path}".strip(), played)


async def try_chance(plays: Plays, row: LevelRow, report: FolderReport, sequences: Sequence[Sequence[Action]]) -> None:
    """Play a level with other states of the global generators; differences are chance that the folder leaves unseeded.

    Heredity seeds every episode before it begins; without that, the same actions would pay differently each time.
    """
    for actions in sequences:
        first = await plays.play(row.level, actions)
        other = await plays.play(row.level, actions, _OTHER_SEED)
        if first.started and other.started and _observations(first) != _observations(other):
            where, step = _first_difference(first, other)
            text = f"the level uses an unseeded generator: plays with seeds 0 and {_OTHER_SEED} differ {where}"
            report.found.add("unseeded-chance", False, text, replace(first, actions=first.actions[:step]), -step)
            return


def _check_generator(report: FolderReport, one: Sequence[Played], other: Sequence[Played]) -> None:
    for first, second in zip(one, other, strict=True):
        if first.failed:
            report.found.add("generator", True, f"no level can be generated: {first.failed}", first)
            return
        if _differs(first, second):
            report.found.add("generator", True, "the same seed generates different levels", first)
            return
    if len({first.still for first in one}) == 1:
        report.found.add("generator", True, f"{_GENERATED} seeds generate one and the same level", one[0])


def _observations(played: Played) -> tuple[object, ...]:
    return played.stream, played.rewards, played.failed


def _differs(first: Played, second: Played) -> bool:
    return (*_observations(first), first.moment) != (*_observations(second), second.moment)


def _first_difference(first: Played, second: Played) -> tuple[str, int]:
    """Describe the first difference of two plays, and return its step."""
    one, other = ([*zip(played.stream, (0.0, *played.rewards), strict=False)] for played in (first, second))
    step = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if step is None:
        return "in hidden state", len(first.actions)
    return (f"at step {step}" if step else "at the beginning"), step


_MOST_UNSEEN = 3
"""Maximum number of differing values, such as a seed or a name, for levels that play alike to count as the same."""


def check_files(folder: WorldFolder, report: FolderReport) -> bool:
    """Check the contents of the files; return False if the environment cannot be tried."""

    def checked(what: Callable[[], object]) -> bool:
        try:
            what()
        except ConfigError as error:
            report.found.add("unreadable", True, str(error))
            return False
        return True

    for name in FILES:
        if name not in folder.files:
            report.found.add("missing-file", True, f"{name} is missing")
    levels = [level for split in (TEST, VALIDATION) for level in folder.levels(split)]
    for split in (TEST, VALIDATION):
        if not folder.levels(split):
            report.found.add("missing-file", True, f"{split}/ has no level_NN.yaml")
    present = [name for name in ("config.yaml", "action_space.txt", "env_main.py") if name in folder.files]
    readable = all(
        [checked(lambda: folder.max_steps), checked(lambda: folder.actions)] if len(present) == 3 else [False]
    )
    for level in levels:
        upper_bound = None
        if "level_max_rewards.json" in folder.files:
            try:
                upper_bound = folder.upper_bound(level)
            except ConfigError as error:
                report.found.of_level("no-bound", True, str(error), level.world_id)
        report.levels.append(LevelRow(level.world_id, upper_bound))
    _check_copies(folder, levels, report)
    return readable and bool(levels)


def likely_copies(folder: WorldFolder, one: str, other: str) -> str:
    """Describe the values in which the files of two levels differ, if they are few enough to be irrelevant; else return `""`."""
    paths = {level.world_id: level.path for split in (TEST, VALIDATION) for level in folder.levels(split)}
    first, second = (dict(_leaves(folder.yaml(paths[level]))) for level in (one, other))
    differing = [path for path in {**first, **second} if first.get(path) != second.get(path)]
    if len(differing) > _MOST_UNSEEN:
        return ""
    return f"they differ in {', '.join(differing)}" if differing else "their contents are the same"


def _check_copies(folder: WorldFolder, levels: Sequence[FolderLevel], report: FolderReport) -> None:
    first: dict[str, FolderLevel] = {}
    for level in levels:
        try:
            digest = digest_json(_json_values(folder.yaml(level.path)))
        except ConfigError as error:
            report.found.of_level("unreadable", True, str(error), level.world_id)
            continue
        same = first.setdefault(digest, level)
        if same is not level:
            report.copies.add(level.world_id)
            text = f"{level.path} has the same contents as {same.path}"
            report.found.of_level("duplicate", True, text, level.world_id)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in cast(dict[Any, Any], value).items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(cast(list[Any], value)):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def _json_values(value: Any) -> Any:
    """Convert YAML values to JSON values: non-text keys, dates."""
    if isinstance(value, dict):
        return {repr(key): _json_values(inner) for key, inner in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple | set):
        return [_json_values(inner) for inner in cast(list[Any], value)]
    return value if value is None or isinstance(value, str | bool | int) else repr(value)


STEPS = 5_000
"""Default step budget for the search of a level, excluding probes."""
_LEAST_ROUNDS = 3
_TRIED_ALIKE = 2

Notify = Callable[[], None]


async def audit_folder(
    path: Path | str,
    programs: SandboxedPrograms,
    steps: int = STEPS,
    *,
    levels: Sequence[str] = (),
    seed: int = 0,
    gate: asyncio.Semaphore | None = None,
    notify: Notify = lambda: None,
) -> FolderReport:
    """Audit a folder: its files, then its environment in the sandbox. Repeatable, unless the world is not.

    Args:
        path: the folder.
        programs: the sandbox.
        steps: step budget per level for finding solutions and ways to beat the bound; 0 skips the search.
        levels: file names, without the ending, of the only levels to audit; empty for all.
        seed: source of the random plays.
        gate: semaphore held by every search of a level, so that several folders share the CPUs.
        notify: called after each level.

    Raises:
        ConfigError: if the folder does not exist.
        UnknownNameError: if a level is unknown.
        HostError: if the sandbox fails.
    """
    started = time.monotonic()
    folder = WorldFolder(path)
    report = FolderReport(str(folder.path))
    playable = check_files(folder, report)
    wanted = {folder.level(level).world_id for level in levels}
    report.levels = [row for row in report.levels if not wanted or row.level in wanted]
    if playable:
        async with Plays(folder, programs) as plays:
            audit = _Audit(folder, programs, plays, report, (gate, seed))
            try:
                await audit.run(steps, notify)
            except UnjudgedError as error:
                report.unjudged = str(error)
            audit.conclude()
    report.seconds = time.monotonic() - started
    return report


class _Audit:
    def __init__(
        self,
        folder: WorldFolder,
        programs: SandboxedPrograms,
        plays: Plays,
        report: FolderReport,
        shared: tuple[asyncio.Semaphore | None, int],
    ) -> None:
        self._folder, self._programs, self._plays, self._report = folder, programs, plays, report
        self._gate, self._seed = shared
        self._findings = report.found
        self._actions, self._complete = enumerate_actions(folder.actions)
        self._steps = folder.max_steps
        self.level_rows: list[LevelRow] = []
        self.sequences = [self._random(index) for index in range(_TRIED_ALIKE)]
        self._alike: dict[str, list[Played]] = {}
        self._asked = questions(folder)

    async def run(self, steps: int, notify: Notify) -> None:
        """Run all checks, in order.

        Raises:
            UnjudgedError: if something only waits; later checks are skipped.
        """
        if not await self.opens():
            return
        await self.try_malformed()
        await try_repeats(self._folder, self._programs, self.level_rows, self._report, self.sequences)
        await try_files(self._folder, self._programs, self.level_rows[0].level, self._report, self.sequences[0])
        if steps:
            searches = [self.search(row, steps, notify) for row in self.level_rows]
            explored = await asyncio.gather(*searches, return_exceptions=True)
            for row, outcome in zip(self.level_rows, explored, strict=True):
                if isinstance(outcome, BaseException):
                    raise outcome
                await self.weigh(row, outcome)
        await self.compare_levels()

    async def opens(self) -> bool:
        """Return True if the environment can be imported and starts at least one level."""
        for row in self._report.levels:
            start = await self._plays.play(row.level, ())
            if start.started:
                self.level_rows.append(row)
            else:
                self._findings.add("fails", True, f"the level cannot be started: {start.failed}", start, 2.0)
        return bool(self.level_rows)

    async def try_malformed(self) -> None:
        """Take one malformed action at a time in the first level, and play valid actions."""
        level = self.level_rows[0].level
        for what, action, _ in malformed_actions(self._folder.actions):
            played = await self._plays.play(level, [action])
            if played.failed:
                self._findings.add("malformed-crash", True, f"{what}: {played.failed}", played)
        for row in self.level_rows:
            self._alike[row.level] = [await self._plays.play(row.level, actions) for actions in self.sequences]
            for played in self._alike[row.level]:
                self._best(row, played)
                if played.failed:
                    await self._failed(row.level, played)

    async def search(self, row: LevelRow, steps: int, notify: Notify) -> Explored:
        """Search a level in a separate process."""
        asked = {**self._asked, "upper_bound": row.upper_bound, "steps": steps}
        async with self._gate or nullcontext(), Plays(self._folder, self._programs) as plays:
            explored = await plays.explore(row.level, asked)
        notify()
        return explored

    async def weigh(self, row: LevelRow, explored: Explored) -> None:
        """Replay the claims of a level's search, and record those that hold."""
        self._report.steps += explored.steps
        if explored.failed:
            start = await self._plays.play(row.level, ())
            self._findings.add(
                "search-ended", False, f"the search of the level did not finish: {explored.failed}", start
            )
        self._best(row, await self._plays.play(row.level, explored.best))
        await try_chance(self._plays, row, self._report, [explored.best])
        if explored.abused is not None:
            abused = await self._plays.play(row.level, explored.abused)
            if row.best is not None and abused.total > row.best.total * (1 + SLACK):
                row.abused = abused
        for claim in explored.claims:
            await self._verify(row, claim)
        for _, actions in explored.crashes:
            await self._failed(row.level, await self._plays.play(row.level, actions))
        for _, what, actions in explored.malformed:
            played = await self._plays.play(row.level, actions)
            if played.failed:
                self._findings.add("malformed-crash", True, f"{what}: {played.failed}", played, -len(actions))
        self._conclude_level(row, explored)

    async def compare_levels(self) -> None:
        """Find levels that play identically although their files differ."""
        rows = {row.level: row for row in self.level_rows}
        alike: dict[tuple[Any, ...], str] = {}
        for name, row in rows.items():
            key = tuple((play.messages, play.rewards, play.failed) for play in self._alike[name])
            first = alike.setdefault(key, name)
            if first == name or name in self._report.copies:
                continue
            if await self._same(rows[first], row):
                text = f"{name} plays the same as {first}: {likely_copies(self._folder, first, name)}"
                self._findings.add("duplicate", True, text, Played(name, 0, ()), 0.5)

    async def _same(self, one: LevelRow, other: LevelRow) -> bool:
        for row in (one, other):
            actions = row.best.actions if row.best else ()
            first, second = [await self._plays.play(level, actions) for level in (one.level, other.level)]
            if (first.messages, first.rewards) != (second.messages, second.rewards):
                return False
        return likely_copies(self._folder, one.level, other.level) != ""

    async def _verify(self, row: LevelRow, claim: Mapping[str, Any]) -> None:
        """Replay a claim and continue it to the end; drop it if it does not pay then."""
        actions, prefix, cycle = claim["actions"], int(claim["prefix"]), max(1, int(claim["cycle"]))
        text = str(claim["text"])
        if claim["kind"] == "unbounded-amount":
            played = await self._plays.play(row.level, actions)
            if not played.failed:
                self._findings.add("unbounded-amount", True, text, played, abs(played.total))
            return
        turns = -(-(self._steps - prefix) // cycle)
        played = await self._plays.play(
            row.level, [*actions[:prefix], *actions[prefix : prefix + cycle] * turns][: self._steps]
        )
        rounds = [sum(played.rewards[at : at + cycle]) for at in range(prefix, len(played.rewards), cycle)]
        paid = [paid for paid in rounds if paid > 0]
        if len(paid) < _LEAST_ROUNDS:
            return
        after = f" after {prefix} steps" if prefix else ""
        figures = f"{sum(rounds):g} in {len(played.rewards) - prefix} steps{after}"
        what = {"invalid-income": f"{text} pays", "idle-income": "an action that does nothing pays"}
        self._findings.add(claim["kind"], True, f"{what.get(claim['kind'], text)}: {figures}", played, sum(rounds))
        if claim["kind"] == "invalid-income":
            if row.best is None or played.total > row.best.total:
                row.abused = played
        else:
            self._best(row, played)

    def _conclude_level(self, row: LevelRow, explored: Explored) -> None:
        row.moments = explored.moments
        if not (explored.exhausted and self._complete):
            return
        most = row.best.total if row.best else 0.0
        start = row.best or Played(row.level, 0, ())
        row.most = max(most, explored.most)
        if row.most <= 0:
            row.solvable = "unsolvable"
            text = f"nothing pays: all {row.moments} reachable states were tried"
            self._findings.add("unsolvable", True, text, Played(row.level, 0, ()))
        elif row.upper_bound is not None and row.most < row.upper_bound * (1 - SLACK):
            text = f"the bound {row.upper_bound:g} is unreachable: at most {row.most:g} can be collected"
            self._findings.add("bound-unreached", False, text, start, row.upper_bound - row.most)

    def conclude(self) -> None:
        """Summarize the results of all plays."""
        for row in self._report.levels:
            best = row.best.total if row.best else 0.0
            if row.solvable != "unsolvable" and best > 0:
                row.solvable = "in part"
            if row.upper_bound is None:
                continue
            if best >= row.upper_bound * (1 - SLACK):
                row.solvable = "shown"
            for play, how in ((row.best, ""), (row.abused, " with actions that should be refused")):
                if play is not None and play.total > row.upper_bound * (1 + SLACK):
                    text = f"{play.total:g} was collected{how}, more than the bound {row.upper_bound:g}"
                    self._findings.add("bound-beaten", True, text, play, play.total / row.upper_bound)
        self._report.plays += self._plays.count

    async def _failed(self, level: str, played: Played) -> None:
        """Record a play that ended in an exception, a crash or a hang, by whether its last action fits, may fit, or does not."""
        if not played.failed or not played.actions:
            return
        last = played.actions[-1]
        alone = await self._plays.play(level, [last], played.seed)
        shown = alone if alone.failed == played.failed else played
        wrong = misfit({"params": {}, **last}, self._folder.actions)
        if wrong:
            self._findings.add("malformed-crash", True, f"{wrong}: {played.failed}", shown)
        elif surely_fits(last, self._folder.actions):
            self._findings.add("fails", True, f"{last['action']}: {played.failed}", shown)
        else:
            text = f"{last['action']} with values that the list does not specify: {played.failed}"
            self._findings.add("fails-on-guess", False, text, shown)

    def _best(self, row: LevelRow, played: Played) -> None:
        if played.started and (row.best is None or played.total > row.best.total):
            row.best = played

    def _random(self, index: int) -> Sequence[Action]:
        draws = generator(self._seed, "audit", self._folder.name, str(index))
        return [self._actions[int(draws.integers(len(self._actions)))] for _ in range(self._steps)]


KINDS: Mapping[str, tuple[str, ...]] = {
    "format": ("missing-file", "unreadable", "no-bound"),
    "execution": ("fails", "malformed-crash", "not-deterministic", "outside"),
    "levels": ("duplicate", "unsolvable", "bound-beaten", "generator"),
    "reward": ("invalid-income", "idle-income", "farmable", "unbounded-amount"),
}
"""The gates that apply, with the audit's faults that each rejects."""
LEFT_OUT: Mapping[str, str] = {
    "novelty": "its figures come from rules in this process, and a folder's code runs in the sandbox alone",
    "leak": "a folder does not say which parts of its state are hidden, nor which words are inverse",
}
"""The gates that do not apply, with reasons."""
_LEVELS = 8
_RANDOM = 4


async def admit_folder(
    path: Path | str,
    programs: SandboxedPrograms,
    seed: int = 0,
    *,
    steps: int = STEPS,
    gate: asyncio.Semaphore | None = None,
    notify: Callable[[], None] = lambda: None,
) -> Admission:
    """Run the gates that apply to a folder in the AutoEnv-36 format: four on the audit's findings, and reliability.

    Args:
        path: the folder.
        programs: the sandbox.
        seed: source of all chance of the gates.
        steps: step budget for the search of a level.
        gate: semaphore held by every search of a level.
        notify: called after each level.

    Raises:
        ConfigError: if the folder does not exist.
        HostError: if the sandbox fails.
    """
    folder = WorldFolder(path)
    report = await audit_folder(path, programs, steps, seed=seed, gate=gate, notify=notify)
    by_kind = {finding.kind: finding for finding in report.findings}
    reports: list[GateReport] = []
    for name in GATES:
        if name in KINDS:
            faults = tuple(_finding(by_kind[kind]) for kind in KINDS[name] if kind in by_kind and by_kind[kind].fault)
            if report.unjudged and not faults and name != "format":
                reports.append(GateReport(name, (), {}, unjudged=report.unjudged))
                break
            reports.append(GateReport(name, faults, _figures(name, report)))
        elif name in LEFT_OUT:
            reports.append(GateReport(name, (), {}, LEFT_OUT[name]))
        else:
            try:
                reports.append(await _reliability(folder, programs, report, seed))
            except UnjudgedError as error:
                reports.append(GateReport(name, (), {}, unjudged=str(error)))
    digest = digest_json({name: digest_bytes(data) for name, data in folder.files.items()})
    return Admission(folder.name, digest, seed, tuple(reports))


def _finding(fault: Found) -> Finding:
    message = fault.text if not fault.others else f"{fault.text} (and {len(fault.others)} more)"
    return Finding(fault.kind, message, max(1, len(fault.levels)), fault.level, tuple(fault.actions))


def _figures(name: str, report: FolderReport) -> dict[str, Any]:
    if name == "execution":
        notes = {finding.kind: finding.text for finding in report.findings if not finding.fault}
        return {"plays": report.plays, "steps": report.steps, "notes": notes}
    return {"levels": [row.to_json() for row in report.levels]} if name == "levels" else {}


async def _reliability(folder: WorldFolder, programs: SandboxedPrograms, report: FolderReport, seed: int) -> GateReport:
    """Compare random play with the best valid play on the same levels; a world that cannot distinguish them is useless."""
    actions, _ = enumerate_actions(folder.actions)
    rows = [row for row in report.levels if row.best is not None and row.upper_bound]
    chosen = [rows[index * len(rows) // min(_LEVELS, len(rows))] for index in range(min(_LEVELS, len(rows)))]
    gaps: list[float] = []
    async with Plays(folder, programs) as plays:
        for row in chosen:
            totals: list[float] = []
            for number in range(_RANDOM):
                draws = generator(seed, "gates", row.level, str(number))
                drawn: Sequence[Any] = [actions[int(draws.integers(len(actions)))] for _ in range(folder.max_steps)]
                totals.append((await plays.play(row.level, drawn)).total)
            best = row.best.total if row.best else 0.0
            gaps.append((best - float(np.mean(totals))) / (row.upper_bound or 1.0))
    if not gaps:
        return GateReport("reliability", (Finding("no difference", "no level could be played"),), {})
    low, high = paired_interval(np.array(gaps), generator(seed, "gates", "random", "search"))
    figures = {"levels": [row.level for row in chosen], "gap": float(np.mean(gaps)), "low": low, "high": high}
    if low > 0:
        return GateReport("reliability", (), figures)
    message = f"the search is not better than chance beyond noise ({low:.3f} to {high:.3f}): the world does not distinguish players"
    return GateReport("reliability", (Finding("no difference", message, 1, chosen[0].level),), figures)
