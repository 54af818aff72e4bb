"""Reports: sections in; a page, Markdown, terminal and CSV out; all derived, all rebuilt at any time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from heredity.errors import RecordError
from heredity.records.run_folder import write_atomic

if TYPE_CHECKING:
    from heredity.results.page import Page, Section, Table
    from heredity.results.report import Report, Sources
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults

__all__ = ["page_of", "write_reports"]

TABLES = "tables"
"""The folder beside the report that its tables are written to as CSV."""


def write_reports(
    folder: Path,
    results: RunResults | SuiteResults,
    runs: Sequence[RunResults],
    report: Report,
    sources: Sources | None = None,
) -> tuple[Path, Path]:
    """Write report.html and report.md into `folder`, tables as CSV, and what files the protocol has besides; each atomically.

    A suite's page links to the pages of the runs whose folders are beside it (`runs/<run-id>/`).

    Args:
        folder: the run's or the suite's folder.
        results: its results.
        runs: for a suite, the results of its runs; else none.
        report: what the protocol has to say.
        sources: for a run, what its candidates consist of; None if that is not at hand.

    Returns:
        The paths of report.html and report.md.

    Raises:
        RecordError: if a file cannot be written.
    """
    # Imported here so that `import heredity.reports` does not load the template engine.
    from heredity.reports import csv, html, markdown
    from heredity.reports.annotations import annotation_sections

    shown = page_of(results, runs, report, sources, annotation_sections(folder))
    ids = [run.run_id or "" for run in runs]
    links = {name: f"runs/{quote(name, safe='')}/report.html" for name in ids if (folder / "runs" / name).is_dir()}
    page, summary = folder / "report.html", folder / "report.md"
    write_atomic(page, html.render(shown, links).encode())
    write_atomic(summary, markdown.render(shown).encode())
    for table in csv.tables(shown.sections):
        _write(folder / TABLES / table.csv, csv.render(table))
    for file in csv.files(shown.sections):
        _write(folder / file.name, _content(file.content, file.title))
    return page, summary


def page_of(
    results: RunResults | SuiteResults,
    runs: Sequence[RunResults],
    report: Report,
    sources: Sources | None = None,
    labels: Sequence[Section] = (),
) -> Page:
    """Return what the page of a run or a suite says; see `write_reports`, `labels` being sections about labels of rollouts."""
    from heredity.reports.run_page import run_page
    from heredity.reports.suite_page import suite_page
    from heredity.results.run import RunResults

    if isinstance(results, RunResults):
        return run_page(results, report, sources, labels)
    return suite_page(results, runs, report)


def _content(content: str | Table | tuple[Section, ...], title: str) -> str:
    from heredity.reports import csv, markdown
    from heredity.results.page import Table

    if isinstance(content, str):
        return content
    return csv.render(content) if isinstance(content, Table) else markdown.render_sections(title, content)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(
            f"{path.parent} cannot be made: {error.strerror}; free some space or choose another"
        ) from error
    write_atomic(path, content.encode())
