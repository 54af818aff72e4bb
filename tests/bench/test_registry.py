from __future__ import annotations

import pytest

from heredity.bench import stores
from heredity.bench.stores import OPERATIONS, measure_registry


def test_the_figures_of_the_registry_are_measured_at_every_size() -> None:
    figures = measure_registry((100, 200), operations=5)
    assert figures["results"].keys() == {"100", "200"}
    for row in figures["results"].values():
        assert all(row[f"{name}s_per_s"] > 0 for name in (*OPERATIONS, "bare_insert"))
        assert row["register_ratio"] > 0
        assert row["gets_per_s"] > row["lists_per_s"]
    assert figures["register_ratio"] == min(row["register_ratio"] for row in figures["results"].values())
    assert figures["slowdown"].keys() == {f"{name}s" for name in OPERATIONS}


def test_a_disk_that_is_busy_for_a_while_does_not_look_like_a_store_that_slows_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time goes ten times slower for the second half of all calls, and every call takes as long as any other."""
    ticks = iter(range(10_000))
    calls = 2 * 20 * (len(OPERATIONS) + 1)

    def busy(call: object, argument: int) -> float:
        return 1.0 if next(ticks) < calls / 2 else 10.0

    monkeypatch.setattr(stores, "_timed", busy)
    assert set(measure_registry((10, 20), operations=20)["slowdown"].values()) == {1.0}
