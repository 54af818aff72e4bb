"""Blocks that may change, edits of programs at their syntax trees, and constants inside of blocks."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from heredity._core.errors import ConfigError
from heredity.kinds.program.taskset import library_folder, task_folders
from heredity.methods.map_elites import edited
from heredity.methods.operators.constants import find_constants
from heredity.resources.evolve_blocks import applied, check_fixed, distance, fixed_text, open_lines, size_of

MARKED = """\
import math  # before

# EVOLVE-BLOCK-START
RATE = 0.5


def step(x):
    if x > 1.5:
        return x * RATE
    return x + 1
# EVOLVE-BLOCK-END
KEPT = 2.5
"""


def test_lines_between_marks_may_change_and_all_where_none_are() -> None:
    assert [list(block) for block in open_lines(MARKED)] == [list(range(4, 11))]
    assert [list(block) for block in open_lines("a\nb\n")] == [[1, 2, 3]]
    assert [c.value for c in find_constants(MARKED)] == [0.5, 1.5]


@pytest.mark.parametrize(
    "text", ["# EVOLVE-BLOCK-START\nx\n", "x\n# EVOLVE-BLOCK-END\n", MARKED + "# EVOLVE-BLOCK-END\n"]
)
def test_marks_without_a_partner_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="EVOLVE-BLOCK"):
        open_lines(text)


def test_edits_replace_what_stands_once_and_only_what_may_change() -> None:
    assert "RATE = 0.25" in applied(MARKED, [("RATE = 0.5", "RATE = 0.25")])
    for search, replace, said in [
        ("nowhere", "x", "0 times"),
        ("x", "y", "times in the program"),
        ("KEPT = 2.5", "KEPT = 3.5", "may change"),
        ("return x + 1\n# EVOLVE-BLOCK-END", "return x", "EVOLVE-BLOCK"),
    ]:
        with pytest.raises(ConfigError, match=said):
            applied(MARKED, [(search, replace)])


@pytest.mark.parametrize(
    "source", [MARKED, *(p.joinpath("program.py").read_text() for p in task_folders(library_folder()).values())]
)
def test_edits_are_valid_programs_that_differ_where_they_may(source: str) -> None:
    seen: set[str] = set()
    for seed in range(120):
        found = edited(np.random.default_rng(seed), source)
        assert found is not None
        text, name = found
        ast.parse(text)
        assert text != source
        check_fixed(source, text)
        assert fixed_text(text) == fixed_text(source)
        assert edited(np.random.default_rng(seed), source) == found
        seen.add(name)
    assert len(seen) >= 5


def test_a_function_of_another_program_takes_its_place() -> None:
    other = MARKED.replace("x * RATE", "x - RATE")
    found = edited(np.random.default_rng(0), MARKED, other)
    assert found is not None
    assert "x - RATE" in found[0]
    assert edited(np.random.default_rng(0), MARKED, MARKED) is None
    assert edited(np.random.default_rng(0), MARKED, "def step(:") is None


def test_programs_with_wide_letters_are_edited_where_they_stand() -> None:
    source = 'NAME = "äöü → ∞"\n\n\ndef f(größe):\n    return größe * 2 + 1.5\n'
    for seed in range(60):
        found = edited(np.random.default_rng(seed), source)
        assert found is not None
        ast.parse(found[0])


def test_size_and_distance() -> None:
    assert size_of("x = 1  # a comment\n") == 3
    assert distance(MARKED, MARKED) == 0
    assert 0 < distance(MARKED, MARKED.replace("0.5", "0.75")) < 0.2
    assert distance("a\n", "b\n") == 1
