from __future__ import annotations

from heredity.bench.registry import OPERATIONS, measure


def test_the_figures_of_the_registry_are_measured_at_every_size() -> None:
    figures = measure((100, 200), operations=5)
    assert figures["results"].keys() == {"100", "200"}
    for row in figures["results"].values():
        assert all(row[f"{name}s_per_s"] > 0 for name in (*OPERATIONS, "bare_insert"))
        assert row["register_ratio"] > 0
        assert row["gets_per_s"] > row["lists_per_s"]
    assert figures["register_ratio"] == min(row["register_ratio"] for row in figures["results"].values())
