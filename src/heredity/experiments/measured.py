"""What was measured of a suite's tasksets when it began, for everybody who continues, verifies or repeats it.

A taskset's version hangs on it. Measured anew it may differ, where rewards hang on more than the seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heredity.errors import RecordError
from heredity.outside import json_value, read_bytes
from heredity.records.run_folder import write_atomic
from heredity.refusals import quoted, reading
from heredity.tasks.registry import measurements, remember

MEASURED = "measured.json"
"""In a suite's folder: taskset to what was measured of it."""


def remember_measured(suite: Path) -> bool:
    """Take what was measured from a suite's folder; return whether it has the file.

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
    """Take what was measured from a suite's folder, or write it there when the suite begins.

    Raises:
        HeredityError: as `remember_measured` and `taskset`, or if it cannot be written.
    """
    if not remember_measured(suite) and (values := measurements(names)):
        write_atomic(suite / MEASURED, json.dumps(values, indent=1).encode() + b"\n")
