"""Configuration of an experiment: one TOML file, dotted overrides, every key checked.

A file describes one run, or with lists (several tasksets, several seeds, a `[matrix]`) a suite of runs. Most keys are
the same for every use of Heredity; the protocol that a file names may add sections and keys. A matrix is the product of
lists of values; `[[matrix.evolver]]` lists whole evolvers, each a table with keys of `[evolver]`.
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
from heredity._core.refusals import keys_below, misfits, quoted, reading
from heredity.configuration.config import Cell, Config, config_type
from heredity.configuration.secrets import without_secrets
from heredity.configuration.sections import AGENT_KEYS, DEFAULT_PROTOCOL, EVOLVER_KINDS, EvolverSection, Locate
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
        matrix: Any = result.get("matrix")
        if isinstance(matrix, dict) and isinstance(entries := cast(dict[str, Any], matrix).get(section), list):
            matrix[section] = [
                {**entry, name: _absolute(entry[name], locate, base)}
                if isinstance(entry, dict) and name in entry
                else entry
                for entry in cast(list[Any], entries)
            ]
        for values, own in (*((table, name) for table in given), (matrix, key)):
            if isinstance(values, dict) and own in values:
                values[own] = _absolute(values[own], locate, base)
    return result


def _absolute(value: Any, locate: Locate, base: Path) -> Any:
    """Apply `locate` to a string, or to each item of a list; the check of the configuration handles anything else."""
    if isinstance(value, list):
        return [_absolute(item, locate, base) for item in cast(list[Any], value)]
    return locate(value, base) if isinstance(value, str) and value else value


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


EVOLVER = "evolver"
"""Section of the evolver; in a matrix, the key that lists whole evolvers."""

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
        overrides: such as `"budget.episodes=64"`; a value that is not TOML is taken as text, and none (`"KEY="`) unsets
            the key.
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
    given = given_by(overrides, changes)
    data = _overridden(data, given)
    here, places = Path.cwd(), _config_type(_with(data, given), source).paths_in()
    changed = with_absolute_paths(_with(with_absolute_paths(data, places, base or here), given), places, here)
    config = _with_tasksets_of_groups(_validate(without_secrets(changed), source))
    entries = [entry.get("tools", []) for entry in config.matrix.get(EVOLVER, []) if isinstance(entry, Mapping)]
    varied = [name for names in (*config.matrix.get("evolver.tools", []), *entries) for name in names]
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
    _check_matrix(config)
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
            raise ConfigError(
                f"two runs of the suite have the name {cell_id}; remove the repeated entry, or give entries of "
                "[[matrix.evolver]] a name each"
            )
        runs[cell_id] = Cell(id=cell_id, taskset=taskset, seed=seed, label=label, config=resolved)
    return list(runs.values())


def _check_matrix(config: Config) -> None:
    varied = [name for name, section in config.sections().items() if section.varied]
    for key, values in config.matrix.items():
        if not values:
            raise ConfigError(f"matrix.{key} is empty; give at least one value, or remove it")
        section, dot, _ = key.partition(".")
        if key not in _VARIED and (section not in varied or not (dot or key == EVOLVER)):
            hint = "list its values under [run]" if key.startswith("run.") else "set it for the whole suite"
            able = [*(f"{name}.*" for name in varied), *_VARIED]
            raise ConfigError(f"[matrix]: a matrix cannot vary {quoted(key)}, only {', '.join(able)}; {hint}")
    for entry in config.matrix.get(EVOLVER, ()):
        if not isinstance(entry, Mapping) or not entry:
            raise ConfigError(
                f'[[matrix.evolver]] lists tables with keys of [evolver], such as {{launcher = "codex"}}, not {quoted(entry)}'
            )
        if twice := [key for key in cast("Mapping[str, Any]", entry) if f"{EVOLVER}.{key}" in config.matrix]:
            raise ConfigError(
                f"matrix.evolver.{twice[0]} is varied, and an entry of [[matrix.evolver]] sets it too; remove one of them"
            )


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


def given_by(overrides: Sequence[str], changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return overrides by key; the value None unsets a key.

    Raises:
        ConfigError: if one is not of the form key=value.
    """
    return {**dict(map(_parse_override, overrides)), **(changes or {})}


