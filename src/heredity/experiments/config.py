"""Configuration of an experiment: one TOML file, dotted overrides, every key checked.

A file describes one run, or with lists (several tasksets, several seeds, a `[matrix]`) a suite of runs. Most keys are
the
same for every use of Heredity; the protocol that a file names may add sections and keys.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pydantic import ValidationError

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import canonical_json, digest_bytes, digest_json
from heredity._core.outside import read_text, toml_table
from heredity._core.plugins import Group
from heredity._core.refusals import known_keys, misfits, quoted, reading
from heredity.configuration.config import Cell, Config, config_type
from heredity.configuration.secrets import without_secrets
from heredity.configuration.sections import DEFAULT_PROTOCOL, EVOLVER_KINDS, EvolverSection, Locate
from heredity.methods.proposals import LoopOptions
from heredity.methods.registry import METHODS
from heredity.protocols.registry import PROTOCOLS
from heredity.tasks.registry import expand

PACKAGES = Group[ModuleType](
    "heredity.suites", "package of suites", "a package that holds *.toml", lambda package: hasattr(package, "__path__")
)
"""Packages whose TOML files are suites, each named like its file."""


def suites() -> dict[str, Path]:
    """Return the suites of all installed packages: name to file, sorted.

    Raises:
        ConfigError: if a package cannot be loaded, or two have a suite of the same name.
    """
    files: dict[str, Path] = {}
    for package in PACKAGES.names():
        for file in (file for folder in PACKAGES.load(package).__path__ for file in Path(folder).glob("*.toml")):
            if (other := files.setdefault(file.stem, file)) != file:
                raise ConfigError(f"two packages have a suite {file.stem!r}: {other} and {file}; uninstall one of them")
    return dict(sorted(files.items()))


_PROJECT = "suite.toml"
"""Name of the suite file in a folder written by `heredity init`."""


def suite_file(name: str) -> Path:
    """Return the file of a suite: first a file's path, then a folder's with a suite.toml, then the name of an installed suite.

    Raises:
        UnknownNameError: if there is neither; the nearest names are suggested.
        ConfigError: if a path does not exist, or as `suites`.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if path.is_dir() and (not path.name or path.name == ".." or "/" in name):
        if (path / _PROJECT).is_file():
            return path / _PROJECT
        raise ConfigError(f"{name} is a folder without a {_PROJECT}; give the path of a TOML file")
    if "/" in name or path.suffix == ".toml":
        raise ConfigError(
            f"there is no file {name}; give the path of a TOML file, or a name that `heredity suites` lists"
        )
    installed = suites()
    if name not in installed:
        raise UnknownNameError("suite", name, installed)
    return installed[name]


def suites_of(protocol: str) -> list[Path]:
    """Return the installed suites of a protocol; none for an unknown one."""
    named = [(file, read_toml(file).get("run", {})) for file in suites().values()]
    return [file for file, run in named if run.get("protocol") == protocol]


def headline(file: Path) -> str:
    """Return the purpose of a suite: the first line of its file if that is a comment, or `""`.

    Raises:
        ConfigError: if the file cannot be read.
    """
    try:
        first, _, _ = file.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}; repair or uninstall its package") from error
    return first.lstrip("# ").rstrip() if first.startswith("#") else ""


def with_absolute_paths(data: Mapping[str, Any], places: Mapping[str, Locate], base: Path) -> dict[str, Any]:
    """Make the paths of a configuration absolute, before it is checked.

    Args:
        data: the configuration.
        places: dotted keys that may name files (`*` for any table), each with the function that makes a value
            absolute.
        base: folder that relative paths start from.

    Raises:
        ConfigError: if a path is in a package that is not installed.
    """
    result: dict[str, Any] = {name: dict(part) if isinstance(part, Mapping) else part for name, part in data.items()}
    for key, locate in places.items():
        section, *every, name = key.split(".")
        tables: Any = result.get(section)
        if every and isinstance(tables, dict):
            named = cast(dict[str, Any], tables)
            result[section] = {
                own: dict(table) if isinstance(table, Mapping) else table for own, table in named.items()
            }
        given: list[Any] = list(result.get(section, {}).values()) if every and isinstance(tables, dict) else [tables]
        for values, own in (*((table, name) for table in given), (result.get("matrix"), key)):
            if isinstance(values, dict) and own in values:
                values[own] = _absolute(values[own], locate, base)
    return result


