"""The rows of one run, coded as arrays, with the snapshot and view of each row.

A snapshot is a frozen harness as assessed: `E_0`, `E_4`, …, or by its role, `A_0` (before any update), `A_T` (after
the last), `best-validation`. Snapshots are never pooled, nor are two checkpoints with the same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.protocols.harness_evolution.analysis.rows import COSTS, STEPS, TaskRows

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TRAIN, JUDGED, CANARY, UPDATE = range(4)
BASE, POINT, FINAL, BEST = range(4)

_VIEW_WORDS = {
    "replay": "replay",
    "ood": "ood",
    "validation": "validation",
    "val": "validation",
    "canary": "canary",
    "train": "train",
    "id": "id",
    "held": "id",
    "heldout": "id",
    "test": "id",
}
"""Kind of a view by words in its name; the first matching entry counts."""

_KINDS = {"train": TRAIN, "canary": CANARY, "update": UPDATE}
_ROLES = {
    **dict.fromkeys(("A_0", "E_0"), BASE),
    **dict.fromkeys(("A_T", "E_T"), FINAL),
    **dict.fromkeys(("best-validation", "best_validation"), BEST),
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A frozen harness.

    Attributes:
        name: its role if it has one, else its evaluation point, else its checkpoint.
        rank: `BASE`, `POINT`, `FINAL` or `BEST`.
        batch: train batches before it; None if no row has it.
        checkpoints: the checkpoints named in its rows.
    """

    name: str
    rank: int
    batch: int | None
    checkpoints: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key of snapshots: base, points in the order of training, final, best."""
        digits = [(0, int(w), "") if w.isdigit() else (1, 0, w) for w in re.findall(r"\d+|\D+", self.name)]
        return self.rank, self.batch is None, self.batch or 0, digits


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Repeated rows, as a resumed run leaves them; the last one counts.

    Attributes:
        rows: number of rows left out.
        conflicting: number of results with more than one score.
        tokens: known tokens of the rows left out.
    """

    rows: int
    conflicting: int
    tokens: float


@dataclass(frozen=True, slots=True)
class CodedRows:
    """The rows of a run that count. Arrays have one entry per row; -1 is none.

    Attributes:
        run_id: the run.
        kind: `TRAIN`, `JUDGED`, `CANARY` or `UPDATE`.
        task: index into `tasks`; likewise `domain`, `source`, `view`, `snapshot`, and `cluster`, the cluster of the task.
        score: the score; NaN if missing.
        solved: the verifier's verdict; without one, True if the score is 1.
        errored: True if an execution error is recorded.
        steps: the columns of `rows.STEPS`.
        costs: the columns of `rows.COSTS`, read one by one by `cost`.
        unnamed: number of judged rows without a snapshot, which are left out.
        duplicates: repeated rows, which are left out.
        read: number of rows of this run before any was left out.
    """

    run_id: str | None
    tasks: tuple[str, ...]
    domains: tuple[str, ...]
    sources: tuple[str, ...]
    clusters: tuple[str, ...]
    views: tuple[str, ...]
    snapshots: tuple[Snapshot, ...]
    kind: NDArray[np.int8]
    task: Ints
    domain: Ints
    source: Ints
    cluster: Ints
    view: Ints
    snapshot: Ints
    score: Floats
    solved: Bools
    errored: Bools
    steps: Mapping[str, Ints]
    costs: pl.DataFrame
    unnamed: int
    duplicates: Duplicates
    read: int

    def cost(self, name: str) -> Floats:
        """Return one column of costs; NaN is unknown."""
        return self.costs[name].fill_null(float("nan")).to_numpy()


def view_kind(name: str) -> str:
    """Return the kind of a view by the words of its name, or `"other"`: `"ood_test"` is `"ood"`, `"id_test"` is `"id"`."""
    words = set(re.findall("[a-z]+", name.lower()))
    return next((kind for word, kind in _VIEW_WORDS.items() if word in words), "other")


def run_ids(rows: TaskRows) -> list[str]:
    """Return the ids of the runs in the rows, sorted."""
    return sorted(rows.frame["run_id"].unique().drop_nulls().cast(str).to_list())


def code_results(rows: TaskRows, run_id: str | None = None) -> CodedRows:
    """Code the rows of one run.

    Args:
        rows: task results.
        run_id: the run; may be omitted if there is only one.

    Raises:
        ConfigError: if there are several runs and `run_id` is omitted.
        UnknownNameError: if the run does not exist.
    """
    frame, run_id = _select_run(rows, run_id)
    read = frame.height
    frame, unnamed = _name_snapshots(frame)
    views, view = _coded(frame["view_name"])
    tasks, task = _coded(frame["task_id"])
    modes, mode = _coded(frame["mode"])
    kind = np.array([_KINDS.get(name, JUDGED) for name in modes] or [JUDGED], dtype=np.int8)[mode]
    snapshots, snapshot = _snapshots(frame, kind)
    steps = {name: frame[name].fill_null(-1).to_numpy() for name in STEPS}
    key = _identity(kind, view, snapshot, task, steps)
    keep, duplicates = _last_of_each(frame, key)
    chosen = frame if keep is None else frame.filter(keep)

    def select_rows(column: Any) -> Any:
        return column if keep is None else column[keep]

    domains, domain = _coded(chosen["domain"])
    sources, source = _coded(chosen["source"])
    clusters, cluster = _coded(chosen["cluster"])
    score = chosen["score"].fill_null(float("nan")).to_numpy()
    return CodedRows(
        run_id=run_id,
        tasks=tasks,
        domains=domains,
        sources=sources,
        clusters=clusters,
        views=views,
        snapshots=snapshots,
        kind=select_rows(kind),
        task=select_rows(task),
        domain=domain,
        source=source,
        cluster=cluster,
        view=select_rows(view),
        snapshot=select_rows(snapshot),
        score=score,
        solved=np.where(chosen["success"].is_null(), score >= 1.0, chosen["success"].fill_null(value=False)),
        errored=chosen["errored"].fill_null(value=False).to_numpy(),
        steps={name: select_rows(values) for name, values in steps.items()},
        costs=chosen.select(COSTS),
        unnamed=unnamed,
        duplicates=duplicates,
        read=read,
    )


