"""The audit of a world folder: what is wrong with it, each fault with what it takes to see it.

Published environments pay for actions that do not exist, have bounds that are beaten, levels that are copies of others or cannot
be solved, and end with an exception on odd parameters (see docs/world-folders.md). Nothing here knows a world's rules.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from heredity.ids import generator
from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.world.folder_actions import (
    enumerate_actions,
    malformed_actions,
    misfit,
    questions,
    surely_fits,
)
from heredity.rollouts.world.folder_files import check_files, likely_copies
from heredity.rollouts.world.folder_findings import SLACK, FolderReport, LevelRow
from heredity.rollouts.world.folder_plays import Action, Explored, Played, Plays, UnjudgedError
from heredity.rollouts.world.folder_repeats import try_chance, try_files, try_repeats
from heredity.worlds.folder import WorldFolder

STEPS = 5_000
"""How many steps the search of a level takes at most by default, probes apart."""
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
    """Audit a folder: its files, then in the sandbox what its environment does. The same each time, unless the world is not.

    Args:
        path: the folder.
        programs: the sandbox.
        steps: how many steps the search of a level for solutions and for ways to beat its bound may take; 0 searches nothing.
        levels: the only ones to look at, by their files' names without the ending; none names all.
        seed: what the random plays come from.
        gate: passed by every search of a level, so that several folders share the processors.
        notify: called after each level.

    Raises:
        ConfigError: if there is no such folder.
        UnknownNameError: if there is no such level.
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
        """Try everything, in order.

        Raises:
            UnjudgedError: if something only waits; nothing is tried after it.
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
        """Whether the environment is imported and begins at least one level."""
        for row in self._report.levels:
            start = await self._plays.play(row.level, ())
            if start.started:
                self.level_rows.append(row)
            else:
                self._findings.add("fails", True, f"the level cannot be started: {start.failed}", start, 2.0)
        return bool(self.level_rows)

    async def try_malformed(self) -> None:
        """Take one malformed action at a time in the first level, and play actions that fit."""
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
        """Search a level in a process of its own."""
        asked = {**self._asked, "upper_bound": row.upper_bound, "steps": steps}
        async with self._gate or nullcontext(), Plays(self._folder, self._programs) as plays:
            explored = await plays.explore(row.level, asked)
        notify()
        return explored

    async def weigh(self, row: LevelRow, explored: Explored) -> None:
        """Play again what the search of a level claims, and note what holds."""
        self._report.steps += explored.steps
        if explored.failed:
            start = await self._plays.play(row.level, ())
            self._findings.add(
                "search-ended", False, f"the search of the level did not come to its end: {explored.failed}", start
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
        """Find levels that are the same to whoever plays them, though their files differ."""
        rows = {row.level: row for row in self.level_rows}
        alike: dict[tuple[Any, ...], str] = {}
        for name, row in rows.items():
            key = tuple((play.messages, play.rewards, play.failed) for play in self._alike[name])
            first = alike.setdefault(key, name)
            if first == name or name in self._report.copies:
                continue
            if await self._same(rows[first], row):
                text = f"{name} is the same as {first} to whoever plays it: {likely_copies(self._folder, first, name)}"
                self._findings.add("duplicate", True, text, Played(name, 0, ()), 0.5)

    async def _same(self, one: LevelRow, other: LevelRow) -> bool:
        for row in (one, other):
            actions = row.best.actions if row.best else ()
            first, second = [await self._plays.play(level, actions) for level in (one.level, other.level)]
            if (first.messages, first.rewards) != (second.messages, second.rewards):
                return False
        return likely_copies(self._folder, one.level, other.level) != ""

    async def _verify(self, row: LevelRow, claim: Mapping[str, Any]) -> None:
        """Play a claim once more, and go on with it to the end; what does not pay then is no finding."""
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
            text = f"nothing pays: all {row.moments} moments that its actions lead to were tried"
            self._findings.add("unsolvable", True, text, Played(row.level, 0, ()))
        elif row.upper_bound is not None and row.most < row.upper_bound * (1 - SLACK):
            text = f"the bound {row.upper_bound:g} is out of reach: the most that can be had is {row.most:g}"
            self._findings.add("bound-unreached", False, text, start, row.upper_bound - row.most)

    def conclude(self) -> None:
        """Sum up what all plays have shown."""
        for row in self._report.levels:
            best = row.best.total if row.best else 0.0
            if row.solvable != "unsolvable" and best > 0:
                row.solvable = "in part"
            if row.upper_bound is None:
                continue
            if best >= row.upper_bound * (1 - SLACK):
                row.solvable = "shown"
            for play, how in ((row.best, ""), (row.abused, ", with actions that should be refused")):
                if play is not None and play.total > row.upper_bound * (1 + SLACK):
                    text = f"{play.total:g} was collected of at most {row.upper_bound:g}{how}"
                    self._findings.add("bound-beaten", True, text, play, play.total / row.upper_bound)
        self._report.plays += self._plays.count

    async def _failed(self, level: str, played: Played) -> None:
        """Note a play that ended in an exception, a crash or a hang, as its last action fits, may fit, or does not."""
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
            text = f"{last['action']} with values that the list leaves open: {played.failed}"
            self._findings.add("fails-on-guess", False, text, shown)

    def _best(self, row: LevelRow, played: Played) -> None:
        if played.started and (row.best is None or played.total > row.best.total):
            row.best = played

    def _random(self, index: int) -> Sequence[Action]:
        draws = generator(self._seed, "audit", self._folder.name, str(index))
        return [self._actions[int(draws.integers(len(self._actions)))] for _ in range(self._steps)]
