"""GPQA (Rein et al., 2023, arXiv:2311.12022): choice questions of graduate science, from the user's own copy.

Its authors ask not to publish the questions in the clear, so none come with this package: `HEREDITY_GPQA` names the
file, such as `gpqa_diamond.csv`. The options are shuffled anew for every suite, so that knowing the file's order is
useless.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.tables import read_rows
from heredity.engine.questions.contract import LETTERS, Question
from heredity.engine.questions.pools import LETTER, Pool, shared_out
from heredity.kinds.question.files import SHARES, left_out, read_pool, sound_rows

NAME = "questions/gpqa"
PATH_VARIABLE = "HEREDITY_GPQA"
"""Environment variable: the path of the file."""

_RIGHT = "Correct Answer"
_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_KEPT = ("Record ID", "High-level domain", "Subdomain")


def read_gpqa() -> Pool:
    """Read the user's copy, in the benchmark's own columns or in those of `heredity.kinds.question.files`.

    Raises:
        ConfigError: if no file is named, or it is wrong.
    """
    named = os.environ.get(PATH_VARIABLE)
    if not named:
        raise ConfigError(f"{NAME} needs your copy of GPQA; set {PATH_VARIABLE} to its path, such as gpqa_diamond.csv")
    path = Path(named).expanduser()
    table = read_rows(path)
    about = "# GPQA\n\nQuestions of graduate science with one right option.\n"
    if _RIGHT in table.columns:
        seen: set[str] = set()
        questions, odd = sound_rows(table.rows, lambda _, cells: _question(cells, seen))
        fewer = sum(len(question.choices) <= len(_WRONG) for question in questions)
        about += f"\n{fewer} of them have fewer options: the file repeats a wrong one.\n" if fewer else ""
        splits, notes = shared_out(questions, SHARES), left_out(odd)
    else:
        pool = read_pool(path, {"verifier": "choice"})
        splits, notes = pool.splits, pool.notes
    return Pool(splits, about, "public benchmark", "science", shuffle=True, notes=notes)


def _question(cells: dict[str, Any], seen: set[str]) -> Question:
    """Return the question of a row; a wrong option that the published files repeat counts once."""
    text, right, *wrong = (str(cells.get(name) or "").strip() for name in ("Question", _RIGHT, *_WRONG))
    choices = tuple(dict.fromkeys((right, *wrong)))
    if "" in (text, *choices) or right in wrong or len(choices) < 2:
        raise ConfigError(f"expected Question, {_RIGHT} and {', '.join(_WRONG)}, not empty, and the right one once")
    metadata = {name: cells[name] for name in _KEPT if cells.get(name)}
    question = Question(text, LETTERS[0], {"kind": "choice"}, choices, LETTER, metadata=metadata)
    if question.identity in seen:
        raise ConfigError("repeats an earlier question; keep one of them")
    seen.add(question.identity)
    return question
