from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, HostError, UnknownNameError
from heredity.engine.questions import Verification, verify
from heredity.engine.questions.generated import problem_of, score_in_child
from heredity.kinds.question.taskset import GENERATED, ReasoningTaskset, dataset_names
from heredity.tasks import SPLITS
from heredity.tasks.registry import taskset, taskset_names

pytest.importorskip("reasoning_gym")

NO_SINGLE_ANSWER = {"boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"}
SLOW = {
    *("arc_agi", "codeio", "figlet_font", "futoshiki", "group_anagrams", "knight_swap", "puzzle24", "quantum_lock"),
    *("intermediate_integration", "simple_integration", "sokoban", "spell_backward", "word_ladder", "zebra_puzzles"),
}
EVALUATED = {
    *("string_insertion", "spiral_matrix", "binary_matrix", "n_queens"),
    *("countdown", "puzzle24", "simple_integration", "intermediate_integration", "polynomial_multiplication"),
}


def marked(slow: Collection[str]) -> list[Any]:
    return [pytest.param(n, marks=pytest.mark.slow) if n in slow else n for n in dataset_names()]


@pytest.fixture(autouse=True)
def fixed_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")


def check(spec: Any, said: str) -> Verification:
    return asyncio.run(verify(spec, said))


def test_every_data_set_is_a_taskset():
    names = {name for name in taskset_names() if name.startswith(GENERATED)}
    assert len(names) > 100
    assert names == {GENERATED + name for name in dataset_names()}


@pytest.mark.parametrize("name", marked(slow=SLOW))
def test_the_reference_is_right_and_other_words_are_not(name: str):
    task = taskset(GENERATED + name).draw("train", 1, 5)[0]
    wrong = check(task.spec, "<answer>no idea, sorry</answer>")
    assert not wrong.correct
    assert 0 <= wrong.score < 1
    if name not in NO_SINGLE_ANSWER:
        right = check(task.spec, f"Let me see.\n<answer>{task.spec['answer']}</answer>")
        assert right.correct, right


def test_splits_are_disjoint_and_larger_draws_extend_smaller_ones():
    # Only few different questions exist: without the digests' rule the splits would share some.
    few = taskset(f"{GENERATED}chain_sum?min_terms=2&max_terms=2&min_digits=1&max_digits=1")
    drawn = {split: few.draw(split, 20, 3) for split in SPLITS}
    asked = [task.spec["question"] for split in SPLITS for task in drawn[split]]
    assert len(set(asked)) == 60
    assert all(few.draw(split, 7, 3) == drawn[split][:7] for split in SPLITS)
    other = {task.spec["question"] for task in few.draw("train", 20, 4)}
    assert not other & {task.spec["question"] for task in drawn["heldout"]}
    with pytest.raises(ConfigError, match="different questions"):
        few.draw("train", 2000, 3)


DRAW = "import sys; from heredity.tasks.registry import taskset as t; print([k.spec for k in t(sys.argv[1]).draw('heldout', 3, 9)])"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zebra_puzzles", "family_relationships", "word_ladder"])
def test_draws_are_the_same_in_every_process(name: str):
    shown: set[str] = set()
    for seed in ("0", "0") if name == "word_ladder" else ("1", "2"):
        command = [sys.executable, "-c", DRAW, GENERATED + name]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        shown.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(shown) == 1


def test_a_data_set_that_hashing_changes_needs_a_fixed_hash_seed(monkeypatch: pytest.MonkeyPatch):
    assert "hash seed 0" in taskset(GENERATED + "ransom_note").info.version
    monkeypatch.delenv("PYTHONHASHSEED")
    with pytest.raises(ConfigError, match="set PYTHONHASHSEED"):
        taskset(GENERATED + "ransom_note")