def _absolute(value: Any, locate: Locate, base: Path) -> Any:
    """Apply `locate` to a string, or to each item of a list; the check of the configuration handles anything else."""
    if isinstance(value, list):
        return [_absolute(item, locate, base) for item in cast(list[Any], value)]
    return locate(value, base) if isinstance(value, str) else value


def named(value: Any) -> Any:
    """Return the public name of a file or folder, which does not reveal its location on this machine.

    A file of Heredity is called `heredity:…`, as a configuration may write it. Any other has its name and the first
    characters
    of a digest of its content.

    Args:
        value: an absolute path; anything else is returned unchanged.
    """
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    path, own = Path(value), Path(str(files("heredity")))
    if path.is_relative_to(own):
        return f"heredity:{path.relative_to(own).as_posix()}"
    return f"{path.name} ({(digest_of(path) if path.exists() else digest_json(value))[:8]})"


def brief(value: Any, values: Sequence[Any]) -> Any:
    """Return the last parts of an absolute path that distinguish it from others; anything else is returned unchanged.

    Args:
        value: one of `values`.
        values: all possible values.
    """
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    others = [Path(other).parts for other in values if isinstance(other, str) and other != value]
    parts = Path(value).parts
    enough = (n for n in range(1, len(parts)) if all(parts[-n:] != other[-n:] for other in others))
    return "/".join(parts[-next(enough, len(parts) - 1) :])


def model_files(config: Config, more: Iterable[str] = ()) -> dict[str, str]:
    """Return the digest of each model that is a file or folder, such as that of `scripted/rules.toml`.

    Folders of documents and servers that solvers' tools use are included under their configuration keys.

    Args:
        config: names the execution model, judge and routes.
        more: further models.

    Raises:
        ConfigError: if one cannot be read.
    """
    gateway = config.gateway
    routed = (model for route in gateway.routes.values() for model in route.models)
    names = dict.fromkeys(name for name in (gateway.execution, gateway.judge, *routed, *more) if name)
    paths = {name: Path(name.partition("/")[2]) for name in names if "/" in name}
    given = {
        key: Path(value)
        for key, value in config.tools.conditions().items()
        if key in ("corpus.folder", *_folders(config))
    }
    return {name: digest_of(path) for name, path in {**paths, **given}.items() if path.exists()}


def _folders(config: Config) -> list[str]:
    return [f"mcp.{name}.folder" for name in config.tools.servers]


def digest_of(path: Path) -> str:
    """Return the digest of a file's or folder's content.

    Raises:
        ConfigError: if it cannot be read.
    """
    try:
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return _read(str(path), tuple(seen))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; make it readable") from error


@lru_cache(maxsize=256)
def _read(path: str, files: Sequence[tuple[str, int, int]]) -> str:
    """Return the digest of all files. They are read again only if sizes or times change, as weights are large."""
    held: list[tuple[str, str]] = []
    for name, _, _ in files:
        with open(name, "rb") as file:
            held.append((name.removeprefix(path), hashlib.file_digest(file, "sha256").hexdigest()))
    return digest_bytes(canonical_json(held))


_LONGEST_NAME = 80
_VARIED = ("gateway.execution", "gateway.optimisation", "engine.lockstep")
"""Keys that a matrix may vary in addition to those that sections declare. Tasksets and seeds have lists in `[run]`, and every
run is judged on the same views.
"""

_MOST_RUNS = 20_000
_FOLDER = re.compile(r"(^|[/:+])/(?:[^/?+#]+/)+")
"""Pattern of the folder in a taskset's name that contains an absolute path."""


