"""Task results of harness evolution as rows, read from SEAGym's records or from Parquet; and SEAGym's task indexes and splits.

A row is one rollout of one task (or one update, `mode` "update"). Its fields are those of SEAGym's `task_results.jsonl`
and `metric_inputs.jsonl`. `attributes` and `cost` are flattened, names are dictionary-coded, and fields that no metric needs are
dropped while reading, so a row takes about a hundred bytes regardless of its record.

A task index lists tasks by reference (`{version, tasks: [{task_id, source, attributes, scoring, visibility}]}`). A split
manifest divides them into train, val and test (`{split_id, split_version, seed, splits}`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from heredity._core.errors import ConfigError, RecordError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import quoted, reading
from heredity.protocols.harness_evolution.task_results import Damage

if TYPE_CHECKING:
    import polars as pl

SPLITS = ("train", "val", "test")
TRANSFORMS = ("identity", "binary_threshold")


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scoring rule: turns a task's rewards into its score.

    Attributes:
        main_reward_key: the reward that counts.
        success_threshold: minimum reward of a solved task.
        score_transform: `"identity"`, or `"binary_threshold"` for 1 from the threshold on and 0 below.
    """

    main_reward_key: str = "reward"
    success_threshold: float = 1.0
    score_transform: str = "identity"

    def apply(self, rewards: Mapping[str, float]) -> tuple[float, bool] | None:
        """Return score and success; None if the main reward is missing."""
        reward = rewards.get(self.main_reward_key)
        if reward is None:
            return None
        success = reward >= self.success_threshold
        return (float(success) if self.score_transform == "binary_threshold" else float(reward)), success


@dataclass(frozen=True, slots=True)
class IndexedTask:
    """A task of an index: source, attributes and scoring.

    Attributes:
        task_id: unique in its index.
        source: reference to the benchmark's task; free.
        attributes: such as `domain` and `source_benchmark`; free.
        scoring: the scoring rule.
        visibility: the parts an agent may see; free.
    """

    task_id: str
    source: Mapping[str, Any]
    attributes: Mapping[str, Any]
    scoring: Scoring = Scoring()
    visibility: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def domain(self) -> str:
        """Its domain, or `"unknown"`."""
        return str(self.attributes.get("domain", "unknown"))

    @property
    def source_group(self) -> str:
        """Its source benchmark, or else its domain."""
        return str(self.attributes.get("source_benchmark", self.domain))


@dataclass(frozen=True, slots=True)
class TaskIndex:
    """Tasks by id, in the order of the file."""

    version: str
    tasks: Mapping[str, IndexedTask]


@dataclass(frozen=True, slots=True)
class Split:
    """A split manifest.

    Attributes:
        split_id: its name.
        split_version: its version.
        seed: the seed it was drawn with.
        splits: task ids of `"train"`, `"val"` and `"test"`: disjoint, without duplicates.
    """

    split_id: str
    split_version: str
    seed: int
    splits: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Inspection:
    """Number of tasks in each split.

    Attributes:
        tasks: number by split.
        domains: by split, then domain.
        sources: by split, then source group.
        unused: number of the index's tasks in no split.
    """

    tasks: Mapping[str, int]
    domains: Mapping[str, Mapping[str, int]]
    sources: Mapping[str, Mapping[str, int]]
    unused: int


def read_task_index(path: Path) -> TaskIndex:
    """Read a task index.

    Raises:
        ConfigError: if it cannot be read or is malformed; the message names the task and the field.
    """
    data = _read(path)
    entries = data.get("tasks")
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: tasks is {_format(entries)}; give a list of tasks")
    tasks = [_task(entry, f"{path}: task {i}") for i, entry in enumerate(cast("list[Any]", entries), 1)]
    _refuse_repeated(f"{path}: tasks", (task.task_id for task in tasks))
    return TaskIndex(str(data.get("version", "unknown")), {task.task_id: task for task in tasks})


def read_split(path: Path) -> Split:
    """Read a split manifest; its splits must be disjoint and without duplicates.

    Raises:
        ConfigError: if it cannot be read, or is malformed; the message names the split and the tasks.
    """
    data = _read(path)
    table = _mapping(data.get("splits"), f"{path}: splits")
    if sorted(table) != sorted(SPLITS):
        raise ConfigError(f"{path}: splits are {_some(list(table)) if table else 'none'}; give {', '.join(SPLITS)}")
    splits = {name: _ids(table[name], f"{path}: splits.{name}") for name in SPLITS}
    for i, left in enumerate(SPLITS):
        for right in SPLITS[i + 1 :]:
            if shared := sorted(set(splits[left]) & set(splits[right])):
                raise ConfigError(f"{path}: {left} and {right} share {_some(shared)}; splits must be disjoint")
    seed = data.get("seed", 0)
    if not isinstance(seed, int):
        raise ConfigError(f"{path}: seed is {_format(seed)}; give a whole number")
    return Split(str(data.get("split_id", "unknown")), str(data.get("split_version", "unknown")), seed, splits)


