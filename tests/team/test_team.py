"""A team at work: steps in parallel and in order, failures planned around, memory, resumption."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.engine.actor import ProvidedTool, Solving
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import build
from heredity.models import Reply, Request, ToolCall, ToolSpec
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.team import Context, Message, Outcome
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.assembly import present
from heredity.team.memory import SharedMemory
from heredity.team.planning import (
    ModelPlanner,
    Plan,
    PlanError,
    PlanningFailedError,
    Revision,
    State,
    Step,
    read_revision,
)
from heredity.team.settings import load_team
from heredity.team.team import Member, Team, open_team


class Fixed:
    """A planner that gives one revision a round, and then finishes with what the last step gave."""

    def __init__(self, *rounds: tuple[Step, ...]) -> None:
        self.rounds = rounds

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        number = len(plan.rounds)
        if number < len(self.rounds):
            return Revision(self.rounds[number], note=f"round {number + 1}")
        return Revision(finished=True, result=plan.steps[-1].result if plan.steps else "nothing")


async def test_steps_that_do_not_need_each_other_overlap_and_others_wait(tmp_path: Path) -> None:
    log: list[str] = []
    both = asyncio.Barrier(2)

    async def work(message: Message, _: Context) -> str:
        step = message.body["step"]
        log.append(f"+{step}")
        if step in ("a", "b"):
            await asyncio.wait_for(both.wait(), 10)  # Passed only where both are under way at once.
        log.append(f"-{step}")
        return f"{step} of {message.body.get('given', {})}"

    steps = (Step("a", "worker", "do a"), Step("b", "worker", "do b"), Step("c", "worker", "do c", ("a", "b")))
    async with open_team(tmp_path, {"worker": Member("works", work)}, Fixed(steps)) as team:
        result = await team.run("the whole")
    assert log[:2] == ["+a", "+b"]
    assert log[-2:] == ["+c", "-c"]
    assert result.outcome is Outcome.OK
    assert result.answer == "c of {'a': 'a of {}', 'b': 'b of {}'}"
    written = (tmp_path / "plan.md").read_text()
    assert written == result.plan
    assert "- [x] **c** (worker) after a, b: do c" in written
    assert "## Result\n\n> c of" in written


async def test_what_fails_does_not_stop_the_rest_and_is_planned_around(tmp_path: Path) -> None:
    async def work(message: Message, _: Context) -> str:
        if message.body["step"] == "a":
            raise OSError("the site is down")
        return message.body["step"]

    seen: list[Plan] = []
    rounds = (
        (Step("a", "worker", "x"), Step("b", "worker", "y"), Step("c", "worker", "z", ("a",))),
        (Step("d", "worker", "another way"),),
    )
    async with open_team(tmp_path, {"worker": Member("", work)}, Fixed(*rounds), watch=seen.append) as team:
        result = await team.run("t")
    assert result.answer == "d"
    assert [(s.id, s.state) for s in seen[-1].steps] == [("a", State.FAILED), ("b", State.DONE), ("d", State.DONE)]
    assert "OSError: the site is down" in result.plan


async def test_a_team_that_never_finishes_ends_after_its_rounds(tmp_path: Path) -> None:
    async def work(_: Message, __: Context) -> str:
        return "more"

    class Endless:
        async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
            return Revision((Step(f"s{len(plan.rounds)}", "worker", "again"),))

    async with open_team(tmp_path, {"worker": Member("", work)}, Endless(), rounds=3) as team:
        result = await team.run("t")
    assert (result.outcome, result.answer) == (Outcome.FAILED, "")
    assert PlanningFailedError.__name__ in result.error
    assert "no answer after 3 rounds" in result.error
    assert result.plan.count("### Round") == 3


async def test_a_person_edits_the_plan_between_rounds_and_is_followed(tmp_path: Path) -> None:
    done: list[str] = []

    async def work(message: Message, _: Context) -> str:
        done.append(message.body["task"])
        return "ok"

    async def review(plan: Plan) -> Plan:
        return plan.edited(plan.to_markdown().replace("- [ ] **b**", "- [-] **b**").replace("do a", "do it with care"))

    steps = (Step("a", "worker", "do a"), Step("b", "worker", "do b"))
    async with open_team(tmp_path, {"worker": Member("", work)}, Fixed(steps), review=review) as team:
        await team.run("t")
    assert done == ["do it with care"]
    assert "- [-] **b**" in (tmp_path / "plan.md").read_text()


def _planner_model(request: Request) -> Reply | str:
    said = request.messages[-1].content
    if "cannot be carried out" in said:
        return '```json\n{"steps": [{"id": "s1", "agent": "adder", "task": "add 2 and 3"}]}\n```'
    if "s1 (adder), done" in said:
        return '{"finished": true, "result": "5"}'
    return '{"steps": [{"id": "s1", "agent": "addre", "task": "add 2 and 3"}]}'


def _agent_model(request: Request) -> Reply | str:
    results = [m.content for m in request.messages if m.role == "tool"]
    if not results:
        return Reply(
            "", (ToolCall("1", "add", '{"numbers": [2, 3]}'), ToolCall("2", "remember", '{"text": "2 + 3 is 5"}'))
        )
    return f"The sum is {results[0]}."


def _adder(calls: list[str], memory: SharedMemory) -> SubAgent:
    async def add(arguments: Mapping[str, Any]) -> str:
        calls.append(json.dumps(arguments))
        return str(sum(arguments["numbers"]))

    schema = {"type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}}
    tool = TeamTool(ProvidedTool(ToolSpec("add", "adds", schema), add))
    candidate = Candidate({"prompt/system": SourceTree({"prompt.md": b"You add numbers."})})
    return SubAgent(
        build(candidate), Scripted(_agent_model), lambda c: (tool, *memory.tools(c)), settings=Solving(max_turns=5)
    )


async def test_models_plan_and_work_with_tools_and_memory(tmp_path: Path) -> None:
    calls, memory = list[str](), SharedMemory()
    members = {"adder": Member("adds numbers", _adder(calls, memory))}
    async with open_team(tmp_path, members, ModelPlanner(Scripted(_planner_model)), memory=memory) as team:
        result = await team.run("What is 2 + 3?")
        assert result.answer == "5"
        assert [entry.text for entry in team.memory.find("what is 2 + 3")] == ["2 + 3 is 5"]
    assert calls == ['{"numbers": [2, 3]}']
    # Once more in the same folder: everything is on record, and nothing is asked or done again.
    refusing = Scripted(lambda _: pytest.fail("asked again"))
    again = SharedMemory()
    members = {"adder": Member("adds numbers", SubAgent(build(Candidate({})), refusing))}
    async with open_team(tmp_path, members, ModelPlanner(refusing), memory=again) as team:
        assert (await team.run("What is 2 + 3?")).answer == "5"
    assert [entry.text for entry in again.entries.values()] == ["2 + 3 is 5"]
    assert '"text": "2 + 3 is 5"' in (tmp_path / "memory.jsonl").read_text()


async def test_a_model_that_never_plans_is_told_why_and_then_the_team_gives_up(tmp_path: Path) -> None:
    async with open_team(tmp_path, {}, ModelPlanner(Scripted(lambda _: "I would rather talk."))) as team:
        result = await team.run("t")
    assert result.outcome is Outcome.FAILED
    assert "gave no plan that can be carried out, 3 times" in result.error


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("no", "expected a JSON object"),
        ("[1]", "expected a JSON object"),
        ('{"steps": [{"id": "a"}]}\n{"finished": true, "result": "imagined"}', "plans steps and finishes at once"),
        ('{"steps": []}', '"steps" is empty'),
        ('{"steps": [3]}', r"steps\[1\] is no object"),
        ('{"steps": [{"id": "a", "after": "b"}]}', "give a list of ids"),
        ('{"finished": true}', '"result" is empty'),
        ('{"steps": ' + "[" * 5000 + "}", "expected a JSON object"),
    ],
)
def test_replies_that_are_no_plan_say_what_is_wrong(reply: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        read_revision(reply)


async def test_an_agent_without_an_answer_is_a_failed_step_with_its_reason(tmp_path: Path) -> None:
    loop = SubAgent(
        build(Candidate({})), Scripted(lambda _: Reply("", (ToolCall("1", "recall", '{"query": "x"}'),))),
        SharedMemory().tools, settings=Solving(max_turns=3),
    )  # fmt: skip
    async with open_team(tmp_path, {"looper": Member("", loop)}, Fixed((Step("a", "looper", "x"),))) as team:
        result = await team.run("t")
    assert "turns: no answer within 3 model calls" in result.plan


async def test_a_tool_of_the_candidate_runs_in_the_sandbox_and_is_on_record(tmp_path: Path) -> None:
    manifest = json.dumps({"description": "Squares a number."}).encode()
    tool = SourceTree(
        {"resource.json": manifest, "tool.py": b"def run(n: int) -> int:\n    '''Squares.'''\n    return n * n\n"}
    )
    candidate = Candidate({"tool/square": tool})

    def model(request: Request) -> Reply | str:
        results = [m.content for m in request.messages if m.role == "tool"]
        return results[0] if results else Reply("", (ToolCall("1", "square", '{"n": 12}'),))

    async with SandboxedPrograms(1) as programs:
        agent = SubAgent(build(candidate), Scripted(model), programs=programs)
        async with open_team(tmp_path, {"coder": Member("", agent)}, Fixed((Step("a", "coder", "x"),))) as team:
            assert (await team.run("t")).answer == "144"


_KILLED = """
import asyncio, sys
from pathlib import Path
from heredity.team.planning import Step
from heredity.team.planning import Revision
from heredity.team.team import Member, open_team

