"""`WorldFolder`: an environment in the AutoEnv-36 format, as described by its files. None of its code runs here.

A folder has `config.yaml`, `env_main.py`, `env_obs.py`, `env_generate.py`, `env_validator.py`, `action_space.txt`,
`agent_instruction.txt`, `level_max_rewards.json`, `levels/` for test and `val_levels/` for validation. Its code runs
only in the sandbox (`heredity.kinds.world.folders.process`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any, cast

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.outside import json_value, resolved, yaml_value
from heredity._core.plugins import is_path
from heredity._core.refusals import reading
from heredity.kinds.world.gates.contract import CERTIFICATE
from heredity.kinds.world.world import in_rules
from heredity.resources import SourceTree

FILES = (
    "config.yaml",
    "env_main.py",
    "env_obs.py",
    "env_generate.py",
    "env_validator.py",
    "action_space.txt",
    "agent_instruction.txt",
    "level_max_rewards.json",
)
"""Files of a folder in addition to its levels."""
TEST, VALIDATION = "levels", "val_levels"
FOLDERS = "world-folders/"
"""Prefix of the names of folder tasksets; the path follows."""
_NEEDED = ("config.yaml", "env_main.py", "action_space.txt", "agent_instruction.txt", "level_max_rewards.json")
_GUEST = Path(__file__).parents[1] / "guest_base"
_MAX_BYTES, _MAX_FILES = 12 << 20, 800
"""Size limit of a folder, since a sandbox process works on a copy in its scratch folder."""
_STEPS = 200
"""Default horizon if a folder's `config.yaml` has none."""


@dataclass(frozen=True, slots=True)
class FolderLevel:
    """A level of a folder.

    Attributes:
        split: its folder, `"levels"` or `"val_levels"`.
        stem: its file name without the ending, such as `"level_03"`.
    """

    split: str
    stem: str

    @property
    def world_id(self) -> str:
        """The argument of the environment's `reset`, which looks for levels in `levels/`."""
        return self.stem if self.split == TEST else f"../{self.split}/{self.stem}"

    @property
    def path(self) -> str:
        """Its file."""
        return f"{self.split}/{self.stem}.yaml"


