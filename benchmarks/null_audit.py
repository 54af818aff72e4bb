"""What doing nothing scores in Core16, beside the scores that EvoPolicyGym publishes for agents.

    python benchmarks/null_audit.py --json
    python benchmarks/null_audit.py --environments Ant-v5 Reacher-v5 --cases 8

Three programs that learn nothing are judged on held-out cases as any candidate is: the null action (zero in each number; of a
choice the first), the best of a few constant actions (chosen on validation cases), and uniform random actions. `reaches` counts the
published scores of the four agents that a program's mean attains. The published scores are those of the table of Core16's final
held-out scores in EvoPolicyGym (arXiv 2607.02440), on cases of its own; see `data/core16_published.csv`.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import math
import secrets
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from heredity.engine.kind import KINDS
from heredity.experiments.config import resolve
from heredity.experiments.engine import Engine
from heredity.methods.starter import starter_candidate
from heredity.session.bench import Judgements, JudgementStore
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts
from heredity.session.views import ViewScores
from heredity.tasks.registry import taskset

PUBLISHED = Path(__file__).parent / "data" / "core16_published.csv"


@dataclass(frozen=True)
class Scored:
    """Held-out mean of a program, its standard error, and how many published scores it attains."""

    mean: float
    error: float
    reaches: int


@dataclass(frozen=True)
class Row:
    """One environment: what programs that learn nothing score, and what is published of agents, best first."""

    environment: str
    cases: int
    null: Scored
    constant: Scored
    random: Scored
    published: list[float]
    published_random: float


def published(path: Path = PUBLISHED) -> dict[str, tuple[list[float], float]]:
    """Return the published scores of each environment: those of agents, best first, and of the random policy."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    named = {row["gym_id"]: {k: row[k] for k in row if k not in ("environment", "family", "gym_id")} for row in rows}
    return {
        name: (sorted((float(v) for k, v in row.items() if k != "random"), reverse=True), float(row["random"]))
        for name, row in named.items()
    }


def scored(scores: ViewScores, agents: list[float]) -> Scored:
    """Return the mean of held-out scores, and what of the published ones it attains."""
    listed = [score for score in scores.scores if not math.isnan(score)]
    mean = math.fsum(listed) / len(listed)
    spread = math.fsum((score - mean) ** 2 for score in listed) / max(len(listed) - 1, 1)
    return Scored(round(mean, 4), round(math.sqrt(spread / len(listed)), 4), sum(mean >= agent for agent in agents))


async def audited(judgements: Judgements, name: str, cases: int, validation: int) -> Row:
    """Judge the three programs in one environment."""
    source = taskset(f"gymnasium/{name}")
    agents, chance = published()[name]
    programs = KINDS.load(source.info.kind).candidates.constant(source.info)
    means = [(await judgements.of(source, program, validation, "validation")).mean for program in programs]
    constant = programs[means.index(max(means))]
    null, best, random = [
        scored(await judgements.of(source, program, cases), agents)
        for program in (programs[0], constant, starter_candidate(source.info))
    ]
    return Row(name, cases, null, best, random, agents, chance)


async def audit(names: list[str], cases: int, validation: int) -> list[Row]:
    """Judge the three programs in every environment; progress goes to standard error."""
    tasksets = [f"gymnasium/{name}" for name in names]
    config = resolve({"run": {"tasksets": tasksets}, "engine": {"lockstep": 16}})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        secret = HiddenCases(int.from_bytes(secrets.token_bytes(32), "big"), secrets.token_bytes(32))
        store = JudgementStore(Path(folder) / "judgements.jsonl", secret)
        async with Engine(config, {taskset(name).info.kind for name in tasksets}) as engine:
            judgements = Judgements(store, Rollouts(engine, config.limits.limits()), {})
            for name in names:
                rows.append(await audited(judgements, name, cases, validation))
                print(f"[{len(rows)}/{len(names)}] {name}: null {rows[-1].null.mean:g}", file=sys.stderr, flush=True)
    return rows


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""

    def cell(of: Scored) -> str:
        text = f"{of.mean:.4g} ± {of.error:.2g}"
        return f"**{text}**" if of.reaches else text

    lines = [
        "| environment | null action | constant action | random | published, best to worst | published random | null reaches |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        agents = ", ".join(f"{score:g}" for score in row.published)
        programs = " | ".join(map(cell, (row.null, row.constant, row.random)))
        reached = f"{row.null.reaches} of {len(row.published)}"
        lines.append(f"| {row.environment} | {programs} | {agents} | {row.published_random:g} | {reached} |")
    return "\n".join(lines)


def main() -> None:
    """Audit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", nargs="+", default=list(published()), help="gymnasium ids; all 16 by default")
    parser.add_argument("--cases", type=int, default=32, help="held-out cases of each environment")
    parser.add_argument("--validation", type=int, default=16, help="validation cases that choose the constant action")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    unknown = sorted(set(given.environments) - set(published()))
    if unknown:
        parser.error(f"{', '.join(unknown)}: no scores are published; known: {', '.join(published())}")
    rows = asyncio.run(audit(given.environments, given.cases, given.validation))
    total = sum(len(row.published) for row in rows)
    reached = {name: sum(getattr(row, name).reaches for row in rows) for name in ("null", "constant", "random")}
    if given.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "published": total, "reached": reached}, indent=1))
        return
    print(table(rows))
    listed = ", ".join(f"{name} {count}" for name, count in reached.items())
    print(f"\nOf {total} published scores of agents these programs reach: {listed}.")


if __name__ == "__main__":
    main()
