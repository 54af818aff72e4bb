"""The real programs, where they are installed, each driven by a scripted model: they solve a programming problem by verdicts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.agents.launchers.real import Real, each_real
from tests.agents.launchers.test_real_agents import assert_same_accounts

from heredity.agents.launchers import available
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import library_folder, problem_folders
from heredity.kinds.code.toolchains import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]

WRONG = {
    "python3": ("            if others:\n", "            if others and False:\n"),
    "cpp": ("        return {-1, -1};\n", "        return {};\n"),
}
"""A line of a right solution to `two-gates`, and what makes it wrong."""


def right(language: str) -> str:
    folder = problem_folders(library_folder())["two-gates"]
    return (folder / {"python3": "reference.py", "cpp": "solutions/reference.cpp"}[language]).read_text()


@each_real
def test_an_agent_solves_a_problem_by_the_judges_word(real: Real, tmp_path: Path) -> None:
    """Its first program is wrong, the second one, repaired with its own tools, is accepted on cases that nobody had seen."""
    language = "python3" if real.launcher == "claude-code" else "cpp"
    if missing(LANGUAGES[language]):
        pytest.skip(missing(LANGUAGES[language]))
    good, bad = WRONG[language]
    path, probe = (
        f"system/{LANGUAGES[language].file}",
        "find / '(' -name queues_of_places.py -o -name best_first_gate.py ')' 2>/dev/null > probe.txt",
    )
    turns = [
        real.shell(f"head -5 AGENTS.md; cat TASK.md; {probe}; rm {path}"),
        real.write(path, right(language).replace(good, bad)),
        real.shell("heredity submit --episodes 0 --json --note first"),
        real.shell("cat feedback/submit_*0/summary.json feedback/submit_*0/episodes/*/trajectory.jsonl"),
        *real.edit(path, [(bad, good)]),
        real.shell("heredity submit --episodes 0 --json --note repaired; heredity finish"),
    ]
    config = resolve(
        {
            "run": {"protocol": "program-evolution", "tasksets": [f"code/solution/two-gates?language={language}"]},
            "evolver": {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 1500},
            "budget": {"episodes": 4, "train_cases": 2},
            "views": {"validation": 1, "heldout": 1},
            "engine": {"workers": 1},
        }
    )
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    run = next(folder.glob("runs/*"))
    log = (run / "logs" / "agent.log").read_text()[-6000:]
    assert {**result.failures, **result.evolver_failures} == {}, log
    (metrics,) = result.runs
    first, second = metrics.submissions
    assert first.train_mean < 1 == second.train_mean, log
    assert metrics.heldout.mean == 1.0
    assert metrics.reference.heldout_mean == 0.0, "the starter solves nothing"
    assert_same_accounts(metrics)
    workspace = run / "workspace"
    assert (workspace / path).read_text() == right(language)
    assert not (workspace / "probe.txt").read_text(), "stored solutions are nowhere to be found"
    rows = [
        json.loads(line)
        for path in sorted(workspace.glob("feedback/submit_*/episodes/*/trajectory.jsonl"))
        for line in path.read_text().splitlines()
    ]
    assert [row["info"]["verdict"] for row in rows] == ["WA", "PR"]
    assert "expected" in rows[0]["info"]["texts"]["judge"], "it failed an example, which is shown"
