from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import canonical_json
from heredity.engine.questions import Question, present, verify
from heredity.engine.questions.contract import letter_of
from heredity.engine.questions.pools import Pool, PoolTaskset, shared_out, shuffled
from heredity.kinds.question.benchmarks import read_gpqa
from heredity.kinds.question.files import read_pool
from heredity.kinds.question.taskset import MixedTaskset
from heredity.tasks import SPLITS
from heredity.tasks.registry import taskset

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the benchmarks' files are not beside the project")


def made(count: int) -> list[Question]:
    return [Question(f"What is {i}?", str(i), {"kind": "numeric"}) for i in range(count)]


STOCK = PoolTaskset(
    "questions/made",
    lambda: Pool(shared_out(made(30), {"train": 0.5, "validation": 0.2, "heldout": 0.3}), "Made.", "ours", "x"),
)


@given(st.integers(0, 2**256), st.integers(0, 3), st.integers(0, 3))
def test_a_larger_draw_extends_a_smaller_one_and_splits_are_disjoint(entropy: int, few: int, more: int):
    drawn = {split: STOCK.draw(split, few + more, entropy) for split in SPLITS}
    asked = [task.spec["question"] for split in SPLITS for task in drawn[split]]
    assert len(set(asked)) == len(asked)
    assert all(STOCK.draw(split, few, entropy) == drawn[split][:few] for split in SPLITS)
    assert all(task.id == f"{split}/{i}" and task.index == i for split in SPLITS for i, task in enumerate(drawn[split]))


def test_another_entropy_gives_another_order_of_the_same_questions():
    one, other = ([t.spec["question"] for t in STOCK.draw("train", 15, entropy)] for entropy in (1, 2))
    assert one != other
    assert sorted(one) == sorted(other)


def test_more_than_there_is_or_an_unknown_split_is_refused():
    with pytest.raises(ConfigError, match="it has 6 questions"):
        STOCK.draw("validation", 7, 0)
    with pytest.raises(ConfigError, match="-1 tasks"):
        STOCK.draw("validation", -1, 0)
    with pytest.raises(UnknownNameError, match="heldout"):
        STOCK.draw("held-out", 1, 0)


@given(st.integers(0, 60), st.floats(0, 1))
def test_shares_are_exact_and_leave_no_question_out(count: int, share: float):
    parts = shared_out(made(count), {"train": share, "heldout": 1 - share})
    assert [len(parts["train"]), len(parts["heldout"])] == [round(share * count), count - round(share * count)]
    assert {q.text for part in parts.values() for q in part} == {q.text for q in made(count)}


def test_splits_that_share_a_question_are_refused():
    both = PoolTaskset("questions/both", lambda: Pool({"train": made(1), "heldout": made(1)}, "", "", ""))
    with pytest.raises(ConfigError, match="train and heldout"):
        both.draw("train", 1, 0)


def test_the_info_is_that_of_questions_and_changes_with_an_answer():
    info = STOCK.info
    assert (info.kind, info.failure_return, info.group, info.family) == ("question", 0.0, "questions", "x")
    assert info.public["train_tasks"] == 15
    assert info.public["hidden"] == "ours"
    assert canonical_json(dict(info.public))
    wrong = [*made(29), Question("What is 29?", "30", {"kind": "numeric"})]
    other = PoolTaskset(
        "x", lambda: Pool(shared_out(wrong, {"train": 0.5, "validation": 0.2, "heldout": 0.3}), "", "", "")
    )
    assert other.info.version != info.version


def test_a_question_survives_its_spec_and_shows_no_secret():
    question = Question("Which?", "B", {"kind": "choice"}, ("x", "y"), "Say.", (("image/png", b"\x89"),), {"a": [1]})
    spec = json.loads(canonical_json(question.to_spec()))
    assert Question.from_spec(spec) == question
    shown = present(spec)
    assert (shown.text, shown.choices, shown.images) == ("Which?", ("x", "y"), (("image/png", b"\x89"),))
    assert shown.prompt == "Which?\n\nA) x\nB) y\n\nSay."
    assert not hasattr(shown, "answer")
    assert "'B'" not in repr(question)


@given(st.integers(0, 2**64), st.integers(0, 3))
def test_shuffling_options_keeps_the_right_one_right(entropy: int, right: int):
    options = ("w", "x", "y", "z")
    question = shuffled(Question("Which?", "ABCD"[right], {"kind": "choice"}, options), entropy)
    assert question.choices["ABCD".index(question.answer)] == options[right]
    assert sorted(question.choices) == list(options)


