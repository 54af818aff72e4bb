"""World folders as tasksets: `world-folders/PATH`; `world-folders/autoenv-36` is a group, those in `HEREDITY_AUTOENV`.

Held-out tasks are the folder's `levels`, validation tasks its `val_levels`; both are public, and the taskset declares
that. Train levels come from the folder's generator, drawn from the entropy, if it works in the sandbox and gives the
same level twice for a seed. Otherwise every second level of `val_levels` is for training and the rest for validation.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import generator
from heredity._core.plugins import located
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.folders.folder import FOLDERS, TEST, VALIDATION, FolderLevel, WorldFolder
from heredity.kinds.world.folders.process import GUEST, raise_failure, read_world_folder
from heredity.tasks import SPLITS, Task, Taskset, TasksetInfo

AUTOENV, AUTOENV_VARIABLE = f"{FOLDERS}autoenv-36", "HEREDITY_AUTOENV"
"""Name of the group of AutoEnv's own worlds, and the environment variable that names their folder."""

_SEEDS = 2**31
_MISSES = 100
"""After this many consecutive seeds without a new level, a generator counts as exhausted."""
_TRIED = 3
_LEAST_BATCH, _MOST_BATCH = 32, 64
_BATCH_S = 60.0


class FolderTaskset:
    """The levels of a world folder. A score is the total reward over the level's declared bound, and may exceed 1.

    Generated levels have no bound; the mean of the declared ones replaces it. Each trajectory has the raw reward as
    `info/total`, and the bound as `info/bound`. AutoEnv's score is the sum of rewards divided by the sum of bounds.

    A task's spec is `{"folder", "digest", "level", "seed", "bound"}`; `level` is None for a level generated from the
    seed.

    Args:
        path: the folder.

    Raises:
        ConfigError: if a file is missing or wrong; the message names it.
    """

    def __init__(self, path: str) -> None:
        self.name = FOLDERS + path
        self.folder = WorldFolder(path)
        self.folder.check()

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        folder = self.folder
        public = {
            "taskset": self.name,
            "metric": "total reward over the level's declared bound: higher is better, and above 1 where the bound is wrong",
            "bounds": "declared",
            "instruction": folder.instruction,
            "action_space": folder.action_text,
            "actions": list(folder.actions),
            "steps": folder.max_steps,
            "hidden": "public: validation and held-out are the levels in the folder",
        }
        return TasksetInfo(
            name=self.name,
            version=f"folder {folder.digest[:12]}",
            kind="world",
            spec=self._where,
            public=public,
            description=f"# {folder.name}\n\n{folder.instruction}\n\n{folder.action_text}\n",
            failure_return=0.0,
            group="world-folders",
            family=folder.name,
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` levels of a split; see `Taskset.draw`. For train and validation the generator is tested first.

        Raises:
            ConfigError: if the split is unknown or has fewer levels.
            IsolationError: if this machine cannot isolate the folder's code.
        """
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} requested; request 0 or more")
        if split == "train" and self._generates:
            seeds = _distinct_seeds(*self._key, count, entropy)
            if len(seeds) < count:
                raise ConfigError(f"{count} train levels of {self.name} requested; it generates about {len(seeds)}")
            specs = [self._spec(None, seed, self.folder.mean_upper_bound) for seed in seeds]
        else:
            levels = self._of_split(split)
            if count > len(levels):
                raise ConfigError(
                    f"{count} tasks of split {split!r} of {self.name} requested; the folder has {len(levels)}"
                )
            specs = [self._shipped(level, entropy) for level in levels[:count]]
        return tuple(Task(f"{split}/{i}", split, i, spec) for i, spec in enumerate(specs))

    def _of_split(self, split: str) -> Sequence[FolderLevel]:
        if split == "heldout":
            return self.folder.levels(TEST)
        levels = self.folder.levels(VALIDATION)
        if self._generates:
            return levels
        return levels[0::2] if split == "train" else levels[1::2]

    @property
    def _generates(self) -> bool:
        return _generates(*self._key)

    @property
    def _key(self) -> tuple[str, str]:
        return str(self.folder.path), self.folder.digest

    @property
    def _where(self) -> dict[str, Any]:
        path, digest = self._key
        return {"folder": path, "digest": digest}

    def _shipped(self, level: FolderLevel, entropy: int) -> dict[str, Any]:
        # Chance in a level is drawn from the entropy, so that the runs of a suite meet the same cases.
        seed = int(generator(entropy, "cases", self.folder.name, level.path).integers(_SEEDS))
        return self._spec(level.world_id, seed, self.folder.upper_bound(level))

    def _spec(self, level: str | None, seed: int, upper_bound: float) -> dict[str, Any]:
        return {**self._where, "level": level, "seed": seed, "bound": upper_bound}


class FolderTasksets:
    """The tasksets named `"world-folders/PATH"`."""

    def names(self) -> tuple[str, ...]:
        """Return an empty list: any folder in the format is a taskset."""
        return ()

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the worlds of AutoEnv's release, if the variable names its folder, by the group's name."""
        folder = Path(os.environ.get(AUTOENV_VARIABLE) or "/nowhere").expanduser().absolute()
        found = sorted(path for path in folder.glob("*/") if (path / "config.yaml").is_file())
        return {AUTOENV: tuple(f"{FOLDERS}{path}" for path in found)} if found else {}

    def taskset(self, name: str) -> Taskset:
        """Return the taskset of a folder.

        Raises:
            ConfigError: if the folder does not exist, or a file in it is missing or wrong.
        """
        if name == AUTOENV:
            raise ConfigError(
                f"{name} needs AutoEnv's release: git clone https://github.com/FoundationAgents/AutoEnv, and set "
                f"{AUTOENV_VARIABLE} to its folder of worlds, each with a config.yaml"
            )
        return FolderTaskset(name.removeprefix(FOLDERS))

    def located(self, name: str, base: Path) -> str:
        """Return a name with its folder's path made absolute, relative to `base`."""
        return name if name == AUTOENV else FOLDERS + located(name.removeprefix(FOLDERS), base)


SOURCE = FolderTasksets()
"""Entry point for `heredity.tasks.registry`."""


def states(folder: WorldFolder, levels: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Return digests of initial states of levels, and of levels generated from seeds; `""` if the folder's code fails.

    One process of the sandbox computes them. A folder that exceeds its CPU time, or only waits, has none.

    Raises:
        IsolationError: if this machine cannot isolate the folder's code.
    """
    with ThreadPoolExecutor(1) as pool:  # The caller may already run an event loop.
        return pool.submit(asyncio.run, _states(folder, levels, seeds)).result()


async def _states(folder: WorldFolder, levels: Sequence[str], seeds: Sequence[int]) -> list[str]:
    async with SandboxedPrograms(1, ProgramLimits()) as programs:
        opened = programs.open(folder.tree, GUEST, {"name": folder.name}, processor=True)
        async with opened as program:
            asked = {"levels": list(levels), "seeds": list(seeds)}
            result = await program.call("states", asked, seconds=_BATCH_S)
    try:
        raise_failure(result)
    except RolloutError:
        return [""] * (len(levels) + len(seeds))
    return [str(state) for state in result.value]


@lru_cache(maxsize=64)
def _generates(path: str, digest: str) -> bool:
    """Return True if the folder's generator works, and gives the same levels for the same seeds in two processes."""
    folder = read_world_folder(path, digest)
    if "env_generate.py" not in folder.files:
        return False
    first, second = (states(folder, (), range(_TRIED)) for _ in range(2))
    return "" not in first and first == second


@lru_cache(maxsize=64)
def _distinct_seeds(path: str, digest: str, count: int, entropy: int) -> tuple[int, ...]:
    """Return the seeds of up to `count` levels that differ from each other and from those in the folder."""
    folder = read_world_folder(path, digest)
    draws = generator(entropy, "cases", folder.name, "train")
    shipped = [level.world_id for split in (TEST, VALIDATION) for level in folder.levels(split)]
    seen = {"", *states(folder, shipped, ())}
    distinct: list[int] = []
    misses = 0
    while len(distinct) < count and misses < _MISSES:
        seeds = [int(draws.integers(_SEEDS)) for _ in range(min(_MOST_BATCH, max(_LEAST_BATCH, count - len(distinct))))]
        for seed, state in zip(seeds, states(folder, (), seeds), strict=True):
            misses = misses + 1 if state in seen else 0
            if state not in seen and len(distinct) < count:
                distinct.append(seed)
                seen.add(state)
    return tuple(distinct)