def _overridden(data: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration without what overrides replace: values of the matrix, and evolvers.

    An override of `evolver.method`, `evolver.agent` or `evolver.launcher` selects one of the file's evolvers, with its
    settings. One that the file does not have replaces all of them, with everything in the matrix that varies them.
    """
    matrix, evolver = (
        dict(part) if isinstance(part := data.get(name), Mapping) else {} for name in ("matrix", EVOLVER)
    )
    entries: Any = matrix.get(EVOLVER)
    if chosen := next(
        ((kind, given[f"{EVOLVER}.{kind}"]) for kind in EVOLVER_KINDS if f"{EVOLVER}.{kind}" in given), None
    ):
        kind, value = chosen
        same = [entry for entry in entries or () if isinstance(entry, Mapping) and entry.get(kind) == value]
        listed: Any = matrix.get(f"{EVOLVER}.{kind}")
        if same:
            entries = same
        elif value is not None and value not in (evolver.get(kind), *(listed if isinstance(listed, list) else ())):
            axes = [key for key in matrix if key.partition(".")[0] == EVOLVER]
            outside = kind != "method"
            foreign = ("name", *(("options",) if outside else AGENT_KEYS))
            replaced = bool(axes) or any(evolver.get(other) is not None for other in EVOLVER_KINDS)
            matrix = {key: values for key, values in matrix.items() if key not in axes}
            evolver = {key: v for key, v in evolver.items() if not replaced or key not in foreign}
            entries = None
    if isinstance(entries, list):
        # A table that an override empties stays: it is an evolver still.
        own = {key.removeprefix(f"{EVOLVER}.") for key in given if key.startswith(f"{EVOLVER}.")} - {*EVOLVER_KINDS}
        matrix[EVOLVER] = [
            _without(entry, own) if isinstance(entry, Mapping) else entry for entry in cast(list[Any], entries)
        ]
    matrix = {axis: values for axis, values in matrix.items() if axis not in given}
    changed = {**({"matrix": matrix} if "matrix" in data else {}), **({EVOLVER: evolver} if EVOLVER in data else {})}
    return {**data, **{name: part for name, part in changed.items() if isinstance(data[name], Mapping)}}


def _without(entry: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return a table without some of its dotted keys."""
    result = dict(entry)
    for key in keys:
        first, _, rest = key.partition(".")
        if rest and isinstance(result.get(first), Mapping):
            result[first] = _without(result[first], [rest])
        elif not rest:
            result.pop(first, None)
    return result


def _shorten(name: str) -> str:
    """Return a name short enough for a folder, and still unique."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 9]}-{digest_json(name)[:8]}"


def _variant(config: Config, choice: Mapping[str, Any]) -> tuple[str, Config]:
    chosen = {key: value for key, value in choice.items() if key != EVOLVER}
    entry = {f"{EVOLVER}.{key}": value for key, value in choice.get(EVOLVER, {}).items()}
    changed = _set(_set(config, {"matrix": {}, **entry}) if entry else config, {"matrix": {}, **chosen})
    names = [
        _format_value(changed, key, brief(value, config.matrix.get(key, ())))
        for key, value in chosen.items()
        if key not in ("evolver.name", *(f"evolver.{kind}" for kind in EVOLVER_KINDS))
    ]
    if entry and _ambiguous(config, changed.evolver.label) and changed.evolver.model:
        names.insert(0, changed.evolver.model.rpartition("/")[2])
    return "-".join([changed.evolver.label, *names]), changed


def _ambiguous(config: Config, label: str) -> bool:
    """Return whether several entries of `[[matrix.evolver]]` have this label, so that their models tell them apart."""
    labels = [
        _set(config, {"matrix": {}, **{f"{EVOLVER}.{key}": value for key, value in entry.items()}}).evolver.label
        for entry in config.matrix[EVOLVER]
    ]
    return labels.count(label) > 1


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
    own = {key: values[0] for key, values in config.matrix.items() if key.partition(".")[0] != EVOLVER}
    evolvers = {EVOLVER: config.matrix[EVOLVER]} if EVOLVER in config.matrix else {}
    decisive = _set(config, {"matrix": evolvers, **own}).conditions()
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
    if not value.strip():
        return key.strip(), None
    try:
        parsed = toml_table(f"value = {value}")["value"]
    except ValueError:
        parsed = value
    return key.strip(), parsed


def _with(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with other values; None unsets a key."""
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
        if value is None:
            inner.pop(last, None)
        else:
            inner[last] = value
    chosen = [kind for kind in EVOLVER_KINDS if changes.get(f"evolver.{kind}") is not None]
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
    others = [name for name in PROTOCOLS.own() if key in keys_below(config_of(name), path)]
    field = ".".join(where) if path else f"[{key}]"
    return (
        f"{field} belongs to the protocol {' and '.join(others)}, which run.protocol does not name; leave it out"
        if others
        else ""
    )