def test_options_are_part_of_the_name_and_of_the_questions():
    tasks = ReasoningTaskset("chain_sum", {"min_digits": 4, "max_digits": 4})
    assert tasks.info.name == f"{GENERATED}chain_sum?max_digits=4&min_digits=4"
    assert taskset(tasks.info.name).draw("train", 2, 0) == tasks.draw("train", 2, 0)
    assert tasks.info.family == "arithmetic"
    assert tasks.info.public["train_tasks"] is None
    assert check(tasks.draw("train", 1, 0)[0].spec, "Answer: 12").score < 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chain_sun", "chain_sum"),
        ("composite", "unknown data set"),
        ("chain_sum?min_digit=2", "min_digits"),
        ("chain_sum?seed=2", "unknown option"),
        ("chain_sum?min_digits=-2", "cannot generate"),
        ("chain_sum?min_digits=two", "cannot generate"),
    ],
)
def test_a_wrong_name_or_option_is_refused_with_what_would_be_right(name: str, message: str):
    with pytest.raises(ConfigError, match=message):
        taskset(GENERATED + name)
    if "sun" in name:
        with pytest.raises(UnknownNameError):
            taskset(GENERATED + name)


def test_a_question_that_this_version_does_not_generate_is_the_hosts_failure():
    spec = dict(taskset(GENERATED + "chain_sum").draw("train", 1, 0)[0].spec)
    with pytest.raises(HostError, match="another question"):
        check({**spec, "question": "What is 1 + 1?"}, "2")


def test_a_scorer_that_fails_by_itself_is_the_hosts_failure_but_not_an_answer_it_cannot_take(
    monkeypatch: pytest.MonkeyPatch,
):
    from reasoning_gym.factory import DATASETS

    spec = taskset(GENERATED + "chain_sum").draw("train", 1, 0)[0].spec

    def picky(self: Any, answer: str, entry: Any) -> float:
        return float(int(answer) == int(entry["answer"]))

    monkeypatch.setattr(DATASETS["chain_sum"][0], "score_answer", picky)
    assert check(spec, spec["answer"]).correct
    garbage = check(spec, "a lot")
    assert garbage.score == 0.0
    assert "cannot take" in garbage.reason

    for failure in (ValueError("broken"), OSError("no disk")):

        def broken(self: Any, answer: str, entry: Any, failure: Exception = failure) -> float:
            raise failure

        monkeypatch.setattr(DATASETS["chain_sum"][0], "score_answer", broken)
        with pytest.raises(HostError, match="scorer of chain_sum"):
            check(spec, "a lot")


def attacks(proof: Path) -> list[str]:
    call = f"open({str(proof)!r}, 'w')"
    hidden = f"__import__('pathlib').Path({str(proof)!r}).touch()"
    return [
        call,
        f"  {call}",
        hidden,
        f"[{hidden}]",
        f"[x for x in [{hidden}]]",
        f"(lambda: {call})()",
        f"5! + {hidden}",
        f"sin({hidden})",
        f"cos({hidden!r})",
        f"S({hidden!r})",
        f"sympify({hidden!r})",
        f"{{'a': {hidden}}}",
        f"f'{{{hidden}}}'",
    ]


@pytest.mark.parametrize("name", marked(slow={*dataset_names()} - EVALUATED))
def test_no_answer_is_ever_executed(name: str, tmp_path: Path):
    spec = taskset(GENERATED + name).draw("train", 1, 5)[0].spec
    proof = tmp_path / "executed"
    for attack in attacks(proof):
        assert not check(spec, f"<answer>{attack}</answer>").correct
        assert not proof.exists(), attack


@pytest.mark.parametrize("name", ["string_insertion", "countdown"])
def test_the_attacks_would_succeed_without_the_check(name: str, tmp_path: Path):
    import reasoning_gym

    data = reasoning_gym.create_dataset(name, seed=1, size=1)
    proof = tmp_path / "executed"
    for attack in attacks(proof):
        data.score_answer(attack, data[0])
    assert proof.exists()


def scorer(name: str) -> type:
    from reasoning_gym.factory import DATASETS

    return DATASETS[name][0]


def test_scorers_that_evaluate_answers_are_known_by_their_code():
    names = {name for name in dataset_names() if problem_of(scorer(name), "print(1)")}
    assert names >= EVALUATED
    assert {"chain_sum", "zebra_puzzles", "basic_arithmetic", "leg_counting"}.isdisjoint(names)


