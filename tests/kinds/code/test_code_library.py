"""What the library of programming problems promises: how many problems, and what each comes with."""

from __future__ import annotations

from collections import Counter

import pytest

from heredity.kinds.code.check import WRONG
from heredity.kinds.code.problem import CHECKER, Problem, library_folder, problem_folders, read_problem
from heredity.kinds.code.ranks import LEAST

FIVE = {"python3", "cpp", "java", "go", "kotlin"}


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    return [read_problem(folder) for folder in problem_folders(library_folder()).values()]


def references(one: Problem) -> set[str]:
    """The languages in which it has its reference."""
    names = {path.rpartition("/")[2]: language.name for path, (language, _) in one.accepted.items()}
    return {language for name, language in names.items() if name.startswith("reference.")}


def test_there_are_120_problems_of_three_difficulties_and_many_kinds(problems: list[Problem]) -> None:
    counts = Counter(one.difficulty for one in problems)
    assert len(problems) >= 120
    assert (counts["easy"] >= 40, counts["medium"] >= 50, counts["hard"] >= 30) == (True, True, True), counts
    tags = Counter(tag for one in problems for tag in one.tags)
    assert sum(count >= 3 for count in tags.values()) >= 15
    assert sum(one.compare == CHECKER for one in problems) >= 2


def test_thirty_references_are_there_in_every_language(problems: list[Problem]) -> None:
    assert sum(references(one) >= FIVE for one in problems) >= 30


def test_every_problem_has_what_judging_and_ranks_take(problems: list[Problem]) -> None:
    for one in problems:
        python = [path for path, (language, _) in one.accepted.items() if language.name == "python3"]
        assert len(python) >= LEAST, one.name
        # Where others are stored in a language, its reference is as well: ranks there are ratios to it.
        assert references(one) == {language.name for language, _ in one.accepted.values()}, one.name
        wrong = [path for path in one.rejected if path.startswith("wrong/")]
        slow = [path for path in one.rejected if path.startswith("slow/")]
        assert len(wrong) >= WRONG, one.name
        assert slow or one.no_slow, one.name
        assert one.examples, one.name
