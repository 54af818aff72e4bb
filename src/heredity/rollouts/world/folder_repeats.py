"""Whether a world folder does the same twice: in fresh processes, after other episodes, with other chance; and what it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.world.folder_findings import FolderReport, LevelRow
from heredity.rollouts.world.folder_plays import Action, Played, Plays
from heredity.worlds.folder import TEST, WorldFolder

_GENERATED = 3
_OTHER_SEED = 1


async def try_repeats(
    folder: WorldFolder,
    programs: SandboxedPrograms,
    rows: Sequence[LevelRow],
    report: FolderReport,
    sequences: Sequence[Sequence[Action]],
) -> None:
    """Play the same in two fresh processes, and in a third that comes by the levels the other way round."""
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
                where, step = _parting(first, second)
                text = f"the same seed and actions led to something else {where}"
                shown = replace(first, actions=first.actions[:step])
                report.found.add("not-deterministic", True, text, shown, -step)
                break
            if _differs(first, later):
                where, _ = _parting(first, later)
                text = f"episodes leave something behind in the process: a later one went otherwise {where}"
                report.found.add("leaks-state", False, text, first)
                break
    _check_generator(report, *made)


async def try_files(
    folder: WorldFolder, programs: SandboxedPrograms, level: str, report: FolderReport, actions: Sequence[Action]
) -> None:
    """Play and generate a level where it is noted which files are opened."""
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
    """Play a level with other states of the global generators: what differs then is chance that the folder leaves unseeded.

    Here every episode is seeded before it begins; elsewhere the same actions are paid differently each time.
    """
    for actions in sequences:
        first = await plays.play(row.level, actions)
        other = await plays.play(row.level, actions, _OTHER_SEED)
        if first.started and other.started and _seen(first) != _seen(other):
            where, step = _parting(first, other)
            text = f"the level leaves to chance, and seeds nothing, what differs {where} of seeds 0 and {_OTHER_SEED}"
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


def _seen(played: Played) -> tuple[object, ...]:
    return played.stream, played.rewards, played.failed


def _differs(first: Played, second: Played) -> bool:
    return (*_seen(first), first.moment) != (*_seen(second), second.moment)


def _parting(first: Played, second: Played) -> tuple[str, int]:
    """Say where two plays differ first, and after how many steps that is."""
    one, other = ([*zip(played.stream, (0.0, *played.rewards), strict=False)] for played in (first, second))
    step = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if step is None:
        return "in what is not seen", len(first.actions)
    return (f"at step {step}" if step else "at the beginning"), step
