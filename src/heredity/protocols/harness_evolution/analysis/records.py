"""Task results of a harness-evolution run, read from its journal.

A snapshot is judged once on each view, even if its candidate stands at several evaluation points: each point has rows of its
own, and the cost of judging counts once (`JournalRows.spent`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.protocols.harness_evolution.analysis.rows import COSTS, NAMES, STEPS, TaskRows, rows_of_columns
from heredity.protocols.harness_evolution.terms import SNAPSHOT_ASSESSED, SNAPSHOTS_FROZEN
from heredity.records.events import (
    BATCH_STARTED,
    MODEL_CALLED,
    RUN_STARTED,
    SCHEDULE_PLANNED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
)

GATE_KEYS = "gate/"
"""Prefix of the keys of the contract gate's submissions."""

_UNKNOWN = "unknown"

Json = Mapping[str, Any]


def rows_of_run(events: Iterable[Json]) -> TaskRows:
    """Return the task results of a run, from its journal's lines as mappings, in order (`JournalRows.rows`)."""
    return JournalRows(events).rows()


class _Table:
    """The columns of `TaskRows.frame`, while they are built."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {
            name: [] for name in (*NAMES, *COSTS, *STEPS, "score", "success", "errored")
        }

    def extend(self, count: int, **given: Any) -> None:
        """Add `count` rows; a list has one value per row, anything else is the same for all."""
        for name, column in self.columns.items():
            value = given.get(name)
            column.extend(value if isinstance(value, list) else repeat(value, count))


class JournalRows:
    """Task results in a journal.

    Attributes:
        models: the other execution models that snapshots were judged under, sorted.
    """

    def __init__(self, events: Iterable[Json]) -> None:
        """Read the journal's lines, as mappings, in order; unknown kinds are ignored."""
        self._run_id: str | None = None
        self._method = False
        self._tasks: Sequence[Json] = ()
        self._batch = 0
        self._used: dict[int, Usage] = {}
        self._admitted: dict[int, tuple[Json, int]] = {}
        self._completed: list[Json] = []
        self._points: Sequence[Json] = ()
        self._trained: Mapping[str, int] = {}
        self._assessed: dict[tuple[str, str, str | None], Json] = {}
        for event in events:
            self._read(event["kind"], event["data"])
        self.models = sorted({model for _, _, model in self._assessed if model is not None})

    def rows(self, model: str | None = None) -> TaskRows:
        """Return the rows that metrics are computed from.

        Train rows are the outcomes of submissions, by the open batch: `global_update_index` numbers the
        evaluated harnesses from 0, and `update_repeat_index` the rollouts of one harness at a task of a batch.
        Canary rows are those of the contract gate. Each batch has one update row, with the usage of the method's model calls.
        Judged rows belong to evaluation points; replay rows only cover tasks trained by then (for `A_0`,
        all tasks ever trained).

        Args:
            model: return only the judged rows of this execution model; None for the run's.
        """
        table = _Table()
        if model is None:
            self._write_submissions(table)
            self._write_updates(table)
        for (_, candidate, under), data in self._assessed.items():
            for point in self._points:
                if under == model and point["candidate"] == candidate:
                    self._write_judged(table, data, point)
        return rows_of_columns(table.columns)

    def spent(self) -> TaskRows:
        """Return the rows that the run alone would pay for: each judgement of a candidate once, whole, also under other models.

        A judgement that runs of a suite share is included in full in each, whichever of them made it first.
        """
        table = _Table()
        self._write_submissions(table)
        self._write_updates(table)
        for (view, candidate, model), data in self._assessed.items():
            once = {"name": candidate, "candidate": candidate, "batch": None, "role": None}
            self._write_judged(table, {**data, "view": view if model is None else f"{view} under {model}"}, once)
        return rows_of_columns(table.columns)

    def _read(self, kind: str, data: Json) -> None:
        match kind:
            case RUN_STARTED.name:
                self._run_id = data["run_id"]
                self._method = (data.get("evolver") or {}).get("kind") == "method"
            case SCHEDULE_PLANNED.name:
                self._tasks = data["tasks"]
            case BATCH_STARTED.name:
                self._batch = data["number"]
                # An outside agent's own model calls are in no journal: their cost is unknown, not zero.
                self._used.setdefault(self._batch, NOTHING_USED if self._method else Usage())
            case MODEL_CALLED.name:
                if self._batch:
                    self._used[self._batch] += Usage(**(data["usage"] or {}))
            case SUBMISSION_ADMITTED.name:
                self._admitted[data["submit_id"]] = data, self._batch
            case SUBMISSION_COMPLETED.name:
                self._completed.append(data)
            case SNAPSHOTS_FROZEN.name:
                self._points, self._trained = data["points"], data["trained"]
            case SNAPSHOT_ASSESSED.name:
                self._assessed[data["view"], data["candidate"], data.get("model")] = data
            case _:
                pass

    def _write_submissions(self, table: _Table) -> None:
        """Write train rows, and canary rows of the gate's submissions."""
        harnesses = {c: i for i, c in enumerate(dict.fromkeys(d["candidate"] for d, _ in self._admitted.values()))}
        repeats = Counter[tuple[int, str, str]]()
        for done in self._completed:
            admitted, batch = self._admitted[done["submit_id"]]
            outcomes: Sequence[Json] = done["outcomes"]
            labels = [self._label(o["task"]) for o in outcomes]
            places = [(batch, admitted["candidate"], str(label["id"])) for label in labels]
            table.extend(
                len(outcomes),
                run_id=self._run_id,
                agent_checkpoint_id=admitted["candidate"],
                **_task_columns(labels),
                **dict.fromkeys(("view_name", "mode"), "canary" if admitted["key"].startswith(GATE_KEYS) else "train"),
                train_batch_index=batch or None,
                global_update_index=harnesses[admitted["candidate"]],
                update_repeat_index=[_next(repeats, key) for key in places],
                score=[o["score"] for o in outcomes],
                errored=[o["failure"] is not None for o in outcomes],
                **_costs(len(outcomes), done.get("costs"), done.get("rollout_seconds")),
            )

    def _write_updates(self, table: _Table) -> None:
        """Write one row per batch with the usage of its updates."""
        table.extend(
            len(self._used),
            run_id=self._run_id,
            view_name="agent_update",
            mode="update",
            train_batch_index=list(self._used),
            domain=_UNKNOWN,
            source=_UNKNOWN,
            **_usage(list(self._used.values())),
        )

    def _write_judged(self, table: _Table, data: Json, point: Json) -> None:
        """Write the rows of one judgement for one evaluation point."""
        tasks: Sequence[Json] = data["tasks"]
        kept = [data["view"] != "replay" or self._trained_before(task["id"], point) for task in tasks]
        columns = {
            **_task_columns(tasks),
            "score": data["scores"],
            "errored": [bool(error) for error in data.get("errors") or [None] * len(tasks)],
            **_costs(len(tasks), data.get("costs"), data.get("seconds")),
        }
        table.extend(
            sum(kept),
            run_id=self._run_id,
            evaluation_point_id=point["name"],
            baseline_role=point["role"],
            agent_checkpoint_id=point["candidate"],
            view_name=data["view"],
            mode="judged",
            train_batch_index=point["batch"],
            **{name: _chosen(column, kept) for name, column in columns.items()},
        )

    def _trained_before(self, task: str, point: Json) -> bool:
        first = self._trained.get(task)
        return not point["batch"] or (first is not None and first <= point["batch"])

    def _label(self, task_index: int) -> Json:
        return self._tasks[task_index] if task_index < len(self._tasks) else {"id": f"train/{task_index}"}


