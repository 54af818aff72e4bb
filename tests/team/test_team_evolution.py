"""A team that improves itself between rounds: what failed is found, mended, tried, committed or refused, and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.engine.actor import ProvidedTool, Solving
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import Solver
from heredity.models import Reply, Request, ToolCall, ToolSpec
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.design import EvolutionDesign, TeamParts, read_team
from heredity.team.evolution.evolving import Evolving
from heredity.team.evolution.generation import WRITE_SKILL, WRITE_TOOL, skill_part, tool_part, writing_tools
from heredity.team.evolution.trials import Case, Failure, FailureKind, Handled, Staff, failures
from heredity.team.participant import Context, Outcome
from heredity.team.team import Member, TeamResult, open_team

_WHAT = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
SPEC = ToolSpec("look", "Looks something up.", _WHAT)
OFFERED = frozenset({"look", WRITE_TOOL, WRITE_SKILL})


def team_of(
    prompt: str = "Guess.", *, tools: tuple[str, ...] | None = ("look",), **parts: Mapping[str, str]
) -> TeamParts:
    design = {
        "agents": {"reader": {"description": "reads", "turns": 3} | ({"tools": tools} if tools is not None else {})}
    }
    trees: dict[str, Mapping[str, str]] = {
        "agent/team": {"agent.json": json.dumps(design)},
        "prompt/reader": {"prompt.md": prompt},
        **{name.replace("__", "/"): files for name, files in parts.items()},
    }
    return read_team(Candidate({name: SourceTree(files) for name, files in trees.items()}), OFFERED)


def planner(request: Request) -> str:
    """Give one step a round, until a step gives a year."""
    last = request.messages[-1].content
    if "gave: 1883" in last:
        return '{"finished": true, "result": "1883"}'
    number = last.count("(reader)") + 1
    return json.dumps({"steps": [{"id": f"s{number}", "agent": "reader", "task": "In which year?"}]})


def reader(request: Request) -> Reply | str:
    """Look up what it is told to look up; without such words, ask for a tool that is not there until its turns are over."""
    system = request.messages[0].content if request.messages[0].role == "system" else ""
    results = [m.content for m in request.messages if m.role == "tool"]
    if "Look it up" not in system:
        return Reply("", (ToolCall("1", "look", json.dumps({"wat": len(results)})),))
    return results[0] if results else Reply("", (ToolCall("1", "look", '{"what": "year"}'),))


class Optimizer:
    """Answers the three requests of reflection; the texts that it proposes come one after the other, as they are refused."""

    name = "optimizer"

    def __init__(self, *texts: str, variable: str = "prompt/reader:prompt.md") -> None:
        self.texts, self.variable, self.asked = texts, variable, list[str]()

    async def reply(self, request: Request) -> Reply:
        said = request.messages[-1].content
        self.asked.append(said)
        if '"task": "reflect"' in said:
            return Reply(
                json.dumps({"hypotheses": [{"cause": "it guesses", "variables": [self.variable], "tasks": [0]}]})
            )
        if '"task": "select"' in said:
            return Reply(json.dumps({"selections": [{"variable": self.variable, "change": "x", "hypothesis": 0}]}))
        number = len(json.loads(said.split("```json\n")[1].split("\n```")[0])["rejected"])
        edit = {"variable": self.variable, "value": self.texts[min(number, len(self.texts) - 1)], "why": "to mend it"}
        return Reply(json.dumps({"edits": [edit], "expects": ""}))


async def at_work(
    folder: Path,
    team: TeamParts,
    optimizer: Any,
    model: Callable[[Request], Reply | str] = reader,
    *,
    plan: Callable[[Request], Reply | str] = planner,
    settings: EvolutionDesign | None = None,
    canaries: tuple[Case, ...] = (),
    programs: SandboxedPrograms | None = None,
    rounds: int = 4,
) -> tuple[TeamResult, Evolving]:
    async def look(arguments: Mapping[str, Any]) -> str:
        return "1883"

    def agent(made: TeamParts, name: str) -> SubAgent:
        def tools(context: Context) -> list[TeamTool]:
            written = list(writing_tools(programs, context).values()) if programs else []
            return [TeamTool(ProvidedTool(SPEC, look)), *written]

        turns = made.design.agents[name].turns
        return SubAgent(Solver(made.of_agent(name)), Scripted(model), tools, programs, Solving(max_turns=turns))

    evolving = Evolving(
        team,
        Staff(agent, Scripted(plan), OFFERED, rounds=rounds),
        settings or EvolutionDesign(),
        optimizer,
        programs,
        canaries=canaries,
    )
    members = {"reader": Member("reads", evolving.handler("reader"))}
    async with open_team(folder, members, evolving, rounds=rounds, between=evolving.between) as opened:
        evolving.join(opened.bus)
        return await opened.run("In which year was it built?"), evolving


def prompt_of(evolving: Evolving) -> str:
    return evolving.team.parts.prompts["reader"]


async def test_a_failed_step_is_mended_and_the_next_round_uses_what_was_committed(tmp_path: Path) -> None:
    optimizer = Optimizer("Look it up with the tool look.")
    result, evolving = await at_work(tmp_path, team_of(), optimizer)
    assert (result.answer, result.rounds) == ("1883", 2)
    (made,) = evolving.made
    assert made["accepted"]
    assert made["difference"] == 1.0
    assert made["parts"] == ["prompt/reader"]
    assert any("wrong format" in failure for failure in made["failures"])
    assert prompt_of(evolving) == "Look it up with the tool look."
    shown = optimizer.asked[0]
    assert "calls look({" in shown, "the optimizer is shown what was said and done"
    assert "prompt/planner" not in json.loads(shown.split("```json\n")[1].split("\n```")[0])["variables"]


async def test_a_team_that_went_well_is_left_alone(tmp_path: Path) -> None:
    optimizer = Optimizer("worse")
    result, evolving = await at_work(tmp_path, team_of("Look it up."), optimizer)
    assert result.rounds == 1
    assert (optimizer.asked, evolving.made) == ([], [])


async def test_edits_that_mend_nothing_are_refused_and_on_record(tmp_path: Path) -> None:
    optimizer = Optimizer("G.", "Guess more.")
    result, evolving = await at_work(tmp_path, team_of(), optimizer, rounds=1)
    assert result.outcome is Outcome.FAILED
    assert [made["accepted"] for made in evolving.made] == [False, False]
    # The first is shorter, for which alone the gate of a run would take it.
    assert evolving.made[0]["reason"] == "it mends nothing: scores the same, and is shorter"
    assert prompt_of(evolving) == "Guess."
    assert '"rejected": [\n  {\n   "round": 1' in optimizer.asked[-1], "what was refused is told to the optimizer"


async def test_an_edit_that_loses_an_earlier_task_is_refused(tmp_path: Path) -> None:
    """Right at first: the earlier task needs the words that the edit takes away."""

    def careful(request: Request) -> Reply | str:
        system = request.messages[0].content
        if "How old" in request.messages[-1].content or "How old" in request.messages[1].content:
            return "117" if "Subtract" in system else "dunno"
        return reader(request)

    def plan(request: Request) -> str:
        last = request.messages[-1].content
        if "How old was it" in last:
            if "gave: " in last:
                return json.dumps({"finished": True, "result": last.rpartition("gave: ")[2]})
            return '{"steps": [{"id": "s1", "agent": "reader", "task": "How old?"}]}'
        return planner(request)

    canary = Case("canary.1", "task", "", {"task": "How old was it in 2000?"}, "117")
    optimizer = Optimizer("Look it up.", "Look it up. Subtract where it is asked.")
    result, evolving = await at_work(
        tmp_path, team_of("Guess. Subtract."), optimizer, careful, plan=plan, canaries=(canary,)
    )
    assert result.answer == "1883"
    refused, accepted = evolving.made
    assert (refused["accepted"], accepted["accepted"]) == (False, True)
    assert "loses task 1, which must stay solved" in refused["reason"]
    assert prompt_of(evolving) == "Look it up. Subtract where it is asked."


async def test_a_failure_that_does_not_come_again_changes_nothing(tmp_path: Path) -> None:
    tries = list[str]()

    def moody(request: Request) -> Reply | str:
        tries.append("x")
        return reader(request) if len(tries) <= 3 else "1883"

    optimizer = Optimizer("Look it up.")
    result, evolving = await at_work(tmp_path, team_of(), optimizer, moody)
    assert result.answer == "1883"
    assert [made["what"] for made in evolving.made] == ["did not fail again"]
    assert (optimizer.asked, prompt_of(evolving)) == ([], "Guess.")


async def test_evolution_ends_with_its_attempts(tmp_path: Path) -> None:
    few = EvolutionDesign(attempts=2)
    result, evolving = await at_work(tmp_path, team_of(), Optimizer("Guess on."), settings=few, rounds=3)
    assert result.outcome is Outcome.FAILED
    assert evolving.made == []
    none = EvolutionDesign(attempts=0)
    _, idle = await at_work(tmp_path / "none", team_of(), Optimizer("Look it up."), settings=none, rounds=2)
    assert idle.made == []


async def test_a_team_that_goes_on_proposes_and_tries_nothing_again(tmp_path: Path) -> None:
    optimizer, texts = Optimizer("Guess more.", "Look it up."), ("Guess more.", "Look it up.")
    result, first = await at_work(tmp_path, team_of(), optimizer)
    assert [made["accepted"] for made in first.made] == [False, True]
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for cut in range(3, len(lines), 5):  # As if it had been killed after that line.
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        again = Optimizer(*texts)
        resumed, second = await at_work(folder, team_of(), again)
        assert (resumed.answer, resumed.rounds, second.made) == (result.answer, result.rounds, first.made)
        recorded = b"".join(lines[:cut]).count(b"#evolution-")
        assert recorded + len(again.asked) == len(optimizer.asked), "no reply of the optimizer is asked for twice"


async def test_a_planner_that_names_nobody_is_mended_and_a_resumed_team_looks_at_each_round_by_itself(
    tmp_path: Path,
) -> None:
    def plan(request: Request) -> str:
        said = request.messages[-1].content
        if "cannot be carried out" in said or "readers" in request.messages[0].content:
            return planner(Request(request.messages[:2]))
        return planner(request).replace('"reader"', '"raeder"')

    def reading(request: Request) -> Reply | str:
        return "1883" if "s2" in request.messages[-1].content or "again" in str(request.messages) else "dunno"

    def two(request: Request) -> str:
        return plan(request).replace(
            "In which year?", "again" if "after 1 rounds" in str(request.messages) else "first"
        )

    optimizer = Optimizer("Give steps to readers.", variable="prompt/planner:prompt.md")
    result, first = await at_work(tmp_path, team_of("Look it up."), optimizer, reading, plan=two)
    assert result.answer == "1883"
    (made,) = first.made
    assert (made["accepted"], made["parts"], made["step"]) == (True, ["prompt/planner"], "round1.plan")
    assert "missing capability: step s1: there is no agent 'raeder'" in made["failures"][0]
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (len(lines) // 2, len(lines) - 2):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        _, second = await at_work(folder, team_of("Look it up."), optimizer, reading, plan=two)
        assert second.made == first.made


# Tools and skills that agents write.

SQUARE = {
    "name": "square",
    "description": "Squares a number.",
    "code": "def run(n: int) -> int:\n    return n * n\n",
    "tests": [{"arguments": {"n": 3}, "returns": 9}, {"arguments": {"n": "x"}, "fails": True}],
}
SKILL = "---\nname: dating\ndescription: How to date bridges.\n---\n\nRead the stone at the pier.\n"


def writer(proposals: tuple[tuple[str, Mapping[str, Any]], ...], use: tuple[str, Mapping[str, Any]]) -> Any:
    """In the first round it writes, in the second it uses what it wrote, and answers with what that gave."""

    def model(request: Request) -> Reply | str:
        results = [m.content for m in request.messages if m.role == "tool"]
        if results:
            return results[-1]
        known = {tool.name for tool in request.tools}
        calls = [use] if use[0] in known - {WRITE_TOOL, WRITE_SKILL} else list(proposals)
        return Reply("", tuple(ToolCall(str(i), name, json.dumps(given)) for i, (name, given) in enumerate(calls)))

    return model


def two_rounds(request: Request) -> str:
    last = request.messages[-1].content
    if last.count("(reader), done") == 2:
        return json.dumps({"finished": True, "result": last.rpartition("gave: ")[2]})
    number = last.count("(reader)") + 1
    return json.dumps({"steps": [{"id": f"s{number}", "agent": "reader", "task": "12 squared?"}]})


async def written(folder: Path, proposals: Any, use: Any, **how: Any) -> tuple[TeamResult, Evolving]:
    tools = ("look", WRITE_TOOL, WRITE_SKILL)
    async with SandboxedPrograms(1) as programs:
        model = writer(proposals, use)
        team = how.pop("team", None) or team_of("You write tools.", tools=tools)
        return await at_work(folder, team, None, model, plan=two_rounds, programs=programs, **how)


async def test_a_tool_that_an_agent_writes_is_used_from_the_next_round_on_if_it_passes(tmp_path: Path) -> None:
    doubling = SQUARE | {"name": "wrong", "code": "def run(n: int) -> int:\n    return n + n\n"}
    reaching = SQUARE | {
        "name": "reaching",
        "code": "def run(n):\n    import socket\n    return socket.socket().fileno()\n",
    }
    failing = SQUARE | {"name": "not-failing", "tests": [{"arguments": {"n": 3}, "fails": True}]}
    taken = SQUARE | {"name": "look"}
    proposals = tuple((WRITE_TOOL, one) for one in (doubling, SQUARE, reaching, failing, taken))
    result, evolving = await written(tmp_path, proposals, ("square", {"n": 12}))
    assert result.answer == "144"
    made = {made["parts"][-1]: made for made in evolving.made if made["what"] == "written"}
    assert {name for name, one in made.items() if one["accepted"]} == {"tool/square"}
    assert made["tool/square"]["by"] == "reader"
    assert "it is to return 9, and returned 6" in made["tool/wrong"]["reason"]
    assert "it failed: " in made["tool/reaching"]["reason"]
    assert "it is to fail, and returned 9" in made["tool/not-failing"]["reason"]
    assert "has the name of a tool that the team provides" in made["tool/look"]["reason"]
    assert evolving.team.design.agents["reader"].tools == ("look", WRITE_TOOL, WRITE_SKILL, "square")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tests": [{"arguments": {"n": 3}}]}, "test 1: .* is no test"),
        ({"tests": []}, "no list of 1 to 20 tests"),
        ({"code": "def run(n:\n"}, "is not Python"),
        ({"code": "def walk(n): return n\n"}, "defines no function run"),
        ({"name": "Not A Name"}, "is no name of a resource"),
        ({"name": "../square"}, "is no name of a resource"),
        ({"description": ""}, "write 1 to 1024"),
    ],
)
def test_what_can_be_no_tool_is_said_at_once(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        tool_part(SQUARE | change)


async def test_a_tool_may_not_be_weakened_by_new_tests(tmp_path: Path) -> None:
    part = {
        "tool.py": SQUARE["code"],
        "contract.json": json.dumps(SQUARE["tests"]),
        "resource.json": '{"description": "Squares."}',
    }
    team = team_of("You write tools.", tools=("look", WRITE_TOOL, WRITE_SKILL), tool__square=part)  # type: ignore[arg-type]
    weaker = SQUARE | {"code": "def run(n): return 0\n", "tests": [{"arguments": {"n": 0}, "returns": 0}]}
    _, evolving = await written(tmp_path, ((WRITE_TOOL, weaker),), ("square", {"n": 12}), team=team)
    assert 'breaks its contract: with {"n": 3} it is to return 9, and returned 0' in evolving.made[0]["reason"]
    assert evolving.team.candidate.parts["tool/square"]["tool.py"] == str(SQUARE["code"]).encode()


async def test_a_skill_that_an_agent_writes_can_be_read_from_the_next_round_on(tmp_path: Path) -> None:
    result, evolving = await written(tmp_path, ((WRITE_SKILL, {"text": SKILL}),), ("read_skill", {"name": "dating"}))
    assert evolving.made[0]["accepted"]
    assert "Read the stone at the pier." in result.answer
    with pytest.raises(ConfigError, match="has no front matter"):
        skill_part("Read the stone.")


# Classes of failures.


def reply(text: str = "", *calls: tuple[str, str]) -> tuple[str, Any]:
    made = tuple(ToolCall(str(i), name, given) for i, (name, given) in enumerate(calls))
    return "model-0123456789ab-1", Reply(text, made).to_json()


OK = {"outcome": Outcome.OK, "answer": "1883"}
LOOK = ("look", '{"what": "year"}')


@pytest.mark.parametrize(
    ("handled", "kinds"),
    [
        (Handled({}, **OK, trace=[reply("1883")]), []),
        (Handled({}, **OK, trace=[reply("", ("jump", "{}"))]), [FailureKind.MISSING_CAPABILITY]),
        (Handled({}, **OK, trace=[reply("", ("look", "{"))]), [FailureKind.WRONG_FORMAT]),
        (Handled({}, **OK, trace=[reply("", LOOK)] * 3), [FailureKind.LOOP]),
        (Handled({}, Outcome.FAILED, "AgentFailedError: turns: x", trace=[reply("", LOOK)] * 3), [FailureKind.LOOP]),
        (Handled({}, Outcome.FAILED, "AgentFailedError: turns: x", trace=[reply("", LOOK)]), [FailureKind.BUDGET]),
        (Handled({}, Outcome.FAILED, "AgentFailedError: empty: x"), [FailureKind.WRONG_FORMAT]),
        (Handled({}, Outcome.TIMED_OUT, "no answer within 5 s"), [FailureKind.BUDGET]),
        (Handled({}, Outcome.FAILED, "OSError: the disk is gone"), []),
        (Handled({}, **OK, trace=[("look-{}-1", "error: not there")]), [FailureKind.TOOL_ERROR]),
        (Handled({}, **OK, trace=[("read-{}-1", "the words error: in a page")]), []),
        (Handled({}, Outcome.OK, answer="see http://a.example/x."), [FailureKind.UNSUPPORTED_CLAIM]),
        (Handled({}, Outcome.OK, answer="see a.pdf", trace=[("search-1", "[a.pdf, from 0] …")]), []),
        (Handled({}, Outcome.OK, answer="see a.pdf", trace=[('read-{"path": "a.pdf"}-1', "error: no document")]),
         [FailureKind.TOOL_ERROR, FailureKind.UNSUPPORTED_CLAIM]),
    ],
)  # fmt: skip
def test_failures_are_told_apart_by_the_trace(handled: Handled, kinds: list[FailureKind]) -> None:
    found = failures(Handled(**{**vars(handled), "specs": {"look": SPEC}}))
    assert [failure.kind for failure in found] == kinds


def test_a_failing_tool_of_the_team_is_at_fault_itself() -> None:
    result = {"error": "tool_error", "message": "ZeroDivisionError", "value": None}
    handled = Handled({}, Outcome.OK, answer="x", trace=[("program-abc-1", result)], programs={"abc": "square"})
    assert failures(handled) == [Failure(FailureKind.TOOL_ERROR, "square: tool_error: ZeroDivisionError", "square")]
