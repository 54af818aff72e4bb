"""An outside agent through the real session, journal and judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.session.fakes import FakeRunner, NumbersTaskset, program

from heredity.agents import RunTerms, Workspace, evolve_with_agent
from heredity.agents.launchers import AgentExit, CommandAgent, available
from heredity.methods import Budget
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.protocols.shared.selection import judge
from heredity.records import RunFolder
from heredity.session import Session
from heredity.session.cases import HiddenCases
from heredity.session.run import Conditions, RunPlan, run_evolution
from heredity.session.views import ViewPlan

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")

AGENT = """
import json, os, subprocess
from pathlib import Path
for value in (1, 4, 2):
    Path("system/policy.py").write_text(f"value {value}")
    subprocess.run(["submit", "program", "--episodes", "0:2"], check=True)
Path("system/policy.py").write_text("fail import_error")
assert subprocess.run(["heredity", "submit", "--episodes", "3"]).returncode == 1
assert subprocess.run(["heredity", "submit", "--episodes", "99"]).returncode == 3
"""


class Rig:
    def __init__(self, folder: Path) -> None:
        self.run = folder / "runs" / "one"
        self.exits: list[AgentExit] = []
        hidden_cases = HiddenCases.create(folder / "sealed" / "suite")
        self.conditions = Conditions(NumbersTaskset(), FakeRunner(), hidden_cases)
        self.plan = RunPlan(
            "one",
            "suite",
            "policy-evolution",
            {"name": "agent"},
            0,
            Budget(episodes=9),
            judge,
            [ViewPlan("validation", "validation", 3), ViewPlan("heldout", "heldout", 4)],
            train_tasks=8,
        )
        terms = RunTerms(self.conditions.taskset.info, train_tasks=8, episode_budget=9)
        self.workspace = Workspace(self.run / "workspace", terms, BRIEFING)

    async def evolve(self, script: str, **options: object):
        agent = CommandAgent(["python3", "-c", script], **{"time_limit_s": 30, "end_grace_s": 5, **options})

        async def spend(session: Session) -> None:
            initial = program("value 0")
            self.exits.append(await evolve_with_agent(session, self.workspace, agent, initial=initial, logs=self.run))

        return await run_evolution(self.run, self.plan, self.conditions, spend, self.workspace.publisher)

    def kinds(self) -> list[str]:
        return [json.loads(line)["kind"] for line in (self.run / "journal.jsonl").read_text().splitlines()]

    def data(self, kind: str) -> list[dict]:
        lines = map(json.loads, (self.run / "journal.jsonl").read_text().splitlines())
        return [line["data"] for line in lines if line["kind"] == kind]


async def test_what_an_agent_submits_is_journalled_published_and_judged(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.evolve(AGENT)
    log = (rig.run / "agent.log").read_text()
    assert rig.exits[0].code == 0, log
    assert [d["status"] for d in rig.data("submission.completed")] == ["ok", "ok", "ok", "import_error"]
    assert [d["category"] for d in rig.data("submission.rejected")] == ["invalid_env_instance"]
    assert rig.data("judging.selected")[0]["submit_id"] == 2
    summaries = [rig.workspace.summary(i) for i in range(4)]
    assert [s["first_global_episode"] for s in summaries if s] == [0, 2, 4, 6]
    assert [s["remaining_budget"] for s in summaries if s] == [7, 5, 3, 2]
    parents = [d["parents"] for d in rig.data("candidate")]
    assert [len(p) for p in parents] == [1, 1, 1, 1]
    assert "seed" not in (rig.workspace.root / "run_meta.json").read_text()


async def test_an_interrupted_run_publishes_again_and_lets_the_agent_go_on(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    crashed = "import subprocess; subprocess.run(['heredity', 'submit', '--episodes', '0-1'], check=True)"
    await rig.evolve(crashed)
    with RunFolder.open(rig.run) as folder:
        closed = next(e for e in folder.journal.events if e.kind == "session.closed")
        folder.journal.cut_from(closed.seq - 1)
    before = rig.workspace.summary(0)
    (rig.workspace.feedback / "submit_000" / "summary.json").unlink()
    (rig.workspace.system / "policy.py").write_text("value 9")
    again = Rig(tmp_path)
    await again.evolve("import subprocess; subprocess.run(['heredity', 'submit', '--episodes', '0-6'], check=True)")
    assert again.exits[0].code == 0, (rig.run / "agent.log").read_text()
    assert again.workspace.summary(0) == before
    assert again.data("judging.selected")[0]["submit_id"] == 2
    assert again.data("session.closed")[0]["reason"] == "budget"
    assert again.data("candidate")[1]["parents"] == [again.data("candidate")[0]["digest"]]