def inspect_split(index: TaskIndex, split: Split) -> Inspection:
    """Count the tasks of a split by domain and source.

    Raises:
        ConfigError: if a task is not in the index.
    """
    for name, ids in split.splits.items():
        if missing := [task_id for task_id in ids if task_id not in index.tasks]:
            raise ConfigError(
                f"split {_format(split.split_id)}: splits.{name} has {_some(missing)}, which the task index (version "
                f"{index.version!r}, {len(index.tasks)} tasks) does not have; use the index it was drawn from"
            )
    members = {name: [index.tasks[task_id] for task_id in ids] for name, ids in split.splits.items()}
    return Inspection(
        tasks={name: len(tasks) for name, tasks in members.items()},
        domains={name: _counts(task.domain for task in tasks) for name, tasks in members.items()},
        sources={name: _counts(task.source_group for task in tasks) for name, tasks in members.items()},
        unused=len(index.tasks) - sum(len(tasks) for tasks in members.values()),
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _read(path: Path) -> Mapping[str, Any]:
    with reading(path, "JSON", "pass a file in SEAGym's format"):
        return _mapping(json_value(read_bytes(path)), str(path))


def _task(data: Any, where: str) -> IndexedTask:
    task = _mapping(data, where)
    task_id = task.get("task_id")
    if not isinstance(task_id, str) or not task_id:
        raise ConfigError(f"{where}: task_id is {_format(task_id)}; give a name")
    where = f"{where} ({task_id})"
    return IndexedTask(
        task_id=task_id,
        source=_mapping(task.get("source"), f"{where}: source"),
        attributes=_mapping(task.get("attributes"), f"{where}: attributes"),
        scoring=_scoring(_mapping(task.get("scoring") or {}, f"{where}: scoring"), where),
        visibility=_mapping(task.get("visibility") or {}, f"{where}: visibility"),
    )


def _scoring(data: Mapping[str, Any], where: str) -> Scoring:
    transform, threshold = data.get("score_transform", "identity"), data.get("success_threshold", 1.0)
    if transform not in TRANSFORMS:
        raise ConfigError(f"{where}: score_transform is {_format(transform)}; give {' or '.join(TRANSFORMS)}")
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise ConfigError(f"{where}: success_threshold is {_format(threshold)}; give a number")
    # SEAGym's documentation says reward_key, but its code reads main_reward_key.
    key = data.get("main_reward_key", data.get("reward_key", "reward"))
    return Scoring(str(key), float(threshold), transform)


def _ids(data: Any, where: str) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise ConfigError(f"{where} is {_format(data)}; give a list of task ids")
    ids = tuple(map(str, cast("list[Any]", data)))
    _refuse_repeated(where, ids)
    return ids


def _refuse_repeated(where: str, ids: Iterable[str]) -> None:
    if repeated := sorted(name for name, count in Counter(ids).items() if count > 1):
        raise ConfigError(f"{where} has {_some(repeated)} more than once; keep each task once")


def _mapping(data: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ConfigError(f"{where} is {_format(data)}; give an object")
    return cast("dict[str, Any]", data)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(quoted, names[:5])) + more


def _format(value: Any) -> str:
    return "missing" if value is None else quoted(value)


BLOCK_BYTES = 16 << 20
"""Block size for parsing JSON lines, in bytes."""

MAX_DAMAGED = 10_000
"""Maximum number of damaged lines; a file with more is refused because it is something else."""

NAMES = (
    "run_id",
    "evaluation_point_id",
    "agent_checkpoint_id",
    "baseline_role",
    "task_id",
    "domain",
    "source",
    "cluster",
    "view_name",
    "mode",
)
"""Columns of names."""

_ATTRIBUTES = ("domain", "source", "cluster")
COSTS = ("tokens", "input_tokens", "cache_tokens", "output_tokens", "tool_calls", "wall_time", "cost_usd")
"""Columns of costs: tokens, calls, seconds, dollars; null where unknown."""

STEPS = ("train_batch_index", "global_update_index", "update_repeat_index")
"""Integer columns for the position of a row in the run."""

_TOKEN_PARTS = ("input_tokens", "cache_tokens", "output_tokens")
_TOTALS = ("tokens", "total_tokens", "n_total_tokens")
_COST_KEYS = (*_TOTALS, *_TOKEN_PARTS, *(f"n_{part}" for part in _TOKEN_PARTS), "tool_calls", "wall_time", "cost_usd")
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TaskRows:
    """Task results in columns.

    Attributes:
        frame: one row per result in the order of the file: `NAMES` (categorical), `COSTS` (float), `STEPS` (int),
            `score` (float, higher is better; null is missing), `success` (bool, null if not said) and `errored` (bool).
        damaged: the lines left out.
    """

    frame: pl.DataFrame
    damaged: tuple[Damage, ...] = ()


def read_rows(path: Path) -> TaskRows:
    """Read task results.

    Args:
        path: `*.jsonl`, read in blocks (invalid lines are left out and listed), or `*.parquet`, with
            SEAGym's fields or with the columns of `TaskRows.frame`.

    Raises:
        RecordError: if the file cannot be read, or holds something else.
        ConfigError: if the file has another suffix.
    """
    if path.suffix not in (".jsonl", ".ndjson", ".parquet"):
        raise ConfigError(f"{path} ends in {path.suffix!r}; pass task results as .jsonl or .parquet")
    try:
        if path.exists() and not path.is_file():
            raise RecordError(f"{path} is not a regular file; pass a file of task results")
        if path.suffix == ".parquet":
            return _read_parquet(path)
        with path.open("rb") as file:
            return _read_lines(file, str(path))
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}; pass a file of task results") from error


