from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.fakes import InProcessPrograms, ListedModel, SlowModel, calling, candidate, provider_error

from heredity._core.errors import BudgetError, ConfigError, HostError, ProviderError
from heredity.engine.actor import Answer, Problem, Solving, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.solver import build
from heredity.models import Message

PROBLEM = Problem("Which?", ("one", "two"), instructions="Give the letter.")
ASK = """\
from heredity_guest import ask

def say(text):
    return ask("model", {"messages": [{"role": "user", "content": text}]})["text"]

"""
ADD = "def run(left: int, right: int):\n    return left + right\n"


def program(body: str, **parts: str) -> Any:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return candidate(agent_solver=f"{ASK}def solve(problem, host):\n{lines}", **parts)


async def solve(made: Any, model: Any, programs: Any = None, **settings: Any) -> Answer:
    return await build(made).solve(PROBLEM, model, Solving(**settings), programs or InProcessPrograms())


async def test_a_program_drives_the_conversation() -> None:
    model = ListedModel(["B, I think", "B"])
    answer = await solve(program("say(problem['question'])\nreturn say('Only the letter.')"), model)
    assert (answer.text, answer.status, answer.calls) == ("B", "ok", 2)
    assert model.asked[0].messages[0].content == "Which?\n\nA) one\nB) two\n\nGive the letter."
    assert [m.content for m in answer.messages] == [
        model.asked[0].messages[0].content,
        "B, I think",
        "Only the letter.",
        "B",
    ]


async def test_a_program_gets_the_other_parts() -> None:
    made = program(
        "import json\nreturn json.dumps([problem, host])",
        prompt_system="Be kind.",
        memory_a='{"text": "note"}',
        tool_add=ADD,
    )
    problem, host = json.loads((await solve(made, ListedModel([]))).text)
    assert problem["choices"] == ["one", "two"]
    assert host["prompts"] == {"system": "Be kind."}
    assert host["memories"] == {"a": "- note"}
    assert host["tools"][0]["name"] == "add"
    assert host["tools"][0]["parameters"]["required"] == ["left", "right"]
    assert host["round"] == 1


async def test_a_program_runs_tools_and_shows_a_model_their_results() -> None:
    code = """\
messages = [{'role': 'user', 'content': problem['text']}]
reply = ask('model', {'messages': messages, 'tools': host['tools']})
call = reply['tool_calls'][0]
import json
result = ask('tool', {'name': call['name'], 'arguments': json.loads(call['arguments'])})
messages += [{'role': 'assistant', 'content': reply['text'], 'tool_calls': reply['tool_calls']},
             {'role': 'tool', 'content': str(result['value']), 'tool_call_id': call['id']}]
wrong = ask('tool', {'name': 'add', 'arguments': {}})
return ask('model', {'messages': messages})['text'] + '/' + wrong['error']"""
    model = ListedModel([calling(("add", {"left": 1, "right": 2})), "3"])
    answer = await solve(program(code, tool_add=ADD), model)
    assert answer.text.startswith("3/arguments: add has no left")
    assert answer.tool_calls == 2
    assert model.asked[0].tools[0].name == "add"
    assert model.asked[1].messages[2] == Message("tool", "3", tool_call_id="c0")
    # What the second request repeats is on record once.
    assert [m.role for m in answer.messages] == ["user", "assistant", "tool", "assistant", "assistant"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("return 1 / 0", "program_error", "ZeroDivisionError"),
        ("return 42", "program_error", "expected the answer as text"),
        ("return ''", "empty", "empty"),
        ("ask('model', {'messages': []})", "program_error", "at least one"),
        ("ask('model', {'messages': [{'role': 'boss', 'content': ''}]})", "program_error", "boss"),
        ("ask('model', {'messages': [{'role': 'tool', 'content': ''}]})", "program_error", "tool_call_id"),
        ("ask('model', {'messages': [{'role': 'user', 'content': 3}]})", "program_error", "content"),
        ("ask('model', {'messages': [{'role': 'user', 'images': [3]}]})", "program_error", "image"),
        ("ask('model', {'messages': 'hi'})", "program_error", "messages"),
        ("ask('model', 'hi')", "program_error", "JSON object"),
        ("ask('tool', {'name': 3})", "program_error", "name"),
        ("ask('tool', None)", "program_error", "JSON object"),
        ("ask('model', {'messages': [{'role': 'user'}], 'tools': ['add']})", "program_error", "JSON object"),
    ],
)
async def test_a_program_that_fails_is_told_why(body: str, status: str, said: str) -> None:
    answer = await solve(program(body), ListedModel([]))
    assert answer.status == status
    assert said in answer.detail
    if "ZeroDivision" in said:
        assert "agent.py" in answer.notes[-1]


