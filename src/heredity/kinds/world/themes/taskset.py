"""Themes as tasksets: `themes/FILE#NAME`, where FILE is the path of a file of themes, or the name of one that a package offers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import generator
from heredity._core.plugins import Group, located
from heredity.kinds.world.gates.build import SHOWN
from heredity.kinds.world.themes.theme import Theme, read_themes
from heredity.tasks import SPLITS, Task, Taskset, TasksetInfo

PREFIX = "themes/"
KIND = "world-build"
VERSION = "1"
"""Version; increase it when a build or the gates may give another result for the same files."""
FILES = Group[ModuleType](
    "heredity.themes",
    "package of themes",
    "a package that holds *.toml",
    lambda package: hasattr(package, "__path__"),
)
"""Packages that contain themes in TOML files."""
_SEEDS = 2**31


class ThemeTaskset:
    """Builds of a world on a theme.

    A train task is a build and the public gates. A hidden task runs all gates from another seed. The score is the share
    of gates without findings; on hidden tasks it is 1 if no gate has findings, else 0. A task's spec is `{"world",
    "seed"}`.

    Args:
        name: the taskset's full name.
        world: name of the world.
        theme: its theme.
    """

    def __init__(self, name: str, world: str, theme: Theme) -> None:
        self.name, self.world, self.theme = name, world, theme

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        theme = self.theme
        public = {
            "env": self.world,
            "world": self.world,
            "theme": theme.theme,
            "source": theme.source,
            "reviewed": theme.reviewed,
            "gates": list(SHOWN),
        }
        return TasksetInfo(
            name=self.name,
            version=f"theme {theme.digest[:12]} build {VERSION}",
            kind=KIND,
            spec={"world": self.world},
            public=public,
            description=f"# A world named `{self.world}`\n\n{theme.theme}\n",
            failure_return=0.0,
            group="generation",
            family="themes",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} requested; request 0 or more")
        seeds = [int(generator(entropy, "build", self.world, split, index).integers(_SEEDS)) for index in range(count)]
        return tuple(
            Task(f"{split}/{index}", split, index, {"world": self.world, "seed": seed})
            for index, seed in enumerate(seeds)
        )


class ThemeTasksets:
    """The tasksets named `"themes/…"`."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the themes that packages offer."""
        return tuple(f"{PREFIX}{file}#{name}" for file, path in files().items() for name in read_themes(path))

    def members(self, name: str) -> tuple[str, ...]:
        """Return the themes of a file whose name has no `#`; a theme's name itself otherwise.

        Raises:
            ConfigError: if the file does not exist, or is invalid.
        """
        return (name,) if "#" in name else tuple(f"{name}#{theme}" for theme in read_themes(_path(name)))

    def taskset(self, name: str) -> Taskset:
        """Return the taskset of a theme.

        Raises:
            UnknownNameError: if the theme is unknown.
            ConfigError: if its file cannot be read, or is invalid.
        """
        file, _, theme = name.partition("#")
        themes = read_themes(_path(file))
        if theme not in themes:
            raise UnknownNameError("theme", theme, themes)
        return ThemeTaskset(name, theme, themes[theme])

    def located(self, name: str, base: Path) -> str:
        """Return a name with the path of its file made absolute, relative to `base`."""
        file, mark, theme = name.removeprefix(PREFIX).partition("#")
        return f"{PREFIX}{located(file, base)}{mark}{theme}" if _is_path(file) else name


def files() -> Mapping[str, Path]:
    """Return the theme files that packages offer, by name.

    Raises:
        ConfigError: if a package cannot be loaded.
    """
    places = (Path(path) for package in FILES.names() for path in FILES.load(package).__path__)
    return {path.stem: path for folder in places for path in sorted(folder.glob("*.toml"))}


def _is_path(file: str) -> bool:
    return "/" in file or ":" in file or "." in file


def _path(name: str) -> Path:
    file = name.removeprefix(PREFIX)
    if _is_path(file):
        return Path(file)
    if file not in files():
        raise UnknownNameError("file of themes", file, files())
    return files()[file]


SOURCE = ThemeTasksets()
"""Entry point for `heredity.tasks.registry`."""
