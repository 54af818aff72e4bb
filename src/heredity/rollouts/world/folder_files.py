"""What the files of a world folder say without being run: what is missing, what cannot be read, which levels are copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from heredity.errors import ConfigError
from heredity.ids import digest_json
from heredity.rollouts.world.folder_findings import FolderReport, LevelRow
from heredity.worlds.folder import FILES, TEST, VALIDATION, FolderLevel, WorldFolder

_MOST_UNSEEN = 3
"""In so many values two levels that play alike may differ and be called the same: a seed, a name."""


def check_files(folder: WorldFolder, report: FolderReport) -> bool:
    """Check what the files say; False if the environment cannot be tried."""

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
    """Say in which values the files of two levels differ, if these are few enough to be beside the point; else `""`."""
    paths = {level.world_id: level.path for split in (TEST, VALIDATION) for level in folder.levels(split)}
    first, second = (dict(_leaves(folder.yaml(paths[level]))) for level in (one, other))
    differing = [path for path in {**first, **second} if first.get(path) != second.get(path)]
    if len(differing) > _MOST_UNSEEN:
        return ""
    return f"they differ in {', '.join(differing)}" if differing else "they hold the same"


def _check_copies(folder: WorldFolder, levels: Sequence[FolderLevel], report: FolderReport) -> None:
    first: dict[str, FolderLevel] = {}
    for level in levels:
        try:
            digest = digest_json(_comparable(folder.yaml(level.path)))
        except ConfigError as error:
            report.found.of_level("unreadable", True, str(error), level.world_id)
            continue
        same = first.setdefault(digest, level)
        if same is not level:
            report.copies.add(level.world_id)
            text = f"{level.path} holds the same as {same.path}"
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


def _comparable(value: Any) -> Any:
    """Return JSON values for what YAML may hold: keys that are no texts, dates."""
    if isinstance(value, dict):
        return {repr(key): _comparable(inner) for key, inner in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple | set):
        return [_comparable(inner) for inner in cast(list[Any], value)]
    return value if value is None or isinstance(value, str | bool | int) else repr(value)
