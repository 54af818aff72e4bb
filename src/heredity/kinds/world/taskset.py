"""Worlds as tasksets: `worlds/NAME`, or with options `worlds/NAME?skin=inverse&difficulty=2`; and `world-folders/PATH`.

Train levels of a world are generated from the entropy, so their number is unlimited. Validation and held-out levels
are shipped with the world; they are public, and the taskset declares that (`hidden` in its public part).

The levels of a world folder are a taskset as well (`FolderTaskset`); `world-folders/autoenv-36` is a group, those in
`HEREDITY_AUTOENV`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity._core.plugins import is_path, located
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.compose.recipe import COMPOSED, Recipe
from heredity.kinds.world.description import Description
from heredity.kinds.world.env import ActionSpace
from heredity.kinds.world.episode import actions_text
from heredity.kinds.world.folders.folder import FOLDERS, TEST, VALIDATION, FolderLevel, WorldFolder, is_folder
from heredity.kinds.world.process import GUEST, raise_failure, read_world_folder
from heredity.kinds.world.skins import check_skin
from heredity.kinds.world.world import DIFFICULTIES, Level, World, descriptions, in_rules, world, world_names
from heredity.tasks import SPLITS, Task, Taskset, TasksetInfo
from heredity.tasks.registry import taskset, written_options

_MIXTURE_SEEDS = 2**31
_MOST_WORLDS = 100_000
_RANGE = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?")


class MixtureTaskset:
    """Levels of alternating worlds, generated from the entropy: train levels of some worlds, held-out levels of others.

    An evolver must learn things that hold in unseen worlds. A score is the total reward over the level's bound, as with
    a single world. There are no validation tasks.

    Args:
        name: the taskset's full name.
        train: names of the worlds to learn on.
        heldout: names of the worlds that judge.
        digest: returns the digest of everything that a world's scores depend on.
        skin: one of `heredity.kinds.world.skins.SKINS`.
        difficulty: 1 to 3 for levels of this difficulty only (None alternates between all).

    Raises:
        ConfigError: without a world to learn on or a world that judges, if one is in both, or one does not have the
            skin.
    """

    def __init__(
        self,
        name: str,
        train: Sequence[str],
        heldout: Sequence[str],
        digest: Any,
        *,
        skin: str = "text",
        difficulty: int | None = None,
    ) -> None:
        both = sorted({*train} & {*heldout})
        if not train or not heldout or both:
            what = f"{both[0]} is in both" if both else "there are none"
            raise ConfigError(f"{name}: worlds to learn on and other ones to be judged on are needed; {what}")
        self.name, self.skin, self._digest = name, skin, digest
        self._worlds: Mapping[str, Sequence[str]] = {"train": train, "validation": (), "heldout": heldout}
        self.difficulties: Sequence[int] = DIFFICULTIES if difficulty is None else (difficulty,)
        for plain in () if skin == "text" else (*train, *heldout):
            check_skin(plain, world(plain).description.skin, skin)

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset; it reveals only the number of its worlds."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        train, heldout = self._worlds["train"], self._worlds["heldout"]
        digests = [[name, self._digest(name)] for name in (*train, *heldout)]
        instruction = (
            f"Each task is a level of one of {len(train)} worlds, and its text says what is to be done there. What was learned is"
            f" judged on levels of {len(heldout)} other worlds."
        )
        return TasksetInfo(
            name=self.name,
            version=f"worlds {digest_json([digests, list(self.difficulties)])[:12]}",
            kind="world",
            spec={"worlds": [*train, *heldout], "skin": self.skin},
            public={
                "taskset": self.name,
                "metric": "total reward over the level's bound: at most 1, higher is better",
                "instruction": instruction,
                "legend": {},
                "actions": [],
                "reward": "mixed",
                "steps": None,
                "skin": self.skin,
                "train_tasks": None,
                "hidden": "private: held-out levels are generated from the secret entropy, in worlds that no train level is of",
            },
            description=f"# {self.name}\n\n{instruction}\n",
            failure_return=0.0,
            group="worlds",
            family="mixed",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` levels of a split, cycling through the worlds; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        names = self._worlds[split]
        if count < 0 or (count and not names):
            raise ConfigError(f"{count} tasks of split {split!r} of {self.name} requested; set views.{split} to 0")
        return tuple(self._task(split, index, entropy) for index in range(count))

    def _task(self, split: str, index: int, entropy: int) -> Task:
        names = self._worlds[split]
        again, number = divmod(index, len(names))
        name = names[number]
        seed = int(generator(entropy, "cases", self.name, split, name, again).integers(_MIXTURE_SEEDS))
        try:
            level = world(name).make(seed, self.difficulties[(number + again) % len(self.difficulties)])
        except ConfigError as error:
            raise ConfigError(f"{self.name}: {error}; leave that world out") from error
        spec = {
            "world": name,
            "level": dict(level.data),
            "bound": level.upper_bound.value,
            "skin": self.skin,
            "id": level.id,
        }
        return Task(f"{split}/{index}", split, index, spec, {"world": name})


def seeds_of(text: str) -> list[int]:
    """Parse seeds: `0..9` or `0..4,6,8..9`, both ends included.

    Raises:
        ConfigError: if the text is malformed, or a seed is repeated.
    """
    matches = [_RANGE.fullmatch(part) for part in text.split(",")]
    spans = [(int(m[1]), int(m[2] or m[1])) for m in matches if m is not None]
    many = sum(high - low + 1 for low, high in spans) > _MOST_WORLDS
    seeds = [] if many else [seed for low, high in spans for seed in range(low, high + 1)]
    if None in matches or not seeds or len(set(seeds)) != len(seeds) or any(low > high for low, high in spans):
        most = f"; at most {_MOST_WORLDS:,}" if many else ""
        raise ConfigError(f"seeds are {text!r}; expected ranges such as 0..9 or 0..4,6,8..9, no seed twice{most}")
    return seeds


PREFIX = "worlds/"
_SHIPPED = {"validation": "validation", "heldout": "test"}
_SIX = (1, 19, 21, 25, 26, 33)
"""Rows of AutoEnv's table A6.

