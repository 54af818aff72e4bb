"""A generation killed at random instants: whatever was paid for is not paid again, and it ends as if nothing had happened."""

from __future__ import annotations

import pytest

from heredity.bench.stores import measure_kills

SUITE = """
[run]
protocol = "world-generation"
tasksets = ["themes/offline#lighthouse_trade"]
name = "kills"
[evolver]
method = "{method}"
[budget]
builds = 12
[engine]
workers = 1
[gateway]
optimisation = "offline/world-author-careless"
"""


@pytest.mark.slow
def test_a_generation_killed_twenty_times_pays_nothing_twice() -> None:
    result = measure_kills(20, "world-author", suite_text=SUITE)
    assert (result["kills"], result["differences"]) == (20, [])
    assert result["episodes_charged"] > 2, "there was something to pay for"