def _select_run(rows: TaskRows, run_id: str | None) -> tuple[pl.DataFrame, str | None]:
    ids = run_ids(rows)
    if run_id is None:
        if len(ids) > 1:
            raise ConfigError(f"the rows belong to {len(ids)} runs, {', '.join(ids[:5])} …; pass run_id")
        return rows.frame, ids[0] if ids else None
    if run_id not in ids:
        raise UnknownNameError("run", run_id, ids)
    return (rows.frame if len(ids) == 1 else rows.frame.filter(rows.frame["run_id"] == run_id)), run_id


def _name_snapshots(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Add the column `snapshot`, and drop judged rows without one."""
    import polars as pl

    frame = frame.with_columns(
        pl.coalesce("baseline_role", "evaluation_point_id", "agent_checkpoint_id").alias("snapshot")
    )
    nameless = frame.select(pl.col("snapshot").is_null() & ~pl.col("mode").cast(str).is_in(list(_KINDS))).to_series()
    if not nameless.any():
        return frame, 0
    return frame.filter(~nameless), int(nameless.sum())


def _coded(names: pl.Series) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names, sorted, and each row's index into them, -1 for none."""
    distinct = names.unique().drop_nulls()
    codes, texts = distinct.to_physical().to_list(), distinct.cast(str).to_list()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.full(max(codes, default=-1) + 2, -1, dtype=np.int32)
    ranks[[codes[i] for i in order]] = np.arange(len(order))
    return tuple(texts[i] for i in order), ranks[names.to_physical().cast(int).fill_null(-1).to_numpy()]


def _snapshots(frame: pl.DataFrame, kind: NDArray[np.int8]) -> tuple[tuple[Snapshot, ...], Ints]:
    """Return the snapshots in order, and each row's index into them; -1 for rows that are not judged."""
    import polars as pl

    judged = pl.Series(kind == JUDGED)
    seen = (
        frame.lazy()
        .filter(judged)
        .group_by("snapshot", "view_name", "agent_checkpoint_id")
        .agg(pl.col("train_batch_index").max())
        .collect()
        .with_columns(pl.col("snapshot", "view_name", "agent_checkpoint_id").cast(str))
    )
    mixed = seen.filter(pl.len().over("snapshot", "view_name") > 1)["snapshot"].unique().to_list()
    label = pl.col("snapshot").cast(str)
    if mixed:
        apart = label.is_in(mixed) & pl.col("agent_checkpoint_id").is_not_null()
        label = pl.when(apart).then(label + "@" + pl.col("agent_checkpoint_id").cast(str)).otherwise(label)
    snapshots = (
        seen.with_columns(label.alias("label"))
        .group_by("label", "snapshot")
        .agg(pl.col("train_batch_index").max(), pl.col("agent_checkpoint_id").drop_nulls().unique().sort())
    )
    ordered = sorted((_snapshot(**row) for row in snapshots.to_dicts()), key=lambda s: s.order)
    names, index = _coded(frame["snapshot"] if not mixed else frame.select(label.cast(pl.Categorical)).to_series())
    positions = {s.name: i for i, s in enumerate(ordered)}
    lookup = np.array([*(positions.get(name, -1) for name in names), -1], dtype=np.int32)
    return tuple(ordered), np.where(kind == JUDGED, lookup[index], -1)


def _snapshot(label: str, snapshot: str, train_batch_index: int | None, agent_checkpoint_id: list[str]) -> Snapshot:
    rank = _ROLES.get(snapshot, BASE if train_batch_index == 0 else POINT)
    # SEAGym marks the rows of A_0 with the point at which they were made, the last one.
    batch = 0 if rank == BASE else train_batch_index
    return Snapshot(label, rank, batch, tuple(agent_checkpoint_id))


def _identity(kind: NDArray[np.int8], view: Ints, snapshot: Ints, task: Ints, steps: Mapping[str, Ints]) -> Ints:
    """Return a number per row that only rows of the same rollout share.

    A frozen snapshot runs once on each task of a view, at any time; a train batch runs once per update.
    """
    step = np.zeros(len(kind), dtype=np.int64)
    moving = kind != JUDGED
    code = np.zeros(int(moving.sum()), dtype=np.int64)
    for values in steps.values():
        distinct, inverse = np.unique(values[moving], return_inverse=True)
        code = code * max(len(distinct), 1) + inverse
    if code.size:
        step[moving] = np.unique(code, return_inverse=True)[1]
    key = step
    for part in (task, snapshot, view, kind):
        key = key * (int(part.max(initial=0)) + 2) + part + 1
    return key


def _last_of_each(frame: pl.DataFrame, key: Ints) -> tuple[Bools | None, Duplicates]:
    """Return the rows to keep (None for all) and a summary of the others."""
    import polars as pl

    keys = pl.Series("key", key)
    last = keys.is_last_distinct()
    if last.all():
        return None, Duplicates(0, 0, 0.0)
    repeated = keys.is_in(keys.filter(~last).unique().implode())
    conflicting = (
        pl.DataFrame({"key": keys, "score": frame["score"]}).filter(repeated).unique().group_by("key").len()["len"] > 1
    ).sum()
    left_out = frame.filter(~last)
    return last.to_numpy(), Duplicates(left_out.height, int(conflicting), float(left_out["tokens"].sum()))