The paper's appendix D.1 numbers the sliding puzzle 24 and the memory game 26; A6 takes precedence here.
"""

_INVERTED = (14, 20, 31)
"""Modalities: numbers, symbols and pixel values."""

_SEEDS = 2**31
_OPTIONS = ("skin", "difficulty")
_ASKED = ("seed", "seeds", "heldout", "reward", "observation", "semantics", "hardness")
"""Options of composed worlds; `difficulty` is that of levels, as with all worlds, and `hardness` that of the world."""
_MISSES = 300
"""After this many consecutive seeds without a new level, a world's levels count as exhausted."""


class WorldTaskset:
    """The levels of a world. A score is the total reward over the level's certified bound: at most 1, possibly negative.

    A task's spec is `{"world", "level", "bound", "skin", "id"}`; `level` is the complete level data, hidden parts
    included.

    Args:
        name: the world, or the path of a folder with YAML rules only.
        skin: one of `heredity.kinds.world.skins.SKINS`.
        difficulty: 1 to 3 for levels of this difficulty only; None alternates between all.

    Raises:
        UnknownNameError: if the world or the skin is unknown.
        ConfigError: if the difficulty is invalid.
    """

    def __init__(self, name: str, skin: str = "text", difficulty: int | None = None) -> None:
        if difficulty is not None and difficulty not in DIFFICULTIES:
            raise ConfigError(f"difficulty is {difficulty!r}; expected 1, 2 or 3")
        self.world_name = str(Path(name).resolve()) if is_path(name) else name
        self.world, self.skin = world(name), skin
        check_skin(name, self.world.description.skin, skin)
        self.difficulties: Sequence[int] = DIFFICULTIES if difficulty is None else (difficulty,)
        options = {"difficulty": difficulty, "skin": None if skin == "text" else skin}
        query = "&".join(f"{key}={value}" for key, value in options.items() if value is not None)
        self.name = f"{PREFIX}{self.world_name}?{query}" if query else PREFIX + self.world_name

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset; its public part omits all rules that an agent has to discover."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        described = self.world.description
        return TasksetInfo(
            name=self.name,
            version=f"world {world_digest(self.world_name)[:12]}",
            kind="world",
            spec={"world": self.world_name, "skin": self.skin},
            public=self._public(described),
            description=f"# {self.name}\n\n{described.instruction.strip()}\n\n{actions_text(described)}\n",
            failure_return=0.0,
            group="worlds",
            family=described.meta.reward,
            labels={
                "reward": described.meta.reward,
                "observation": described.meta.observation,
                "semantics": "inverse" if self.skin == "inverse" else described.meta.semantics,
            },
        )

    def _public(self, described: Description) -> dict[str, Any]:
        return {
            "taskset": self.name,
            "metric": "total reward over the level's bound: at most 1, higher is better",
            "instruction": described.instruction.strip(),
            "legend": dict(described.skin.legend),
            "actions": ActionSpace(described.actions).describe(),
            "reward": described.meta.reward,
            "steps": described.max_steps,
            "skin": self.skin,
            "train_tasks": None,
            "hidden": "public: validation and held-out are the levels shipped with the world",
        }

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` levels of a split; see `Taskset.draw`.

        Train levels differ from each other and from all shipped ones. Difficulties alternate, also among the shipped
        levels, whose order is fixed.
        """
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} requested; request 0 or more")
        levels = self._fresh(count, entropy) if split == "train" else self._shipped(split, count)
        return tuple(Task(f"{split}/{i}", split, i, self._spec(level)) for i, level in enumerate(levels))

    def _spec(self, level: Level) -> dict[str, Any]:
        return {
            "world": self.world_name,
            "level": dict(level.data),
            "bound": level.upper_bound.value,
            "skin": self.skin,
            "id": level.id,
        }

    def _shipped(self, split: str, count: int) -> list[Level]:
        by_difficulty = [
            [level for level in self.world.shipped[_SHIPPED[split]] if level.difficulty == difficulty]
            for difficulty in self.difficulties
        ]
        ranked = [(rank, level) for levels in by_difficulty for rank, level in enumerate(levels)]
        if count > len(ranked):
            counts = ", ".join(f"{len(self._of_split(name))} of {name}" for name in _SHIPPED)
            raise ConfigError(
                f"{count} tasks of split {split!r} of {self.name} requested; it ships {counts}: set views.{split} to"
                f" {len(ranked)} or less"
            )
        return [level for _, level in sorted(ranked, key=lambda pair: pair[0])][:count]

    def _of_split(self, split: str) -> list[Level]:
        return [level for level in self.world.shipped[_SHIPPED[split]] if level.difficulty in self.difficulties]

    def _fresh(self, count: int, entropy: int) -> list[Level]:
        draws = generator(entropy, "cases", PREFIX + self.world.name, "train")
        seen = {digest_json(dict(level.data)) for levels in self.world.shipped.values() for level in levels}
        levels: list[Level] = []
        misses = 0
        while len(levels) < count:
            level = _make_level(
                self.world, int(draws.integers(_SEEDS)), self.difficulties[len(levels) % len(self.difficulties)]
            )
            digest = digest_json(dict(level.data))
            if digest not in seen:
                seen.add(digest)
                levels.append(level)
                misses = 0
            elif (misses := misses + 1) >= _MISSES:
                raise ConfigError(f"{count} train levels of {self.name} requested; it has about {len(levels)}")
        return levels


class WorldTasksets:
    """The tasksets named `"worlds/…"`."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all worlds; each takes options."""
        return tuple(PREFIX + name for name in world_names())

    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Return groups of worlds: all, the six of AutoEnv's appendix D.1, and the three of its appendix E.3 in both skins."""
        named = {number: name for name, number in paper_numbers().items()}
        inverted = [PREFIX + named[number] for number in _INVERTED if number in named]
        return {
            "worlds/all": self.names(),
            "worlds/six": tuple(PREFIX + named[number] for number in _SIX if number in named),
            "worlds/skins": tuple(name + skin for name in inverted for skin in ("", "?skin=inverse")),
        }

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name; a path such as `worlds/./mine` is a world folder.

        Raises:
            UnknownNameError: if a world, option or skin is unknown.
            ConfigError: if an option's value is invalid, or the world or the folder is faulty.
        """
        if is_folder(name.removeprefix(PREFIX)):
            return taskset(FOLDERS + name.removeprefix(PREFIX))
        base, _, query = name.partition("?")
        options = _options(name, query)
        difficulty = options.get("difficulty")
        if difficulty is not None and difficulty not in map(str, DIFFICULTIES):
            raise ConfigError(f"difficulty of {name} is {difficulty!r}; expected 1, 2 or 3")
        if "seeds" in options or "heldout" in options:
            return _mixture(name, options)
        if base == PREFIX + COMPOSED:
            base = PREFIX + _composed(name, options, options.get("seed", ""))
        plain = base.removeprefix(PREFIX)
        if base not in self.names() and not is_path(plain) and Recipe.from_name(plain) is None:
            raise UnknownNameError("taskset", base, self.names())
        number = None if difficulty is None else int(difficulty)
        return WorldTaskset(base.removeprefix(PREFIX), options.get("skin", "text"), number)

    def located(self, name: str, base: Path) -> str:
        """Return a name with the same meaning everywhere: the path of a plain folder becomes absolute."""
        path = name.removeprefix(PREFIX)
        if not is_path(path):
            return name
        world_name, mark, query = path.partition("?")
        at = located(world_name, base)
        return (PREFIX if in_rules(Path(at)) else FOLDERS) + at + mark + query


SOURCE = WorldTasksets()
"""Entry point for `heredity.tasks.registry`."""


@cache
def paper_numbers() -> Mapping[str, int]:
    """Return the row of AutoEnv's table A6 for each world that has one."""
    rows = {name: described.meta.paper for name, described in descriptions().items()}
    return {name: row[0] for name, row in rows.items() if row is not None}


@cache
def world_digest(name: str) -> str:
    """Return the digest of everything that a world's scores depend on: its folder, and the code shared by all worlds."""
    made = world(name)
    own = {f"{made.name}/{key}": digest_bytes(data) for key, data in made.sources.items()}
    return digest_json({**_machinery(in_rules=made.description.rules is not None), **own})


@cache
def _machinery(*, in_rules: bool) -> Mapping[str, str]:
    """Return the digests of the code shared by all worlds."""
    root = Path(__file__).parent
    shared = [root / f"{name}.py" for name in ("episode", "skins", "pictures")]
    folders = ("mechanics", "dsl") if in_rules else ("mechanics",)
    paths = (*shared, *(path for folder in folders for path in (root / folder).glob("*.py")))
    return {str(path.relative_to(root)): digest_bytes(path.read_bytes()) for path in paths}


@lru_cache(maxsize=4096)
def _make_level(made: World, seed: int, difficulty: int) -> Level:
    """Generate a level once per process: its bound may need a search, and every run of a suite draws the same levels."""
    return made.make(seed, difficulty)


def _composed(name: str, options: Mapping[str, str], seed: str) -> str:
    """Return the name of the composed world that options describe."""
    if not seed.isdecimal():
        raise ConfigError(f"{name}: a composed world needs a seed; write {PREFIX}{COMPOSED}?seed=7")
    asked = {key: options[key] for key in ("reward", "observation", "semantics") if key in options}
    return Recipe(int(seed), **asked, difficulty=options.get("hardness")).name


def _mixture(name: str, options: Mapping[str, str]) -> MixtureTaskset:
    """Return the taskset of many composed worlds: `seeds` to learn on, `heldout` to judge."""
    if "seed" in options or not {"seeds", "heldout"} <= {*options}:
        example = f"{PREFIX}{COMPOSED}?seeds=0..9&heldout=10..19"
        raise ConfigError(f"{name}: a mixture needs `seeds` to learn on and `heldout` to judge; write {example}")
    train, heldout = (
        [_composed(name, options, str(seed)) for seed in seeds_of(options[key])] for key in ("seeds", "heldout")
    )
    difficulty = int(options["difficulty"]) if "difficulty" in options else None
    return MixtureTaskset(name, train, heldout, world_digest, skin=options.get("skin", "text"), difficulty=difficulty)


def _options(name: str, query: str) -> Mapping[str, str]:
    options = written_options(name, query)
    options_known = _OPTIONS if name.partition("?")[0] != PREFIX + COMPOSED else (*_OPTIONS, *_ASKED)
    if strange := [key for key in options if key not in options_known]:
        raise UnknownNameError("option of a world", strange[0], options_known)
    return options


AUTOENV, AUTOENV_VARIABLE = f"{FOLDERS}autoenv-36", "HEREDITY_AUTOENV"
"""Name of the group of AutoEnv's own worlds, and the environment variable that names their folder."""

_FOLDER_SEEDS = 2**31
_FOLDER_MISSES = 100
"""After this many consecutive seeds without a new level, a generator counts as exhausted."""
_TRIED = 3
_LEAST_BATCH, _MOST_BATCH = 32, 64
_BATCH_S = 60.0


class FolderTaskset:
    """The levels of a world folder. A score is the total reward over the level's declared bound, and may exceed 1.

    Held-out tasks are the folder's `levels`, validation tasks its `val_levels`; both are public, and the taskset
    declares that. Train levels come from the folder's generator, drawn from the entropy, if it works in the sandbox
    and gives the same level twice for a seed. Otherwise every second level of `val_levels` is for training and the
    rest for validation.

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
        seed = int(generator(entropy, "cases", self.folder.name, level.path).integers(_FOLDER_SEEDS))
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


FOLDER_SOURCE = FolderTasksets()
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
    while len(distinct) < count and misses < _FOLDER_MISSES:
        seeds = [
            int(draws.integers(_FOLDER_SEEDS))
            for _ in range(min(_MOST_BATCH, max(_LEAST_BATCH, count - len(distinct))))
        ]
        for seed, state in zip(seeds, states(folder, (), seeds), strict=True):
            misses = misses + 1 if state in seen else 0
            if state not in seen and len(distinct) < count:
                distinct.append(seed)
                seen.add(state)
    return tuple(distinct)
