"""A run that its parent kills: `python kill_child.py FOLDER`. Prints `begun` once it works, and `done` at the end."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.session.fakes import FakeRunner, NumbersTaskset, climb, program

from heredity.methods import Budget
from heredity.protocols.shared.selection import judge
from heredity.session import Conditions, HiddenCases, RunPlan, ViewPlan, run_evolution
from heredity.session.bench import Reference

PLAN = RunPlan(
    run_id="killed",
    suite_id="s",
    evolver={"name": "climb", "kind": "method", "options": {}},
    seed=3,
    budget=Budget(episodes=64),
    protocol="policy-evolution",
    judge=judge,
    views=(ViewPlan("validation", "validation", 4), ViewPlan("heldout", "heldout", 5)),
    train_tasks=8,
    replay=True,
)


async def main(folder: Path) -> None:
    shared = Conditions(
        NumbersTaskset(), FakeRunner(delay_s=0.001), HiddenCases(7, b"s" * 32), Reference(program("value -5"))
    )
    os.write(1, b"begun\n")
    await run_evolution(folder, PLAN, shared, climb)
    os.write(1, b"done\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
