"""The rows of one run, coded as arrays: which rows count, and of which snapshot and view each is.

A snapshot is a frozen harness as it was assessed: `E_0`, `E_4`, …, or by its role, `A_0` (before any update), `A_T` (after
the last), `best-validation`. Snapshots are never pooled, nor are two checkpoints under one name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heredity.errors import ConfigError, UnknownNameError
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
"""What a word in a view's name says of it; of several words, the first of these counts."""

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
        batch: train batches before it; None if no row says.
        checkpoints: the checkpoints that its rows name.
    """

    name: str
    rank: int
    batch: int | None
    checkpoints: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Any, ...]:
        """What snapshots are sorted by: base, points in the order of training, final, best."""
        digits = [(0, int(w), "") if w.isdigit() else (1, 0, w) for w in re.findall(r"\d+|\D+", self.name)]
        return self.rank, self.batch is None, self.batch or 0, digits


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Rows that were there twice, as a resumed run leaves them; the last one counts.

    Attributes:
        rows: how many were left out.
        conflicting: how many results had more than one score.
        tokens: known tokens of the rows left out.
    """

    rows: int
    conflicting: int
    tokens: float


@dataclass(frozen=True, slots=True)
class CodedRows:
    """What counts of a run's rows. Arrays have one entry for each row; -1 is none.

    Attributes:
        run_id: the run.
        kind: `TRAIN`, `JUDGED`, `CANARY` or `UPDATE`.
        task: index into `tasks`; likewise `domain`, `source`, `view`, `snapshot`, and `cluster`, which is what it was drawn with.
        score: NaN is missing.
        solved: whether the verifier says so; where it says nothing, whether the score is 1.
        errored: whether an execution error is on record.
        steps: the columns of `rows.STEPS`.
        costs: the columns of `rows.COSTS`, read one by one by `cost`.
        unnamed: judged rows of no snapshot, which are left out.
        duplicates: rows left out because they are there again.
        read: rows of this run before any was left out.
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
    """Return what a view is for, by the words of its name, or `"other"`: `"ood_test"` is `"ood"`, `"id_test"` is `"id"`."""
    words = set(re.findall("[a-z]+", name.lower()))
    return next((kind for word, kind in _VIEW_WORDS.items() if word in words), "other")


def run_ids(rows: TaskRows) -> list[str]:
    """Return the runs that rows are of, sorted."""
    return sorted(rows.frame["run_id"].unique().drop_nulls().cast(str).to_list())


def code_results(rows: TaskRows, run_id: str | None = None) -> CodedRows:
    """Code the rows of one run.

    Args:
        rows: task results.
        run_id: which run; may be left out if there is only one.

    Raises:
        ConfigError: if there are several runs and none is named.
        UnknownNameError: if there is no such run.
    """
    frame, run_id = _one_run(rows, run_id)
    read = frame.height
    frame, unnamed = _named(frame)
    views, view = _coded(frame["view_name"])
    tasks, task = _coded(frame["task_id"])
    modes, mode = _coded(frame["mode"])
    kind = np.array([_KINDS.get(name, JUDGED) for name in modes] or [JUDGED], dtype=np.int8)[mode]
    snapshots, snapshot = _snapshots(frame, kind)
    steps = {name: frame[name].fill_null(-1).to_numpy() for name in STEPS}
    key = _identity(kind, view, snapshot, task, steps)
    keep, duplicates = _last_of_each(frame, key)
    chosen = frame if keep is None else frame.filter(keep)

    def kept(column: Any) -> Any:
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
        kind=kept(kind),
        task=kept(task),
        domain=domain,
        source=source,
        cluster=cluster,
        view=kept(view),
        snapshot=kept(snapshot),
        score=score,
        solved=np.where(chosen["success"].is_null(), score >= 1.0, chosen["success"].fill_null(value=False)),
        errored=chosen["errored"].fill_null(value=False).to_numpy(),
        steps={name: kept(values) for name, values in steps.items()},
        costs=chosen.select(COSTS),
        unnamed=unnamed,
        duplicates=duplicates,
        read=read,
    )


def _one_run(rows: TaskRows, run_id: str | None) -> tuple[pl.DataFrame, str | None]:
    ids = run_ids(rows)
    if run_id is None:
        if len(ids) > 1:
            raise ConfigError(f"the rows are of {len(ids)} runs, {', '.join(ids[:5])} …; name one of them")
        return rows.frame, ids[0] if ids else None
    if run_id not in ids:
        raise UnknownNameError("run", run_id, ids)
    return (rows.frame if len(ids) == 1 else rows.frame.filter(rows.frame["run_id"] == run_id)), run_id


def _named(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Add the column `snapshot`, and leave out judged rows that have none."""
    import polars as pl

    frame = frame.with_columns(
        pl.coalesce("baseline_role", "evaluation_point_id", "agent_checkpoint_id").alias("snapshot")
    )
    nameless = frame.select(pl.col("snapshot").is_null() & ~pl.col("mode").cast(str).is_in(list(_KINDS))).to_series()
    if not nameless.any():
        return frame, 0
    return frame.filter(~nameless), int(nameless.sum())


def _coded(names: pl.Series) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names, sorted, and for each row the index of its name, -1 for none."""
    distinct = names.unique().drop_nulls()
    codes, texts = distinct.to_physical().to_list(), distinct.cast(str).to_list()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.full(max(codes, default=-1) + 2, -1, dtype=np.int32)
    ranks[[codes[i] for i in order]] = np.arange(len(order))
    return tuple(texts[i] for i in order), ranks[names.to_physical().cast(int).fill_null(-1).to_numpy()]


def _snapshots(frame: pl.DataFrame, kind: NDArray[np.int8]) -> tuple[tuple[Snapshot, ...], Ints]:
    """Return the snapshots in their order, and for each row the index of its own; -1 where nothing is judged."""
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
    # SEAGym stamps the rows of A_0 with the point at which they were made, the last one.
    batch = 0 if rank == BASE else train_batch_index
    return Snapshot(label, rank, batch, tuple(agent_checkpoint_id))


def _identity(kind: NDArray[np.int8], view: Ints, snapshot: Ints, task: Ints, steps: Mapping[str, Ints]) -> Ints:
    """Return a number for each row that only rows of the same rollout share.

    A frozen snapshot is attempted once on each task of a view, whenever that was; a train batch once for each update.
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
    """Return which rows to keep (None is all), and what the others were."""
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
