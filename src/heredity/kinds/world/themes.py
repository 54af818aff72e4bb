"""Themes as tasksets: `themes/FILE#NAME`, where FILE is the path of a file of themes, or the name of one that a package offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import read_text, toml_table
from heredity._core.plugins import Group, located
from heredity._core.refusals import reading
from heredity.kinds.world.gates.build import SHOWN
from heredity.tasks import SPLITS, Task, Taskset, TasksetInfo

LONGEST = 20_000
"""Maximum length of a theme, in characters."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_WORDS = re.compile(r"[a-z0-9]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FILLERS = {
    "a",
    "an",
    "the",
    "of",
    "in",
    "on",
    "at",
    "and",
    "to",
    "with",
    "that",
    "is",
    "are",
    "by",
    "for",
    "where",
    "who",
}


class Theme(BaseModel):
    """A theme.

    Attributes:
        theme: the subject of the world.
        source: `given` by a user, or `proposed` by a model.
        reviewed: who made it precise: a `model`, a `person`, or neither (AutoEnv, appendix B.7).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: str
    source: Literal["given", "proposed"] = "given"
    reviewed: Literal["", "model", "person"] = ""

    @field_validator("theme")
    @classmethod
    def _readable(cls, text: str) -> str:
        text = text.strip()
        if not any(character.isalpha() for character in text):
            raise ValueError("a theme describes the world's subject in words")
        if len(text) > LONGEST:
            raise ValueError(f"it has {len(text)} characters; give at most {LONGEST}")
        if _CONTROL.search(text):
            raise ValueError("it contains control characters; use plain text")
        return text

    @property
    def digest(self) -> str:
        """Digest of its words."""
        return digest_json(self.theme)


def read_themes(path: Path) -> dict[str, Theme]:
    """Return the themes in a file, by name.

    Raises:
        ConfigError: if the file cannot be read, has no themes, or one is invalid; the message names the theme.
    """
    with reading(path, "TOML", "give a file with a theme in each line, or tables in TOML"):
        text = read_text(path)
        table = toml_table(text) if path.suffix == ".toml" else {}
    if path.suffix != ".toml":
        lines = [line.strip() for line in text.splitlines()]
        themes = name_themes([line for line in lines if line and not line.startswith("#")], str(path))
    else:
        themes = {name: _checked(str(path), name, value) for name, value in table.items()}
    if not themes:
        raise ConfigError(f"{path} has no themes; write at least one")
    return themes


def name_themes(texts: Iterable[str], where: str = "the themes", taken: Iterable[str] = ()) -> dict[str, Theme]:
    """Return themes under unique names made of their first words, also different from the taken ones.

    Raises:
        ConfigError: if one is invalid.
    """
    themes: dict[str, Theme] = {}
    names = set(taken)
    for text in texts:
        stem = name_of(text)
        name = next(n for i in range(1, 10_000) if (n := stem if i == 1 else f"{stem}_{i}") not in names)
        names.add(name)
        themes[name] = _checked(where, name, {"theme": text})
    return themes


def name_of(text: str) -> str:
    """Return a world's name for a theme: its first significant words."""
    words = _WORDS.findall(text.lower())
    telling = [word for word in words if word not in _FILLERS] or words
    stem = re.sub(r"^[^a-z]+", "", "_".join(telling[:3]))[:40].strip("_")
    return stem or "world"


def write_themes(themes: Mapping[str, Theme]) -> str:
    """Return a TOML file of themes."""
    import tomli_w

    return tomli_w.dumps({name: theme.model_dump(exclude_defaults=True) for name, theme in themes.items()})


def _checked(where: str, name: str, value: Any) -> Theme:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: {name!r} is not a valid theme name; use small letters, digits and _, a letter first, at most 48"
        )
    with reading(f"{where}: {name}", "a theme", "correct it there", model=Theme):
        return Theme.model_validate(value)


def avoided(themes: Mapping[str, Theme], others: Sequence[str]) -> list[str]:
    """Return the names of themes that repeat another text, or one another, word for word."""
    seen = {" ".join(_WORDS.findall(text.lower())) for text in others}
    repeated: list[str] = []
    for name, theme in themes.items():
        words = " ".join(_WORDS.findall(theme.theme.lower()))
        if words in seen:
            repeated.append(name)
        seen.add(words)
    return repeated


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
