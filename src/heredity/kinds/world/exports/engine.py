"""Copies the part of Heredity that a world runs on under another name, so an exported world does not need Heredity.

It copies the modules that a world's code imports, directly or indirectly, unchanged except for the package names in
import statements. Plain classes (`heredity.kinds.world.exports.plain`) replace the descriptions' schema (pydantic),
because the export was validated before. An exported world thus runs the same code as here.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import yaml

from heredity import _NAMES  # pyright: ignore[reportPrivateUsage]
from heredity._core.errors import ConfigError
from heredity.kinds.world.world import World

ENGINE = "engine"
"""Name of the copy's subpackage."""
_OWN = "heredity"
_PLAIN = "heredity.kinds.world.exports.plain"
_REPLACED = {
    **{f"heredity.kinds.world.{name}": _PLAIN for name in ("description", "dsl.schema")},
    "heredity.kinds.world.dsl.hooks": "heredity.kinds.world.exports.plain_hooks",
}
_LEFT_OUT = frozenset({"heredity.kinds.world.compose.composed"})
"""Modules imported only inside functions, for worlds that exist by name; an exported world never is one."""
_BASE = (_PLAIN, "heredity.kinds.world.world", "heredity.kinds.world.skins")


def engine(world: World, package: str, roots: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the files of the copy, by path within `package`.

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
            f"from {package}.{ENGINE}.kinds.world.dsl.dynamics import Compiled, RulesDynamics",
            f"from {package}.{ENGINE}.kinds.world.dsl.levels import RulesLevels",
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
