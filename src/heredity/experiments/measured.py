"""Measurements of a suite's tasksets, made once when it starts and reused to resume, verify or repeat it.

A taskset's version depends on them. A new measurement may differ if rewards depend on more than the seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import quoted, reading
from heredity.records.run_folder import write_atomic
from heredity.tasks.registry import measurements, remember

MEASURED = "measured.json"
"""File in a suite's folder: taskset to its measurements."""


def remember_measured(suite: Path) -> bool:
    """Load the measurements from a suite's folder; return whether the file exists.

    Raises:
        RecordError: if the file is damaged.
        ConfigError: if a package that offers tasksets fails to load.
    """
    path = suite / MEASURED
    if not path.exists():
        return False
    with reading(path, "JSON", "restore it from a copy", RecordError):
        values: Any = json_value(read_bytes(path))
    if not isinstance(values, dict):
        raise RecordError(f"{path} is {quoted(values)}; expected one JSON object")
    remember(values)  # pyright: ignore[reportUnknownArgumentType]
    return True


def keep_measured(suite: Path, names: Iterable[str]) -> None:
    """Load the measurements from a suite's folder, or write them there when the suite starts.

    Raises:
        HeredityError: as `remember_measured` and `taskset`, or if the file cannot be written.
    """
    if not remember_measured(suite) and (values := measurements(names)):
        write_atomic(suite / MEASURED, json.dumps(values, indent=1).encode() + b"\n")
