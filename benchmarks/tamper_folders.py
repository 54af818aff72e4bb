"""Honest folders of all protocols for `benchmarks/tamper.py`: small suites that run in seconds, on offline programs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heredity.experiments import engine
from heredity.experiments.config import resolve
from heredity.experiments.results import rebuild
from heredity.experiments.sealed import adopt_cases
from heredity.experiments.sequence import begin
from heredity.experiments.suite import open_suite, run_suite

QUESTIONS = "questions/mix/reasoning-gym/gcd+reasoning-gym/lcm"
FAR = "questions/mix/reasoning-gym/spell_backward+reasoning-gym/chain_sum"
OFFLINE = {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"}
POLICY: dict[str, Any] = {
    "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "policy", "seeds": 2},
    "evolver": {"method": "best-of-n"},
    "matrix": {"evolver.method": ["best-of-n", "parametric"]},
    "budget": {"episodes": 8},
    "views": {"validation": 2, "heldout": 3},
    "engine": {"workers": 1},
    "suite": {"baselines": False},
}
PROGRAM: dict[str, Any] = {
    "run": {"protocol": "program-evolution", "tasksets": ["program/bin-packing"], "seeds": 2, "name": "program"},
    "evolver": {"method": "parametric"},
    "budget": {"episodes": 6, "max_per_submit": 6},
    "views": {"validation": 2, "heldout": 2},
    "limits": {"episode_s": 20.0},
    "suite": {"baselines": False},
}
HARNESS: dict[str, Any] = {
    "run": {"protocol": "harness-evolution", "tasksets": [QUESTIONS], "ood": [FAR], "name": "harness"},
    "evolver": {"method": "refine"},
    "budget": {"train_cases": 6},
    "schedule": {"batch_size": 3},
    "views": {"validation": 3, "heldout": 4, "ood": 3, "replay": 2},
    "gateway": OFFLINE,
    "suite": {"baselines": False},
}
LEARNING: dict[str, Any] = {
    "run": {"protocol": "agent-learning", "tasksets": ["worlds/grid_treasure"], "name": "learning"},
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
RESOURCES: dict[str, Any] = {
    "run": {"protocol": "resource-evolution", "tasksets": [QUESTIONS], "name": "resources"},
    "evolver": {"method": "reflection", "options": {"batch": 3, "candidates": 1, "rounds": 1}},
    "budget": {"rollouts": 12, "train_cases": 6},
    "views": {"heldout": 4},
    "gateway": OFFLINE,
    "suite": {"baselines": False},
}
WITHIN: dict[str, Any] = {
    "run": {"protocol": "within-task", "tasksets": [QUESTIONS], "name": "within"},
    "evolver": {"method": "reflection"},
    "within": {"rounds": 2, "most_samples": 4, "mode": "solution", "feedback": "verdict"},
    "views": {"heldout": 3},
    "gateway": {"execution": "offline/reviser", "optimisation": "offline/reviser"},
}
WORLD: dict[str, Any] = {
    "run": {"protocol": "world-generation", "tasksets": ["themes/offline#fog_crossing"], "name": "world"},
    "evolver": {"method": "world-author"},
    "budget": {"builds": 3},
    "gateway": {"optimisation": "offline/world-author"},
}
TEAM: dict[str, Any] = {
    "run": {"protocol": "team-questions", "tasksets": ["questions/local-web"], "name": "team"},
    "evolver": {"method": "static"},
    "team": {"file": "heredity.library:localweb/team.toml", "concurrent": 1},
    "views": {"heldout": 3},
    "gateway": {"execution": "offline/town-worker", "optimisation": "offline/town-optimizer"},
}


def changed(data: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """Return a configuration with other values; an empty section is left out."""
    merged = {**data, **{name: {**data.get(name, {}), **section} for name, section in sections.items()}}
    return {name: section for name, section in merged.items() if section or name not in sections}


def agent(command: str) -> dict[str, Any]:
    """Return the configuration of a run with an outside agent."""
    data = {name: section for name, section in POLICY.items() if name != "matrix"}
    return {**data, "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "agent"}, "evolver": {"agent": command}}


def made(folder: Path, data: dict[str, Any]) -> Path:
    """Run a suite, or finish it."""
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    if result.failures:
        raise RuntimeError(f"{folder}: {result.failures}")
    return folder


def killed(folder: Path, data: dict[str, Any], events: int) -> Path:
    """Run a suite in a process that is killed once a journal has some events, then resume it."""
    code = (
        "import asyncio, json, sys; from pathlib import Path; from heredity.experiments.config import resolve;"
        "from heredity.experiments.suite import open_suite, run_suite;"
        "f = Path(sys.argv[1]); asyncio.run(run_suite(f, open_suite(f, resolve(json.loads(sys.argv[2])))))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder), json.dumps(data)], stderr=subprocess.DEVNULL)
    while process.poll() is None:
        journals = list((folder / "runs").glob("*/journal.jsonl")) if folder.exists() else []
        if any(path.read_bytes().count(b"\n") >= events for path in journals):
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.005)
    process.wait()
    return made(folder, data)


def sequence(folder: Path) -> Path:
    """Run a suite until two entries are told apart, or 6 seeds are used."""
    config = resolve(changed(POLICY, run={"seeds": 6}, matrix={"evolver.method": ["best-of-n", "random"]}))
    begin(folder, config, "best vs random decided")
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    assert not result.failures
    return folder


def adopted(folder: Path, other: Path) -> Path:
    """Run a suite on the hidden cases of another."""
    adopt_cases(folder, other)
    return made(folder, POLICY)


def other_versions(folder: Path) -> Path:
    """Run a suite on a machine with another version of a package."""
    versions, real = {**engine.package_versions(), "minigrid": "2.9.9", "python": "3.12.1"}, engine.package_versions

    def others(names: Sequence[str] = ()) -> dict[str, str]:
        return versions

    engine.package_versions = others
    try:
        return made(folder, POLICY)
    finally:
        engine.package_versions = real


def moved(folder: Path, source: Path) -> Path:
    """Copy a suite elsewhere, without its sealed cases."""
    return Path(shutil.copytree(source, folder))


def alone(folder: Path, source: Path) -> Path:
    """Copy one run of a suite."""
    return Path(
        shutil.copytree(sorted((source / "runs").iterdir())[0], folder / sorted((source / "runs").iterdir())[0].name)
    )


def reported(folder: Path, source: Path) -> Path:
    """Copy a suite and build its reports again."""
    rebuild(moved(folder, source))
    return folder


def corpus(root: Path) -> dict[str, Path]:
    """Make the honest folders below `root`; those that are there are kept. Return them by name."""
    runs = root / "runs"
    path: Callable[[str], Path] = lambda name: runs / name  # noqa: E731
    works: dict[str, Callable[[Path], Path]] = {
        "policy": lambda f: made(f, POLICY),
        "policy-one": lambda f: made(f, changed(POLICY, run={"seeds": 1}, matrix={"evolver.method": ["best-of-n"]})),
        "policy-pendulum": lambda f: made(f, changed(POLICY, run={"tasksets": ["gymnasium/Pendulum-v1"], "seeds": 1})),
        "policy-structural": lambda f: made(
            f, changed(POLICY, matrix={"evolver.method": ["structural", "sequential"]})
        ),
        "policy-two": lambda f: made(
            f, changed(POLICY, run={"tasksets": ["gymnasium/CartPole-v1", "gymnasium/MountainCar-v0"], "seeds": [3, 5]})
        ),
        "policy-baselines": lambda f: made(f, changed(POLICY, suite={"baselines": True}, run={"seeds": 1})),
        "policy-killed": lambda f: killed(f, changed(POLICY, budget={"episodes": 60}), 20),
        "policy-killed-late": lambda f: killed(f, changed(POLICY, budget={"episodes": 20}), 40),
        "policy-versions": other_versions,
        "policy-sequence": sequence,
        "agent": lambda f: made(
            f, agent("heredity submit --episodes 0-1 && heredity submit --episodes 2 && heredity finish")
        ),
        "agent-refused": lambda f: made(f, agent("heredity submit --episodes 0-90; heredity submit --episodes 0-7")),
        "agent-failed": lambda f: made(f, agent("heredity submit --episodes 0-1 && exit 5")),
        "agent-nothing": lambda f: made(f, agent("exit 9")),
        "program": lambda f: made(f, PROGRAM),
        "program-map": lambda f: made(f, changed(PROGRAM, evolver={"method": "map-elites"}, run={"seeds": 1})),
        "harness": lambda f: made(f, HARNESS),
        "harness-batches": lambda f: made(f, changed(HARNESS, schedule={"batch_size": 2, "assess": 2})),
        "harness-epochs": lambda f: made(f, changed(HARNESS, schedule={"epochs": 2, "persistence": "reset"})),
        "harness-killed": lambda f: killed(f, HARNESS, 12),
        "learning": lambda f: made(f, LEARNING),
        "resources": lambda f: made(f, RESOURCES),
        "resources-grpo": lambda f: made(f, changed(RESOURCES, evolver={"method": "grpo", "options": {}})),
        "resources-killed": lambda f: killed(f, RESOURCES, 10),
        "within": lambda f: made(f, WITHIN),
        "within-prompt": lambda f: made(f, changed(WITHIN, within={"mode": "prompt", "feedback": "self"})),
        "world": lambda f: made(f, WORLD),
        "team": lambda f: made(f, TEAM),
        "policy-adopted": lambda f: adopted(f, path("policy")),
        "policy-moved": lambda f: moved(f, path("policy")),
        "policy-alone": lambda f: alone(f, path("policy")),
        "policy-reported": lambda f: reported(f, path("policy-two")),
        "harness-moved": lambda f: moved(f, path("harness")),
        "program-reported": lambda f: reported(f, path("program")),
    }
    folders: dict[str, Path] = {}
    for name, work in works.items():
        done = root / "done" / name
        if not done.exists():
            shutil.rmtree(path(name), ignore_errors=True)
            work(path(name))
            done.parent.mkdir(parents=True, exist_ok=True)
            done.touch()
        folders[name] = next(path(name).iterdir()) if name.endswith("-alone") else path(name)
    return folders
