"""Runs of every protocol are verified by the same command; what cannot be compared is said, not passed over."""

from __future__ import annotations

import asyncio
import importlib.metadata
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.offering import Offer
from tests.protocols.post_training.server.tiny import INFO, SUBMIT, Rig, Tiny

from heredity.agents.launchers import available
from heredity.experiments.config import resolve
from heredity.experiments.results import rebuild_run
from heredity.experiments.sealed import OPENED, SealedCases
from heredity.experiments.suite import open_suite, run_suite
from heredity.experiments.verification.verify import Asked, verify
from heredity.sandbox import inference
from heredity.session.cases import HiddenCases

from . import harness_runs, sample
from .test_verification import better, failed, forge

needs_sandbox = pytest.mark.skipif(not sample.isolated(), reason="programs cannot be confined on this machine")
needs_torch = pytest.mark.skipif(
    any(not list(importlib.metadata.distributions(name=name)) for name in inference.ROOTS), reason="torch is missing"
)

OFFLINE = {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"}
RESOURCES: dict[str, Any] = {
    "run": {"protocol": "resource-evolution", "tasksets": [harness_runs.QUESTIONS], "name": "q"},
    "evolver": {"method": "reflection", "options": {"batch": 3, "candidates": 1, "rounds": 1}},
    "budget": {"rollouts": 12, "train_cases": 6},
    "views": {"heldout": 4},
    "gateway": OFFLINE,
    "suite": {"baselines": False},
}
LEARNING: dict[str, Any] = {
    "run": {"protocol": "agent-learning", "tasksets": ["worlds/grid_treasure"], "name": "w"},
    "evolver": {
        "method": "best-of-n-edits",
        "initial": "heredity.library:harnesses/explorer",
        "options": {"batch": 2, "rounds": 1},
    },
    "budget": {"rollouts": 12, "train_cases": 2},
    "views": {"heldout": 3},
    "gateway": {"optimisation": "offline/world-learner"},
    "suite": {"baselines": False},
}
TRAINING: dict[str, Any] = {
    "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"], "name": "t"},
    "evolver": {"launcher": "heredity.library:agents/posttraining", "environment": {"ROUTE": "copy"}},
    "budget": {"seconds": 60, "train_cases": 10},
    "views": {"heldout": 10},
}


def run_of(folder: Path, data: dict[str, Any]) -> Path:
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    assert not result.failures
    (run,) = (folder / "runs").iterdir()
    return run


def verified(run: Path) -> dict[str, tuple[str, str]]:
    return {check.name: (check.status, check.reason) for check in verify(run, Asked(candidates=True)).checks}


@needs_sandbox
def test_what_programs_scored_in_worlds_is_played_again(tmp_path: Path) -> None:
    run = run_of(tmp_path / "runs" / "w", LEARNING)
    found = verified(run)
    assert {status for status, _ in found.values()} <= {"passed", "not checked"}, found
    assert found["replay"][0] == "passed"
    forge(run, "reference.scored", better)
    assert "and the journal says" in failed(verify(run, Asked(candidates=True)))["replay"]


@needs_sandbox
def test_what_a_language_model_scored_is_not_comparable(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    found = verified(run_of(tmp_path / "runs" / "q", RESOURCES))
    assert {name for name, (status, _) in found.items() if status != "passed"} == {"secrecy", "anchor", "replay"}, found
    status, reason = found["replay"]
    assert status == "not checked"
    assert reason.endswith("exempt: a language model answers these tasks")


@needs_sandbox
def test_snapshots_of_harnesses_are_scored_again_from_their_trajectories(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    folder = tmp_path / "runs" / "h"
    assert not harness_runs.ran(folder, harness_runs.config()).failures
    (run,) = (folder / "runs").iterdir()
    found = verified(run)
    assert {name for name, (status, _) in found.items() if status != "passed"} == {"secrecy", "anchor", "replay"}, found
    forge(run, "snapshot.assessed", better)
    assert "scores[0] is" in failed(verify(run))["scores"]


def checkpoints_of(run: Path, *without: str) -> None:
    found = verified(run)
    open_ones = {"secrecy", "anchor", "replay", "derivation", *without}
    assert {name for name, (status, _) in found.items() if status != "passed"} == open_ones, found
    if without:
        return
    assert "not comparable" in found["replay"][1]
    (run / "models").rename(run.parent / "models")
    status, reason = verified(run)["replay"]
    assert (status, reason.endswith("exempt: weights were not kept")) == ("not checked", True)


class TinySource:
    """Offers the taskset of the test below."""

    def names(self) -> tuple[str, ...]:
        return (INFO.name,)

    def taskset(self, name: str) -> Tiny:
        return Tiny()


@pytest.mark.skipif(available() is not None, reason="agents cannot be confined here")
def test_checkpoints_are_not_graded_again(tmp_path: Path, offer: Offer) -> None:
    offer("heredity.tasksets", "posttraining", TinySource())
    rig = Rig(tmp_path)
    (rig.run / "workspace" / "output").mkdir(parents=True)
    rig.save(a=0.5)
    asyncio.run(rig.train(SUBMIT + "submit a"))
    sealed = SealedCases(tmp_path / "runs" / "suite")
    sealed.keep(
        "one", HiddenCases.open(sealed.path).opening([Tiny()], {"heldout": 3}), {"heldout": (INFO.name, "heldout", 3)}
    )
    shutil.copy(sealed.path / "opened" / "one.json", rig.run / OPENED)
    rebuild_run(rig.run)
    checkpoints_of(rig.run, "configuration")  # it has none


@needs_sandbox
@needs_torch
@pytest.mark.slow
def test_checkpoints_that_were_trained_are_not_graded_again(tmp_path: Path) -> None:
    checkpoints_of(run_of(tmp_path / "runs" / "t", TRAINING))
