"""The real programs on a task whose scorer measures any program: they edit it, submit it and are judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.launchers.scripts import write_rules
from tests.agents.launchers.test_real_agents import SHELLS

from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]

STEPS = [
    "head -3 AGENTS.md; cat system/program.py",
    "sed -i 's/WIDTH = 1.0/WIDTH = 4.0/' system/program.py; heredity submit --episodes 0 --json --note four",
    "sed -i 's/return WIDTH/return 0/' system/program.py; heredity submit --episodes 0 --json --note outside || true",
    "heredity finish",
]


@pytest.mark.parametrize("name", SHELLS)
async def test_an_agent_improves_a_program(name: str, tmp_path: Path) -> None:
    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.toml").write_text('title = "Near four"\n')
    (task / "program.py").write_text(
        "# EVOLVE-BLOCK-START\nWIDTH = 1.0\n# EVOLVE-BLOCK-END\n\n\ndef solve():\n    return WIDTH\n"
    )
    (task / "scorer.py").write_text("def verify(answer):\n    return {'size': 10 - abs(answer - 4)}\n")
    tool, call = SHELLS[name]
    last = ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; exit 0"] if name == "mini-swe-agent" else []
    write_rules(tmp_path / "rules.toml", [*STEPS, *last], call, tool)
    model = f"scripted/{tmp_path}/rules.toml"
    config = resolve(
        {
            "run": {"protocol": "program-evolution", "tasksets": [f"program/{task}"]},
            "evolver": {"launcher": name, "model": model, "time_limit_s": 300},
            "budget": {"episodes": 4, "max_per_submit": 4},
            "views": {"validation": 1, "heldout": 1},
        }
    )
    folder = tmp_path / "runs" / "suite"
    result = await run_suite(folder, open_suite(folder, config))
    log = next(folder.glob("runs/*/logs/agent.log")).read_text()
    assert {**result.failures, **result.evolver_failures} == {}, log
    (metrics,) = result.runs
    assert [row.train_mean for row in metrics.submissions] == [10.0, None], log
    assert metrics.heldout is not None
    assert metrics.heldout.mean == 10.0
    assert metrics.reference is not None
    assert metrics.reference.heldout_mean == 7.0
    assert metrics.tokens.output_tokens > 0
