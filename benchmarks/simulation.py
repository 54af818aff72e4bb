"""What the benchmarks of the statistics share: their options, and how they print."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any, TypeVar

Figures = dict[str, Any]
T = TypeVar("T")


def given(value: T | None) -> T:
    """Return what a simulation cannot lack, since it has scores."""
    assert value is not None
    return value


def run(
    about: str | None, simulations: int, measure: Callable[[int, int], Figures], shown: Callable[[Figures], str]
) -> None:
    """Simulate as the command line says, and print.

    Args:
        about: the docstring of the benchmark, whose first line describes it.
        simulations: how many by default.
        measure: (simulations, seed) to all figures.
        shown: writes them as tables.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--simulations", type=int, default=simulations)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    figures = measure(options.simulations, options.seed)
    print(json.dumps(figures, indent=1) if options.json else shown(figures))