class Fixed:
    async def revise(self, plan, agents, context):
        number = len(plan.rounds)
        return Revision(rounds[number]) if number < len(rounds) else Revision(finished=True, result=plan.steps[-1].result)

async def work(message, context):
    async def write():
        with open(sys.argv[2], "a") as out:
            out.write(message.body["step"] + "\\n")
        return message.body["step"]
    return await context.once("write", write)

rounds = [tuple(Step(f"r{r}s{i}", "worker", "x", (f"r{r}s{i - 3}",) if i > 2 else ()) for i in range(9)) for r in range(5)]

async def main():
    async with open_team(Path(sys.argv[1]), {"worker": Member("", work)}, Fixed()) as team:
        result = await team.run("t")
    print(result.answer, result.rounds, flush=True)

asyncio.run(main())
"""


def test_a_team_killed_at_any_instant_comes_to_the_same_answer(tmp_path: Path) -> None:
    script, written = tmp_path / "team.py", tmp_path / "written"
    script.write_text(_KILLED)
    command = [sys.executable, str(script), str(tmp_path / "team"), str(written)]
    for lines in (2, 20, 38):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while process.poll() is None and (not written.exists() or written.read_text().count("\n") < lines):
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "r4s8 5\n"
    steps = written.read_text().splitlines()
    assert len(set(steps)) == 45
    assert len(steps) <= 45 + 3 * 3


async def test_a_team_is_open_once(tmp_path: Path) -> None:
    async with open_team(tmp_path, {}, Fixed()) as team:
        assert isinstance(team, Team)
        with pytest.raises(Exception, match="in use by process"):
            async with open_team(tmp_path, {}, Fixed()):
                pass


def test_optional_agents_that_lack_something_are_left_out_and_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
[team]
model = "scripted/rules.toml"
[web]
allow = ["example.org"]
browser = "/no/such/chromium"
[search]
service = "brave"
key = "NO_SUCH_KEY"
[agents.reader]
description = "reads"
asks = ["surfer", "other"]
[agents.other]
description = "reads too"
[agents.surfer]
description = "surfs"
tools = ["browse"]
optional = {0}
[agents.seeker]
description = "searches"
tools = ["search-web"]
optional = {0}
"""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    path = tmp_path / "team.toml"
    path.write_text(text.replace("{0}", "true"))
    here, lacking = present(load_team(path))
    assert (set(here.agents), set(lacking)) == ({"reader", "other"}, {"surfer", "seeker"})
    assert here.agents["reader"].asks == ("other",)
    assert "NO_SUCH_KEY, which is not set" in lacking["seeker"]
    path.write_text(text.replace("{0}", "false"))
    with pytest.raises(ConfigError) as refused:
        present(load_team(path))
    assert re.search(r"agents\.surfer: .*agents\.seeker: .*set its optional = true", str(refused.value))