def rows_of(results: Iterable[Mapping[str, Any]]) -> TaskRows:
    """Convert results, as mappings with SEAGym's fields and JSON values, to rows; invalid ones are listed as damaged."""
    text = b"".join(json.dumps(dict(row)).encode() + b"\n" for row in results)
    return _read_lines(BytesIO(text), "the given results")


def rows_of_columns(columns: Mapping[str, Sequence[Any]]) -> TaskRows:
    """Convert results, as the columns of `TaskRows.frame`, to rows.

    Args:
        columns: all columns, of equal length; None is unknown, as is a score or a cost that is not finite.
    """
    import polars as pl

    frame = pl.DataFrame({name: columns[name] for name in _frame_schema()}, schema=_frame_schema(), strict=False)
    numbers = pl.col("score", *COSTS)
    return TaskRows(frame.with_columns(pl.when(numbers.is_finite()).then(numbers)))


def write_rows(rows: TaskRows, path: Path) -> None:
    """Write rows as Parquet, which `read_rows` reads ten times as fast as JSON lines."""
    rows.frame.write_parquet(path)


def _read_lines(file: BinaryIO, name: str) -> TaskRows:
    import polars as pl

    frames: list[pl.DataFrame] = [_compact(_decode(b""))]
    damaged: list[Damage] = []
    number = 1
    for block in _blocks(file):
        raw, lost = _parse(block, number)
        number += block.count(b"\n")
        frames.append(_compact(raw))
        damaged += lost
        if len(damaged) > MAX_DAMAGED:
            raise RecordError(
                f"{name} has more than {MAX_DAMAGED} lines that are not task results (line {damaged[0].line}: "
                f"{damaged[0].reason}); pass SEAGym's task_results.jsonl or metric_inputs.jsonl"
            )
    return TaskRows(pl.concat(frames, rechunk=False), tuple(damaged))


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, about `BLOCK_BYTES` at a time."""
    parts: list[bytes] = []
    while block := file.read(BLOCK_BYTES):
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield b"".join((*parts, head, newline))
            parts = [tail] if tail else []
        else:
            parts.append(tail)
    if parts:
        yield b"".join(parts)


def _parse(block: bytes, first: int) -> tuple[pl.DataFrame, list[Damage]]:
    import polars as pl

    try:
        raw = _decode(block)
    except pl.exceptions.PolarsError:
        raw = None
    if raw is not None and not raw.select(_lacks().is_not_null().any()).item():
        return raw, []
    lines = [(number, line) for number, line in enumerate(block.split(b"\n"), first) if line.strip()]
    damaged: list[Damage] = []
    frames = list(_salvage(lines, damaged))
    return pl.concat([_decode(b""), *frames]), damaged


def _salvage(lines: list[tuple[int, bytes]], damaged: list[Damage]) -> Iterator[pl.DataFrame]:
    """Yield readable lines, halving unreadable blocks until single lines fail: both ways of reading agree."""
    import polars as pl

    if len(damaged) > MAX_DAMAGED:
        return
    reason = "more than one value on a line"
    try:
        raw = _decode(b"\n".join(line for _, line in lines))
        lacks = raw.select(_lacks()).to_series().drop_nulls()
        if raw.height == len(lines) and lacks.is_empty():
            yield raw
            return
        reason = str(lacks[0]) if len(lacks) else reason
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().splitlines()[0]
    if len(lines) == 1:
        damaged.append(Damage(line=lines[0][0], reason=reason))
        return
    middle = len(lines) // 2
    yield from _salvage(lines[:middle], damaged)
    yield from _salvage(lines[middle:], damaged)


def _decode(text: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_ndjson(BytesIO(text), schema=_record_schema())


@cache
def _record_schema() -> dict[str, Any]:
    """Return the fields read from a record; all others are skipped."""
    import polars as pl

    plain = [name for name in NAMES if name not in _ATTRIBUTES]
    return {
        **dict.fromkeys(plain, pl.String),
        "attributes": pl.Struct(dict.fromkeys(("domain", "source_benchmark", "cluster"), pl.String)),
        "score": pl.Float64,
        "success": pl.Boolean,
        "error": pl.String,
        "cost": pl.Struct(dict.fromkeys(_COST_KEYS, pl.Float64)),
        "runtime_seconds": pl.Float64,
        **dict.fromkeys(STEPS, pl.Int32),
    }


def _lacks() -> pl.Expr:
    """Return the required field that a result lacks; null if it is complete."""
    import polars as pl

    reason = pl.when(pl.col("mode").is_null()).then(pl.lit("no mode"))
    reason = reason.when(pl.col("view_name").is_null()).then(pl.lit("no view_name"))
    return (
        reason.when(pl.col("task_id").is_null() & (pl.col("mode") != "update"))
        .then(pl.lit("no task_id"))
        .alias("lacks")
    )


def _compact(raw: pl.DataFrame) -> pl.DataFrame:
    return raw.select(_columns())


def _columns() -> list[pl.Expr]:
    """Return the columns of `TaskRows.frame` from those of a record."""
    import polars as pl

    def finite(value: pl.Expr) -> pl.Expr:
        return pl.when(value.is_finite()).then(value)

    cost = pl.col("cost").struct
    parts = {part: pl.coalesce(cost.field(part), cost.field(f"n_{part}")) for part in _TOKEN_PARTS}
    summed = pl.when(pl.any_horizontal(p.is_not_null() for p in parts.values())).then(pl.sum_horizontal(parts.values()))
    costs = {
        "tokens": pl.coalesce(*(cost.field(key) for key in _TOTALS), summed),
        **parts,
        "tool_calls": cost.field("tool_calls"),
        "wall_time": pl.coalesce(cost.field("wall_time"), "runtime_seconds"),
        "cost_usd": cost.field("cost_usd"),
    }
    attributes = pl.col("attributes").struct
    names = {name: pl.col(name) for name in NAMES if name not in _ATTRIBUTES} | {
        "domain": attributes.field("domain").fill_null(_UNKNOWN),
        "source": pl.coalesce(attributes.field("source_benchmark"), attributes.field("domain"), pl.lit(_UNKNOWN)),
        "cluster": attributes.field("cluster"),
    }
    return [
        *(names[name].cast(pl.Categorical).alias(name) for name in NAMES),
        *(finite(costs[name]).alias(name) for name in COSTS),
        *map(pl.col, STEPS),
        finite(pl.col("score")).alias("score"),
        pl.col("success"),
        (pl.col("error").fill_null("") != "").alias("errored"),
    ]


def _read_parquet(path: Path) -> TaskRows:
    import polars as pl

    try:
        scan = pl.scan_parquet(path)
        given = scan.collect_schema()
        for name in ("task_id", "view_name", "mode", "score"):
            if name not in given:
                raise RecordError(f"{path} has no column {name!r}, only {list(given)}; pass task results")
        flat = "errored" in given
        schema = _frame_schema() if flat else _record_schema()
        wanted = scan.select(_column(name, kind, given.get(name)) for name, kind in schema.items())
        frame = (wanted if flat else wanted.select(_columns())).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise RecordError(f"{path} does not hold task results: {error}; use SEAGym's fields as columns") from error
    lacks = frame.select(_lacks()).to_series()
    if lacks.null_count() < len(lacks):
        row = lacks.is_not_null().arg_max() or 0
        raise RecordError(f"row {row} of {path} has {lacks[row]}; every task result needs one")
    return TaskRows(frame)


def _column(name: str, kind: Any, given: Any) -> pl.Expr:
    """Return a column in the required form, filling missing parts; struct fields are matched by name."""
    import polars as pl

    if given is None or given == pl.Null:
        return pl.lit(None, kind).alias(name)
    if not isinstance(kind, pl.Struct) or not isinstance(given, pl.Struct):
        return pl.col(name).cast(kind)
    there = {field.name for field in given.fields}
    parts = (
        pl.col(name).struct.field(f.name).cast(f.dtype) if f.name in there else pl.lit(None, f.dtype).alias(f.name)
        for f in kind.fields
    )
    return pl.struct(*parts).alias(name)


@cache
def _frame_schema() -> dict[str, Any]:
    return dict(_compact(_decode(b"")).schema)