def test_answers_that_would_fill_memory_or_never_end_are_not_scored():
    for bomb in ("9**9**9**9", "x**(9*9*9*9)", "2**99999", "1" * 700, "(" * 300, "+".join(["x"] * 250), "sin(x, 2)"):
        assert problem_of(scorer("countdown"), bomb), bomb
    assert problem_of(scorer("n_queens"), "9**9**9**9")
    assert problem_of(scorer("coin_flip"), "1e999999999")
    spec = taskset(GENERATED + "sokoban").draw("train", 1, 5)[0].spec
    assert "too many to score" in check(spec, "L" * 30_000).reason


HARD = "log(sin(x)+cos(x)+tan(x)+exp(x)+sqrt(x)+sinh(x)+acos(x))**20/(1+x+x**7)"


@pytest.mark.slow
def test_a_formula_that_cannot_be_simplified_in_time_ends_without_points():
    data = (f"{GENERATED}simple_integration", "simple_integration")
    spec = taskset(data[0]).draw("train", 1, 5)[0].spec
    assert score_in_child(data[1], {}, spec["verifier"]["seed"], f"{spec['answer']} + 3 - 3") == 1.0
    assert problem_of(scorer(data[1]), HARD) == ""
    assert score_in_child(data[1], {}, 3, HARD, cpu_seconds=4) is None


def test_a_stopped_scorer_means_a_wrong_answer(monkeypatch: pytest.MonkeyPatch):
    answers: list[str] = []

    def stopped(dataset: str, options: Any, seed: int, answer: str) -> float | None:
        answers.append(answer)
        return None if answer == HARD else 1.0

    monkeypatch.setattr("heredity.engine.questions.generated.score_in_child", stopped)
    result = check(taskset(GENERATED + "simple_integration").draw("train", 1, 5)[0].spec, f"<answer>{HARD}</answer>")
    assert (result.score, result.correct) == (0.0, False)
    assert "comes to no end" in result.reason
    assert len(answers) == 2, "the reference was tried too"
    monkeypatch.setattr("heredity.engine.questions.generated.score_in_child", lambda *given: None)
    with pytest.raises(HostError, match="fails on the reference"):
        check(taskset(GENERATED + "simple_integration").draw("train", 1, 5)[0].spec, f"<answer>{HARD}</answer>")


def test_an_answer_that_breaks_a_scorer_in_any_way_is_wrong(monkeypatch: pytest.MonkeyPatch):
    from reasoning_gym.factory import DATASETS

    spec = taskset(GENERATED + "chain_sum").draw("train", 1, 0)[0].spec

    def fragile(self: Any, answer: str, entry: Any) -> float:
        if answer != entry["answer"]:
            raise OSError("a file named after the answer")
        return 1.0

    monkeypatch.setattr(DATASETS["chain_sum"][0], "score_answer", fragile)
    assert check(spec, spec["answer"]).correct
    assert check(spec, "7").score == 0.0


@pytest.mark.slow
def test_a_process_that_cannot_score_is_the_hosts_failure():
    with pytest.raises(HostError, match="failed in its process"):
        score_in_child("no_such_data_set", {}, 0, "1")


def test_plain_expressions_and_values_are_scored():
    for fine in ("(3 + 4)*5 - 6/2", "x**2/2 + C", "-log(Abs(cos(x))) + C", "2*exp(x**2)", "sqrt(x)", "x**(1/2)", "pi"):
        assert problem_of(scorer("simple_integration"), fine) == "", fine
    for fine in ("['a', 'b']", "[[0, 1], [1, 0]]", "1 2 3 4", "ABCDE", "_ Q _ _\n_ _ _ Q", "-3"):
        assert problem_of(scorer("spiral_matrix"), fine) == "", fine


def test_partial_credit_of_a_scorer_is_kept_but_is_not_right():
    spec = taskset(GENERATED + "spiral_matrix").draw("train", 1, 0)[0].spec
    result = check(spec, str([int(n) for n in spec["answer"].split()]))
    assert (result.score, result.correct) == (0.1, False)
