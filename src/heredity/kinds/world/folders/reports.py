"""Stored audit reports, so that an interrupted audit of many world folders can resume."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from heredity._core.ids import digest_bytes, digest_json
from heredity._core.outside import json_value, read_text
from heredity.kinds.world.folders.findings import FolderReport
from heredity.kinds.world.folders.folder import WorldFolder

Row = dict[str, Any]


def digest_of(folder: WorldFolder, steps: int, levels: Sequence[str]) -> str:
    """Return the digest of everything that a report depends on: the folder, the options, and the auditing code."""
    return digest_json([folder.digest, steps, sorted(levels), _code()])


def kept_report(out: Path, folder: WorldFolder, digest: str) -> Row | None:
    """Return the stored report of a folder, as JSON values; None if there is none or it is outdated."""
    try:
        row = json_value(read_text(_path(out, folder.path)))
    except (OSError, ValueError):
        return None
    same = isinstance(row, dict) and row.get("digest") == digest and row.get("folder") == str(folder.path)
    return row if same and not row.get("unjudged") else None


def keep(out: Path, report: FolderReport, digest: str) -> Row:
    """Store a report, and return it as JSON values."""
    out.mkdir(parents=True, exist_ok=True)
    row = {**report.to_json(), "digest": digest}
    path = _path(out, Path(report.folder))
    written = path.with_suffix(".part")
    written.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    written.replace(path)  # Written atomically, so that a kill leaves no partial report.
    return row


def _path(out: Path, folder: Path) -> Path:
    return out / f"{folder.name}.json"


@cache
def _code() -> str:
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return digest_json({path.name: digest_bytes(path.read_bytes()) for path in paths})
