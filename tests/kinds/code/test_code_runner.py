from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fakes import InProcessPrograms, ListedModel, calling, candidate
from tests.kinds.code.sums import in_python, write

from heredity.engine.actor import Solving
from heredity.engine.kind import KINDS, Opening, Workers
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import resolve
from heredity.kinds.code.kind import CodeRunner
from heredity.kinds.code.ranks import Rank
from heredity.models import Reply, Request
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo
from heredity.team.tools.task_tools import open_task_tools

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

INFO = TasksetInfo("code/all", "1", "code", {}, {}, "Sums.", 0.0)
WRONG, RIGHT = (f"So:\n```python\n{in_python(line)}```\n" for line in ("return 3", "pass"))


def last(trajectory: Trajectory, key: str) -> Any:
    return trajectory.columns[f"info/{key}"][-1]


async def attempts(
    folder: Path, *replies: list[str], score: str = "share", ranks: bool = False, **settings: Any
) -> list[Trajectory]:
    write(folder / "sum")
    spec = {"problem": str(folder / "sum"), "language": "python3", "seed": "s", "score": score, "ranks": ranks}
    task, found = Task("train/0", "train", 0, spec), list[Trajectory]()
    for listed in replies:
        runner = CodeRunner(ListedModel(listed), settings=Solving(**settings), workers=2)
        job = Job(INFO, candidate(prompt_system="Be brief."), task, policy_seed=7)
        found += [trajectory async for _, trajectory in runner.run([job], Limits())]
        await runner.close()
    return found


async def test_a_reply_is_scored_by_the_judge_and_ranked_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def rank(*given: Any) -> Rank:
        asked.append(given[-1])
        return Rank(70.0, 40.0, (60.0, 80.0), (40.0, 40.0), 12, transferred=False, seconds=(1.0,))

    monkeypatch.setattr("heredity.kinds.code.ranks.Ranker.rank", rank)
    right, none = await attempts(tmp_path, [RIGHT], ["I cannot."], ranks=True)
    assert asked == [in_python("pass")]
    found = last(Trajectory.decode(right.encode()), "rank")
    assert (found["arb"], found["amb_range"], found["transferred"]) == (70.0, [40.0, 40.0], False)
    assert last(none, "rank") is None
    assert (right.status, right.total_reward, last(right, "verdict"), last(right, "correct")) == ("ok", 1.0, "PR", True)
    assert last(right, "judgement")["cases"] == 22
    assert last(right, "cpu_s") > 0
    assert last(right, "peak_bytes") > 1 << 20
    assert Trajectory.decode(right.encode()).total_reward == 1.0
    assert (none.status, none.total_reward, last(none, "verdict")) == ("ok", 0.0, "RpE")


async def test_the_tools_of_a_configuration_are_offered_for_programming_problems_too(tmp_path: Path) -> None:
    write(tmp_path / "sum")
    spec = {"problem": str(tmp_path / "sum"), "language": "python3", "seed": "s", "score": "share"}
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "sums.txt").write_text("Sums are added up.")
    data = {"run": {"tasksets": ["code/all"]}, "corpus": {"folder": "notes"}, "solver": {"tools": ["search"]}}
    model = ListedModel([calling(("search", {"query": "sums"})), RIGHT])
    async with open_task_tools(resolve(data, base=tmp_path).tools, InProcessPrograms()) as tools:
        runner = KINDS.load("code").open(Opening(model=model, workers=Workers(2), provided=tools))
        job = Job(INFO, candidate(prompt_system="Be brief."), Task("train/0", "train", 0, spec), policy_seed=7)
        [(_, done)] = [pair async for pair in runner.run([job], Limits())]
        await runner.close()
    assert (done.total_reward, done.cost["tool_calls"]) == (1.0, 1)
    assert "Sums are added up." in str(done.columns["messages"])


async def test_a_verdict_between_rounds_tells_of_hidden_cases_only_their_number(tmp_path: Path) -> None:
    [revised] = await attempts(tmp_path, [WRONG, RIGHT], rounds=3, feedback="verdict")
    assert last(revised, "rank") is None, "nobody asked for it"
    assert last(revised, "round_verdicts") == ["WA", "PR"]
    assert last(revised, "rounds") == [1 / 22, 1.0]
    said = str(revised.columns["messages"])
    assert "a hidden case, number 1" in said
    assert "expected" not in said


async def test_public_tests_that_are_passed_end_the_rounds(tmp_path: Path) -> None:
    [kept] = await attempts(tmp_path, [WRONG, RIGHT], rounds=3, feedback="public", score="verdict")
    assert (last(kept, "round_verdicts"), kept.total_reward) == (["WA"], 0.0)
    [told] = await attempts(tmp_path, [WRONG.replace("return 3", "return 4"), RIGHT], rounds=3, feedback="public")
    assert last(told, "round_verdicts") == ["WA", "PR"]
    assert "answered 4; expected 3; input [[1, 2]]" in str(told.columns["messages"])


TEAM = {
    "agents": {"coder": {"description": "writes programs"}, "reviewer": {"description": "looks for faults"}},
    "rounds": 4,
}


class Team:
    """The models of a team: its coder is wrong first, its reviewer finds the fault, and what is repaired is the answer."""

    name = "scripted/team"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def reply(self, request: Request) -> Reply:
        system, last = request.messages[0].content, request.messages[-1].content
        who = next((name for name in ("Lead", "Code", "Review") if system.startswith(name)), "?")
        self.asked.append(who)
        if who == "Code":
            return Reply(RIGHT if "the empty list" in last else WRONG)
        if who == "Review":
            assert "return 3" in last, "it is given what the coder wrote"
            return Reply("It is wrong for the empty list.")
        steps: list[dict[str, Any]] = [
            {"id": "draft", "agent": "coder", "task": "Write the program."},
            {"id": "review", "agent": "reviewer", "task": "Find faults.", "after": ["draft"]},
            {"id": "repair", "agent": "coder", "task": "Repair it for the empty list.", "after": ["draft", "review"]},
        ]
        if "repair (coder), done" in last:
            return Reply(json.dumps({"finished": True, "result": RIGHT}))
        return Reply(json.dumps({"steps": steps}))


async def test_a_team_solves_a_problem(tmp_path: Path) -> None:
    write(tmp_path / "sum")
    spec = {"problem": str(tmp_path / "sum"), "language": "python3", "seed": "s", "score": "share"}
    design = Candidate(
        {
            "agent/team": SourceTree({"agent.json": json.dumps(TEAM)}),
            "prompt/planner": SourceTree({"prompt.md": "Lead."}),
            "prompt/coder": SourceTree({"prompt.md": "Code."}),
            "prompt/reviewer": SourceTree({"prompt.md": "Review."}),
        }
    )
    models = Team()
    async with SandboxedPrograms(1) as programs:
        runner = CodeRunner(models, programs=programs, settings=Solving(), workers=2)
        job = Job(INFO, design, Task("train/0", "train", 0, spec), policy_seed=7)
        [(_, done)] = [pair async for pair in runner.run([job], Limits())]
        await runner.close()
    assert (done.status, done.total_reward, last(done, "verdict")) == ("ok", 1.0, "PR"), done
    assert models.asked.count("Code") == 2
    assert models.asked.count("Review") == 1
