"""Export of a world as an AutoEnv-36 folder, which loads with the release's base classes and with our loader of folders.

The folder needs numpy, PyYAML and the package `base` of AutoEnv's release (section 3.1, appendix A); it contains
everything else. Its package is named after the world, so one process can load many folders.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any, cast

import yaml

import heredity
from heredity import _NAMES  # pyright: ignore[reportPrivateUsage]
from heredity._core.errors import ConfigError
from heredity.kinds.world.description import ActionDescription, Description, Parameter
from heredity.kinds.world.episode import expected
from heredity.kinds.world.skins import check_skin
from heredity.kinds.world.world import Level, World

ENGINE = "engine"
"""Name of the copy's subpackage."""
_OWN = "heredity"
_PLAIN = "heredity.kinds.world.exports.plain"
_REPLACED = {
    **{f"heredity.kinds.world.{name}": _PLAIN for name in ("description", "dsl.schema")},
    "heredity.kinds.world.dsl.hooks": "heredity.kinds.world.exports.plain_hooks",
}
_LEFT_OUT = frozenset({"heredity.kinds.world.compose.composing"})
"""Modules imported only inside functions, for worlds that exist by name; an exported world never is one."""
_BASE = (_PLAIN, "heredity.kinds.world.world", "heredity.kinds.world.skins")


def engine(world: World, package: str, roots: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the files of the copy, by path within `package`.

    They are the part of Heredity that a world runs on: the modules that a world's code imports, directly or
    indirectly, unchanged except for the package names in import statements. So an exported world runs the same code
    as here and does not need Heredity. Plain classes (`heredity.kinds.world.exports.plain`) replace the descriptions'
    schema (pydantic), because the export was validated before.

    Args:
        world: the exported world; the modules of a world in Python are included.
        package: full name of the package that contains the files.
        roots: further modules of Heredity that the export needs.

    Raises:
        ConfigError: if a module that the world needs has no source.
    """
    code = [] if world.description.rules is not None else _code_of(world)
    owners = tuple({_OWN, *(name.partition(".")[0] for name in code)})
    files: dict[str, bytes] = {}
    for name, path in _closure((*_BASE, *roots, *code), owners).items():
        target = f"{ENGINE}/{_relative_path(name)}" + ("/__init__.py" if path.name == "__init__.py" else ".py")
        files[target] = _renamed(
            _from_origins(path.read_text(encoding="utf-8")), owners, f"{package}.{ENGINE}"
        ).encode()
    for target in list(files):
        for parent in list(Path(target).parents)[:-1]:
            files.setdefault(f"{parent}/__init__.py", b"")
    return files


def loading(world: World, package: str) -> bytes:
    """Return the source of the module that loads the world from the `world.yaml` in its folder: `WORLD`."""
    lines = [
        '"""The world, from its description and its rules."""',
        "",
        "from pathlib import Path",
        "",
        f"from {package}.{ENGINE}.kinds.world.exports.plain import read_description",
    ]
    if world.description.rules is not None:
        lines += [
            f"from {package}.{ENGINE}.kinds.world.dsl.dynamics import Compiled, RulesDynamics, RulesLevels",
        ]
        made = [
            "DYNAMICS = RulesDynamics(Compiled(DESCRIPTION, DESCRIPTION.rules, FOLDER))",
            "LEVELS = RulesLevels(DYNAMICS)",
        ]
    else:
        rules, levels = _code_of(world)
        lines += [
            f"from {package}.{ENGINE}.{_relative_path(rules).replace('/', '.')} import DYNAMICS",
            f"from {package}.{ENGINE}.{_relative_path(levels).replace('/', '.')} import LEVELS",
        ]
        made = []
    lines += [f"from {package}.{ENGINE}.kinds.world.world import World", ""]
    lines += [f"FOLDER = Path(__file__).parent / {world.name!r}"]
    lines += ['DESCRIPTION = read_description(FOLDER / "world.yaml")', *made]
    lines += ["WORLD = World(FOLDER, DYNAMICS, LEVELS, DESCRIPTION)", ""]
    return "\n".join(lines).encode()


def description_yaml(world: World) -> bytes:
    """Return the description with every field, as expected by `heredity.kinds.world.exports.plain.read_description`."""
    whole = _plain(world.description.model_dump())
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=120).encode()


def world_files(world: World) -> dict[str, bytes]:
    """Return the files that the world is loaded from, in a folder named after it: the description, and its hooks' modules."""
    modules = {} if world.dynamics.hooks is None else world.dynamics.hooks.modules
    return {f"{world.name}/{path}": data for path, data in {**modules, "world.yaml": description_yaml(world)}.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in cast(Mapping[Any, Any], value).items()}
    return [_plain(inner) for inner in cast(list[Any], value)] if isinstance(value, list | tuple) else value


def _code_of(world: World) -> list[str]:
    """Return the modules with the rules and the levels of a world in Python."""
    return [type(world.dynamics).__module__, type(world.levels).__module__]


def _relative_path(name: str) -> str:
    own = name.removeprefix(f"{_OWN}.")
    return own.replace(".", "/")


def _closure(roots: Sequence[str], owners: Sequence[str]) -> Mapping[str, Path]:
    """Return the modules imported by `roots`, themselves included, by name; only those of the packages in `owners`."""
    modules: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        asked = waiting.pop()
        name = _REPLACED.get(asked, asked)
        if name in modules or name in _LEFT_OUT:
            continue
        modules[name] = _source(name)
        waiting += _imported(_from_origins(modules[name].read_text(encoding="utf-8")), owners)
    return dict(sorted(modules.items()))


def _source(name: str) -> Path:
    origin = getattr(importlib.import_module(name), "__file__", None)
    if origin is None or not origin.endswith(".py"):
        raise ConfigError(f"the module {name} has no Python source to export; install its package from source")
    return Path(origin)


def _from_origins(text: str) -> str:
    """Return a module that imports public names of Heredity from where they are defined, for that alone is copied."""
    lines = text.splitlines(keepends=True)
    public = [
        n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom) and n.module == _OWN and not n.level
    ]
    for node in sorted(public, key=lambda node: -node.lineno):
        imports: list[str] = []
        for alias in node.names:
            module, attribute = _NAMES.get(alias.name, (_OWN, alias.name))
            source, name = (module, attribute) if attribute else module.rsplit(".", 1)
            imports.append(f"{' ' * node.col_offset}from {source} import {name} as {alias.asname or alias.name}\n")
        lines[node.lineno - 1 : node.end_lineno] = imports
    return "".join(lines)


def _imported(text: str, owners: Sequence[str]) -> Iterator[str]:
    tree = ast.parse(text)
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in owners)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in owners:
            if node.level:
                raise ConfigError(f"relative imports cannot be exported: from {'.' * node.level}{node.module}")
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((name if _is_module(name) else node.module) for name in names)


def _is_module(name: str) -> bool:
    parent = name.rpartition(".")[0]
    return hasattr(importlib.import_module(parent), "__path__") and find_spec(name) is not None


def _renamed(text: str, owners: Sequence[str], package: str) -> str:
    for name, replacement in _REPLACED.items():
        text = re.sub(rf"^(\s*from ){re.escape(name)}( import )", rf"\g<1>{replacement}\g<2>", text, flags=re.MULTILINE)
    for owner in owners:
        inside = package if owner == _OWN else f"{package}.{owner}"
        text = re.sub(rf"^(\s*(?:from|import) ){owner}(?=[. ])", rf"\g<1>{inside}", text, flags=re.MULTILINE)
    return text


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
