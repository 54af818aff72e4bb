"""GAIA and Humanity's Last Exam, on made-up files of their form."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import polars
import pytest

from heredity._core.errors import ConfigError, ProviderError
from heredity.engine.questions import Question, verify
from heredity.engine.questions.extract import matches
from heredity.models import Request
from heredity.models.scripted import Scripted
from heredity.tasks.registry import taskset

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff\xe0"


def gaia_row(number: int, level: Any = 1, answer: str = "7", file: str = "") -> dict[str, Any]:
    return {
        "task_id": f"t{number}",
        "Question": f"What is number {number}?",
        "Level": level,
        "Final answer": answer,
        "file_name": file,
        "Annotator Metadata": {"Steps": "1. look"},
    }


@pytest.fixture
def gaia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEREDITY_GAIA", str(tmp_path))
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "c.xlsx").write_bytes(b"PK")
    rows = [gaia_row(n, 1 + n % 3, file={4: "a.png", 5: "b.csv", 6: "c.xlsx"}.get(n, "")) for n in range(30)]
    (tmp_path / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def drawn(name: str, splits: dict[str, int]) -> dict[str, Question]:
    tasks = [task for split, count in splits.items() for task in taskset(name).draw(split, count, 1)]
    return {
        str(q.metadata.get("task_id", q.metadata.get("id"))): q for q in (Question.from_spec(t.spec) for t in tasks)
    }


def test_gaia_is_read_with_its_levels_and_attachments(gaia: Path) -> None:
    questions = drawn("questions/gaia", {"train": 15, "validation": 6, "heldout": 9})
    assert len(questions) == 30
    assert questions["t4"].images == (("image/png", PNG),)
    assert questions["t5"].text.endswith("The attached file b.csv:\n\nx,y\n1,2\n")
    assert questions["t6"].text.endswith("(A file is attached: c.xlsx.)")
    assert "1 have an attachment that is named and not shown" in taskset("questions/gaia").info.description
    assert {q.metadata["level"] for q in drawn("questions/gaia?level=2", {"train": 5}).values()} == {2}


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        ({"Final answer": "?"}, "questions/gaia", "not published, so none can be for training; ask them whole"),
        ({}, "questions/gaia?whole=yes", "whole is 'yes'; expected true"),
        ({"file_name": "../../etc/passwd"}, "questions/gaia", "no such file beside the questions"),
        ({"file_name": "gone.pdf"}, "questions/gaia", "no such file beside the questions"),
        ({"Level": "four"}, "questions/gaia", "Level is 'four'"),
        ({}, "questions/gaia?level=4", "level is 4; expected 1, 2 or 3"),
        ({}, "questions/gaia?levle=1", "no option 'levle'"),
    ],
)
def test_a_gaia_file_that_is_wrong_is_refused(gaia: Path, change: dict[str, Any], name: str, said: str) -> None:
    rows = [gaia_row(n) | change for n in range(3)]
    (gaia / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ConfigError, match=said):
        taskset(name).draw("train", 1, 0)


@pytest.mark.parametrize(
    ("said", "reference", "same"),
    [
        ("$1,234.50", "1234.5", True),
        ("17%", "17", True),
        ("about 17", "17", False),
        ("1e3", "1000", True),
        ("nan", "nan", True),
        ("Claude  Shannon.", "claude shannon", True),
        ("Shannon", "claude shannon", False),
        ("apple, 3; PEAR", "apple;3.0,pear", True),
        ("pear, apple", "apple, pear", False),
        ("apple, pear, fig", "apple, pear", False),
        ("St. Petersburg, Riga", "St Petersburg, Riga", False),
        ("", "0", False),
    ],
)
def test_answers_are_compared_by_the_rule_of_gaia(said: str, reference: str, same: bool) -> None:
    assert matches(said, reference) is same


async def test_a_gaia_answer_is_read_where_answers_stand() -> None:
    spec = Question("q", "12, 15", {"kind": "gaia"}).to_spec()
    assert (await verify(spec, "I looked.\nAnswer: 12,15")).correct
    assert (await verify(spec, "I looked.\n12; 15")).correct
    assert not (await verify(spec, "Answer: 12\nand 15")).correct


def hle_row(number: int, category: str = "Math", image: str = "") -> dict[str, Any]:
    kept = {"id": f"h{number}", "category": category, "raw_subject": "Algebra", "answer_type": "exactMatch"}
    return {**kept, "question": f"Prove {number}.", "answer": "x", "rationale": "secret", "image": image}


@pytest.fixture
def hle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    picture = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    rows = [hle_row(n, "Math" if n % 2 else "Law", picture if n == 3 else "") for n in range(20)]
    path = tmp_path / "hle.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("HEREDITY_HLE", str(path))
    return path


def test_hle_is_read_with_pictures_and_categories_and_asks_a_judge(hle: Path) -> None:
    questions = drawn("questions/hle", {"train": 10, "validation": 4, "heldout": 6})
    assert questions["h3"].images == (("image/png", PNG),)
    assert all(q.verifier["kind"] == "hle" and "Confidence" in q.instructions for q in questions.values())
    assert "rationale" not in questions["h1"].metadata
    assert len(drawn("questions/hle?category=Math&pictures=false", {"train": 4, "validation": 2, "heldout": 3})) == 9


def test_both_are_asked_whole_and_in_parts(gaia: Path, hle: Path) -> None:
    wholes = {
        "questions/gaia?whole=true": 30,
        "questions/gaia?whole=true&level=3": 10,
        "questions/hle?whole=true": 20,
        "questions/hle?whole=true&pictures=false": 19,
        "questions/hle?whole=false": 6,
    }
    for name, count in wholes.items():
        assert taskset(name).sizes["heldout"] == count
        assert len(drawn(name, {"heldout": count})) == count


def test_the_files_of_the_hub_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = f"data:image/jpeg;base64,{base64.b64encode(JPEG).decode()}"
    plain = {"image_preview": None, "rationale_image": None, "author_name": "a", "canary": "c"}
    rows = [hle_row(n, image=picture if n == 2 else "") | plain for n in range(12)]
    polars.DataFrame(rows, strict=False).write_parquet(tmp_path / "test-00000-of-00001.parquet")
    monkeypatch.setenv("HEREDITY_HLE", str(tmp_path / "test-00000-of-00001.parquet"))
    questions = drawn("questions/hle?whole=true", {"heldout": 12})
    assert [name for name, q in questions.items() if q.images == (("image/jpeg", JPEG),)] == ["h2"]
    (tmp_path / "a.png").write_bytes(PNG)
    steps = {"Annotator Metadata": {"Steps": "1. look", "Number of steps": "1"}}
    path = {"file_path": "2023/validation/a.png"}
    table = [gaia_row(n, str(1 + n % 3), file="a.png" if n == 1 else "") | steps | path for n in range(9)]
    polars.DataFrame(table).write_parquet(tmp_path / "metadata.parquet")
    monkeypatch.setenv("HEREDITY_GAIA", str(tmp_path))
    asked = drawn("questions/gaia?whole=true", {"heldout": 9})
    assert (asked["t1"].metadata["level"], asked["t1"].images) == (2, (("image/png", PNG),))


def test_the_test_set_of_gaia_is_asked_whole_and_no_question_is_left_out(gaia: Path) -> None:
    rows = [gaia_row(n, answer="?") for n in range(40)]
    (gaia / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    questions = drawn("questions/gaia?whole=true", {"heldout": 40})
    assert {(q.answer, q.verifier["kind"]) for q in questions.values()} == {("", "unpublished")}
    rows[7]["file_name"] = "gone.pdf"
    (gaia / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ConfigError, match="no question may be left out"):
        taskset("questions/gaia?whole=true").draw("heldout", 1, 0)


async def test_an_answer_whose_reference_is_unpublished_has_no_score() -> None:
    checked = await verify(Question("q", "", {"kind": "unpublished"}).to_spec(), "I looked.\nAnswer: 12, 15")
    assert (checked.extracted, checked.correct, math.isnan(checked.score)) == ("12, 15", False, True)


@pytest.mark.parametrize(
    ("verdict", "correct", "confidence", "extracted"),
    [
        ({"correct": "yes", "confidence": 80, "extracted_final_answer": "x"}, True, 0.8, "x"),
        ({"correct": "No", "confidence": "35%", "extracted_final_answer": "y"}, False, 0.35, "y"),
        ({"correct": "no", "confidence": None, "extracted_final_answer": "None"}, False, 1.0, ""),
    ],
)
async def test_a_judge_of_hle_says_the_answer_and_its_confidence(
    verdict: dict[str, Any], correct: bool, confidence: float, extracted: str
) -> None:
    asked: list[str] = []

    def judge(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return json.dumps({**verdict, "reasoning": "the same letter"})

    spec = Question("Which letter?", "x", {"kind": "hle"}).to_spec()
    checked = await verify(spec, "Answer: x\nConfidence: 80%", judge=Scripted(judge))
    assert (checked.correct, checked.score, checked.details["confidence"]) == (correct, float(correct), confidence)
    assert (checked.extracted, checked.reason) == (extracted, "the same letter")
    assert "Confidence: 80%" in asked[0]


@pytest.mark.parametrize(
    "wrong", [{"correct": "maybe"}, {"correct": "yes", "confidence": 120}, {"correct": "yes", "confidence": "high"}]
)
async def test_a_verdict_of_hle_that_cannot_be_read_is_a_failure_and_no_score(wrong: dict[str, Any]) -> None:
    spec = Question("Which letter?", "x", {"kind": "hle"}).to_spec()
    with pytest.raises(ProviderError, match="gave no verdict"):
        await verify(spec, "Answer: x", judge=Scripted(lambda _: json.dumps(wrong)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("questions/hle?category=Cooking", "the file has Law, Math"),
        ("questions/hle?pictures=1", "expected true or false"),
        ("questions/hle?subject=x", "no option 'subject'"),
    ],
)
def test_options_of_hle_that_are_wrong_are_refused(hle: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        taskset(name).draw("train", 1, 0)


@pytest.mark.parametrize("image", ["http://127.0.0.1/a.png", "data:image/png;base64,@@@", "data:text/html;base64,AA=="])
def test_an_odd_picture_of_hle_is_an_odd_row(hle: Path, image: str) -> None:
    hle.write_text(json.dumps(hle_row(0, image=image)) + "\n")
    with pytest.raises(ConfigError, match="image is"):
        taskset("questions/hle").draw("train", 1, 0)


@pytest.mark.parametrize(("name", "variable"), [("gaia", "HEREDITY_GAIA"), ("hle", "HEREDITY_HLE")])
def test_without_a_copy_the_variable_is_named(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigError, match=variable):
        taskset(f"questions/{name}").draw("train", 1, 0)