@pytest.mark.parametrize(("answer", "letter"), [("b", "B"), ("B", "B"), ("Oslo", "B"), (" Oslo ", "B")])
def test_the_right_option_is_named_by_letter_or_text(answer: str, letter: str):
    assert letter_of(answer, ("Rome", "Oslo")) == letter


@pytest.mark.parametrize(
    ("answer", "options"), [("C", ("x", "y")), ("oslo", ("Rome", "Oslo")), ("A", ("B", "A")), ("0", ("x", "y"))]
)
def test_an_answer_that_is_no_option_or_two_is_refused(answer: str, options: tuple[str, ...]):
    with pytest.raises(ConfigError, match="expected a letter"):
        letter_of(answer, options)


# --- files


def written(folder: Path, rows: list[dict[str, Any]], suffix: str = ".jsonl") -> Path:
    path = folder / f"questions{suffix}"
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == ".csv":
        flat = [{k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows]
        pl.DataFrame(flat).write_csv(path)
    else:
        pl.DataFrame(rows).write_parquet(path)
    return path


def file_taskset(path: Path, query: str = "") -> Any:
    return taskset(f"questions/file:{path}{query}")


ROWS = [
    {"question": f"Capital {i},\nplease?", "answer": f"0{i}", "choices": [f"0{i}", "none"], "by": "me"}
    for i in range(10)
]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_kind_of_file_gives_the_same_tasks(tmp_path: Path, suffix: str):
    tasks = file_taskset(written(tmp_path, ROWS, suffix)).draw("train", 5, 3)
    (tmp_path / "other").mkdir()
    again = file_taskset(written(tmp_path / "other", ROWS)).draw("train", 5, 3)
    assert {t.spec["question"] for t in tasks} == {t.spec["question"] for t in again}
    assert {t.spec["answer"] for t in tasks} == {"A"}
    assert tasks[0].spec["metadata"] == {"by": "me"}
    assert tasks[0].spec["choices"][0].startswith("0")


def test_a_column_of_splits_is_kept_to(tmp_path: Path):
    names = ["train", "dev", "test", "Test"]
    rows = [{"question": f"{i}?", "answer": i, "split": name} for i, name in enumerate(names)]
    tasks = file_taskset(written(tmp_path, rows))
    counts = [len(tasks.pool.splits[split]) for split in SPLITS]
    assert counts == [1, 1, 2]
    assert tasks.draw("validation", 1, 0)[0].spec["question"] == "1?"


def test_questions_of_one_document_are_a_cluster_also_in_a_mixture(tmp_path: Path):
    (tmp_path / "other").mkdir()
    rows = [{"question": f"{i}?", "answer": i, "document": f"d{i % 2}" if i < 8 else None} for i in range(10)]
    first, second = written(tmp_path, rows), written(tmp_path / "other", rows)
    tasks = file_taskset(first).draw("train", 5, 0)
    document = {f"{i}?": None if i >= 8 else f"d{i % 2}" for i in range(10)}
    assert [task.cluster for task in tasks] == [document[task.spec["question"]] for task in tasks]
    assert {"d0", "d1"} <= {task.cluster for task in tasks}
    mixed = MixedTaskset("questions/mix/a+b", [file_taskset(first), file_taskset(second)]).draw("train", 10, 0)
    clusters = [task.cluster for task in mixed if task.cluster]
    assert len(set(clusters)) == 4
    assert all(task.cluster is None or task.cluster.startswith(task.attributes["domain"]) for task in mixed)


def test_the_verifier_follows_the_answers_unless_it_is_named(tmp_path: Path):
    numbers = written(tmp_path, [{"question": f"{i}?", "answer": f"{i}.5"} for i in range(4)])
    assert file_taskset(numbers).info.public["answer_format"] == "numeric"
    judged = file_taskset(numbers, "?verifier=judge&rubric=Be kind.&pass_at=0.9&instructions=Say.")
    assert judged.draw("train", 1, 0)[0].spec["verifier"] == {"kind": "judge", "rubric": "Be kind.", "pass_at": 0.9}
    assert judged.info.public["instructions"] == "Say."
    words = written(tmp_path, [{"question": "a?", "answer": "x"}, {"question": "b?", "answer": "2"}])
    assert file_taskset(words).info.public["answer_format"] == "exact, numeric"


def test_pictures_lie_beside_the_file(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    rows = [{"question": f"{i}?", "answer": "x", "images": ["a.png"]} for i in range(2)]
    task = file_taskset(written(tmp_path, rows)).draw("train", 1, 0)[0]
    assert present(task.spec).images == (("image/png", b"\x89PNG"),)
    with pytest.raises(ConfigError, match=r"line 1: the picture .*b\.png cannot be read"):
        file_taskset(written(tmp_path, [{**rows[0], "images": ["b.png"]}])).draw("train", 0, 0)


BAD = [
    ('{"question": "a?", "answer": "x"}\n{"question": ', "line 2: it is not JSON"),
    ('\n\n{"answer": "x"}', "no column is called question; its columns are 'answer'"),
    ('{"question": "a?"}', "no column is called answer; its columns are 'question'"),
    ('{"question": "a?", "answer": "x"}\n{"question": "b?"}', "line 2: answer is empty"),
    ('{"question": "a?", "answer": "x"}\n{"answer": "b?"}', "line 2: question is empty"),
    ('{"question": "a?", "answer": true}', "line 1: answer is true"),
    ("[1]", "line 1: .* is not a JSON object"),
    ('{"question": "a?", "answer": "x"}\n{"question": " a?", "answer": "y"}', "line 2: repeats .* line 1"),
    ('{"question": "a?", "answer": "x", "choices": ["y", "z"]}', "line 1: the answer 'x' is no option"),
    ('{"question": "a?", "answer": "x", "choices": ["x", "x"]}', "line 1: choices are"),
    ('{"question": "a?", "answer": "x", "choices": ["x"]}', "line 1: the question has 1 choices"),
    ('{"question": "a?", "answer": "x", "choices": "x, y"}', "line 1: .* is not a list"),
    ('{"question": "a?", "answer": "x", "split": "exam"}', "line 1: split is 'exam'"),
    ('{"question": "a?", "answer": "x", "split": "test"}\n{"question": "b?", "answer": "x"}', "name all or none"),
    ("", "has no questions"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, text: str, message: str):
    path = tmp_path / "questions.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        file_taskset(path).draw("train", 0, 0)


def test_lines_of_a_csv_are_counted_as_an_editor_does(tmp_path: Path):
    path = tmp_path / "questions.csv"
    path.write_text('question,answer\n"two\nlines?",1\nplain?,2\nempty?,\n')
    with pytest.raises(ConfigError, match=r"questions\.csv, line 5: answer is empty"):
        file_taskset(path).draw("train", 0, 0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?verifier=numerc", "numeric"),
        ("?relative=0.1", "need verifier=NAME"),
        ("?verifier=numeric&relativ=0.1", "relative"),
        ("?verifier", "is not an option"),
        ("?verifier=exact&verifier=exact", "each key once"),
        ('?verifier=exact&ignore=["cases"]', "case, whitespace"),
        ("?verifier=numeric", "line 1: the reference answer 'x'"),
        ("?verifier=choice", "line 1: the verifier is 'choice'"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, query: str, message: str):
    path = written(tmp_path, [{"question": "a?", "answer": "x"}])
    with pytest.raises(ConfigError, match=message):
        file_taskset(path, query).draw("train", 0, 0)


def test_a_missing_file_and_an_unknown_suffix_are_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.jsonl cannot be read: No such file"):
        file_taskset(tmp_path / "none.jsonl").draw("train", 0, 0)
    with pytest.raises(ConfigError, match=r"expected \.jsonl, \.csv, \.tsv, \.parquet"):
        file_taskset(tmp_path / "none.xlsx").draw("train", 0, 0)
    for name, content in (("bad.csv", "question,answer\na,b,c\n"), ("bad.parquet", "broken")):
        (tmp_path / name).write_text(content)
        with pytest.raises(ConfigError, match=r"line 2: 3 cells for 2 columns|is not a parquet file"):
            file_taskset(tmp_path / name).draw("train", 0, 0)


# --- benchmarks


@pytest.mark.parametrize("name", ["questions/gsm8", "questions/file", "questions/", "questions/aime26"])
def test_an_unknown_name_suggests_the_nearest(name: str):
    with pytest.raises(UnknownNameError):
        taskset(name)


def test_benchmarks_take_no_options():
    with pytest.raises(ConfigError, match="it has only whole=true"):
        taskset("questions/gsm8k?verifier=exact")


def test_missing_data_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HEREDITY_DATA", raising=False)
    monkeypatch.delenv("HEREDITY_DOWNLOAD", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="HEREDITY_DATA") as caught:
        taskset("questions/gsm8k").draw("train", 1, 0)
    assert str(tmp_path / "data" / "gsm8k" / "train.parquet") in str(caught.value)
    assert str(tmp_path / "shared" / "data" / "gsm8k" / "train.parquet") in str(caught.value)
    monkeypatch.setenv("HEREDITY_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(ConfigError, match="elsewhere/aime/aime24"):
        taskset("questions/aime24").draw("train", 1, 0)


def test_data_is_found_above_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HEREDITY_DATA", raising=False)
    folder = tmp_path / "shared" / "data" / "aime"
    folder.mkdir(parents=True)
    rows = [{"problem": f"{i}?", "answer": f"{i:03}"} for i in range(30)]
    (folder / "aime24.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "project" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "deep")
    pool = taskset("questions/aime24").pool  # type: ignore[attr-defined]
    assert [len(pool.splits[split]) for split in SPLITS] == [10, 5, 15]


@needs_data
def test_gsm8k_has_its_test_split_held_out_and_every_solution_verifies(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEREDITY_DATA", str(DATA))
    tasks = taskset("questions/gsm8k")
    assert tasks.info.public["hidden"] == "public benchmark"
    counts = {split: len(tasks.pool.splits[split]) for split in SPLITS}  # type: ignore[attr-defined]
    assert counts == {"train": 6726, "validation": 747, "heldout": 1319}
    drawn = tasks.draw("heldout", 1319, 7)
    assert {t.spec["question"] for t in drawn} == set(pl.read_parquet(DATA / "gsm8k" / "test.parquet")["question"])

    async def check() -> None:
        for task in drawn[:150]:
            said = f"{task.spec['metadata']['solution']}\n#### {task.spec['answer']}"
            assert (await verify(task.spec, said)).correct
            assert not (await verify(task.spec, f"Answer: {int(task.spec['answer']) + 1}")).correct

    asyncio.run(check())


@needs_data
@pytest.mark.parametrize("name", ["aime24", "aime25"])
def test_aime_has_thirty_integers(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEREDITY_DATA", str(DATA))
    tasks = taskset(f"questions/{name}")
    drawn = [task for split, count in zip(SPLITS, (10, 5, 15), strict=True) for task in tasks.draw(split, count, 0)]
    assert len({t.spec["question"] for t in drawn}) == 30
    for task in drawn:
        assert asyncio.run(verify(task.spec, f"so \\boxed{{{int(task.spec['answer'])}}}.")).correct


def test_gpqa_is_read_from_the_users_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HEREDITY_GPQA", raising=False)
    with pytest.raises(ConfigError, match="HEREDITY_GPQA"):
        taskset("questions/gpqa").draw("train", 1, 0)
    rows = [
        {
            "Question": f"{i}?",
            "Correct Answer": f"right {i}",
            **{f"Incorrect Answer {k}": f"wrong {k}" for k in (1, 2, 3)},
        }
        for i in range(20)
    ]
    path = tmp_path / "gpqa.csv"
    pl.DataFrame(rows).write_csv(path)
    monkeypatch.setenv("HEREDITY_GPQA", str(path))
    tasks = taskset("questions/gpqa").draw("train", 10, 1)
    assert tasks == taskset("questions/gpqa").draw("train", 10, 1)
    assert len({t.spec["answer"] for t in tasks}) > 1
    for task in tasks:
        assert task.spec["choices"]["ABCD".index(task.spec["answer"])].startswith("right")
    pl.DataFrame([*rows, rows[0]]).write_csv(path)
    assert "line 22: repeats an earlier question" in taskset("questions/gpqa").info.notes[0]
    pl.DataFrame([{**rows[0], "Incorrect Answer 1": "right 0"}]).write_csv(path)
    with pytest.raises(ConfigError, match="line 2: expected Question"):
        taskset("questions/gpqa").draw("train", 1, 0)


def test_published_gpqa_loads_with_its_odd_rows_and_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3"
    rows = [f"q{i},right,wrong 1,wrong 2,wrong 3" for i in range(60)]
    rows[7], rows[9] = "q7,right,same,same,other", "q9,right,right,wrong 1,wrong 2"
    (tmp_path / "gpqa.csv").write_text("\n".join((heads, *rows)))
    monkeypatch.setenv("HEREDITY_GPQA", str(tmp_path / "gpqa.csv"))
    pool = read_gpqa()
    questions = {q.text: q for part in pool.splits.values() for q in part}
    assert len(questions) == 59
    assert questions["q7"].choices == ("right", "same", "other")
    assert "q9" not in questions
    assert "1 of them have fewer options" in pool.description
    assert "1 row is left out: gpqa.csv, line 11: expected" in pool.notes[0]


def test_a_file_of_which_more_than_one_row_in_twenty_is_odd_is_refused(tmp_path: Path) -> None:
    def written(odd: int) -> Path:
        rows = [{"question": f"q{i}", "answer": "" if i < odd else "a"} for i in range(40)]
        path = tmp_path / f"{odd}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    assert "2 rows are left out: 2.jsonl, line 1: answer is ''" in read_pool(written(2), {}).notes[-1]
    with pytest.raises(
        ConfigError, match=r"3\.jsonl, line 1: answer is ''; expected text or a number \(3 of 40 rows are odd"
    ):
        read_pool(written(3), {})
