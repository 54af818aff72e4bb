"""What the benchmarks of the statistics share: their options, and how they print."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Figures = dict[str, Any]
T = TypeVar("T")


def given(value: T | None) -> T:
    """Return what a simulation cannot lack, since it has scores."""
    assert value is not None
    return value


def tables(figures: Figures, names: Sequence[str]) -> str:
    """Write the lists of these names as tables, and single figures below."""
    lines: list[str] = []
    for name in names:
        rows = figures[name]
        head = [key.replace("_", " ") for key in rows[0]]
        written = [[_written(value) for value in row.values()] for row in rows]
        widths = [max(len(line[i]) for line in [head, *written]) for i in range(len(head))]
        body = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in written]
        title = "| " + " | ".join(c.ljust(w) for c, w in zip(head, widths, strict=True)) + " |"
        lines += [title, "|" + "|".join("-" * (w + 2) for w in widths) + "|", *body, ""]
    plain = {k: v for k, v in figures.items() if isinstance(v, float)}
    return "\n".join([*lines, *(f"{name.replace('_', ' ')}: {value:.3f}" for name, value in plain.items())])


def _written(value: Any) -> str:
    return "cannot tell" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


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
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    options = parser.parse_args()
    figures = measure(max(1, options.simulations // (10 if options.quick else 1)), options.seed)
    print(json.dumps(figures, indent=1) if options.json else shown(figures))
