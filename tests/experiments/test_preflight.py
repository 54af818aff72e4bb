"""What is wrong with a configuration is said before anything is run, by the name of its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, RecordError
from heredity.experiments.config import cells, resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.protocols.harness_evolution.terms import ScheduleSection


def harness(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "run": {"protocol": "harness-evolution", "tasksets": ["tasks/all"]},
        "evolver": {"method": "ace"},
        "budget": {"train_cases": 8},
        "schedule": {"batch_size": 4},
        "views": {"update_validation": 4, "id": 6, "ood": 8, "replay": 8},
        "gateway": {"execution": "offline/shell-worker", "optimisation": "offline/harness-writer"},
    }
    for key, value in changes.items():
        section, name = key.split("__")
        data[section][name] = value
    return data


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule__batch_size": 9}, r"schedule.batch_size is 9, but there are only 8 train tasks"),
        ({"schedule__gate": True, "schedule__canaries": 9}, r"schedule.canaries is 9"),
        ({"schedule__canaries": 2}, r"schedule.canaries is 2 but schedule.gate is false"),
        ({"budget__train_cases": 9}, r"budget.train_cases = 9: tasks/all has 8 tasks for train"),
        ({"views__update_validation": 5}, r"views.update_validation = 5"),
        ({"views__id": 7}, r"views.id = 7"),
        ({"views__ood": 9}, r"views.ood = 9"),
        ({"views__replay": 9}, r"views.replay is 9"),
        ({"run__ood": ["tasks/programs"], "views__ood": 3}, r"views.ood = 3: tasks/programs has 2 tasks"),
        ({"gateway__optimisation": ""}, r"gateway.optimisation"),
        ({"evolver__method": "gepa", "gateway__optimisation": ""}, r"gateway.optimisation"),
        ({"schedule__plan": "/nowhere/plan.json"}, r"plan.json cannot be read"),
        ({"evolver__method": "parametric"}, r"does not support schedules; methods that do: ace, .*, static"),
    ],
)
async def test_it_is_said_with_its_key(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    config = resolve(harness(**changes))
    folder = tmp_path / "runs" / "suite"
    with pytest.raises((ConfigError, RecordError), match=message):
        await run_suite(folder, open_suite(folder, config))
    assert not (folder / "runs").exists()


def test_a_matrix_may_take_the_gate_away_and_leave_the_canaries() -> None:
    varied = harness(schedule__canaries=2) | {"matrix": {"schedule.gate": [False, True]}, "suite": {"baselines": False}}
    assert [cell.config.of(ScheduleSection).gate for cell in cells(resolve(varied))] == [False, True]
