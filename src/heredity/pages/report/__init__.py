"""Reports from sections: a page, Markdown, terminal output and CSV. All are derived and can be rebuilt at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from heredity._core.errors import RecordError
from heredity.records.run_folder import write_atomic

if TYPE_CHECKING:
    from heredity.results.page import Page, Section, Table
    from heredity.results.report import Report, Sources
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults

__all__ = ["page_of", "write_page", "write_reports"]

TABLES = "tables"
"""Folder next to the report for its tables as CSV."""


def write_reports(
    folder: Path,
    results: RunResults | SuiteResults,
    runs: Sequence[RunResults],
    report: Report,
    sources: Sources | None = None,
) -> tuple[Path, Path]:
    """Write report.html, report.md, tables as CSV and the protocol's files into `folder`, each atomically.

    A suite's page links to the pages of the runs whose folders are next to it (`runs/<run-id>/`).

    Args:
        folder: the run's or the suite's folder.
        results: its results.
        runs: for a suite, the results of its runs; else none.
        report: the protocol's part of the report.
        sources: for a run, its candidates' files; None if they are not available.

    Returns:
        The paths of report.html and report.md.

    Raises:
        RecordError: if a file cannot be written.
    """
    from heredity.pages.report.sections import annotation_sections

    shown = page_of(results, runs, report, sources, annotation_sections(folder))
    ids = [run.run_id or "" for run in runs]
    links = {name: f"runs/{quote(name, safe='')}/report.html" for name in ids if (folder / "runs" / name).is_dir()}
    return write_page(folder, shown, links)


def write_page(folder: Path, shown: Page, links: Mapping[str, str] | None = None) -> tuple[Path, Path]:
    """Write a page as report.html and report.md, with its tables and files; return the paths of these two.

    Args:
        folder: folder to write to.
        shown: the page.
        links: run id to the address of that run's page.

    Raises:
        RecordError: if a file cannot be written.
    """
    # Imported here so that `import heredity.pages.report` does not load the template engine.
    from heredity.pages.report import csv, html, markdown

    page, summary = folder / "report.html", folder / "report.md"
    write_atomic(page, html.render(shown, links or {}).encode())
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
    """Return the page of a run or a suite; see `write_reports`. `labels` are sections about labels of rollouts."""
    from heredity.pages.report.run_page import run_page
    from heredity.pages.report.suite_page import suite_page
    from heredity.results.run import RunResults

    if isinstance(results, RunResults):
        return run_page(results, report, sources, labels)
    return suite_page(results, runs, report)


def _content(content: str | Table | tuple[Section, ...], title: str) -> str:
    from heredity.pages.report import csv, markdown
    from heredity.results.page import Table

    if isinstance(content, str):
        return content
    return csv.render(content) if isinstance(content, Table) else markdown.render_sections(title, content)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(
            f"{path.parent} cannot be created: {error.strerror}; free some space or choose another"
        ) from error
    write_atomic(path, content.encode())
