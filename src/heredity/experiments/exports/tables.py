"""Exports to CSV and Parquet: long tables of rollouts, submissions, judged cases, selections and usage.

Each table is written as its rows are read, so that its size does not matter. `SCHEMAS` names the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from heredity.experiments.exports.contract import Export, Exporter, Written
from heredity.experiments.exports.reading import RunReading, timestamp

if TYPE_CHECKING:
    import polars as pl

    from heredity.engine.trajectory import Trajectory

Row = dict[str, Any]

_BATCH = 20_000
"""Rows in memory."""

_RUN = {
    "run_id": "str",
    "suite_id": "str",
    "protocol": "str",
    "taskset": "str",
    "evolver": "str",
    "model": "str",
    "seed": "int",
    "run_status": "str",
}
"""Columns of every table that name the run; `model` is the execution model."""

_TOKENS = {"input_tokens": "int", "output_tokens": "int", "cached_tokens": "int", "cost_usd": "float"}

SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "rollouts": {
        **_RUN, "submission": "int", "position": "int", "task": "str", "repeat": "int", "candidate": "str",
        "score": "float", "status": "str", "failure": "str", "steps": "int", "submission_started": "str",
        "submission_ended": "str", "seconds": "float", "model_calls": "int", "tool_calls": "int", **_TOKENS,
    },
    "submissions": {
        **_RUN, "submission": "int", "candidate": "str", "parents": "str", "note": "str", "status": "str",
        "rollouts": "int", "budget_used": "int", "train_mean": "float", "validation_mean": "float", "failures": "int",
        "missing": "int", "seconds": "float", "accepted": "bool",
    },
    "judged": {
        **_RUN, "view": "str", "name": "str", "candidate": "str", "reference": "bool", "selected": "bool", "case": "int",
        "cluster": "int", "score": "float", "status": "str", "steps": "int", "ended": "str",
    },
    "selections": {
        **_RUN, "candidate": "str", "submission": "int", "validation_mean": "float", "heldout_mean": "float",
        "heldout_low": "float", "heldout_high": "float", "cases": "int", "missing": "int", "reference": "str",
        "reference_mean": "float", "gain": "float", "gain_low": "float", "gain_high": "float", "verdict": "str",
        "started": "str", "ended": "str", "seconds": "float", "organisation": "str", "higher_is_better": "bool",
    },
    "usage": {
        **_RUN, "source": "str", "purpose": "str", "called_model": "str", "calls": "int", "failed_calls": "int", **_TOKENS,
    },
}  # fmt: skip
"""Name of each table to its columns and their types; unknown values are null. Times are ISO 8601 in UTC, scores are
higher-is-better, costs US dollars."""


def _named(run: RunReading) -> Row:
    results = run.results
    return {
        "run_id": run.id,
        "suite_id": results.suite_id,
        "protocol": results.protocol,
        "taskset": results.taskset,
        "evolver": results.evolver.name,
        "model": run.model,
        "seed": results.seed,
        "run_status": str(results.status),
    }


def _rollouts(run: RunReading) -> Iterator[Row]:
    for attempt in run.attempts():
        yield {
            "submission": attempt.submission,
            "position": attempt.position,
            "task": attempt.task,
            "repeat": attempt.repeat,
            "candidate": attempt.candidate,
            "score": attempt.score,
            "status": attempt.status,
            "failure": attempt.failure["message"] if attempt.failure else None,
            "steps": attempt.length,
            "submission_started": timestamp(attempt.started),
            "submission_ended": timestamp(attempt.ended),
            "seconds": attempt.seconds,
            **_known(attempt.trajectory),
        }


def _known(trajectory: Trajectory | None) -> Row:
    used = trajectory.cost if trajectory else {}
    counts = ("model_calls", "tool_calls", "input_tokens", "output_tokens", "cached_tokens")
    return {**{name: int(used[name]) for name in counts if name in used}, "cost_usd": used.get("cost_usd")}


def _submissions(run: RunReading) -> Iterator[Row]:
    accepted = {decision.candidate: decision.accepted for decision in run.results.decisions}
    for row in run.results.submissions:
        yield {
            "submission": row.index,
            "candidate": row.candidate,
            "parents": " ".join(row.parents),
            "note": row.note,
            "status": row.status,
            "rollouts": row.episodes,
            "budget_used": row.budget_used,
            "train_mean": row.train_mean,
            "validation_mean": row.validation_mean if run.finished else None,
            "failures": row.failures,
            "missing": row.missing,
            "seconds": row.seconds,
            "accepted": accepted.get(row.candidate),
        }


def _judged(run: RunReading) -> Iterator[Row]:
    for judged in run.judged():
        for case, score in enumerate(judged.scores):
            yield {
                "view": judged.view,
                "name": judged.name,
                "candidate": judged.candidate,
                "reference": judged.reference is not None,
                "selected": judged.selected,
                "case": case,
                "cluster": judged.clusters[case] if judged.clusters else None,
                "score": score,
                "status": judged.statuses[case] if judged.statuses else None,
                "steps": judged.lengths[case] if judged.lengths else None,
                "ended": timestamp(judged.ended),
            }


def _selections(run: RunReading) -> Iterator[Row]:
    results = run.results
    if not run.finished:
        return
    heldout, gain, times = results.heldout, results.gain, results.times
    low, high = (heldout.ci if heldout else None) or (None, None)
    gain_low, gain_high = (gain.ci if gain else None) or (None, None)
    yield {
        "candidate": results.selected.candidate if results.selected else None,
        "submission": results.selected.index if results.selected else None,
        "validation_mean": results.selected.validation_mean if results.selected else None,
        "heldout_mean": heldout.mean if heldout else None,
        "heldout_low": low,
        "heldout_high": high,
        "cases": heldout.n if heldout else None,
        "missing": heldout.missing if heldout else None,
        "reference": results.reference.name if results.reference else None,
        "reference_mean": results.reference.heldout_mean if results.reference else None,
        "gain": gain.difference if gain else None,
        "gain_low": gain_low,
        "gain_high": gain_high,
        "verdict": str(gain.verdict) if gain else None,
        "started": times.started if times else None,
        "ended": times.ended if times else None,
        "seconds": times.seconds if times else None,
        "organisation": results.organisation,
        "higher_is_better": results.higher_is_better,
    }


def _usage(run: RunReading) -> Iterator[Row]:
    for call in run.calls():
        own = {name: call.usage.get(name) for name in _TOKENS}
        of = {"source": "method", "purpose": call.purpose, "called_model": call.model}
        yield {**of, "calls": 1, "failed_calls": int(call.error is not None), **own}
    used, agent = run.results.model_usage, run.results.tokens
    for source, tokens in (("rollouts", used.rollouts), ("judging", used.judging)) if used else ():
        yield {"source": source, **tokens.model_dump()}
    if agent is not None:
        shared = agent.model_dump()
        yield {"source": "agent", "cached_tokens": shared.pop("cache_tokens"), **shared}


_ROWS: Mapping[str, Callable[[RunReading], Iterator[Row]]] = {
    "rollouts": _rollouts,
    "submissions": _submissions,
    "judged": _judged,
    "selections": _selections,
    "usage": _usage,
}


def _schema(table: str) -> dict[str, Any]:
    import polars as pl

    types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean}
    return {name: types[kind] for name, kind in SCHEMAS[table].items()}


class _Table:
    """A table that is written in batches."""

    def __init__(self, name: str) -> None:
        self.name, self.rows, self.height, self.batches = name, list[Row](), 0, 0

    def add(self, row: Row, flush: Callable[[_Table, pl.DataFrame], None]) -> None:
        self.rows.append(row)
        if len(self.rows) == _BATCH:
            self.flush(flush)

    def flush(self, flush: Callable[[_Table, pl.DataFrame], None]) -> None:
        import polars as pl

        if self.rows or not self.batches:
            flush(self, pl.DataFrame(self.rows, schema=_schema(self.name)))
            self.height, self.rows, self.batches = self.height + len(self.rows), [], self.batches + 1


def _write(export: Export, suffix: str, flush: Callable[[_Table, pl.DataFrame], None]) -> Written:
    tables, written = [_Table(name) for name in SCHEMAS], Written()
    for run in export.runs(written):
        named = _named(run)
        for table in tables:
            for row in _ROWS[table.name](run):
                table.add({**named, **row}, flush)
    for table in tables:
        table.flush(flush)
        written.count(**{table.name: table.height})
        written.files.append(f"{table.name}.{suffix}")
    return written


def write_csv(export: Export) -> Written:
    """Write the tables as CSV with a head line; unknown values are empty."""

    def append(table: _Table, frame: pl.DataFrame) -> None:
        with (export.out / f"{table.name}.csv").open("ab") as file:
            frame.write_csv(file, include_header=not table.batches)

    return _write(export, "csv", append)


def write_parquet(export: Export) -> Written:
    """Write the tables as Parquet."""
    import polars as pl

    with TemporaryDirectory(dir=export.out, prefix=".parts") as parts:
        written = _write(
            export, "parquet", lambda t, frame: frame.write_parquet(Path(parts) / f"{t.name}-{t.batches:06}.parquet")
        )
        for name in SCHEMAS:
            pl.scan_parquet(Path(parts) / f"{name}-*.parquet").sink_parquet(export.out / f"{name}.parquet")
    return written


CSV = Exporter("CSV tables of rollouts, submissions, judged cases, selections and usage", write_csv)
PARQUET = Exporter("the same tables as Parquet", write_parquet)
