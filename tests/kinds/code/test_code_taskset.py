from __future__ import annotations

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.code.problem import library_folder, problem_folders, read_problem
from heredity.kinds.code.taskset import SHARES, presentation_of, split_of
from heredity.tasks.contract import SPLITS, Task
from heredity.tasks.registry import taskset


def drawn(name: str, split: str, entropy: int = 1) -> tuple[Task, ...]:
    tasks = taskset(name)
    for count in range(200):
        try:
            tasks.draw(split, count + 1, entropy)
        except ConfigError:
            return tasks.draw(split, count, entropy)
    raise AssertionError


def problems_of(*tasks: Task) -> set[str]:
    return {str(task.spec["problem"]) for task in tasks}


def test_every_problem_is_in_one_split_and_no_filter_moves_it() -> None:
    parts = {split: problems_of(*drawn("code/all", split)) for split in SPLITS}
    assert sum(map(len, parts.values())) == len(set().union(*parts.values())) == len(problem_folders(library_folder()))
    for filtered in ("difficulty=easy", "tag=graph", "language=cpp,go"):
        for split in SPLITS:
            assert problems_of(*drawn(f"code/all?{filtered}", split)) <= parts[split]
    assert problems_of(*drawn("code/all?split=hidden", "heldout")) == parts["heldout"]
    assert drawn("code/all?split=hidden", "train") == ()


def test_splits_are_stratified_by_difficulty() -> None:
    problems = [read_problem(folder) for folder in problem_folders(library_folder()).values()]
    by_name = split_of(problems)
    for difficulty in {one.difficulty for one in problems}:
        names = [one.name for one in problems if one.difficulty == difficulty]
        for split, share in SHARES.items():
            assert abs(sum(by_name[name] == split for name in names) - share * len(names)) < 1
    assert by_name == split_of(problems[::-1])


def test_a_task_names_what_is_to_be_written_and_nothing_hidden() -> None:
    first, second, *_ = drawn("code/all?language=python3,cpp&difficulty=easy", "train")
    assert first.cluster == second.cluster == first.spec["problem"]
    assert (first.attributes["language"], second.attributes["language"]) == ("python3", "cpp")
    assert first.spec["seed"] == second.spec["seed"]
    shown = presentation_of(second.spec)
    assert "C++ 17" in shown.instructions
    assert "```cpp" in shown.text
    assert str(first.spec["seed"]) not in shown.prompt
    other = {task.spec["problem"]: task.spec["seed"] for task in drawn("code/all?difficulty=easy", "train", 2)}
    assert other[first.spec["problem"]] != first.spec["seed"]


def test_ranks_are_measured_where_they_are_asked_for() -> None:
    (task,), (ranked,) = (taskset(name).draw("train", 1, 1) for name in ("code/all", "code/all?ranks=true"))
    assert "ranks" not in task.spec
    assert ranked.spec.keys() - task.spec.keys() == {"ranks"}
    assert ranked.spec["ranks"] is True
    assert "ranks" not in presentation_of(ranked.spec).prompt


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("code/all?language=cobol", "cobol"),
        ("code/all?difficulty=trivial", "trivial"),
        ("code/all?tag=knitting", "knitting"),
        ("code/all?tags=graph", "tag"),
        ("code/all?tag=", "is not an option"),
        pytest.param("code/all?" + "{" * 10_000, r"^code/all: '\{{60}' is not an option; write", id="long"),
        ("code/all?ranks=yes", "ranks is 'yes'; give true or false"),
        ("code/all?score=best", "give one of share, verdict"),
        ("code/all?problem=two-gate", "two-gates"),
        ("code/some", "code/all"),
    ],
)
def test_an_option_that_is_none_is_refused(name: str, said: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=said):
        taskset(name)
