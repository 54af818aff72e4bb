from __future__ import annotations

import polars as pl
import pytest

from heredity.bench.run_folders import FORMATS, measure_metrics, run_parts
from heredity.protocols.harness_evolution.analysis import harness_metrics, rows_of


@pytest.mark.slow
def test_metrics_are_timed_and_weighed_from_each_format() -> None:
    figures = measure_metrics(9_000, repeats=1)
    assert figures["results"].keys() == set(FORMATS)
    for row in figures["results"].values():
        assert row["rows_per_s"] > 0
        assert row["bytes_per_row"] > 0
        assert 0 < row["read_share"] < 1
        assert 0 < row["ratio"] < 10
    assert figures["rows_per_s"] == figures["results"]["parquet"]["rows_per_s"]
    assert figures["inspect_s"] > 0


def test_the_run_that_is_timed_is_the_same_each_time_and_has_every_view() -> None:
    first, second = (pl.concat(run_parts(40_000)) for _ in range(2))
    assert first.equals(second)
    assert first.height == 40_000
    metrics = harness_metrics(rows_of(first.head(32_000).to_dicts()))
    assert metrics.views.keys() == {"id_test", "ood_test", "update_validation", "replay"}
    assert {row.metric for row in metrics.transfer} >= {"IDG", "OODG"}
    assert metrics.rows.duplicates == 0
