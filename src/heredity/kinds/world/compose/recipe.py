"""The recipe of a composed world, and its name, which encodes the recipe."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from heredity._core.errors import ConfigError

COMPOSED = "composed"
CHOICES = {
    "reward": ("binary", "accumulative"),
    "observation": ("full", "partial"),
    "semantics": ("aligned", "inverse"),
    "difficulty": ("1", "2", "3"),
}
"""Options of a recipe; the seed draws those that are not given."""
_NAME = re.compile(r"composed-(\d{1,9})((?:-[a-z0-9]+)*)")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A world that can be composed.

    Attributes:
        seed: from 0 to 999,999,999.
        reward: `binary` or `accumulative`; None leaves it to the seed, as with the others.
        observation: `full` or `partial`.
        semantics: `aligned` or `inverse`.
        difficulty: `1` to `3`: two mechanics, two or three, three or four; and how much of each.
    """

    seed: int
    reward: str | None = None
    observation: str | None = None
    semantics: str | None = None
    difficulty: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 10**9:
            raise ConfigError(f"seed is {self.seed}; expected 0 to 999999999")
        for key, words in CHOICES.items():
            if getattr(self, key) not in (None, *words):
                raise ConfigError(f"{key} is {getattr(self, key)!r}; expected {' or '.join(words)}")

    @property
    def name(self) -> str:
        """The world's name, such as `composed-7-binary-2`."""
        return "-".join((COMPOSED, str(self.seed), *(value for key in CHOICES if (value := getattr(self, key)))))

    @classmethod
    def from_name(cls, name: str) -> Recipe | None:
        """Return the recipe encoded in a name; None if it is not a composed world's name.

        Raises:
            ConfigError: if the name has invalid options.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        recipe = cls(int(match.group(1)))
        for word in filter(None, match.group(2).split("-")):
            keys = [key for key, words in CHOICES.items() if word in words]
            if not keys:
                words_known = ", ".join(word for words in CHOICES.values() for word in words)
                raise ConfigError(
                    f"{name[:80]}: {word[:80]!r} is not an option of composed worlds; expected some of {words_known}"
                )
            recipe = replace(recipe, **{keys[0]: word})
        if recipe.name != name:
            raise ConfigError(f"{name} is not the canonical name of that world; write {recipe.name}")
        return recipe
