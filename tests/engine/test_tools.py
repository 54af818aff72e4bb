from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.fakes import InProcessPrograms, ListedModel

from heredity._core.errors import ConfigError, HostError
from heredity.engine.actor import Solving, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.tools import READ_SKILL, Tool, Toolbox, read_tool, specs_of
from heredity.models import ToolCall
from heredity.resources import SourceTree

ADD = "def run(left: int, right: int = 1) -> int:\n    return left + right\n"


def part(code: str, **manifest: Any) -> SourceTree:
    return SourceTree({"tool.py": code, "resource.json": json.dumps({"description": "Adds.", **manifest})})


def toolbox(*tools: Tool, programs: InProcessPrograms | None = None, **settings: Any) -> Toolbox:
    return Toolbox(tools, programs or InProcessPrograms(), Conversation(ListedModel([]), Solving(**settings)))


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall("c", name, arguments)


def test_parameters_come_from_the_signature() -> None:
    code = "def run(a: str, b: float, *, c: list[int] = (), d=None, e: dict = {}, f: bool): ..."
    assert read_tool("x", part(code)).parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "number"},
            "c": {"type": "array", "items": {"type": "integer"}},
            "d": {},
            "e": {"type": "object"},
            "f": {"type": "boolean"},
        },
        "required": ["a", "b", "f"],
        "additionalProperties": False,
    }


def test_a_manifest_says_more_than_the_signature() -> None:
    schema = {"type": "object", "properties": {"left": {"type": "integer", "minimum": 0}}, "required": ["left"]}
    tool = read_tool("add", part(ADD, arguments=schema))
    assert tool.parameters == schema
    assert tool.tree is not None
    assert "resource.json" not in tool.tree


@pytest.mark.parametrize(
    "code", ["x = 1\n", "def run(a, /): ...", "def run(*a): ...", "class A:\n    def run(self): ..."]
)
def test_a_tool_that_cannot_be_called_by_name_is_refused(code: str) -> None:
    with pytest.raises(ConfigError, match="tool/x"):
        read_tool("x", part(code))


async def test_a_result_is_shown_as_json() -> None:
    box = toolbox(read_tool("add", part(ADD)))
    assert await box.answer(call("add", '{"left": 2}')) == "3"
    assert box.conversation.tool_calls == 1


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("add", "{", "not JSON"),
        ("add", "[1]", "must be object"),
        ("add", "NaN", "not JSON"),
        ("add", "", "has no left"),
        ("add", '{"left": "2"}', "must be integer"),
        ("add", '{"left": true}', "must be integer"),
        ("add", '{"left": 1, "middle": 2}', "middle"),
        ("ad", "{}", "did you mean add"),
        ("", "{}", "there is no tool"),
        ("add", "[" * 100_000, "not JSON"),
    ],
)
async def test_wrong_calls_are_answered_in_words_and_run_nothing(name: str, arguments: str, said: str) -> None:
    programs = InProcessPrograms()
    answer = await toolbox(read_tool("add", part(ADD)), programs=programs).answer(call(name, arguments))
    assert answer.startswith("error: arguments: ")
    assert said in answer
    assert programs.calls == []


@given(st.text(max_size=60), st.text(max_size=200))
async def test_no_call_of_a_model_breaks_a_toolbox(name: str, arguments: str) -> None:
    assert isinstance(await toolbox(read_tool("add", part(ADD))).answer(call(name, arguments)), str)


async def test_a_tool_that_raises_shows_the_model_where() -> None:
    box = toolbox(read_tool("broken", part("def run():\n    return 1 / 0\n")))
    answer = await box.answer(call("broken", "{}"))
    assert answer.startswith("error: tool_error: ")
    assert "ZeroDivisionError" in answer
    assert "tool.py" in answer


async def test_long_output_is_cut_and_the_cut_is_said() -> None:
    box = toolbox(read_tool("loud", part("def run():\n    return 'x' * 1000\n")), tool_output_chars=100)
    answer = await box.answer(call("loud", "{}"))
    assert answer == '"' + "x" * 99 + "\n[cut: 902 of 1002 characters are not shown]"


async def test_calls_of_one_reply_run_at_the_same_time_and_keep_their_order() -> None:
    programs = InProcessPrograms()
    box = toolbox(read_tool("add", part(ADD)), programs=programs)
    answers = await box.answer_all([call("add", json.dumps({"left": i})) for i in range(40)])
    assert answers[:32] == [str(i + 1) for i in range(32)]
    assert all("not called" in answer for answer in answers[32:])
    assert len(answers) == 40
    assert programs.most_at_once > 1
    assert len(programs.calls) == 32


async def test_a_sandbox_that_fails_is_nobodys_result() -> None:
    box = toolbox(read_tool("add", part(ADD)), programs=InProcessPrograms(fail=HostError("gone")))
    with pytest.raises(HostError, match="gone"):
        await box.answer_all([call("add", '{"left": 1}')] * 3)


async def test_texts_alone_are_offered_as_one_tool_that_reads_them() -> None:
    text = "---\nname: units\ndescription: Converts.\n---\nOne inch is 2.54 cm.\n"
    skill = read_tool("units", SourceTree({"SKILL.md": text, "resource.json": '{"description": "Converts."}'}))
    box = toolbox(skill, read_tool("add", part(ADD)))
    specs = specs_of(box.tools)
    assert [s.name for s in specs] == ["add", READ_SKILL]
    assert specs[1].parameters["properties"]["name"]["enum"] == ["units"]
    assert "- units: Converts." in specs[1].description
    assert "2.54" in await box.answer(call(READ_SKILL, '{"name": "units"}'))
    assert "must be one of" in await box.answer(call(READ_SKILL, '{"name": "add"}'))
    assert "there is no tool" in await box.answer(call("units", "{}"))


async def test_every_text_of_a_skill_can_be_read() -> None:
    text = "---\nname: units\ndescription: Converts.\n---\nSee references/more.md.\n"
    files: dict[str, bytes | str] = {
        "SKILL.md": text,
        "references/more.md": "An ell is 45 inches.",
        "a.bin": b"\xff\x00",
    }
    box = toolbox(read_tool("units", SourceTree(files)))
    assert "references" in specs_of(box.tools)[0].parameters["properties"]["file"]["description"]
    assert "See references" in await box.answer(call(READ_SKILL, '{"name": "units"}'))
    assert "45 inches" in await box.answer(call(READ_SKILL, '{"name": "units", "file": "references/more.md"}'))
    assert "did you mean references/more.md" in await box.answer(
        call(READ_SKILL, '{"name": "units", "file": "reference/more.md"}')
    )
    assert "a.bin is not text; it has 2 bytes" in await box.answer(
        call(READ_SKILL, '{"name": "units", "file": "a.bin"}')
    )


async def test_without_a_sandbox_a_program_is_not_run_at_all() -> None:
    box = Toolbox([read_tool("add", part(ADD))], None, Conversation(ListedModel([]), Solving()))
    with pytest.raises(ConfigError, match="sandbox"):
        await box.answer(call("add", '{"left": 1}'))
    assert isinstance(await box.run("nope", {}), ToolResult)
