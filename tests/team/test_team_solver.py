"""A team as a solver: on questions, in rounds, evolved by its prompts, and whose failure is whose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity.engine.actor import Problem, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import build
from heredity.models import Reply, Request, ToolCall
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus
from heredity.team.solver import TeamSolver

SQUARE = {
    "tool.py": "def run(n: int) -> int:\n    return n * n\n",
    "resource.json": json.dumps({"description": "Squares a number."}),
}


def candidate(agents: dict[str, Any], **parts: dict[str, str]) -> Candidate:
    design = {"agent/team": SourceTree({"agent.json": json.dumps({"agents": agents, "rounds": 3})})}
    return Candidate(design | {name.replace("__", "/"): SourceTree(tree) for name, tree in parts.items()})


TEAM = candidate(
    {"coder": {"description": "computes", "tools": ["square"]}},
    prompt__planner={"prompt.md": "Lead."},
    prompt__coder={"prompt.md": "You square."},
    tool__square=SQUARE,
)


def model(request: Request) -> Reply | str:
    system = next((m.content for m in request.messages if m.role == "system"), "")
    last = request.messages[-1].content
    if system == "Lead.":
        if "done" in last:
            return json.dumps({"finished": True, "result": f"Answer: {last.rpartition('gave: ')[2]}"})
        number = "9" if "Your earlier answer" in last else "12"
        return json.dumps({"steps": [{"id": "s1", "agent": "coder", "task": f"square {number}"}]})
    assert system.startswith("You square.")
    results = [m.content for m in request.messages if m.role == "tool"]
    words = request.messages[1].content.split()
    return results[0] if results else Reply("", (ToolCall("1", "square", json.dumps({"n": int(words[1])})),))


async def test_a_team_answers_a_question_and_its_calls_are_the_attempts() -> None:
    solver = build(TEAM)
    assert isinstance(solver, TeamSolver)
    assert solver.needs_programs
    conversation = Conversation(Scripted(model), Solving())
    async with SandboxedPrograms(1) as programs:
        answer = await solver.attempt(Problem("12 squared?"), conversation, programs)
    assert (answer.text, answer.status, answer.calls) == ("Answer: 144", AnswerStatus.OK, 4)
    assert answer.usage.output_tokens
    assert [m.content for m in answer.messages if m.role == "assistant"][
        -1
    ] == '{"finished": true, "result": "Answer: 144"}'


async def test_a_team_refines_its_answer_in_rounds() -> None:
    conversation = Conversation(Scripted(model), Solving(rounds=2, feedback="verdict"))

    async def feedback(text: str) -> str:
        return "Your answer is wrong."

    async with SandboxedPrograms(1) as programs:
        answer = await build(TEAM).attempt(Problem("12 squared?"), conversation, programs, feedback)
    assert answer.rounds == ("Answer: 144", "Answer: 81")


@pytest.mark.parametrize("error", [ProviderError("server", "is down", transient=True), BudgetError("no tokens left")])
async def test_what_is_not_the_candidates_fault_ends_the_attempt(error: Exception) -> None:
    def failing(request: Request) -> Reply | str:
        if request.messages[0].content == "Lead.":
            return model(request)
        raise error

    class Down:
        name = "down"

        async def reply(self, request: Request) -> Reply:
            answered = failing(request)
            return answered if isinstance(answered, Reply) else Reply(answered)

    async with SandboxedPrograms(1) as programs:
        with pytest.raises(type(error)):
            await build(TEAM).attempt(Problem("x"), Conversation(Down(), Solving()), programs)


async def test_a_team_that_finds_no_answer_gives_none() -> None:
    conversation = Conversation(Scripted(lambda _: "I cannot plan."), Solving())
    async with SandboxedPrograms(1) as programs:
        answer = await build(TEAM).attempt(Problem("x"), conversation, programs)
    assert answer.status is AnswerStatus.TURNS
    assert "gave no plan that can be carried out" in answer.detail


async def test_a_team_has_the_attempts_seconds() -> None:
    class Slow:
        name = "slow"

        async def reply(self, request: Request) -> Reply:
            import asyncio

            await asyncio.Event().wait()
            raise AssertionError

    async with SandboxedPrograms(1) as programs:
        answer = await build(TEAM).attempt(Problem("x"), Conversation(Slow(), Solving(seconds=0.05)), programs)
    assert answer.status is AnswerStatus.TIMEOUT


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (candidate({}), "agents"),
        (candidate({"a": {"description": ""}}), "agents.a.description"),
        (candidate({"a": {"description": "x", "tools": ["squar"]}}, tool__square=SQUARE), "did you mean square"),
        (candidate({"a": {"description": "x", "asks": ["a"]}}), "unknown other agent 'a'"),
        (candidate({"planner": {"description": "x"}}), "cannot name an agent"),
        (
            candidate({"a-b": {"description": "x"}, "a.b": {"description": "x"}}),
            "agents.a.b: .* called ask_a_b, as a-b is",
        ),
        (Candidate({"agent/team": SourceTree({"agent.json": "{"})}), "is not JSON"),
        (Candidate({"agent/team": SourceTree({"agent.py": "x = 1"})}), "has no agent.json"),
    ],
)
def test_a_design_that_cannot_be_built_is_the_candidates_error(made: Candidate, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build(made)
