"""Suites by name, from installed packages (entry point group `heredity.suites`), and by path."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import Group
from heredity.experiments.config import read_toml

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
