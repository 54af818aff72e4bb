"""Makes an export: finds the runs, opens the destination, calls the exporter of a format."""

from __future__ import annotations

from pathlib import Path

from heredity._core.errors import ConfigError, RecordError
from heredity.experiments.exports.contract import EXPORTERS, Export, Written
from heredity.experiments.exports.reading import folders_of


def export_runs(
    folder: Path, to: str, out: Path | None = None, organisation: str | None = None
) -> tuple[Path, Written]:
    """Export a run, or all runs of a suite.

    Args:
        folder: folder of the run or the suite; it is not changed, apart from the default destination.
        to: name of a format, such as `"inspect"`.
        out: folder to write to, new or empty; by default `exports/FORMAT` in `folder`.
        organisation: who ran it; by default `run.organisation` of its configuration.

    Returns:
        The destination, and what was written.

    Raises:
        ConfigError: if there is no such run or format, the destination has files, or the format cannot hold these runs.
        RecordError: if a file cannot be read or written.
    """
    exporter, folders = EXPORTERS.load(to), folders_of(folder)
    if not folders:
        raise ConfigError(f"{folder} has no started run; start it with heredity resume {folder}")
    out = out or folder / "exports" / to
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise ConfigError(f"{out} is not empty; give a new folder with --out, or remove it")
        written = exporter.write(Export(folders, out, organisation, folder))
    except OSError as error:
        raise RecordError(
            f"the export to {out} failed: {error.strerror or error}; free some space or choose another"
        ) from error
    return out, written
