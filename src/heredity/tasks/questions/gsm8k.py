"""GSM8K (Cobbe et al., 2021, arXiv:2110.14168): word problems of grade school, whose answers are whole numbers.

A tenth of the benchmark's train split, chosen by the questions' digests, is the validation split; its test split is held out.
"""

from __future__ import annotations

from heredity.errors import ConfigError
from heredity.tasks.questions.benchmarks import find
from heredity.tasks.questions.contract import Question
from heredity.tasks.questions.files import read_rows
from heredity.tasks.questions.pools import NUMBER, Pool, shared_out

NAME = "questions/gsm8k"
_HUB = "openai/gsm8k"


def read_gsm8k() -> Pool:
    """Read the benchmark.

    Raises:
        ConfigError: if its files are missing or are not GSM8K's.
    """
    parts = shared_out(_questions("train"), {"train": 0.9, "validation": 0.1})
    return Pool(
        splits={**parts, "heldout": _questions("test")},
        description="# GSM8K\n\nWord problems of grade school; the answer is a number.\n",
        hidden="public benchmark",
        family="math",
    )


def _questions(split: str) -> list[Question]:
    path = find(f"gsm8k/{split}.parquet", (_HUB, f"main/{split}-00000-of-00001.parquet"))
    questions: list[Question] = []
    for where, cells in read_rows(path):
        solution, marker, answer = str(cells.get("answer")).rpartition("####")
        if not marker or not isinstance(cells.get("question"), str):
            raise ConfigError(
                f"{where}: no question whose answer ends with #### and a number; expected GSM8K's columns"
            )
        # Tolerance 0: the answers are whole numbers, up to hundreds of millions.
        questions.append(
            Question(
                cells["question"],
                answer.strip().replace(",", ""),
                {"kind": "numeric", "relative": 0.0},
                instructions=NUMBER,
                metadata={"solution": solution.strip()},
            )
        )
    return questions
