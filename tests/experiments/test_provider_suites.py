"""Suites with a provider's model instead of a stand-in: each configured model is called, or refused before the start."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.counting_server import counting

import heredity
from heredity.experiments.config import load, suite_file
from heredity.experiments.preflight import PreflightError
from heredity.models.settings import stand_in

pytest.importorskip("pydantic_ai")

LEARNING = ["budget.rollouts=4", "budget.train_cases=2", "views.heldout=2"]
HARNESS = ["budget.train_cases=2", "views.update_validation=1", "views.id=1", "views.ood=1", "views.replay=1"]
SCHEDULE = [*HARNESS, "schedule.batch_size=2", "run.seeds=1"]
WORLDS = ["evolver.initial=", 'run.tasksets=["worlds/grid_treasure"]', "evolver.options={rounds=1,batch=2,repeats=1}"]
SUITES = {
    "questions-offline": [*LEARNING, "evolver.method=reflection", "evolver.options={rounds=1,batch=2}"],
    "worlds-six": [*LEARNING, *WORLDS, "matrix={}", "evolver.method=select-optimise-evaluate"],
    "worlds-composed": [*LEARNING, *WORLDS, "matrix={}", "evolver.method=select-optimise-evaluate"],
    "worlds-across": [*LEARNING, *WORLDS],
    "within-task-offline": ["views.heldout=1", "within.rounds=1", "matrix={}", "evolver.method=reflection"],
    "code-offline": ["views.heldout=1", "within.rounds=1", 'run.tasksets=["code/all?whole=true&language=python3"]'],
    "generation-offline": ["budget.builds=1", "matrix={}", 'run.tasksets=["themes/offline#melon_plots"]'],
    "harness-offline": [*SCHEDULE, "schedule.epochs=1", "evolver.method=ace"],
    "harness-batch-size": SCHEDULE,
    "harness-collapse": [*SCHEDULE, "schedule.epochs=1", "schedule.canaries=1", "schedule.gate=true"],
    "harness-sources": [*SCHEDULE, "schedule.epochs=1", 'run.tasksets=["tasks/shell"]'],
    "harness-transfer": [*SCHEDULE, "schedule.epochs=1", "transfer.models=[]"],
    "team-offline": ["views.heldout=1", "team.practice=0", "team.evolution=within", "team.evolves=[]"],
}
"""Suites that run on stand-ins, each made small."""
QUICK = {"questions-offline", "within-task-offline"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in SUITES]
)
def test_every_configured_model_of_a_suite_is_called(name: str, tmp_path: Path) -> None:
    gateway = load(suite_file(name)).gateway
    roles = [
        role for role in ("execution", "optimisation") if stand_in(getattr(gateway, role)) or name.startswith("worlds")
    ]
    with counting() as counted:
        models = [f"gateway.{role}=count/{role}" for role in roles]
        limits = ["run.seeds=1", "suite.baselines=false", "solver.max_turns=3"]
        own = [] if name in ("generation-offline", "team-offline") else limits[2:]
        heredity.run(
            name,
            [*SUITES[name], *limits[:2], *own, *models, counted.provider()],
            out=tmp_path / "runs" / "suite",
            progress=False,
        )
    # A team proposes edits only after a step that failed.
    least = {"execution"} if name == "team-offline" else set(roles)
    assert least <= set(counted.calls) <= set(roles), counted.calls


@pytest.mark.parametrize("name", ["worlds-six", "worlds-composed", "worlds-across", "worlds-skins", "demo", "programs"])
def test_a_model_that_no_candidate_can_call_is_refused_before_the_start(name: str, tmp_path: Path) -> None:
    with (
        counting() as counted,
        pytest.raises(PreflightError, match=r"gateway\.execution is set, but nothing would read it"),
    ):
        heredity.run(name, ["gateway.execution=count/m", counted.provider()], out=tmp_path / "suite", progress=False)
    assert not counted.calls
    assert not (tmp_path / "suite").exists()