class WorldFolder:
    """The contents of a folder's files.

    Args:
        path: its absolute path; `name`: the last part.

    Attributes:
        path: where it is, absolute; `name`: its last part.
        files: all files in it, except its certificate.

    Raises:
        ConfigError: if the folder does not exist or is too large. The properties raise it too, and name the file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = resolved(Path(path))
        if not self.path.is_dir():
            raise ConfigError(f"{path} is not a folder; give one in the AutoEnv-36 format, with env_main.py in it")
        if (self.path / "world.yaml").is_file() and not (self.path / "env_main.py").is_file():
            raise ConfigError(
                f"{path} is a world in the form of the library: its code would run in this process, as only that of an "
                "installed package may. Install it (entry point group heredity.worlds, docs/extending.md); or write its rules "
                "in world.yaml, with hooks for what they cannot say, or give it the AutoEnv-36 form, with env_main.py, which "
                f"run in the sandbox: {FOLDERS}{path}"
            )
        files = SourceTree.from_folder(self.path, max_bytes=_MAX_BYTES, max_files=_MAX_FILES)
        self.files = SourceTree({path: data for path, data in files.items() if path != CERTIFICATE})

    @property
    def name(self) -> str:
        """The folder's name, which begins its environment's id."""
        return self.path.name

    @property
    def digest(self) -> str:
        """Digest of everything that the folder's scores depend on: its files, and the code that runs them."""
        return self.tree.digest

    @cached_property
    def tree(self) -> SourceTree:
        """The files for the sandbox, opened as `world_folder_guest:World`."""
        return SourceTree({**_guest_files(), **{f"world/{path}": data for path, data in self.files.items()}})

    def check(self) -> None:
        """Read everything that a rollout needs.

        Raises:
            ConfigError: for the first file that is missing or wrong.
        """
        for name in _NEEDED:
            self._text(name)
        _ = self.config, self.instruction, self.actions, self.max_steps
        if not self.levels(TEST):
            raise ConfigError(f"{self.path / TEST} has no level_NN.yaml; put the test levels there")
        for level in (*self.levels(TEST), *self.levels(VALIDATION)):
            self.upper_bound(level)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """`config.yaml`."""
        value = self.yaml("config.yaml")
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path / 'config.yaml'} is not a mapping; expected meta, termination and so on")
        return cast(Mapping[str, Any], value)

    @cached_property
    def max_steps(self) -> int:
        """The horizon: `termination.max_steps` of `config.yaml`, or 200 by default."""
        termination = self.config.get("termination")
        steps = cast(Any, termination).get("max_steps", _STEPS) if isinstance(termination, dict) else _STEPS
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
            raise ConfigError(f"{self.path / 'config.yaml'}: termination.max_steps is {steps!r}; expected 1 or more")
        return steps

    @cached_property
    def instruction(self) -> str:
        """`agent_instruction.txt`."""
        return self._text("agent_instruction.txt").strip()

    @cached_property
    def action_text(self) -> str:
        """`action_space.txt`, complete, as shown to agents."""
        return self._text("action_space.txt").strip()

    @cached_property
    def actions(self) -> tuple[Mapping[str, Any], ...]:
        """The JSON list at the start of `action_space.txt`: `name`, `description`, `parameters` of each action."""
        file, text = self.path / "action_space.txt", self.action_text
        start = text.find("[")
        if start < 0:
            raise ConfigError(f"{file} has no JSON list of actions; write one at its beginning, prose may follow")
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: the list of actions is not JSON: {error}; correct it there") from error
        if not value or not all(isinstance(action, dict) and isinstance(action.get("name"), str) for action in value):
            raise ConfigError(f"{file}: expected a list of objects with a name, but got {str(value)[:80]}")
        return tuple(value)

    def levels(self, split: str) -> tuple[FolderLevel, ...]:
        """Return the levels in `"levels"` or `"val_levels"`, by name."""
        paths = (PurePosixPath(path) for path in self.files)
        return tuple(FolderLevel(split, p.stem) for p in paths if str(p.parent) == split and p.suffix == ".yaml")

    def level(self, name: str) -> FolderLevel:
        """Return a level by its file name without the ending.

        Raises:
            UnknownNameError: if the level is unknown.
        """
        levels = {level.stem: level for split in (VALIDATION, TEST) for level in self.levels(split)}
        if name not in levels:
            raise UnknownNameError(f"level of {self.name}", name, levels)
        return levels[name]

    def upper_bound(self, level: FolderLevel) -> float:
        """Return the declared bound of a level, its `max_reward` in `level_max_rewards.json`, which may be wrong.

        Raises:
            ConfigError: if it is missing, or not a number above 0.
        """
        bounds, validation = self._bounds, level.split == VALIDATION
        bound = bounds.get((validation, level.stem), bounds.get((not validation, level.stem)))
        if bound is None or not (math.isfinite(bound) and bound > 0):
            given = "no max_reward" if bound is None else f"{bound:g} as max_reward"
            raise ConfigError(
                f"{self.path / 'level_max_rewards.json'} gives {given} for {level.path}; expected a number above 0"
            )
        return bound

    @cached_property
    def mean_upper_bound(self) -> float:
        """The mean of all declared bounds, for generated levels, which have none."""
        bounds = [self.upper_bound(level) for split in (TEST, VALIDATION) for level in self.levels(split)]
        return sum(bounds) / len(bounds)

    @cached_property
    def _bounds(self) -> Mapping[tuple[bool, str], float]:
        file = "level_max_rewards.json"
        with reading(self.path / file, "JSON", "correct it there"):
            value = json_value(self._text(file))
        stems = {level.stem for split in (TEST, VALIDATION) for level in self.levels(split)}
        bounds: dict[tuple[bool, str], float] = {}
        for key, upper_bound in _bounds_in(value, stems, False):
            bounds.setdefault(key, upper_bound)
        return bounds

    def yaml(self, path: str) -> Any:
        """Return the contents of a YAML file of the folder.

        Raises:
            ConfigError: if it is missing or not YAML.
        """
        with reading(self.path / path, "YAML", "correct that line"):
            return yaml_value(self._text(path))

    def _text(self, path: str) -> str:
        if path not in self.files:
            raise ConfigError(f"{self.path} has no {path}; the AutoEnv-36 format needs it")
        return self.files.text(path)


def is_folder(name: str) -> bool:
    """Return True if a path is a folder with code; worlds in rules alone need no sandbox."""
    return is_path(name) and not in_rules(Path(name.partition("?")[0]))


def _bounds_in(value: Any, stems: set[str], validation: bool) -> Iterator[tuple[tuple[bool, str], float]]:
    """Yield the bounds in a file of any layout: a level's name with its bound, or with an object that has `max_reward`."""
    if isinstance(value, list):
        for entry in cast(list[Any], value):
            if isinstance(entry, dict):
                names = [_stem(text) for text in cast(dict[str, Any], entry).values() if isinstance(text, str)]
                yield from _bounds_in({name: entry for name in names if name in stems}, stems, validation)
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            within = validation or "val" in key.lower()
            upper_bound = cast(Any, inner).get("max_reward") if isinstance(inner, dict) else inner
            if _stem(key) in stems:
                if isinstance(upper_bound, int | float) and not isinstance(upper_bound, bool):
                    yield (within, _stem(key)), float(upper_bound)
            else:
                yield from _bounds_in(inner, stems, within)


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix in (".yaml", ".yml") else path.name


@cache
def _guest_files() -> Mapping[str, bytes]:
    return {str(path.relative_to(_GUEST)): path.read_bytes() for path in sorted(_GUEST.rglob("*.py"))}
