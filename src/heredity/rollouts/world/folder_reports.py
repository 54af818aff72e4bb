"""Reports of audits that are kept in a folder, so that an audit of many world folders that was ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from heredity.ids import digest_bytes, digest_json
from heredity.outside import json_value, read_text
from heredity.rollouts.world.folder_findings import FolderReport
from heredity.worlds.folder import WorldFolder

Row = dict[str, Any]


def digest_of(folder: WorldFolder, steps: int, levels: Sequence[str]) -> str:
    """Return the digest of all that a report depends on: the folder, what is asked, and the code that audits."""
    return digest_json([folder.digest, steps, sorted(levels), _code()])


def kept_report(out: Path, folder: WorldFolder, digest: str) -> Row | None:
    """Return the report that is kept of a folder, as JSON values; None if there is none that is still true."""
    try:
        row = json_value(read_text(_path(out, folder.path)))
    except (OSError, ValueError):
        return None
    same = isinstance(row, dict) and row.get("digest") == digest and row.get("folder") == str(folder.path)
    return row if same and not row.get("unjudged") else None


def keep(out: Path, report: FolderReport, digest: str) -> Row:
    """Keep a report, and return it as JSON values."""
    out.mkdir(parents=True, exist_ok=True)
    row = {**report.to_json(), "digest": digest}
    path = _path(out, Path(report.folder))
    written = path.with_suffix(".part")
    written.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    written.replace(path)  # whoever is killed while writing leaves no half of a report
    return row


def _path(out: Path, folder: Path) -> Path:
    return out / f"{folder.name}.json"


@cache
def _code() -> str:
    paths = sorted(Path(__file__).parent.glob("folder_*.py"))
    return digest_json({path.name: digest_bytes(path.read_bytes()) for path in paths})
