"""A composed world: resolved by its name, in memory or written as a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import cast

import yaml

from heredity.kinds.world.compose.composing import Composition, compose
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.description import Description
from heredity.kinds.world.world import SPLITS, Level, World, levels_text


class ComposedWorld(World):
    """A world defined by its name alone; its shipped levels are generated on access.

    Args:
        recipe: the recipe of the world.

    Attributes:
        composition: the parts it is composed of.

    Raises:
        ConfigError: if its rules are invalid.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.composition: Composition = compose(recipe)
        super().__init__(Path(recipe.name), description=self.composition.description)

    @cached_property
    def shipped(self) -> Mapping[str, tuple[Level, ...]]:
        """Its shipped levels."""
        made = self.make_shipped()
        return {split: tuple(made[split]) for split in SPLITS}

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Everything that its scores depend on: its description, rules included."""
        return {"world.yaml": description_text(self.description).encode()}

    def write(self, folder: Path) -> None:
        """Write it as a world folder, `world.yaml` and `levels.json`, named after the folder."""
        named = self.description.model_copy(
            update={"meta": self.description.meta.model_copy(update={"name": folder.resolve().name})}
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "world.yaml").write_text(description_text(named), encoding="utf-8")
        same = named.meta.name == self.name  # Levels are drawn by a world's name.
        text = levels_text(self.shipped) if same else World(folder.resolve()).levels_text()
        (folder / "levels.json").write_text(text, encoding="utf-8")


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_FAST: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_DUMPER = cast("type[yaml.SafeDumper]", type("_Dumper", (_FAST,), {}))
"""YAML dumper that writes rules as blocks of lines."""
_DUMPER.add_representer(str, _text)


def description_text(description: Description) -> str:
    """Return a description as a `world.yaml`."""
    return yaml_text(json.loads(description.model_dump_json(exclude_defaults=True)))


def yaml_text(value: object) -> str:
    """Return a value as YAML, with texts of several lines as blocks."""
    return yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=120)
