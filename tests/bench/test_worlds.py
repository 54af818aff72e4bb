from __future__ import annotations

from heredity.bench.worlds import measure


def test_worlds_are_timed_against_a_bare_loop() -> None:
    figures = measure(0.02, ["grid_treasure", "glowing_reef"])
    assert set(figures["results"]) == {"grid_treasure", "glowing_reef"}
    for row in figures["results"].values():
        assert 0 < row["steps_per_s"] < row["bare_steps_per_s"]
        assert row["ratio"] > 1
        assert row["reset_ms"] > 0
    rates = [row["steps_per_s"] for row in figures["results"].values()]
    assert min(rates) <= figures["median_steps_per_s"] <= max(rates)
