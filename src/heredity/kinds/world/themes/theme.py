"""Themes: subjects of worlds, in a line or a page; and files of themes.

A file is TOML with a table per theme, named after its world, or plain text with a theme per line:

    [lighthouse]
    theme = "A keeper trades oil with passing ships, whose prices drift."
    source = "proposed"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import reading

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
        reviewed: who made it precise: nobody, a `model`, or a `person` (AutoEnv, appendix B.7).
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
        themes = named([line for line in lines if line and not line.startswith("#")], str(path))
    else:
        themes = {name: _checked(str(path), name, value) for name, value in table.items()}
    if not themes:
        raise ConfigError(f"{path} has no themes; write at least one")
    return themes


def named(texts: Iterable[str], where: str = "the themes", taken: Iterable[str] = ()) -> dict[str, Theme]:
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
