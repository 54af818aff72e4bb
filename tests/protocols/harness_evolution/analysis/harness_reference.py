"""The metrics of harness evolution in plain Python, slowly, straight from their definitions."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
BASES = ("A_0", "E_0")


def label(row: Row) -> str | None:
    return row["baseline_role"] or row["evaluation_point_id"]


def last_of_each(rows: list[Row]) -> list[Row]:
    kept: dict[Any, Row] = {}
    for row in rows:
        steps = (row["train_batch_index"], row["global_update_index"], row["update_repeat_index"])
        moving = row["mode"] in ("train", "update")
        key = (row["mode"], row["view_name"], label(row), row["task_id"], steps if moving else None)
        kept.pop(key, None)
        kept[key] = row
    return list(kept.values())


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def macro(pairs: list[tuple[str, float]]) -> float | None:
    domains = sorted({domain for domain, _ in pairs})
    return mean([sum(v for d, v in pairs if d == name) / sum(d == name for d, _ in pairs) for name in domains])


def domain(row: Row) -> str:
    return row["attributes"]["domain"]


def of(rows: list[Row], view: str, name: str) -> dict[str, Row]:
    """Return the known results of a snapshot on a view, by task."""
    return {r["task_id"]: r for r in rows if r["view_name"] == view and label(r) == name and r["score"] is not None}


def perf(results: dict[str, Row]) -> tuple[float | None, float | None]:
    pairs = [(domain(r), r["score"]) for r in results.values()]
    return macro(pairs), mean([s for _, s in pairs])


def success_rate(results: dict[str, Row], *, clean: bool = False) -> tuple[float | None, float | None]:
    pairs = [(domain(r), float(r["success"] and not (clean and r["error"]))) for r in results.values()]
    return macro(pairs), mean([s for _, s in pairs])


def paired(before: dict[str, Row], after: dict[str, Row]) -> tuple[float | None, float | None]:
    pairs = [(domain(after[t]), after[t]["score"] - before[t]["score"]) for t in after if t in before]
    return macro(pairs), mean([s for _, s in pairs])


def replayed(rows: list[Row], view: str, name: str, batch: int) -> dict[str, Row]:
    """Return the results on tasks that had been trained; for the base, on those that are at some time."""
    first: dict[str, int] = {}
    for r in rows:
        if r["mode"] == "train":
            first[r["task_id"]] = min(first.get(r["task_id"], 10**9), r["train_batch_index"])
    limit = 10**9 - 1 if name in BASES else batch
    return {t: r for t, r in of(rows, view, name).items() if not first or first.get(t, 10**9) <= limit}


def fixed(before: dict[str, Row], after: dict[str, Row]) -> int:
    return sum(1 for t in after if t in before and after[t]["success"] and not before[t]["success"])


def cost(rows: list[Row], key: str) -> dict[str, Any]:
    amounts = [r["cost"][key] for r in rows if r["cost"].get(key) is not None]
    return {
        "rows": len(rows),
        "known": len(amounts),
        "total": sum(amounts) if amounts else None,
        "mean": sum(amounts) / len(amounts) if amounts else None,
    }