async def test_model_calls_of_a_program_are_bounded() -> None:
    model = ListedModel(["x"] * 10)
    answer = await solve(program("while True:\n    say('more')"), model, max_turns=3)
    assert len(model.asked) == 3
    assert answer.status == "turns"
    assert "used up" in answer.detail
    forgiving = program("for i in range(9):\n    try: say('more')\n    except Exception: return 'enough'")
    assert (await solve(forgiving, ListedModel(["x"] * 10), max_turns=3)).text == "enough"


@pytest.mark.parametrize(
    "error",
    [
        provider_error("server"),
        provider_error("auth"),
        BudgetError("spent"),
        HostError("gone"),
        ConfigError("this model cannot call tools"),
    ],
    ids=repr,
)
async def test_a_program_cannot_hide_that_the_host_failed(error: Exception) -> None:
    hiding = program("try: say('x')\nexcept BaseException: return 'B'")
    with pytest.raises(type(error)):
        await solve(hiding, ListedModel([error]))


async def test_a_picture_that_the_model_cannot_take_is_the_programs_own_matter() -> None:
    shown = {"messages": [{"role": "user", "content": "x", "images": [["image/png", "aGk="]]}]}
    made = program(f"try: return ask('model', {shown!r})['text']\nexcept Exception as error: return str(error)")
    answer = await solve(made, ListedModel([ConfigError("no pictures")]))
    assert answer.status == "ok"
    assert "no pictures" in answer.text


async def test_a_conversation_that_is_too_long_is_the_programs_own_matter() -> None:
    made = program("try: return say('x' * 9)\nexcept Exception: return say('x')")
    answer = await solve(made, ListedModel([provider_error("context", transient=False), "B"]))
    assert (answer.text, answer.status) == ("B", "ok")


async def test_a_program_that_hangs_on_its_model_is_ended() -> None:
    assert (await solve(program("return say('x')"), SlowModel(), seconds=0.1)).status == "timeout"


async def test_a_sandbox_that_reports_a_timeout_gives_one() -> None:
    class Late(InProcessPrograms):
        async def call(self, *_: Any, **__: Any) -> ToolResult:
            return ToolResult(error="timeout", message="the call took more than 1 s")

    assert (await solve(program("return 'B'"), ListedModel([]), Late())).status == "program_timeout"


async def test_a_program_runs_once_for_each_round_and_is_told_of_the_last() -> None:
    made = program("return host['previous']['answer'] + str(host['round']) + host['previous']['feedback'][:2]")

    async def feedback(text: str) -> str | None:
        return "no" if len(text) < 5 else None

    conversation = Conversation(ListedModel([]), Solving(rounds=3, feedback="verdict"))
    answer = await build(made).attempt(PROBLEM, conversation, InProcessPrograms(), feedback)
    assert answer.rounds == ("1", "12Go", "12Go3Go")


async def test_an_answer_of_the_programs_own_is_on_record() -> None:
    answer = await solve(program("say('x')\nreturn 'B'"), ListedModel(["A"]))
    assert [m.content for m in answer.messages] == ["x", "A", "B"]
    assert answer.calls == 1


async def test_provider_errors_reach_the_caller_as_they_are() -> None:
    with pytest.raises(ProviderError, match="rate_limit"):
        await solve(program("return say('x')"), ListedModel([provider_error("rate_limit")]))
