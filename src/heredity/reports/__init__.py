"""Reports: pages, markdown and terminal tables made from metrics.json; all derived, all rebuilt at any time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from heredity.records.run_folder import write_atomic
from heredity.reports.fields import Json

__all__ = ["write_reports"]


def write_reports(folder: Path, metrics: Json, runs: Iterable[Json] | None = None) -> tuple[Path, Path]:
    """Write report.html and report.md into `folder`, each atomically.

    Of post-training, a run has reports/summary.md and .jsonl too, and a suite results.csv.

    Args:
        folder: the run's or the suite's folder.
        metrics: its metrics.json. It is taken for a suite's when it has a `leaderboard` or when `runs` is given.
        runs: for a suite, the metrics.json of its runs.

    Returns:
        The paths of report.html and report.md.

    Raises:
        ConfigError: if an argument is not a metrics object of a known version.
        RecordError: if a file cannot be written.
    """
    # Imported here so that `import heredity.reports` does not load the template engine.
    from heredity.reports.html import write_run_report, write_suite_report
    from heredity.reports.markdown import write_run_markdown, write_suite_markdown
    from heredity.reports.posttraining_csv import NAME as RESULTS
    from heredity.reports.posttraining_csv import results_csv
    from heredity.reports.posttraining_summary import write_summary

    page, summary = folder / "report.html", folder / "report.md"
    if runs is None and "leaderboard" not in metrics:
        write_run_report(metrics, page)
        write_run_markdown(metrics, summary)
        if metrics.get("posttraining"):
            write_summary(metrics, folder / "reports")
    else:
        listed = list(runs or ())
        write_suite_report(metrics, listed, page)
        write_suite_markdown(metrics, listed, summary)
        if any(run.get("posttraining") for run in listed):
            write_atomic(folder / RESULTS, results_csv(listed).encode())
    return page, summary
