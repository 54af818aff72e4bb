"""Importers: one object for each format of records, found by name.

IMPORTER = Importer("records of my laboratory", recognises, read)

[project.entry-points."heredity.importers"]
my-format = "my_package.records:IMPORTER"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, RecordError
from heredity._core.plugins import Group
from heredity.analysis.evaluations import Evaluation, compare_evaluations
from heredity.results.evaluations import EvaluationComparison


@dataclass(frozen=True, slots=True)
class Choice:
    """What to read of records.

    Attributes:
        scorer: the scorer to compare; `""` for the one that comes first.
        cluster: field of a sample's metadata that names its cluster; `""` for none.
    """

    scorer: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Importer:
    """An importer.

    Attributes:
        summary: a one-line description.
        recognises: reports whether a path, file or folder, holds such records; reads at most a few bytes.
        files: returns the files to read at a recognised path.
        read: returns the evaluations of one file; raises a `RecordError` for a damaged one and a `ConfigError` for one that
            does not have what was chosen.
    """

    summary: str
    recognises: Callable[[Path], bool]
    files: Callable[[Path], Sequence[Path]]
    read: Callable[[Path, Choice], Sequence[Evaluation]]


def _conforms(offered: Any) -> bool:
    return isinstance(offered, Importer)


IMPORTERS: Group[Importer] = Group(
    "heredity.importers", "importer", "a heredity.experiments.imports.contract.Importer", _conforms
)
"""Importers that `heredity compare` tries, by name."""


def importer_of(path: Path) -> Importer | None:
    """Return the importer that recognises a path; None if none does."""
    importers = (IMPORTERS.load(name) for name in IMPORTERS.names())
    return next((importer for importer in importers if importer.recognises(path)), None)


def compare_records(
    paths: Sequence[Path], choice: Choice | None = None, *, higher_is_better: bool = True
) -> EvaluationComparison:
    """Compare evaluations that other tools recorded; files that cannot be read are left out and noted.

    Args:
        paths: files, or folders of files.
        choice: what to read of them.
        higher_is_better: direction of the scores.

    Raises:
        ConfigError: if a path holds no known records, or nothing can be compared.
    """
    evaluations: list[Evaluation] = []
    notes: list[str] = []
    seen = dict[Path, None]()
    for path in paths:
        importer = importer_of(path)
        if importer is None:
            known = "; ".join(f"{name}: {IMPORTERS.load(name).summary}" for name in IMPORTERS.names())
            raise ConfigError(f"{path} holds no records that can be compared; give {known}")
        for file in importer.files(path):
            if (own := file.resolve()) in seen:
                continue
            seen[own] = None
            try:
                evaluations += importer.read(file, choice or Choice())
            except RecordError as error:
                notes.append(f"{file} left out: {error}")
    if not evaluations:
        raise ConfigError(f"no log could be read: {'; '.join(notes)[:1000] or 'there is none'}")
    return compare_evaluations(evaluations, notes, higher_is_better=higher_is_better)
