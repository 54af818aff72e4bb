"""Every setting is read by a run, or refused before the start with its key, the reason and the remedy."""

from __future__ import annotations

import shutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from heredity._core.errors import ConfigError, HeredityError
from heredity.configuration.config import Config
from heredity.experiments.config import cells, given_by, load, read_toml, resolve, suite_file, suites
from heredity.experiments.estimate import estimate
from heredity.experiments.idle import Guess, idle_settings
from heredity.experiments.preflight import preflight
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset


@cache
def loaded(name: str) -> Taskset | None:
    try:
        one = taskset(name)
        _ = one.info
        return one
    except HeredityError:  # data or an extra that is not here
        return None


def idle_of(config: Config) -> dict[str, str]:
    known = {name: one for name in config.run.tasksets if (one := loaded(name)) is not None}
    return idle_settings(config, cells(config), known)


def idle(name: str, *overrides: str) -> dict[str, str]:
    return idle_of(load(suite_file(name), overrides))


@pytest.mark.parametrize("name", suites())
def test_everything_in_a_suite_is_read(name: str) -> None:
    assert idle(name) == {}


@pytest.mark.parametrize(
    ("suite", "override", "reason"),
    [
        ("worlds-six", "gateway.execution=openai/gpt-5", "is a program that plays by itself; set evolver.initial="),
        ("demo", "gateway.execution=openai/gpt-5", "programs without a model"),
        ("demo", "gateway.optimisation=openai/gpt-5", "the method 'parametric' calls no model"),
        ("demo", "solver.max_turns=3", "the kind 'episode' do not use it"),
        ("demo", "budget.cost_usd=3.0", "no model is called"),
        ("demo", "gateway.max_calls=3", "no model is called"),
        ("demo", "evolver.model=openai/gpt-5", "set evolver.launcher or evolver.agent"),
        ("demo", "engine.containers=docker", "the kind 'episode' do not use it"),
        ("programs", "engine.lockstep=4", "the kind 'program' do not use it"),
        ("programs", "limits.act_s=3.0", "the kind 'program' do not use it"),
        ("questions-offline", "gateway.judge=openai/gpt-5", "checked by rules"),
        ("questions-offline", "views.validation=3", "commits select the candidate"),
        ("questions-offline", "evolver.environment.A=b", "set evolver.launcher"),
        ("questions-offline", 'gateway.routes.r.models=["openai/gpt-5"]', "no model is called 'r'"),
        ("questions-offline", 'gateway.providers.mine.base_url="http://127.0.0.1:9/v1"', "no model of this provider"),
        ("team-offline", "evolver.initial=/tmp", "its agents and their prompts are in its file"),
        ("team-offline", "budget.episodes=3", "a team is judged as it stands"),
        ("team-offline", "solver.max_turns=3", "the team's file sets turns"),
        ("within-task-offline", "budget.train_cases=3", "nothing is trained"),
        ("posttrain-cpu", "gateway.execution=openai/gpt-5", "call no model"),
        ("posttrain-cpu", "gateway.optimisation=openai/gpt-5", "the agent 'posttraining' calls no model of this role"),
        ("posttrain-cpu", 'engine.gpus=["0"]', "set training.gpus"),
        ("generation-offline", "views.coverage=0.5", "all gates judge"),
    ],
)
def test_a_setting_that_nothing_reads_is_found(suite: str, override: str, reason: str) -> None:
    (key,) = given_by([override])
    found = idle(suite, override)
    assert reason in next(why for own, why in found.items() if key.startswith(own)), found


@pytest.mark.parametrize(
    ("suite", "overrides"),
    [
        ("worlds-six", ["gateway.execution=openai/gpt-5", "evolver.initial="]),
        ("worlds-six", ["gateway.execution=openai/gpt-5", "evolver.agent=python agent.py"]),
        ("demo", ["evolver.launcher=codex", "gateway.execution=openai/gpt-5", "evolver.prompt=Begin."]),
        ("questions-offline", ["gateway.execution=mine/m", 'gateway.providers.mine.base_url="http://127.0.0.1:9/v1"']),
        (
            "questions-offline",
            ["gateway.execution=r", 'gateway.routes.r.models=["openai/gpt-5"]', "gateway.max_calls=9"],
        ),
        ("team-offline", ["gateway.execution=openai/gpt-5"]),
        ("posttrain-cpu", ["evolver.launcher=codex", "evolver.model=openai/gpt-5"]),
    ],
)
def test_a_setting_that_a_run_reads_is_not(suite: str, overrides: list[str]) -> None:
    assert idle(suite, *overrides) == {}


def test_a_program_of_ones_own_that_seems_to_call_no_model_is_a_warning_and_not_a_refusal(tmp_path: Path) -> None:
    shipped = Path(str(files("heredity.library") / "harnesses" / "explorer"))
    shutil.copytree(shipped, tmp_path / "copied")
    for path in (tmp_path / "copied").rglob("*.py"):
        path.write_text(path.read_text() + "\n# changed\n")
    config = load(
        suite_file("worlds-six"),
        [
            f"evolver.initial={tmp_path / 'copied'}",
            "gateway.execution=here/m",
            'gateway.providers.here.base_url="http://127.0.0.1:9/v1"',
        ],
    )
    found = idle_of(config)
    assert list(found) == ["gateway.execution"]
    assert isinstance(found["gateway.execution"], Guess)
    (note,) = [check for check in preflight(config, tmp_path / "out") if check.name == "note on gateway.execution"]
    assert (note.ok, note.needed) == (True, False)
    assert "perhaps nothing reads it" in note.detail
    assert [one.model for one in estimate(config, tmp_path).models if one.calls.high] == [
        "here/m",
        "offline/world-learner",
    ]


def test_a_value_that_the_matrix_replaces_everywhere_is_found() -> None:
    data = read_toml(suite_file("demo")) | {"evolver": {"options": {"candidates": 3}}}
    data["matrix"] = {"evolver.method": ["parametric"], "evolver.options.candidates": [4, 5]}
    assert "the matrix sets it in every run" in idle_of(resolve(data))["evolver.options.candidates"]


def _example(value: Any) -> Any:
    """Another value of the same type, if there is a simple one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return None


@pytest.mark.parametrize("name", sorted({"demo", "programs", "questions-offline", "harness-offline", "team-offline"}))
def test_every_key_of_every_section_is_read_or_refused_with_a_reason(name: str) -> None:
    """Numbers and switches of all sections: none may raise anything but a refusal, and reasons say what to do."""
    config = load(suite_file(name), ["run.seeds=1"])
    known = {one: tasks for one in config.run.tasksets if (tasks := loaded(one)) is not None}
    seen = 0
    for section in type(config).model_fields:
        table: Any = getattr(config, section)
        if section in ("run", "matrix") or not isinstance(table, BaseModel):
            continue
        for key in type(table).model_fields:
            value = _example(getattr(table, key))
            if value is None or f"{section}.{key}" in config.matrix:
                continue
            try:
                changed = load(suite_file(name), ["run.seeds=1"], {f"{section}.{key}": value})
                found = idle_settings(changed, cells(changed), known)
            except ConfigError:
                continue
            seen += 1
            assert all(len(why) > 20 for why in found.values())
            assert set(found) <= {f"{section}.{key}"} | set(found) & {"engine.gpus"}
    assert seen > 20
