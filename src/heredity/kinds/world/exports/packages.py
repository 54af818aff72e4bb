"""Exports of a world as a Python package: a Gymnasium environment, or an environment of `verifiers`.

Both depend on their framework, numpy and PyYAML. The package contains a copy of the part of Heredity that the world
runs on.
"""

from __future__ import annotations

import json
import re

import heredity
from heredity._core.errors import ConfigError
from heredity.kinds.world.exports.engine import engine, loading, world_files
from heredity.kinds.world.exports.files import form, license_text
from heredity.kinds.world.skins import check_skin
from heredity.kinds.world.world import World


def gymnasium_package(world: World, skin: str = "text") -> dict[str, bytes]:
    """Return the files of a package that registers the world as `worlds/NAME-v0`.

    Args:
        world: the world, with its 15 levels.
        skin: default skin of `gymnasium.make`.

    Raises:
        UnknownNameError: if the skin is unknown.
        ConfigError: if the world does not have it, or its code cannot be copied.
    """
    return _package(world, skin, "gymnasium", ("heredity.kinds.world.env",))


def verifiers_package(world: World, skin: str = "text") -> dict[str, bytes]:
    """Return the files of a package with a taskset and an environment of `verifiers.v1`.

    Args:
        world: the world, with its 15 levels.
        skin: `text` or `inverse`.

    Raises:
        UnknownNameError: if the skin is unknown.
        ConfigError: if the skin is a picture, or the world does not have it, or its code cannot be copied.
    """
    if skin.endswith("picture"):
        raise ConfigError(f"skin is {skin}; verifiers plays worlds in text: use text or inverse")
    return _package(world, skin, "verifiers", ("heredity.kinds.world.exports.conversing",))


def _package(world: World, skin: str, framework: str, roots: tuple[str, ...]) -> dict[str, bytes]:
    check_skin(world.name, world.description.skin, skin)
    meta = world.description.meta
    words = re.findall(r"[a-z0-9]+", world.name.lower())
    package = "_".join(["world", *words, framework])
    kind = "".join(map(str.capitalize, words))
    values = {
        "title": meta.title,
        "summary": meta.summary,
        "name": world.name,
        "kind": kind if kind[0].isalpha() else f"World{kind}",
        "id": f"worlds/{kind}-v0",
        "package": package,
        "project": package.replace("_", "-"),
        "skin": skin,
        "version": heredity.__version__,
    }
    inner = {f"{framework}/{path}" for path in ("__init__.py", "pyproject.toml", "README.md")}
    forms = {path: form(path, values) for path in inner}
    levels = {split: [level.to_json() for level in world.shipped[split]] for split in world.shipped}
    files = {
        **engine(world, package, roots),
        "__init__.py": forms[f"{framework}/__init__.py"],
        "loaded.py": loading(world, package),
        **world_files(world),
        f"{world.name}/levels.json": (json.dumps(levels, ensure_ascii=False) + "\n").encode(),
    }
    return {
        **{f"src/{package}/{path}": data for path, data in files.items()},
        "pyproject.toml": forms[f"{framework}/pyproject.toml"],
        "README.md": forms[f"{framework}/README.md"],
        "LICENSE": license_text(),
    }
