"""Files as users have them: other encodings, separators and column names, and a damaged row among sound ones."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.engine.questions.pools import Pool
from heredity.kinds.question.files import read_pool
from heredity.tasks import SPLITS
from heredity.tasks.registry import taskset

SUMS = [(f"What is {i} and {i}?", str(2 * i)) for i in range(30)]
CSV = "question,answer\n" + "".join(f"{question},{answer}\n" for question, answer in SUMS)
JSONL = "".join(json.dumps({"question": question, "answer": int(answer)}) + "\n" for question, answer in SUMS)


def read(folder: Path, name: str, content: str | bytes, **options: Any) -> Pool:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_pool(path, options)


def asked(pool: Pool) -> dict[str, tuple[str, str]]:
    questions = [question for split in SPLITS for question in pool.splits[split]]
    return {question.text: (question.answer, question.verifier["kind"]) for question in questions}


SOUND = {question: (answer, "numeric") for question, answer in SUMS}

BAD_ROWS = [
    ("a.csv", CSV + "What is left?,7,8\n", "line 32: 3 cells for 2 columns (question, answer), '8' belongs to none"),
    ("a.csv", CSV + "What is left?\n", "line 32: answer is empty"),
    ("a.csv", CSV + "What is left?,\n", "line 32: answer is empty"),
    ("a.csv", CSV + ",7\n", "line 32: question is empty"),
    ("a.jsonl", JSONL + '{"question": "n?", "answer": null}\n', "line 31: answer is empty"),
    ("a.jsonl", JSONL + '{"question": "n?", "answer": NaN}\n', "line 31: it is not JSON: NaN is not a JSON number"),
    ("a.jsonl", JSONL + '{"question": "n?", "answer": true}\n', "line 31: answer is true"),
    ("a.jsonl", JSONL + '{"question": "n?"}\n', "line 31: answer is empty"),
    ("a.jsonl", JSONL + '{"question": "n?", "ans', "line 31: it is not JSON"),
    ("a.jsonl", JSONL + "[]\n", "line 31: '[]' is not a JSON object"),
    ("a.jsonl", JSONL + '{"question": "n?", "answer": 3, "images": ["no.png"]}\n', "line 31: the picture"),
    ("a.jsonl", JSONL + '{"question": "n?", "answer": "x", "choices": ["x", "x"]}\n', "line 31: choices are"),
]


@pytest.mark.parametrize(("name", "content", "note"), BAD_ROWS, ids=[case[2][:40] for case in BAD_ROWS])
def test_a_damaged_row_is_named_and_changes_nothing_for_the_others(
    tmp_path: Path, name: str, content: str, note: str
) -> None:
    pool = read(tmp_path, name, content)
    assert asked(pool) == SOUND
    assert any(f"1 row is left out: {name}, {note}" in one for one in pool.notes), pool.notes


def test_a_missing_number_of_a_parquet_file_is_no_answer(tmp_path: Path) -> None:
    answers = [*(float(answer) for _, answer in SUMS), float("nan"), None]
    questions = [*(question for question, _ in SUMS), "What is nan?", "What is null?"]
    pl.DataFrame({"question": questions, "answer": answers}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match=r"row 31: answer is nan; .*2 of 32 rows"):
        read_pool(tmp_path / "a.parquet", {})
    pl.DataFrame({"question": questions[:-1], "answer": answers[:-1]}).write_parquet(tmp_path / "a.parquet")
    pool = read_pool(tmp_path / "a.parquet", {})
    assert asked(pool) == SOUND
    assert "row 31: answer is nan" in pool.notes[-1]


@pytest.mark.parametrize("end", ["\n", "\n\n\n", "  \n", ",\n", '"",""\n'])
def test_a_blank_last_line_is_no_row(tmp_path: Path, end: str) -> None:
    pool = read(tmp_path, "a.csv", CSV + end)
    assert asked(pool) == SOUND
    assert pool.notes == ("a.csv: 30 answers are compared as numbers, verifier numeric",)


def test_an_answer_in_words_is_compared_as_words_and_the_numbers_stay_numbers(tmp_path: Path) -> None:
    pool = read(tmp_path, "a.csv", CSV + "Which colour is snow?,white\n")
    assert asked(pool) == {**SOUND, "Which colour is snow?": ("white", "exact")}
    assert "a.csv: 1 answer is compared word for word, verifier exact (line 32)" in pool.notes


def test_a_row_without_split_leaves_the_splits_of_the_others(tmp_path: Path) -> None:
    rows = "".join(f"{question},{answer},test\n" for question, answer in SUMS)
    pool = read(tmp_path, "a.csv", f"question,answer,split\n{rows}What is left?,7,\n")
    assert [len(pool.splits[split]) for split in SPLITS] == [0, 0, 30]
    assert "line 32: split is empty, and other rows have one" in pool.notes[-1]


def test_a_quote_that_never_closes_is_named_where_it_opens(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a\.csv, line 32: a quote opens and does not close"):
        read(tmp_path, "a.csv", CSV + '"What is left?,7\nand more,8\n')


MARKED = [
    (codecs.BOM_UTF8, "utf-8", ""),
    (codecs.BOM_UTF16_LE, "utf-16-le", "read as UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "read as UTF-16"),
    (b"", "utf-16-le", "read as UTF-16-LE"),
    (b"", "utf-16-be", "read as UTF-16-BE"),
]


@pytest.mark.parametrize(("mark", "encoding", "note"), MARKED)
@pytest.mark.parametrize(("name", "content"), [("a.csv", CSV), ("a.jsonl", JSONL)])
def test_a_byte_order_mark_and_utf_16_are_read(
    tmp_path: Path, name: str, content: str, mark: bytes, encoding: str, note: str
) -> None:
    pool = read(tmp_path, name, mark + content.replace("\n", "\r\n").encode(encoding))
    assert asked(pool) == SOUND
    assert (f"{name}: {note}" in pool.notes) == bool(note)


def test_another_encoding_is_named_with_line_and_byte_and_read_when_it_is_named(tmp_path: Path) -> None:
    content = (CSV + "Where is the café?,Zürich\n").encode("cp1252")
    with pytest.raises(ConfigError, match=r"a\.csv, line 32, byte 17: 0xe9 is not UTF-8; .*\?encoding=cp1252"):
        read(tmp_path, "a.csv", content)
    pool = read(tmp_path, "a.csv", content, encoding="cp1252")
    assert asked(pool)["Where is the café?"] == ("Zürich", "exact")
    assert "a.csv: read as CP1252" in pool.notes
    with pytest.raises(ConfigError, match="encoding is 'klingon'"):
        read(tmp_path, "a.csv", content, encoding="klingon")


@pytest.mark.parametrize(
    ("separator", "name", "note"),
    [
        (";", "a.csv", "separated by semicolons"),
        ("\t", "a.csv", "separated by tabs"),
        ("|", "a.csv", "separated by bars"),
        ("\t", "a.tsv", "separated by tabs"),
    ],
)
def test_other_separators_are_recognised_by_the_first_line(
    tmp_path: Path, separator: str, name: str, note: str
) -> None:
    pool = read(tmp_path, name, CSV.replace(",", separator))
    assert asked(pool) == SOUND
    assert f"{name}: {note}" in pool.notes


@pytest.mark.parametrize("head", ["Question,Answer", " QUESTION , answer ", "Problem,ANSWER"])
def test_capitals_and_blanks_in_column_names_are_no_matter(tmp_path: Path, head: str) -> None:
    pool = read(tmp_path, "a.csv", CSV.replace("question,answer", head))
    assert asked(pool) == SOUND


OTHER_NAMES = [
    ("a.csv", CSV.replace("question,answer", "prompt,target")),
    ("a.jsonl", JSONL.replace('question"', 'prompt"').replace('answer"', 'target"')),
]


@pytest.mark.parametrize(("name", "content"), OTHER_NAMES)
def test_other_column_names_are_listed_and_can_be_named(tmp_path: Path, name: str, content: str) -> None:
    advice = r"called question or answer; its columns are 'prompt', 'target'\. .*\?question=prompt&answer=target"
    with pytest.raises(ConfigError, match=advice):
        read(tmp_path, name, content)
    pool = read(tmp_path, name, content, question="prompt", answer="target")
    assert asked(pool) == SOUND
    assert f"{name}: the column 'prompt' is read as question; the column 'target' is read as answer" in pool.notes
    with pytest.raises(ConfigError, match="answer=result, and there is no such column; its columns are 'prompt'"):
        read(tmp_path, name, content, question="prompt", answer="result")


def test_a_column_that_another_one_replaces_is_kept_as_metadata(tmp_path: Path) -> None:
    pool = read(tmp_path, "a.csv", "question,text,answer\n17,What is 1 and 1?,2\n", question="text")
    (question,) = (question for split in SPLITS for question in pool.splits[split])
    assert (question.text, question.metadata) == ("What is 1 and 1?", {"column question": "17"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("question,answer,answer\na,1,2\n", "line 1: two columns have the name 'answer'; rename one"),
        ("Question,QUESTION,answer\na,b,1\n", r"Question, QUESTION may all be question; choose one by \?question=COLUMN"),
        ("What is 1 and 1?,2\nWhat is 2 and 2?,4\n", "its columns are 'What is 1 and 1"),
    ],
)  # fmt: skip
def test_columns_that_leave_it_open_are_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, "a.csv", content)


def test_a_taskset_says_how_answers_are_compared_and_what_is_added_to_questions(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV + "What is left?,7,8\n")
    name = f"questions/file:{tmp_path / 'a.csv'}"
    shown = CliRunner().invoke(app, ["tasks", "show", name, "--count", "0"]).stdout
    assert "note     a.csv: 30 answers are compared as numbers, verifier numeric" in shown
    assert "note     a.csv: 1 row is left out: a.csv, line 32: 3 cells" in shown
    assert 'added to each question  Work it out, then end with the line "Answer: "' in shown
    listed = json.loads(CliRunner().invoke(app, ["tasks", "show", name, "--count", "0", "--json"]).stdout)
    assert len(listed["notes"]) == 2


def test_sizes_that_do_not_fit_are_refused_once_with_the_numbers_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "suite.toml").write_text(
        f'[run]\nprotocol = "resource-evolution"\ntasksets = ["questions/file:{tmp_path / "a.csv"}"]\nseeds = 4\n'
        '[evolver]\nmethod = "reflection"\n[budget]\nrollouts = 40\ntrain_cases = 96\n[views]\nheldout = 64\n'
        '[gateway]\nexecution = "offline/rule-follower"\noptimisation = "offline/rule-inducer"\n'
    )
    result = CliRunner().invoke(app, ["run", str(tmp_path / "suite.toml"), "--out", str(tmp_path / "out")])
    said = str(result.exception or "") + result.output
    assert result.exit_code != 0
    assert said.count("a.csv has 15 train, 6 validation, 9 heldout tasks") == 1
    assert "too few for budget.train_cases = 96 and views.heldout = 64" in said
    assert not (tmp_path / "out").exists()


def test_a_number_that_a_package_wrote_as_missing_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,answer\n" + "".join(f"q{n}?,{n}\n" for n in range(30)) + "lost?,NaN\n")
    drawn = taskset(f"questions/file:{path}")
    assert all(task.spec["answer"] != "NaN" for task in drawn.draw("train", 10, 0))
    with pytest.raises(ConfigError, match="unknown option anwser"):
        taskset(f"questions/file:{path}?anwser=answer").draw("train", 1, 0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"question": "a?", "answer": null}\n', "line 1: answer is empty; expected text or a number"),
        ("a.jsonl", '{"question": "a?", "answer": true}\n', "line 1: answer is true; expected text or a number"),
        ("a.jsonl", '{"question": true, "answer": 2}\n', "line 1: question is true; expected text"),
        ("a.jsonl", '{"question": null, "answer": 2}\n', "line 1: question is empty; expected text"),
        ("a.jsonl", '{"question": "a?", "answer": "A", "choices": true}\n', "true is not a list"),
        ("a.csv", "question,answer\na?,2\nb\0?,3\n", "line 3: it holds a NUL byte"),
        ("a.tsv", "question\tanswer\na\0?\t2\n", "line 2: it holds a NUL byte"),
    ],
)
def test_a_cell_is_refused_in_words_that_are_not_pythons(tmp_path: Path, name: str, content: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, name, content)
    assert said in str(refused.value)
