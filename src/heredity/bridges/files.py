"""Files of exports: the forms that are filled in, the license, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from heredity.errors import ConfigError

_FORMS = Path(__file__).with_name("forms")


def form(path: str, values: Mapping[str, str]) -> bytes:
    """Return a form with its places (`$name`) filled in.

    Args:
        path: such as `"autoenv/env_main.py"`.
        values: by place.
    """
    text = (_FORMS / f"{path}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()


def license_text() -> bytes:
    """Return the license under which the copied code is, as Heredity's distribution has it, or a line that names it."""
    return b"Copyright the authors of Heredity. Licensed under the Apache License, Version 2.0:\nhttps://www.apache.org/licenses/LICENSE-2.0\n"


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write an export into a folder that is new or empty.

    Raises:
        ConfigError: if the folder holds something, or cannot be written.
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
