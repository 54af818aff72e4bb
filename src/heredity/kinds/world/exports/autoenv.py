"""Export of a world as an AutoEnv-36 folder, which loads with the release's base classes and with our loader of folders.

The folder needs numpy, PyYAML and the package `base` of AutoEnv's release (section 3.1, appendix A); it contains
everything else. Its package is named after the world, so one process can load many folders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import yaml

import heredity
from heredity._core.errors import ConfigError
from heredity.kinds.world.description import ActionDescription, Description, Parameter
from heredity.kinds.world.episode import expected
from heredity.kinds.world.exports.engine import engine, loading, world_files
from heredity.kinds.world.skins import check_skin
from heredity.kinds.world.world import Level, World


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


_FORMS = Path(__file__).with_name("forms")


def form(path: str, values: Mapping[str, str]) -> bytes:
    """Return a template with its placeholders (`$name`) filled in.

    Args:
        path: such as `"autoenv/env_main.py"`.
        values: by placeholder.
    """
    text = (_FORMS / f"{path}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()


def license_text() -> bytes:
    """Return the license of the copied code, as in Heredity's distribution, or a line that names it."""
    return b"Copyright the authors of Heredity. Licensed under the Apache License, Version 2.0:\nhttps://www.apache.org/licenses/LICENSE-2.0\n"


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write an export into a new or empty folder.

    Raises:
        ConfigError: if the folder is not empty, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is not empty; name a folder that does not exist yet")
    try:
        for path, data in contents.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}; name another folder") from error


_SPLITS = {"test": "levels", "validation": "val_levels"}
_ANSWER = (
    "\n\nAn action is an object with its name and its parameters, all of them, such as "
    '{"action": "NAME", "params": {"PARAMETER": VALUE}}; params is {} where an action takes none.\n'
)


def autoenv_folder(world: World, skin: str = "text") -> dict[str, bytes]:
    """Return the files of the folder, by path.

    Args:
        world: the world, with its 15 levels.
        skin: `text` or `inverse`, the text that an agent reads.

    Raises:
        UnknownNameError: if the skin is unknown.
        ConfigError: if the skin is a picture, or the world does not have it, or its code cannot be copied.
    """
    check_skin(world.name, world.description.skin, skin)
    if skin.endswith("picture"):
        raise ConfigError(f"skin is {skin}; a folder in the AutoEnv-36 format has texts only: use text or inverse")
    package = f"world_{re.sub(r'[^a-z0-9]+', '_', world.name.lower())}"
    described = world.description
    values = {
        "title": described.meta.title,
        "name": world.name,
        "kind": "".join(word.capitalize() for word in re.findall(r"[a-z0-9]+", world.name.lower())) + "Env",
        "package": package,
        "skin": skin,
        "observation": described.meta.observation.capitalize(),
        "summary": described.meta.summary,
        "version": heredity.__version__,
    }
    inner = {**engine(world, package, ("heredity.kinds.world.exports.playing",)), "__init__.py": b""}
    inner |= {"loaded.py": loading(world, package), **world_files(world)}
    inner |= {f"{name}.py": form(f"autoenv/{name}.py", values) for name in ("observing", "making")}
    levels = [(split, level) for split in _SPLITS for level in world.shipped[split]]
    names = [f"level_{number:02d}.yaml" for number in range(1, len(levels) + 1)]
    files = {f"{package}/{path}": data for path, data in inner.items()}
    files |= {
        f"{_SPLITS[split]}/{name}": _level_yaml(level) for name, (split, level) in zip(names, levels, strict=True)
    }
    files |= {
        "env_main.py": form("autoenv/env_main.py", values),
        "env_obs.py": _passed_on(package, "observing", "Exposed"),
        "env_generate.py": _passed_on(package, "making", "LevelMaker"),
        "env_validator.py": _passed_on(package, "making", "LevelValidator"),
        "config.yaml": _config(world, skin),
        "action_space.txt": (json.dumps(_actions(described), indent=2, ensure_ascii=False) + _ANSWER).encode(),
        "agent_instruction.txt": _instruction(described).encode(),
        "level_max_rewards.json": _bounds(world.name, names, [level for _, level in levels]),
        "README.md": form("autoenv/README.md", values),
        "LICENSE": license_text(),
    }
    return files


def _passed_on(package: str, module: str, name: str) -> bytes:
    return f'"""See {package}/{module}.py."""\n\nfrom {package}.{module} import {name} as {name}\n'.encode()


def _level_yaml(level: Level) -> bytes:
    data = dict(level.data)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != data:
        raise ConfigError(f"level {level.id} has values that YAML cannot store; its data must be JSON values")
    return text.encode()


def _actions(described: Description) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": action.description,
            "parameters": {key: _parameter(kind) for key, kind in action.params.items()},
        }
        for name, action in described.actions.items()
    ]


def _parameter(kind: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": {"choice": "string", "text": "string"}.get(kind.type, kind.type)}
    if kind.type == "choice":
        schema["enum"] = list(kind.of)
    elif kind.type in ("integer", "number"):
        whole = kind.type == "integer"
        schema |= {
            "minimum": int(kind.low or 0) if whole else kind.low,
            "maximum": int(kind.high or 0) if whole else kind.high,
        }
    return {**schema, "description": kind.description or expected(kind)}


def _instruction(described: Description) -> str:
    legend = [f"  {symbol!r}: {words}" for symbol, words in described.skin.legend.items()]
    return "\n".join([described.instruction.strip(), *(["", "Symbols:", *legend] if legend else [])]) + "\n"


def _bounds(name: str, names: list[str], levels: list[Level]) -> bytes:
    rows: Mapping[str, Any] = {
        file: {
            "max_reward": level.upper_bound.value,
            "calculation_method": level.upper_bound.kind,
            "notes": level.upper_bound.reason,
            "level": level.id,
        }
        for file, level in zip(names, levels, strict=True)
    }
    return (json.dumps({"environment_id": name, "levels": rows}, indent=2, ensure_ascii=False) + "\n").encode()


def _config(world: World, skin: str) -> bytes:
    """Return `config.yaml`: the sections of the paper's language, with the executable rules described in words (appendix B)."""
    described, meta = world.description, world.description.meta
    steps = [int(level.data.get("steps", 0)) for levels in world.shipped.values() for level in levels]
    sections: dict[str, Any] = {
        "meta": {"id": world.name, "name": meta.title, "description": meta.summary},
        "state_template": dict(described.state),
        "observation": {"policy": meta.observation, "description": described.observation},
        "reward": {"type": meta.reward, "description": described.reward},
        "transition": {"actions": [_transition(name, action) for name, action in described.actions.items()]},
        "termination": {"max_steps": max(described.max_steps, *steps), "description": described.termination},
        "skin": {"type": skin, "template": described.skin.text},
        "generator": {"mode": "procedural", "description": described.generator},
    }
    return yaml.safe_dump(sections, sort_keys=False, allow_unicode=True, width=120).encode()


def _transition(name: str, action: ActionDescription) -> dict[str, Any]:
    return {"name": name, "params": list(action.params), "description": action.description}
