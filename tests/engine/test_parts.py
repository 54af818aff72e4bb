from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.fakes import candidate, with_manifest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.actor import Problem
from heredity.engine.parts import fill, letter_of, read_parts, render
from heredity.resources import Candidate, SourceTree

NOTES = '{"text": "Read twice."}\n{"text": "Use {{question}} with care.", "from": 3}\n'


def test_memory_stands_where_the_prompt_wants_it() -> None:
    made = candidate(prompt_system="Begin.\n{{ memory }}\nEnd.", memory_rules=NOTES)
    assert read_parts(made).system == "Begin.\n- Read twice.\n- Use {{question}} with care.\nEnd."


def test_memory_without_a_place_follows_at_the_end() -> None:
    system = read_parts(candidate(prompt_system="Be brief.", memory_rules=NOTES)).system
    assert system.startswith("Be brief.\n\nNotes from earlier tasks:\n- Read twice.")


def test_several_memories_are_put_together_and_empty_ones_left_out() -> None:
    made = Candidate(
        {
            "memory/a": SourceTree({"memory.md": "First.\n", "memory.jsonl": '{"text": "Second."}'}),
            "memory/b": SourceTree({"memory.md": "\n"}),
            "memory/c": SourceTree({"memory.md": "Third."}),
        }
    )
    parts = read_parts(made)
    assert parts.system == "Notes from earlier tasks:\nFirst.\n\n- Second.\n\nThird."
    assert list(parts.memories) == ["a", "c"]


def test_an_empty_memory_leaves_no_trace() -> None:
    assert read_parts(candidate(prompt_system="Be brief.", memory_rules="")).system == "Be brief."
    assert read_parts(candidate(memory_rules="")).system == ""


def test_a_problem_is_rendered_with_its_options_and_instructions() -> None:
    problem = Problem("Which?", ("one", "two"), instructions="End with the letter.")
    assert render(problem) == "Which?\n\nA) one\nB) two\n\nEnd with the letter."
    assert letter_of(25) == "Z"
    assert letter_of(26) == "27"


def test_the_question_goes_into_its_template_or_after_it() -> None:
    problem = Problem("2+2?")
    assert read_parts(candidate()).question(problem) == "2+2?"
    assert read_parts(candidate(prompt_question="Q: {{question}}\nA:")).question(problem) == "Q: 2+2?\nA:"
    assert read_parts(candidate(prompt_question="Think.")).question(problem) == "Think.\n\n2+2?"


@given(st.text(), st.text())
def test_no_value_is_lost_and_none_is_filled_in_itself(template: str, value: str) -> None:
    assert value in fill(template, {"question": value})
    assert fill("{{a}}{{b}}", {"a": "{{b}}", "b": "x"}) == "{{b}}x"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"agent": SourceTree({"policy.py": ""})}, "'agent'"),
        ({"prompt/system": SourceTree({"other.md": "x"})}, "prompt.md"),
        ({"prompt/system": SourceTree({"prompt.md": " "})}, "empty"),
        ({"weights/x": SourceTree({"a": "b"})}, "weights"),
        ({"model/base": SourceTree({"model.json": "{}"})}, "model/base"),
        ({"agent/other": SourceTree({"agent.py": ""})}, "agent/other"),
        ({"agent/solver": SourceTree({"policy.py": ""})}, "agent.py"),
        ({"agent/solver": SourceTree({"agent.py": "def ("})}, "agent.py of .*line 1"),
        ({"tool/x": SourceTree({"tool.py": "def run(): ..."})}, "description"),
        ({"memory/x": SourceTree({"memory.jsonl": "nope"})}, "memory.jsonl:1"),
        ({"memory/x": SourceTree({"memory.jsonl": '{"text": "a"}\n["b"]'})}, "memory.jsonl:2"),
        ({"memory/x": SourceTree({"memory.jsonl": '{"note": "a"}'})}, "text"),
        ({"memory/x": SourceTree({"notes.md": "a"})}, "neither"),
    ],
)
def test_what_cannot_be_built_is_named(parts: dict[str, SourceTree], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_parts(Candidate(parts))


def test_the_style_is_one_of_two() -> None:
    made = candidate(prompt_system="Hi.", tool_add="def run(a: int): ...")
    assert "<action>" not in read_parts(made).system
    react = with_manifest(made, "prompt/system", parameters={"style": "react"})
    assert "<action>" in read_parts(react).system
    assert json.dumps({"type": "integer"}) in read_parts(react).system
    with pytest.raises(UnknownNameError, match="react"):
        read_parts(with_manifest(made, "prompt/system", parameters={"style": "reakt"}))
