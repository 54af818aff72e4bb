"""GPQA (Rein et al., 2023, arXiv:2311.12022): choice questions of graduate science, out of the user's own copy.

Its authors ask that the questions be not published in the clear, so none come with this package: `HEREDITY_GPQA` names the file,
such as `gpqa_diamond.csv`. The options stand in another order for every suite, so that knowing the file's order is of no use.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity.errors import ConfigError
from heredity.tasks.questions.contract import LETTERS, Question
from heredity.tasks.questions.files import SHARES, read_pool, read_rows
from heredity.tasks.questions.pools import LETTER, Pool, shared_out

NAME = "questions/gpqa"
PATH_VARIABLE = "HEREDITY_GPQA"
"""Environment variable: the path of the file."""

_RIGHT = "Correct Answer"
_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_KEPT = ("Record ID", "High-level domain", "Subdomain")


def read_gpqa() -> Pool:
    """Read the user's copy, in the benchmark's own columns or in those of `heredity.tasks.questions.files`.

    Raises:
        ConfigError: if no file is named, or it is wrong.
    """
    named = os.environ.get(PATH_VARIABLE)
    if not named:
        raise ConfigError(f"{NAME} needs your copy of GPQA; set {PATH_VARIABLE} to its path, such as gpqa_diamond.csv")
    path = Path(named).expanduser()
    rows = read_rows(path)
    if _RIGHT in rows[0][1]:
        splits = shared_out(_distinct([(row[0], _question(*row)) for row in rows]), SHARES)
    else:
        splits = read_pool(path, {"verifier": "choice"}).splits
    return replace(
        Pool(splits, "# GPQA\n\nQuestions of graduate science with one right option.\n", "public benchmark", "science"),
        shuffle=True,
    )


def _question(where: str, cells: dict[str, Any]) -> Question:
    texts = [str(cells.get(name) or "").strip() for name in ("Question", _RIGHT, *_WRONG)]
    if "" in texts or len(set(texts[1:])) != len(texts) - 1:
        raise ConfigError(f"{where}: expected Question, {_RIGHT} and {', '.join(_WRONG)}, all different and not empty")
    metadata = {name: cells[name] for name in _KEPT if cells.get(name)}
    return Question(texts[0], LETTERS[0], {"kind": "choice"}, tuple(texts[1:]), LETTER, metadata=metadata)


def _distinct(questions: list[tuple[str, Question]]) -> list[Question]:
    seen: dict[str, str] = {}
    for where, question in questions:
        if seen.setdefault(question.identity, where) != where:
            raise ConfigError(f"{where}: repeats the question of {seen[question.identity]}; keep one of them")
    return [question for _, question in questions]
