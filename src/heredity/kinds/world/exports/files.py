"""Files of exports: templates, the license, and writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from heredity._core.errors import ConfigError

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
