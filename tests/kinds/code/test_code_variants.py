"""Variants of problems: the same task, and another answer than the one that is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kinds.code.files_of_users import HUMAN, write

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import CHECKER, library_folder, problem, problem_folders, read_problem, variant
from heredity.tasks.registry import taskset

NAMES = ("two-gates", "lantern-tree", "ledger-of-stamps", "sea-view", "spare-gloves")


@pytest.mark.parametrize("name", NAMES)
def test_a_variant_asks_for_another_answer_and_says_so(name: str) -> None:
    original, one, other = problem(name), problem(f"{name}@1"), problem(f"{name}@2")
    assert one.text(LANGUAGES["go"]) == problem(f"{name}@1").text(LANGUAGES["go"])
    assert one.text(LANGUAGES["go"]) != other.text(LANGUAGES["go"])
    assert len({original.digest, one.digest, other.digest}) == 3
    assert "is changed before it is returned" in one.statement
    assert [example.answer for example in one.examples] != [example.answer for example in original.examples]
    for example in one.examples:
        one.signature.encoded(example.case)
    if not original.signature.class_name:
        assert one.signature.function.name != original.signature.function.name
        parameters = [each.signature.function.parameters for each in (original, one)]
        assert sorted(map(str, parameters[0])) == sorted(map(str, parameters[1]))
        assert len(parameters[0]) == 1 or parameters[0] != parameters[1]
    assert {language.name for language, _ in one.accepted.values()} == {"python3"}


def test_every_problem_has_variants_with_other_answers_but_those_with_a_checker() -> None:
    for name, folder in problem_folders(library_folder()).items():
        original = read_problem(folder)
        if original.compare == CHECKER:
            with pytest.raises(ConfigError, match="has a checker and therefore no variants"):
                variant(original, "1")
            continue
        for seed in ("1", "2"):
            changed = variant(original, seed)
            assert [one.answer for one in changed.examples] != [one.answer for one in original.examples], name


def test_names_and_order_change_with_the_seed() -> None:
    found = {(problem(f"two-gates@{seed}").signature.function.name) for seed in range(12)}
    assert len(found) > 3
    with pytest.raises(UnknownNameError):
        problem("no-gates@3")


def test_a_row_of_a_file_has_no_variant(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", HUMAN)
    with pytest.raises(ConfigError, match="is a row of a file and has no variants"):
        taskset(f"code/{path}?whole=true&variant=3")


def test_a_taskset_gives_variants_and_keeps_the_splits() -> None:
    plain, fresh = (taskset(f"code/all?difficulty=hard&split=hidden{more}") for more in ("", "&variant=7"))
    names = [{str(task.spec["problem"]) for task in one.draw("heldout", 3, 1)} for one in (plain, fresh)]
    assert all(name.endswith("@7") for name in names[1])
    (task, *_) = taskset("code/all?problem=two-gates&language=go,java&whole=true&variant=7").draw("heldout", 2, 1)
    assert (task.spec["problem"], task.cluster) == ("two-gates@7", "two-gates")
    with pytest.raises(ConfigError, match="variant is '7/8'; give a seed of letters and digits"):
        taskset("code/all?variant=7/8")
