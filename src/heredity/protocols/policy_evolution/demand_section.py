"""Relative held-out performance under different task demands (EvoPolicyGym, figure 4 and its table 8)."""

from __future__ import annotations

from collections.abc import Mapping

from heredity.results.page import Column, Named, Number, Part, Row, Table, Text
from heredity.results.suite import SuiteResults, TasksetResults


def demands(suite: SuiteResults, names: Mapping[str, str]) -> tuple[Part, ...]:
    """Return normalised scores by environment and group of environments; nothing where nothing is ranked, or of one environment."""
    if not suite.ranked or len(suite.tasksets) < 2:
        return ()
    about = (
        "Held-out means between the random policy (0) and the best evolver of the environment (1), cut to that range: whoever is "
        "first there has 1, by however little. In the mean of a group an evolver without a score has 0. What chance may make of "
        "normalised scores is said beside the leaderboard."
    )
    entries = [entry for entry in suite.leaderboard if not entry.reference]
    evolvers = [entry.evolver for entry in entries]
    rows: list[Row] = []
    for group in sorted({taskset.group for taskset in suite.tasksets}):
        own = [taskset for taskset in suite.tasksets if taskset.group == group]
        rows.append(Row((f"{group or 'no group'} environments",), "group"))
        rows += [_row(taskset, evolvers, names) for taskset in own]
        rows.append(Row(("mean", *(Number(entry.group_scores.get(group), 3) for entry in entries)), "chosen"))
    columns = (Column("environment"), *(Column(evolver, "right") for evolver in evolvers))
    caption = "Normalised held-out score by task demand"
    return Text(about, "about"), Table(columns, tuple(rows), caption, csv="demands.csv")


def _row(taskset: TasksetResults, evolvers: list[str], names: Mapping[str, str]) -> Row:
    cells = (Number(_normalised(taskset, evolver), 3) for evolver in evolvers)
    return Row((Named(names.get(taskset.taskset, taskset.taskset), title=taskset.taskset), *cells))


def _normalised(taskset: TasksetResults, evolver: str) -> float | None:
    return next((cell.normalised for cell in taskset.cells if cell.evolver == evolver), None)
