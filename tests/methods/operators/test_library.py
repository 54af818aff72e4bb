from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.sums import agent

from heredity._core.errors import ConfigError
from heredity.methods.operators.library import Entry, Library, Operation

WORDS = MappingProxyType({"add": "add", "refine": "change", "merge": "merge", "retire": "remove"})
PART = "memory/skillbook"
CHARS = 20_000


def library(size: int = 8, entry_chars: int = 40) -> Library:
    return Library(PART, WORDS, counted=True, size=size, entry_chars=entry_chars)


def book(*lines: Any) -> Any:
    return agent(memory__skillbook={"memory.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})


ENTRIES = [Entry("a", "Carry.", 2, 1, "sums"), Entry("b", "Check twice.", 0, 3), Entry("c", "Check again.", 1, 0)]


def test_ids_stay_when_texts_change_and_new_ones_name_the_round() -> None:
    operations = [Operation("add", (), "Be brief.", "style"), Operation("change", ("a",), "Carry over.")]
    updated = library().applied(ENTRIES, operations, 3, CHARS)
    assert [(e.id, e.text) for e in updated] == [
        ("a", "Carry over."),
        ("b", "Check twice."),
        ("c", "Check again."),
        ("r3-1", "Be brief."),
    ]
    assert (updated[0].helpful, updated[0].harmful, updated[0].section) == (2, 1, "sums")


def test_a_merge_keeps_the_first_and_adds_the_counts_up() -> None:
    (_, merged) = library().applied(ENTRIES, [Operation("merge", ("b", "c"), "Check.")], 1, CHARS)
    assert merged == Entry("b", "Check.", 1, 3)


def test_what_was_removed_is_passed_over_and_its_id_is_not_given_again_in_the_round() -> None:
    entries = [*ENTRIES, Entry("r2-1", "Old.")]
    operations = [
        Operation("remove", ("r2-1",)),
        Operation("change", ("r2-1",), "Older."),
        Operation("add", (), "New."),
    ]
    updated = library().applied(entries, operations, 2, CHARS)
    assert [e.id for e in updated] == ["a", "b", "c", "r2-2"]


def test_a_text_that_is_there_already_is_not_added_again() -> None:
    assert library().applied(ENTRIES, [Operation("add", (), "carry.")], 1, CHARS) == ENTRIES


def test_the_least_helpful_go_first_and_the_oldest_of_them() -> None:
    entries = [*ENTRIES, Entry("d", "One."), Entry("e", "Two.")]
    assert [e.id for e in library(size=4).applied(entries, [], 1, CHARS)] == ["a", "c", "d", "e"]
    assert [e.id for e in library(size=3).applied(entries, [], 1, CHARS)] == ["a", "c", "e"]
    assert len(library().applied(ENTRIES, [], 1, chars=100)) == 1
    assert library().applied(ENTRIES, [], 1, chars=10) == []


def test_what_others_have_written_is_read_and_gets_ids() -> None:
    given = book(
        {"text": "Carry."}, {"id": "x", "text": "Check.", "helpful": 3, "note": "?"}, {"id": "x", "text": "Go."}
    )
    assert library().read(given) == [Entry("line-1", "Carry."), Entry("x", "Check.", 3), Entry("line-3", "Go.")]
    assert library().read(agent()) == []
    assert library().read(agent(memory__skillbook={"memory.md": "Free text."})) == []


@pytest.mark.parametrize("line", [3, {"id": "x"}, ["text"]])
def test_a_line_without_a_text_is_named(line: Any) -> None:
    with pytest.raises(ConfigError, match=r"memory.jsonl:2 of memory/skillbook"):
        library().read(book({"text": "Carry."}, line))


def test_a_library_that_may_not_change_is_refused() -> None:
    frozen = {"memory.jsonl": "", "resource.json": json.dumps({"evolvable": False})}
    with pytest.raises(ConfigError, match="not evolvable"):
        library().read(agent(memory__skillbook=frozen))


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        (None, "expected a list"),
        ([{"do": "sing"}], "add, refine, merge, retire"),
        ([{"do": "retire", "id": "z"}], "the ids are a, b, c"),
        ([{"do": "merge", "ids": ["a", "a"], "text": "x"}], "merge is about"),
        ([{"do": "add", "text": "x" * 41}], "1 to 40 characters"),
        ([{"do": "refine", "id": "a", "text": " "}], "needs a"),
        (["add"], "an operation is 'add'"),
    ],
)
def test_operations_that_cannot_be_carried_out_are_named(operations: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        library().operations_in({"operations": operations}, ENTRIES)


def test_one_bad_operation_does_not_spoil_the_others() -> None:
    given = [{"do": "retire", "id": "z"}, {"do": "retire", "id": "a"}, {"do": "add", "text": "two\nlines"}]
    operations = library().operations_in({"operations": given}, ENTRIES)
    assert operations == [Operation("remove", ("a",)), Operation("add", (), "two lines")]
    assert library().operations_in({"operations": []}, ENTRIES) == []


operations_ = st.lists(
    st.builds(
        Operation,
        st.sampled_from(["add", "change", "merge", "remove"]),
        st.lists(st.sampled_from("abcd"), min_size=2, max_size=3).map(tuple),
        st.text(min_size=1, max_size=20).map(lambda t: " ".join(t.split()) or "x"),
    ),
    max_size=12,
)


@given(operations_, st.integers(1, 6), st.integers(10, 600))
def test_a_library_stays_within_its_bounds_with_one_id_each_and_reads_as_it_was_written(
    operations: list[Operation], size: int, chars: int
) -> None:
    kept = library(size=size)
    updated = kept.applied(ENTRIES, operations, 5, chars)
    assert len(updated) <= size
    assert len({e.id for e in updated}) == len(updated)
    assert kept.applied(ENTRIES, operations, 5, chars) == updated
    assert kept.read(book(*kept.shown(updated))) == updated
