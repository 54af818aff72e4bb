from __future__ import annotations

from heredity.bench import stores


def test_a_small_bus_is_timed_and_nobody_stops_the_others() -> None:
    figures = stores.measure_bus(participants=6, messages=200, repeats=1)
    assert figures["messages_per_s"] > 0
    assert figures["ratio_to_queues"] > 0
    assert figures["faults"] == {
        "others": 3,
        "finished": 3,
        "hung": "timed_out",
        "raised": "failed",
        "as_expected": True,
    }