def _task_columns(tasks: Sequence[Json]) -> dict[str, list[str | None]]:
    domains = [task.get("domain") or _UNKNOWN for task in tasks]
    return {
        "task_id": [task["id"] for task in tasks],
        "domain": domains,
        "source": [task.get("source_benchmark") or domain for task, domain in zip(tasks, domains, strict=True)],
        "cluster": [task.get("cluster") for task in tasks],
    }


def _costs(count: int, costs: Sequence[Json] | None, seconds: Sequence[float] | None) -> dict[str, list[Any]]:
    """Return the cost columns of rollouts; unknown if the journal has no per-rollout costs."""
    entries = costs or [{}] * count
    used = [Usage(*map(c.get, ("input_tokens", "output_tokens", "cached_tokens", "cost_usd"))) for c in entries]
    return {
        **_usage(used),
        "tool_calls": [c.get("tool_calls") for c in entries],
        "wall_time": list(seconds or [None] * count),
    }


def _usage(used: Sequence[Usage]) -> dict[str, list[Any]]:
    return {
        "tokens": [u.tokens for u in used],
        "input_tokens": [u.input_tokens for u in used],
        "cache_tokens": [u.cached_tokens for u in used],
        "output_tokens": [u.output_tokens for u in used],
        "cost_usd": [u.cost_usd for u in used],
    }


def _chosen(column: list[Any], kept: Sequence[bool]) -> list[Any]:
    return column if all(kept) else [value for value, keep in zip(column, kept, strict=True) if keep]


def _next(counted: Counter[tuple[int, str, str]], key: tuple[int, str, str]) -> int:
    counted[key] += 1
    return counted[key] - 1
