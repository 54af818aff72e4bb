"""The sandbox of the inference worker: torch and transformers with what they need, the gateway's local models, nothing else.

Inside are no network, no tasks, no references, no run folder, and no checkpoint either: a worker is handed one open folder.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import heredity
from heredity.errors import IsolationError, MissingExtraError
from heredity.rollouts.bubblewrap_root import (
    available,
    bwrap,
    etc_view,
    interpreter,
    interpreter_view,
    isolate,
    proc_view,
    system_view,
)

ROOTS = ("torch", "transformers", "safetensors", "numpy", "jinja2")
"""Distributions that a worker needs; what these require comes with them."""

_GUEST = Path(__file__).parent / "guest.py"
_OWN = ("__init__.py", "errors.py", "ids.py", "spans.py", "gateway")
_PACKAGES = "/opt/heredity/packages"
_SOURCE = "/opt/heredity/src"
_SCRIPT = "/opt/heredity/guest.py"
_TMP_BYTES = 64 << 20
_LEFT_OUT = re.compile(r"\.\.|__pycache__|.*\.pth")


def check() -> None:
    """Check that workers can run here.

    Raises:
        IsolationError: if this machine cannot confine them.
        MissingExtraError: if torch or transformers is not installed.
    """
    reason = available()
    if reason is not None:
        raise IsolationError(f"submitted models cannot be confined: {reason}")
    packages()


def command(seccomp: int) -> list[str]:
    """Return the command line of a zygote: it talks through its standard input, a socket.

    Args:
        seccomp: the open file of the compiled filter of system calls.
    """
    arguments = [bwrap(), *isolate(1000), "--seccomp", str(seccomp)]
    arguments += [*system_view(), *proc_view(), "--dev", "/dev", *etc_view(), *interpreter_view()]
    for folder in ("/dev/shm", "/tmp"):
        arguments += ["--size", str(_TMP_BYTES), "--tmpfs", folder]
    for path in packages():
        arguments += ["--ro-bind", str(path), f"{_PACKAGES}/{path.name}"]
    home = Path(heredity.__file__).parent
    for name in _OWN:
        arguments += ["--ro-bind", str(home / name), f"{_SOURCE}/heredity/{name}"]
    arguments += ["--ro-bind", str(_GUEST), _SCRIPT, "--remount-ro", "/", "--chdir", "/tmp", "--"]
    return [*arguments, str(interpreter()), "-sBP", _SCRIPT]


def variables() -> dict[str, str]:
    """Return the whole environment of the sandbox."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{_SOURCE}:{_PACKAGES}",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
    }


@cache
def packages(more: tuple[str, ...] = ()) -> tuple[Path, ...]:
    """Return the files and folders of site-packages that a worker needs, those that say versions included.

    Args:
        more: further distributions, with what they require, where they are installed.

    Raises:
        MissingExtraError: if one of `ROOTS` is not installed.
    """
    found: set[Path] = set()
    for distribution in _required((*ROOTS, *more)):
        tops = {file.parts[0] for file in distribution.files or ()}
        home = Path(str(distribution.locate_file("")))
        found |= {home / top for top in tops if not _LEFT_OUT.fullmatch(top) and (home / top).exists()}
    return tuple(sorted(found))


def _required(roots: tuple[str, ...]) -> Iterator[importlib.metadata.Distribution]:
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if name in ROOTS:
                raise MissingExtraError(f"answering with a submitted model ({name} is missing)", "posttrain") from error
            continue
        yield distribution
        # What an extra or another system would need is looked for in vain, or shown without need: neither does harm.
        waiting += [
            match[0] for text in distribution.requires or () if (match := _NAME.match(text)) and "extra ==" not in text
        ]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
