"""Which Python runs programs and scorers in the sandbox, and which packages they have: Heredity's, or those of an environment."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heredity.errors import HostError
from heredity.sandbox.bubblewrap_root import interpreter

_ASK = """
import json, os, sys, sysconfig
print(json.dumps({
    "base": os.path.realpath(sys.base_prefix), "version": sys.version_info[:2],
    "paths": [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path],
}))
"""
_ASK_S = 60.0
_LEAST = (3, 9)
_PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Interpreter:
    """A Python as programs and scorers have it.

    Attributes:
        program: what is started: the same path in the sandbox, and of no environment.
        packages: folders of installed packages.
        shown: all folders that the sandbox has to show, read-only; besides those that it always shows.
    """

    program: Path
    packages: tuple[Path, ...]
    shown: tuple[Path, ...]


@cache
def interpreter_of(path: Path | None) -> Interpreter:
    """Return the Python of an environment, or that which runs Heredity.

    Raises:
        HostError: if it does not run, or is too old.
    """
    if path is None:
        there = _folders([sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path])
        return Interpreter(interpreter(), there, there)
    try:
        asked = subprocess.run(
            [path, "-I", "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
            cwd="/",
            start_new_session=True,
        )
        about = json.loads(asked.stdout)
        base, version = Path(about["base"]), tuple[int, int](about["version"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        output = getattr(error, "stderr", None) or error
        raise HostError(f"{path} does not run as a Python: {str(output).strip()[-300:]}; name one that does") from error
    if version < _LEAST:
        raise HostError(f"{path} is Python {version[0]}.{version[1]}; programs and scorers need 3.9 or later")
    there = _folders(about["paths"])
    own = () if base.is_relative_to("/usr") else tuple(base / name for name in ("bin", "lib") if (base / name).is_dir())
    return Interpreter(base / "bin" / f"python{version[0]}.{version[1]}", there, (*own, *there))


def _folders(paths: list[str]) -> tuple[Path, ...]:
    """Return those that hold packages."""
    return tuple(path for path in map(Path, dict.fromkeys(paths)) if path.name in _PACKAGES and path.is_dir())
