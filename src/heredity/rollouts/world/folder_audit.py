"""The audit of a world folder: what is wrong with it, each fault with what it takes to see it.

Published environments pay for actions that do not exist, have bounds that are beaten, levels that are copies of others or cannot
be solved, and end with an exception on odd parameters (see docs/world-folders.md). Nothing here knows a world's rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from heredity.errors import ConfigError
from heredity.ids import digest_json, generator
from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.world.folder_actions import (
    enumerate_actions,
    idle_actions,
    malformed_actions,
    misfit,
    unknown_actions,
)
from heredity.rollouts.world.folder_plays import Action, Played, Plays, search
from heredity.worlds.folder import FILES, TEST, VALIDATION, FolderLevel, WorldFolder

SLACK = 1e-9
_RANDOM_AGENTS = 3
_REPEATED = 24
_GENERATED = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        kind: such as `"invalid-income"`.
        fault: whether it is a fault; the others are worth knowing.
        text: what it is.
        level: the `world_id`, `""` if it is not about one.
        seed: what chance began with; None if it takes no play to see it.
        actions: what to do to see it, `[]` if nothing.
    """

    kind: str
    fault: bool
    text: str
    level: str = ""
    seed: int | None = None
    actions: Sequence[Action] = ()

    @property
    def reproduction(self) -> str:
        """Level, seed and actions in one line, equal ones together."""
        runs = [(action, len(list(same))) for action, same in groupby(self.actions, key=repr)]
        steps = ", ".join(f"{action} x {count}" if count > 1 else action for action, count in runs)
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.level}{seed}: {steps}" if steps else f"{self.level}{seed}"


@dataclass(slots=True)
class LevelRow:
    """What was found on a level.

    Attributes:
        level: the `world_id`.
        upper_bound: the declared one; None if there is none.
        best: the play that paid most.
        moments: how many moments the search reached.
        solvable: `"shown"`: a play reached the bound; `"unsolvable"`: an exhaustive search showed that nothing pays; else
            `"not shown"`.
    """

    level: str
    upper_bound: float | None
    best: Played | None = None
    moments: int = 0
    solvable: str = "not shown"

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        best = self.best.total if self.best else None
        share = best / self.upper_bound if best is not None and self.upper_bound else None
        head = {"level": self.level, "bound": self.upper_bound, "best": best, "share": share}
        return {**head, "moments": self.moments, "solvable": self.solvable}


@dataclass(slots=True)
class FolderReport:
    """The audit of a folder.

    Attributes:
        folder: where it is.
        findings: what was found, faults first.
        levels: one row for each level.
        plays: how many plays it took; `seconds`: how long.
    """

    folder: str
    findings: list[Finding] = field(default_factory=list[Finding])
    levels: list[LevelRow] = field(default_factory=list[LevelRow])
    plays: int = 0
    seconds: float = 0.0

    @property
    def faults(self) -> int:
        """How many of the findings are faults."""
        return sum(finding.fault for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "folder": self.folder,
            "faults": self.faults,
            "plays": self.plays,
            "seconds": self.seconds,
            "findings": [asdict(finding) for finding in self.findings],
            "levels": [row.to_json() for row in self.levels],
        }


async def audit_folder(path: Path | str, programs: SandboxedPrograms, seconds: float = 20.0) -> FolderReport:
    """Audit a folder: its files, then in the sandbox what its environment does.

    Args:
        path: the folder.
        programs: the sandbox.
        seconds: how long to search for solutions and for ways to beat the bounds, over all levels; the other checks take
            as long as they take, at most 10 s a play.

    Raises:
        ConfigError: if there is no such folder.
        HostError: if the sandbox fails.
    """
    started = time.monotonic()
    folder = WorldFolder(path)
    report = FolderReport(str(folder.path))
    if _check_files(folder, report):
        async with Plays(folder, programs) as plays:
            audit = _Audit(folder, programs, plays, report)
            if await audit.opens():
                await audit.try_levels()
                await audit.try_malformed()
                await audit.try_twice()
                await audit.try_generator()
                await audit.watch_files()
                await audit.search(seconds)
            audit.conclude()
    report.findings.sort(key=lambda finding: not finding.fault)
    report.seconds = time.monotonic() - started
    return report


def _check_files(folder: WorldFolder, report: FolderReport) -> bool:
    """Check what the files say; False if the environment cannot be tried."""

    def checked(what: Callable[[], object]) -> bool:
        try:
            what()
        except ConfigError as error:
            report.findings.append(Finding("unreadable", True, str(error)))
            return False
        return True

    for name in FILES:
        if name not in folder.files:
            report.findings.append(Finding("missing-file", True, f"{name} is missing"))
    levels = [level for split in (TEST, VALIDATION) for level in folder.levels(split)]
    for split in (TEST, VALIDATION):
        if not folder.levels(split):
            report.findings.append(Finding("missing-file", True, f"{split}/ has no level_NN.yaml"))
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
                report.findings.append(Finding("no-bound", True, str(error), level.world_id))
        report.levels.append(LevelRow(level.world_id, upper_bound))
    _check_copies(folder, levels, report)
    return readable and bool(levels)