def load(path: Path, overrides: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> Config:
    """Read a configuration file and apply overrides.

    Args:
        path: a TOML file.
        overrides: such as `"budget.episodes=64"`; a value that is not TOML is taken as text.
        changes: overrides with parsed values, applied last.

    Raises:
        ConfigError: if the file cannot be read or parsed, or a key or value is wrong; the message names the field,
            the value
            and the nearest known key.
    """
    config = resolve(read_toml(path), overrides, changes, source=str(path), base=path.absolute().parent)
    return config if config.run.name else _set(config, {"run.name": path.stem})


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: if it cannot be read or parsed.
    """
    with reading(path, "valid TOML", "correct it there, or give the path of another TOML file"):
        return toml_table(read_text(path))


def resolve(
    data: Mapping[str, Any],
    overrides: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    source: str = "the configuration",
    base: Path | None = None,
) -> Config:
    """Check a configuration given as a mapping (see `load`).

    Relative paths in `data` start from the folder `base` (default: the current folder), those in overrides from the
    current
    folder; all become absolute. Groups of tasksets are expanded.
    """
    given = {**dict(map(_parse_override, overrides)), **(changes or {})}
    data = _without_axes(data, given)
    here, places = Path.cwd(), _config_type(_with(data, given), source).paths_in()
    changed = with_absolute_paths(_with(with_absolute_paths(data, places, base or here), given), places, here)
    config = _with_tasksets_of_groups(_validate(without_secrets(changed), source))
    varied = [name for names in config.matrix.get("evolver.tools", []) for name in names]
    config.tools.check_used(
        {*config.tools.used, *replace(config.agent_tools, names=(*config.evolver.tools, *varied)).used}
    )
    return config


def cells(config: Config) -> list[Cell]:
    """Return the runs of a suite: tasksets × evolvers × seeds, baselines included, in a fixed order.

    Raises:
        ConfigError: if a matrix key is unknown or cannot be varied, or two cells would be the same.
    """
    axes = [[(key, value) for value in values] for key, values in config.matrix.items()]
    varied = [name for name, section in config.sections().items() if section.varied]
    for key, values in config.matrix.items():
        if not values:
            raise ConfigError(f"matrix.{key} is empty; give at least one value, or remove it")
        if key not in _VARIED and key.partition(".")[0] not in varied:
            hint = "list its values under [run]" if key.startswith("run.") else "set it for the whole suite"
            able = [*(f"{name}.*" for name in varied), *_VARIED]
            raise ConfigError(f"[matrix]: a matrix cannot vary {quoted(key)}, only {', '.join(able)}; {hint}")
    count = math.prod(map(len, [*config.matrix.values(), config.run.tasksets, config.run.seed_list]))
    if count > _MOST_RUNS:
        raise ConfigError(
            f"matrix, run.tasksets and run.seeds make {count} runs; a suite has at most {_MOST_RUNS}: give fewer"
        )
    variants = [_variant(config, dict(choice)) for choice in itertools.product(*axes)]
    single = len(variants) * len(config.run.tasksets) * len(config.run.seed_list) == 1
    variants += _baselines(config, {label for label, _ in variants}, single=single)
    abouts, runs = _abouts(config.run.tasksets), dict[str, Cell]()
    for taskset, (label, variant), seed in itertools.product(config.run.tasksets, variants, config.run.seed_list):
        resolved = _set(variant, {"run.tasksets": [taskset], "run.seeds": [seed]})
        cell_id = "--".join((_shorten(slug(abouts[taskset])), _shorten(slug(label)), f"s{seed}"))
        if cell_id in runs:
            raise ConfigError(f"two runs of the suite have the name {cell_id}; remove the repeated entry")
        runs[cell_id] = Cell(id=cell_id, taskset=taskset, seed=seed, label=label, config=resolved)
    return list(runs.values())


def _abouts(tasksets: Sequence[str]) -> dict[str, str]:
    """Return the name of each taskset in run names, without the folder of a file if the rest is unique."""
    # The part behind # names one of a file's tasksets, which is enough.
    whole = {taskset: taskset.rpartition("#")[2].removeprefix("gymnasium/") for taskset in tasksets}
    brief = {taskset: _FOLDER.sub(r"\1", about) for taskset, about in whole.items()}
    names = list(brief.values())
    return {taskset: name if names.count(name) == 1 else whole[taskset] for taskset, name in brief.items()}


def slug(text: str) -> str:
    """Return `text` as a folder name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.") or "x"


def _without_axes(data: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration without the matrix axes that overrides set to one value: overrides win."""
    axes = data.get("matrix")
    if not isinstance(axes, Mapping) or axes.keys().isdisjoint(given):
        return data
    return {**data, "matrix": {axis: values for axis, values in axes.items() if axis not in given}}


def _shorten(name: str) -> str:
    """Return a name short enough for a folder, and still unique."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 9]}-{digest_json(name)[:8]}"


def _variant(config: Config, choice: Mapping[str, Any]) -> tuple[str, Config]:
    changed = _set(config, {"matrix": {}, **choice})
    names = [
        _format_value(changed, key, brief(value, config.matrix.get(key, ())))
        for key, value in choice.items()
        if key not in ("evolver.name", *(f"evolver.{kind}" for kind in EVOLVER_KINDS))
    ]
    return "-".join([changed.evolver.label, *names]), changed


def _format_value(config: Config, key: str, value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    name, _, inner = key.partition(".")
    section = config.sections().get(name)
    return f"{inner}={str(value).lower()}" if section is not None and section.labelled else str(value)


def _baselines(config: Config, present: set[str], *, single: bool) -> Iterable[tuple[str, Config]]:
    wanted = config.suite.baselines
    names = (
        (() if single or not wanted else PROTOCOLS.load(config.run.protocol).baselines)
        if isinstance(wanted, bool)
        else wanted
    )
    for name, choice in itertools.product(names, _conditions(config)):
        given = {"method": name, "initial": config.evolver.initial, "options": _shared(config.evolver, name)}
        evolver = {key: value for key, value in given.items() if value is not None}
        label, variant = _variant(_set(config, {"matrix": {}, "evolver": evolver}), choice)
        if label not in present:
            yield label, variant


def _conditions(config: Config) -> list[dict[str, Any]]:
    """Return the matrix choices that affect scores of every evolver: baselines run under each of them."""
    own = {key: values[0] for key, values in config.matrix.items() if not key.startswith("evolver.")}
    decisive = _set(config, {"matrix": {}, **own}).conditions()
    keys = [key for key in own if key in decisive]
    return [dict(zip(keys, chosen, strict=True)) for chosen in itertools.product(*(config.matrix[key] for key in keys))]


def _shared(evolver: EvolverSection, baseline: str) -> dict[str, Any]:
    """Return the options that an optimizer shares with a baseline, so that both see and may change the same things."""
    if evolver.method is None or not issubclass(METHODS.load(baseline).options_model, LoopOptions):
        return {}
    own = ("rounds", "candidates", "patience")
    return {k: v for k, v in evolver.options.items() if k in LoopOptions.model_fields and k not in own}


def _with_tasksets_of_groups(config: Config) -> Config:
    """Return a configuration with groups of tasksets expanded."""
    return _set(
        config,
        {
            f"{name}.{key}": expand(getattr(section, key))
            for name, section in config.sections().items()
            for key in section.tasksets_in
        },
    )


def _parse_override(text: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"{text!r} is not an override; write key=value, such as budget.episodes=64")
    try:
        parsed = toml_table(f"value = {value}")["value"]
    except ValueError:
        parsed = value
    return key.strip(), parsed


def _with(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {k: dict(v) if isinstance(v, Mapping) else v for k, v in data.items()}
    for dotted, value in changes.items():
        *path, last = (
            dotted.split(".") if not dotted.startswith("matrix.") else ("matrix", dotted.removeprefix("matrix."))
        )
        inner = result
        for part in path:
            if not isinstance(inner.setdefault(part, {}), dict):
                raise ConfigError(f"{dotted} cannot be set: {part} is not a section")
            inner[part] = dict(inner[part])
            inner = inner[part]
        inner[last] = value
    chosen = [kind for kind in EVOLVER_KINDS if f"evolver.{kind}" in changes]
    if len(chosen) == 1:
        for kind in set(EVOLVER_KINDS) - set(chosen):
            result["evolver"].pop(kind, None)
    return result


def _set(config: Config, changes: Mapping[str, Any]) -> Config:
    return _validate(_with(config.model_dump(), changes), "the configuration")


def _validate(data: Mapping[str, Any], source: str) -> Config:
    model = _config_type(data, source)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{source}: {misfits(error, model, _elsewhere)}") from error


def _config_type(data: Mapping[str, Any], source: str) -> type[Config]:
    """Return the configuration type of the protocol that the configuration names."""
    run: Any = data.get("run")
    name: Any = run.get("protocol", DEFAULT_PROTOCOL) if isinstance(run, Mapping) else DEFAULT_PROTOCOL
    if not isinstance(name, str):
        return config_of(DEFAULT_PROTOCOL)  # the type refuses it like any wrong value
    if name not in PROTOCOLS:
        protocols = ", ".join(map(repr, PROTOCOLS.names()))
        raise ConfigError(f"{source}: run.protocol = {quoted(name)}: expected one of {protocols}")
    return config_of(name)


@cache
def config_of(protocol: str) -> type[Config]:
    """Return the configuration type of a protocol, to read a configuration or to make its JSON Schema.

    Raises:
        UnknownNameError: if there is no such protocol.
    """
    return config_type(PROTOCOLS.load(protocol).sections)


def _elsewhere(where: Sequence[str]) -> str:
    *path, key = where
    # Built-in protocols only: other packages are loaded when a configuration names them.
    others = [name for name in PROTOCOLS.own() if key in known_keys(config_of(name), path)]
    field = ".".join(where) if path else f"[{key}]"
    return (
        f"{field} belongs to the protocol {' and '.join(others)}, which run.protocol does not name; leave it out"
        if others
        else ""
    )
