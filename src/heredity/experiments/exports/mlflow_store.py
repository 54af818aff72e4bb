"""Export to MLflow: one run each, with parameters, metrics, curves and files, in a local SQLite store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from heredity._core.errors import MissingExtraError
from heredity._core.ids import canonical_json
from heredity.experiments.exports.contract import Export, Exporter, Written
from heredity.experiments.exports.reading import RunReading
from heredity.results.run import RunStatus

STORE = "mlflow.db"
_FILES = ("metrics.json", "card.json", "report.html", "report.md", "run.toml", "best")
_MOST_CHARS = 6000
"""Longest value of a parameter that MLflow accepts."""
_STATUSES = {RunStatus.FINISHED: "FINISHED", RunStatus.FAILED: "FAILED", RunStatus.UNFINISHED: "RUNNING"}

Point = tuple[str, float, int, int]
"""Name, value, time in milliseconds since 1970, step."""


def write(export: Export) -> Written:
    """Write the runs to `mlflow.db`, with their files in `artifacts/`; open it with `mlflow ui`.

    Raises:
        MissingExtraError: if MLflow is not installed.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        import alembic  # noqa: F401  # pyright: ignore[reportMissingImports, reportUnusedImport]
        import sqlalchemy  # noqa: F401  # pyright: ignore[reportMissingImports, reportUnusedImport]
        from mlflow import MlflowClient  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtraError("the export to MLflow", "mlflow") from error
    written, out = Written(), export.out.resolve()
    client: Any = MlflowClient(tracking_uri=f"sqlite:///{out / STORE}")
    experiments: dict[str, str] = {}
    for run in export.runs(written):
        name = run.results.suite_id or run.id
        if name not in experiments:
            experiments[name] = client.create_experiment(name, artifact_location=(out / "artifacts").as_uri())
        _log(client, experiments[name], run, export, written)
    written.files = [STORE]
    return written


def _log(client: Any, experiment: str, run: RunReading, export: Export, written: Written) -> None:
    from mlflow.entities import Metric, Param  # pyright: ignore[reportMissingImports]

    points, params = list(_points(run)), dict(_params(run))
    long = [name for name, value in params.items() if len(value) > _MOST_CHARS]
    if long:
        written.leave_out(run.id, f"parameters of more than {_MOST_CHARS} characters: {', '.join(long)}")
    tags = _tags(run, export.organisation)
    own = client.create_run(
        experiment, start_time=round(run.events[0].at * 1000), tags=tags, run_name=run.id
    ).info.run_id
    for start in range(0, max(len(points), 1), 900):  # at most 1000 in a request
        client.log_batch(own, metrics=[Metric(*point) for point in points[start : start + 900]])
    for name, value in params.items():
        if name not in long:
            client.log_batch(own, params=[Param(name, value)])
    for file in _FILES if run.finished else ():
        path = run.folder / file
        if path.is_dir():
            client.log_artifacts(own, str(path), file)
        elif path.is_file():
            client.log_artifact(own, str(path))
    if run.finished:
        client.set_terminated(own, _STATUSES[run.results.status], end_time=round(run.events[-1].at * 1000))
    written.count(runs=1, metrics=len(points), parameters=len(params) - len(long))


def _params(run: RunReading) -> Iterator[tuple[str, str]]:
    results = run.results
    values: dict[str, Any] = {
        "protocol": results.protocol,
        "taskset": results.taskset,
        "taskset_version": results.taskset_version,
        "evolver": results.evolver.name,
        "evolver_kind": results.evolver.kind,
        "model": run.model,
        "seed": results.seed,
        "episodes": results.budget.episodes,
        **{f"options.{key}": value for key, value in results.evolver.options.items()},
        **{f"conditions.{key}": value for key, value in results.conditions.items()},
    }
    for name, value in values.items():
        if value is not None:
            yield name, value if isinstance(value, str) else canonical_json(value).decode()


def _tags(run: RunReading, organisation: str | None) -> dict[str, str]:
    results = run.results
    tags = {
        "heredity.run_id": run.id,
        "heredity.suite_id": results.suite_id,
        "heredity.organisation": organisation or results.organisation,
        "heredity.commitment": results.commitment,
        "heredity.candidate": results.selected.candidate if results.selected else None,
        "heredity.direction": "higher is better" if results.higher_is_better else "lower is better",
    }
    return {name: value for name, value in tags.items() if value}


def _points(run: RunReading) -> Iterator[Point]:
    results = run.results
    at = {
        event.data["submit_id"]: round(event.at * 1000) for event in run.events if event.kind == "submission.completed"
    }
    end = round(run.events[-1].at * 1000)
    for row in results.submissions:
        values = {"train_mean": row.train_mean, "budget_used": row.budget_used}
        if run.finished:
            values |= {"validation_mean": row.validation_mean, "best_so_far": row.best_so_far}
        for name, value in values.items():
            if value is not None:
                yield name, float(value), at.get(row.index, end), row.index
    if not run.finished:
        return
    step = len(results.submissions)
    heldout, gain = results.heldout, results.gain
    finals = {
        "heldout_mean": heldout.mean if heldout else None,
        "heldout_ci_low": heldout.ci[0] if heldout and heldout.ci else None,
        "heldout_ci_high": heldout.ci[1] if heldout and heldout.ci else None,
        "reference_mean": results.reference.heldout_mean if results.reference else None,
        "gain": gain.difference if gain else None,
        "gain_ci_low": gain.ci[0] if gain and gain.ci else None,
        "gain_ci_high": gain.ci[1] if gain and gain.ci else None,
        "episodes_used": results.budget.used,
        "seconds": results.times.seconds if results.times else None,
        "cost_usd": results.tokens.cost_usd if results.tokens else None,
    }
    for name, value in finals.items():
        if value is not None:
            yield name, float(value), end, step


EXPORTER = Exporter("runs in a local MLflow store (extra mlflow)", write)