def _check_copies(folder: WorldFolder, levels: Sequence[FolderLevel], report: FolderReport) -> None:
    first: dict[str, FolderLevel] = {}
    for level in levels:
        try:
            digest = digest_json(_comparable(folder.yaml(level.path)))
        except ConfigError as error:
            report.findings.append(Finding("unreadable", True, str(error), level.world_id))
            continue
        same = first.setdefault(digest, level)
        if same is not level:
            text = f"{level.path} holds the same as {same.path}"
            report.findings.append(Finding("duplicate", True, text, level.world_id))


def _comparable(value: Any) -> Any:
    """Return JSON values for what YAML may hold: keys that are no texts, dates."""
    if isinstance(value, dict):
        return {repr(key): _comparable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_comparable(inner) for inner in value]
    return value if value is None or isinstance(value, str | bool | int) else repr(value)


class _Audit:
    def __init__(self, folder: WorldFolder, programs: SandboxedPrograms, plays: Plays, report: FolderReport) -> None:
        self._folder, self._programs, self._plays, self._report = folder, programs, plays, report
        self._actions, self._complete = enumerate_actions(folder.actions)
        self._steps = folder.max_steps
        self._begun: list[LevelRow] = []
        self._failures: dict[tuple[str, str], tuple[str, Played, int]] = {}

    async def opens(self) -> bool:
        """Whether the environment is imported and begins at least one level."""
        for row in self._report.levels:
            start = await self._plays.play(row.level, ())
            if start.started:
                self._begun.append(row)
            else:
                self._find("fails", True, f"the level cannot be started: {start.failed}", start)
        return bool(self._begun)

    async def try_levels(self) -> None:
        """Play actions that do not exist, idle ones, random ones, and each one over and over."""
        for row in self._begun:
            start = await self._plays.play(row.level, ())
            paid = [await self._played(row, [a] * self._steps) for a in unknown_actions(self._folder.actions)]
            self._income("invalid-income", "an action that does not exist", paid)
            idle = idle_actions(self._folder.actions)
            paid = [await self._played(row, [action] * self._steps) for action in idle]
            for action in self._actions[:_REPEATED]:
                played = await self._played(row, [action] * self._steps)
                if played.still == start.still and action not in idle:
                    paid.append(played)
            self._income("idle-income", "an action that does nothing", paid)
            for agent in range(_RANDOM_AGENTS):
                await self._played(row, self._random(row.level, agent), agent)

    async def try_malformed(self) -> None:
        """Take one malformed action at a time in the first level."""
        level = self._begun[0].level
        for what, action, clearly in malformed_actions(self._folder.actions):
            played = await self._plays.play(level, [action])
            if played.failed:
                self._fail("malformed-crash", what, played)
            elif clearly and played.total > 0:
                self._income("invalid-income", f"an action with {what}", [played])

    async def try_twice(self) -> None:
        """Play the same with the same seed in two fresh processes, and in the one that has played all the rest."""
        for row in self._begun:
            actions = self._random(row.level, 0)
            fresh: list[Played] = []
            for _ in range(2):
                async with Plays(self._folder, self._programs) as plays:
                    fresh.append(await plays.play(row.level, actions))
                    self._plays.count += 1
            if _differs(fresh[0], fresh[1]):
                where, step = _parting(*fresh)
                text = f"the same seed and actions led to something else {where}"
                self._find("not-deterministic", True, text, replace(fresh[0], actions=fresh[0].actions[:step]))
                continue
            used = await self._plays.play(row.level, actions)
            if _differs(fresh[0], used):
                where, _ = _parting(fresh[0], used)
                text = f"episodes leave something behind in the process: a later one went otherwise {where}"
                self._find("leaks-state", False, text, fresh[0])

    async def try_generator(self) -> None:
        """Generate levels from a few seeds, each in two processes."""
        made: list[list[Played]] = []
        for _ in range(2):
            async with Plays(self._folder, self._programs) as plays:
                made.append([await plays.play(None, (), seed) for seed in range(_GENERATED)])
                self._plays.count += plays.count
        for first, second in zip(*made, strict=True):
            if first.failed:
                self._find("generator", True, f"no level can be generated: {first.failed}", first)
                return
            if _differs(first, second):
                self._find("generator", True, "the same seed generates different levels", first)
                return
        if len({first.still for first in made[0]}) == 1:
            self._find("generator", True, f"{_GENERATED} seeds generate one and the same level", made[0][0])

    async def watch_files(self) -> None:
        """Play and generate a level where it is noted which files are opened."""
        level = self._begun[0].level
        async with Plays(self._folder, self._programs, watch=True) as plays:
            played = await plays.play(level, self._random(level, 0))
            touched = await plays.touched()
            await plays.play(None, ())
            later = [(what, path) for what, path in await plays.touched() if not path.startswith(f"{TEST}/")]
            self._plays.count += plays.count
        for what, path in dict.fromkeys((*touched, *later)):
            if what == "write":
                self._find("writes", False, f"it writes {path} in its own folder", played)
            else:
                self._find("outside", True, f"{what} {path}".strip(), played)

    async def search(self, seconds: float) -> None:
        """Search every level for reward, with equal shares of the time that is left."""
        ends = time.monotonic() + seconds
        for index, row in enumerate(self._begun):
            left = max(ends - time.monotonic(), 0.0) / (len(self._begun) - index)
            upper_bound = float("inf") if row.upper_bound is None else row.upper_bound + SLACK
            for greedy, until in ((False, time.monotonic() + left / 2), (True, time.monotonic() + left)):
                limits = (self._steps, upper_bound, until)
                outcome = await search(self._plays, row.level, self._actions, limits, greedy=greedy)
                self._best(row, outcome.best)
                if outcome.exhausted or outcome.best.total > upper_bound:
                    break
            row.moments = outcome.moments
            if outcome.failed is not None:
                self._fail("fails", "an action", outcome.failed)
            most = row.best.total if row.best else 0.0
            if outcome.exhausted and self._complete and most <= 0:
                row.solvable = "unsolvable"
                text = f"nothing pays: all {outcome.moments} moments that its actions lead to were tried"
                self._find("unsolvable", True, text, outcome.best)
            elif (
                outcome.exhausted and self._complete and row.upper_bound is not None and most < row.upper_bound - SLACK
            ):
                text = f"the bound {row.upper_bound:g} is out of reach: the most that can be had is {most:g}"
                self._find("bound-unreached", False, text, outcome.best)

    def conclude(self) -> None:
        """Sum up what all plays have shown."""
        for row in self._report.levels:
            if row.best is None or row.upper_bound is None:
                continue
            if row.best.total >= row.upper_bound - SLACK:
                row.solvable = "shown"
            if row.best.total > row.upper_bound * (1 + SLACK):
                text = f"{row.best.total:g} was collected of at most {row.upper_bound:g}"
                self._find("bound-beaten", True, text, row.best)
        for (kind, failed), (what, played, count) in self._failures.items():
            more = f", and {count - 1} more" if count > 1 else ""
            self._find(kind, True, f"{what}{more}: {failed}", played)
        self._report.plays = self._plays.count

    async def _played(self, row: LevelRow, actions: Sequence[Action], seed: int = 0) -> Played:
        played = await self._plays.play(row.level, actions[: self._steps], seed)
        if played.failed:
            last = played.actions[-1]
            alone = await self._plays.play(row.level, [last], seed)
            wrong = misfit({"params": {}, **last}, self._folder.actions)
            shorter = alone if alone.failed == played.failed else played
            self._fail("malformed-crash" if wrong else "fails", wrong or "an action", shorter)
        self._best(row, played)
        return played

    def _best(self, row: LevelRow, played: Played) -> None:
        if played.started and (row.best is None or played.total > row.best.total):
            row.best = played

    def _random(self, level: str, agent: int) -> list[Action]:
        draws = generator(agent, "audit", self._folder.name, level)
        return [self._actions[int(draws.integers(len(self._actions)))] for _ in range(self._steps)]

    def _income(self, kind: str, what: str, paid: Iterable[Played]) -> None:
        most = max(paid, key=lambda played: played.total, default=None)
        if most is not None and most.total > 0:
            self._find(kind, True, f"{what} pays: {most.total:g} in {len(most.rewards)} steps", most)

    def _fail(self, kind: str, what: str, played: Played) -> None:
        first, shown, count = self._failures.get((kind, played.failed), (what, played, 0))
        self._failures[kind, played.failed] = (first, shown, count + 1)

    def _find(self, kind: str, fault: bool, text: str, played: Played) -> None:
        level = "a generated level" if played.level is None else played.level
        self._report.findings.append(Finding(kind, fault, text, level, played.seed, played.actions))


def _differs(first: Played, second: Played) -> bool:
    return (first.stream, first.rewards, first.moment, first.failed) != (
        second.stream,
        second.rewards,
        second.moment,
        second.failed,
    )


def _parting(first: Played, second: Played) -> tuple[str, int]:
    """Say where two plays differ first, and after how many steps that is."""
    one, other = ([*zip(played.stream, (0.0, *played.rewards), strict=True)] for played in (first, second))
    step = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if step is None:
        return "in what is not seen", len(first.actions)
    return (f"at step {step}" if step else "at the beginning"), step
