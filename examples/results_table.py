"""Rank entries over environments, from a table of held-out means alone.

python examples/results_table.py FILE.csv     # columns: environment, family, and one for each entry; "random" among them
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable

from heredity.analysis.ranking import group_means, standings

KEYS = ("environment", "family", "gym_id")


def table(lines: Iterable[str]) -> str:
    """Return the leaderboard of a CSV table as text, best first."""
    rows = list(csv.DictReader(lines))
    entries = [name for name in rows[0] if name not in KEYS]
    scores = {row["environment"]: {e: float(row[e]) if row[e] else None for e in entries} for row in rows}
    families = {row["environment"]: row["family"] for row in rows}
    ranked = standings(scores, entries, families)
    normalised = group_means(scores, dict.fromkeys(scores, "all"), "random")["all"]
    text = [f"{'entry':<20}{'rank score':>12}{'normalised':>12}{'wins':>6}{'top 2':>7}"]
    for entry in sorted(entries, key=lambda e: -(ranked[e].rank_score or 0.0)):
        standing, value = ranked[entry], normalised.get(entry)
        shown = "–" if value is None else f"{value:.3f}"
        text.append(f"{entry:<20}{standing.rank_score or 0:>12.3f}{shown:>12}{standing.wins:>6}{standing.top2:>7}")
    return "\n".join(text)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        print(table(file))
