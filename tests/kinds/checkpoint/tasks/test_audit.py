"""Whether held-out items can be listed, or stand in what an agent is given: the audit of tasks, and of texts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.ids import generator
from heredity.cli.main import app
from heredity.kinds.checkpoint.tasks import overlap as audit
from heredity.kinds.checkpoint.tasks import posttraining_task
from heredity.kinds.checkpoint.tasks.contract import ENUMERABLE, PostTrainingTask
from heredity.kinds.checkpoint.tasks.overlap import AuditCheck, HiddenTexts, OwnTexts, Verdict, audit_task
from heredity.kinds.checkpoint.tasks.registry import view_texts
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset

SOUND = (
    *("arithmetic", "arithmetic-hard", "rewriting", "text-game"),
    *("commands", "shop", "search", "preference", "preference-judged"),
)


def few_items(space: int = 800, stated: int | None = None) -> PostTrainingTask:
    """Return a task with so few items that an agent could list them; it says how many, or as many as stated."""
    task = posttraining_task("text-game").parts[0]
    levels = [{"level": f"@{number:05}"} for number in range(space)]

    def deal(entropy: int) -> Mapping[str, Sequence[Mapping[str, str]]]:
        dealt = [levels[i] for i in generator(entropy, "tests", "deal").permutation(space)]
        return {"validation": dealt[:150], "heldout": dealt[150:350], "train": dealt[350:]}

    return replace(task, inner=DealtTaskset(task.inner.info, deal), space=stated or space)


def heldout_items(task: PostTrainingTask, entropy: int = 0) -> tuple[str, ...]:
    return view_texts(task, entropy, {"heldout": task.heldout})["heldout"]


def found(checks: tuple[AuditCheck, ...]) -> dict[str, str]:
    return {check.name: check.reason for check in checks if check.verdict is Verdict.FOUND}


def planted(monkeypatch: pytest.MonkeyPatch, task: PostTrainingTask, files: Mapping[str, str]) -> dict[str, str]:
    """Audit a task whose materials have more files."""
    more = {path: text.encode() for path, text in files.items()}
    changed = replace(task, materials=lambda entropy: {**task.materials(entropy), **more})
    monkeypatch.setattr(audit, "posttraining_task", lambda name: changed)
    return found(audit_task(task.name))


@pytest.mark.parametrize("name", SOUND)
def test_shipped_tasks_can_neither_be_listed_nor_met(name: str) -> None:
    task = posttraining_task(name)
    assert isinstance(task, PostTrainingTask)
    assert task.space is not None
    assert task.space >= ENUMERABLE
    assert found(audit_task(name)) == {}
    assert not any("enumerable" in label for label in task.labels)


def test_a_task_of_few_items_is_labelled_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    task = few_items()
    assert set(planted(monkeypatch, task, {})) == {"items in all", "drawn again"}
    assert any(label.startswith("enumerable: ") for label in task.labels)


def test_whoever_makes_a_hundred_thousand_sums_meets_few_that_are_held_out() -> None:
    numbers = generator(3, "tests", "enumerating")
    made = {
        f"{a}+{b}="
        for a, b in zip(numbers.integers(10**5, 10**6, 100_000), numbers.integers(10, size=100_000), strict=True)
    }
    heldout = heldout_items(posttraining_task("arithmetic"), 7)
    assert sum(item in made for item in heldout) < 10


def test_a_task_that_states_more_items_than_it_draws_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    boasting = few_items(stated=10**9)
    assert boasting.labels == ()
    said = planted(monkeypatch, boasting, {})["drawn again"]
    assert "and the task states 1000000000" in said


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("arithmetic", '{{"text": "Q: {0}\\nA: 7"}}'),
        ("arithmetic", "x,{0}12,3"),
        ("rewriting", "answers['{0}'] = 'abc'"),
        ("text-game", "LEVEL = `{0}`"),
        ("commands", '{{"messages": [{{"content": "{0}"}}]}}'),
    ],
)
def test_a_held_out_item_in_the_middle_of_a_file_is_found(
    task: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = posttraining_task(task).parts[0]
    item = heldout_items(chosen)[3]
    said = planted(monkeypatch, chosen, {"notes/more.txt": f"a\n{line.format(item)}\nb"})
    assert "1 of " in said["in the materials"]
    assert "heldout items stand in what an agent is given (notes/more.txt)" in said["in the materials"]


def test_a_text_with_a_word_changed_is_a_near_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = posttraining_task("shop").parts[0]
    item = max(heldout_items(chosen), key=lambda text: len(text.split()))
    words = [*item.upper().split(), "please"]
    said = planted(monkeypatch, chosen, {"data/more.jsonl": json.dumps({"prompt": " ".join(words)})})
    assert "near duplicates" in said
    assert "in the materials" not in said


def test_the_command_names_what_it_found_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    few = few_items()
    monkeypatch.setattr(audit, "posttraining_task", lambda name: few if "text" in name else posttraining_task(name))
    done = CliRunner().invoke(app, ["tasks", "audit", "posttraining/text-game", "--json"])
    assert done.exit_code == 1
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["items in all"]["verdict"] == "found"
    assert checks["in the materials"]["verdict"] == "passed"
    told = CliRunner().invoke(app, ["tasks", "audit", "posttraining/arithmetic"])
    assert (told.exit_code, "9000000 are stated" in told.stdout) == (0, True)


HIDDEN = HiddenTexts({"graded": ["12+3=", "4+5="], "heldout": [".k.@", "Where is “the key” kept?", "12+3=", ""]})


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("412+3=", set()),
        ("12+3=15", {("graded", 0), ("heldout", 2)}),
        ('{"prompt": "4+5="}', {("graded", 1)}),
        ("..k.@.", {("heldout", 0)}),
        (". k.@", set()),
        ('["Where is \\u201cthe\\nkey\\u201d  kept?"]', {("heldout", 1)}),
        ("x" * 70_000 + " 4+5=\n" + "y " * 70_000 + "12+3=", {("graded", 0), ("graded", 1), ("heldout", 2)}),
        ("a " * 32_767 + "12+3=", {("graded", 0), ("heldout", 2)}),
        ("", set()),
    ],
)
def test_an_item_is_met_where_its_words_and_signs_stand_in_a_row(text: str, met: set[tuple[str, int]]) -> None:
    assert HIDDEN.met_in(text) == met


def test_own_texts_are_read_once_and_what_is_no_plain_text_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "given.txt").write_text("12+3=")
    (tmp_path / "code" / "deep").mkdir(parents=True)
    (tmp_path / "code" / "deep" / "a.py").write_text("x = '4+5='")
    (tmp_path / "code" / "model.bin").write_bytes(b"\0" * 100 + b"12+3=")
    os.mkfifo(tmp_path / "code" / "pipe")
    (tmp_path / "code" / "link").symlink_to("/dev/zero")
    (tmp_path / "code" / "to").symlink_to(tmp_path / "data")
    texts = OwnTexts(tmp_path, HIDDEN, skip=("data",))
    met = texts.look()
    assert (met.items, met.files, met.texts, met.unread) == (
        {"graded": {1}, "heldout": set()},
        ["code/deep/a.py"],
        1,
        1,
    )
    (tmp_path / "code" / "deep" / "a.py").unlink()
    (tmp_path / "b.txt").write_text(".k.@")
    met = texts.look()
    assert (met.items, met.files) == ({"graded": {1}, "heldout": {0}}, ["code/deep/a.py", "b.txt"])
    for number in range(8):
        assert texts.look().texts == 1, number


def test_files_beyond_the_bounds_are_counted_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.kinds.checkpoint.tasks.overlap.MAX_BYTES", 10)
    (tmp_path / "a.txt").write_text("4+5=")
    (tmp_path / "b.txt").write_text("12+3= and more")
    met = OwnTexts(tmp_path, HIDDEN).look()
    assert (met.items["graded"], met.texts, met.unread) == ({1}, 1, 1)
