"""GSM8K (Cobbe et al., 2021, arXiv:2110.14168): grade-school word problems with whole numbers as answers.

A tenth of the benchmark's train split, chosen by the questions' digests, is the validation split; its test split is
held out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.tables import read_rows
from heredity.engine.questions.contract import Question
from heredity.engine.questions.pools import NUMBER, Pool, shared_out
from heredity.engine.questions.verify import reference_number
from heredity.kinds.question.benchmarks import find
from heredity.kinds.question.files import left_out, sound_rows

NAME = "questions/gsm8k"
_HUB = "openai/gsm8k"


def read_gsm8k() -> Pool:
    """Read the benchmark.

    Raises:
        ConfigError: if its files are missing or are not GSM8K's.
    """
    (train, odd), (test, odd_too) = (
        sound_rows(read_rows(find(f"gsm8k/{s}.parquet", (_HUB, f"main/{s}-00000-of-00001.parquet"))).rows, _question)
        for s in ("train", "test")
    )
    return Pool(
        splits={**shared_out(train, {"train": 0.9, "validation": 0.1}), "heldout": test},
        description="# GSM8K\n\nWord problems of grade school; the answer is a number.\n",
        hidden="public benchmark",
        family="math",
        notes=left_out([*odd, *odd_too]),
    )


def _question(where: str, cells: Mapping[str, Any]) -> Question:
    solution, marker, answer = str(cells.get("answer")).rpartition("####")
    if not marker or not isinstance(cells.get("question"), str):
        raise ConfigError("no question whose answer ends with #### and a number; expected GSM8K's columns")
    # Tolerance 0: the answers are whole numbers, up to hundreds of millions.
    question = Question(
        cells["question"],
        answer.strip().replace(",", ""),
        {"kind": "numeric", "relative": 0.0},
        instructions=NUMBER,
        metadata={"solution": solution.strip()},
    )
    reference_number(question)
    return question
