"""Humanity's Last Exam (Phan et al., 2025, arXiv:2501.14249), from the user's own copy.

Its authors ask not to publish it in the clear, so it does not come with this package: `HEREDITY_HLE` names the file,
parquet or JSONL. Every answer is compared by a judge that knows the reference, so a suite must name one
(`gateway.judge`); solvers also state their confidence, for the calibration error. `questions/hle?pictures=false` leaves
out questions with a picture, which is the text-only subset, and `?category=Math` selects one category.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.refusals import quoted
from heredity._core.tables import read_rows
from heredity.engine.questions.contract import Question
from heredity.engine.questions.pools import Pool, shared_out
from heredity.kinds.question.files import SHARES, left_out, sound_rows

NAME = "questions/hle"
PATH_VARIABLE = "HEREDITY_HLE"
"""Environment variable: the path of the file."""

_OPTIONS = ("pictures", "category")
_FORM = (
    'Explain briefly, then end with two lines: "Answer: " and the answer alone; "Confidence: " and how sure you are of it, from 0% '
    "to 100%."
)
_PICTURE = re.compile(r"data:(image/[a-z0-9.+-]+);base64,(.*)", re.DOTALL)
_KEPT = ("id", "category", "raw_subject", "answer_type")


def read_hle(options: Mapping[str, Any]) -> Pool:
    """Read the user's copy.

    Args:
        options: `pictures`, false to leave out questions with a picture; `category`, the only one to use.

    Raises:
        ConfigError: if no file is named, or the file or an option is wrong.
    """
    if unknown := set(options) - set(_OPTIONS):
        raise ConfigError(f"{NAME} has no option {min(unknown)!r}; it has {', '.join(_OPTIONS)}")
    pictures = options.get("pictures", True)
    if not isinstance(pictures, bool):
        raise ConfigError(f"pictures is {quoted(pictures)}; expected true or false")
    named = os.environ.get(PATH_VARIABLE)
    if not named:
        raise ConfigError(
            f"{NAME} needs your copy of Humanity's Last Exam; set {PATH_VARIABLE} to its path, a parquet file or JSONL"
        )
    rows = read_rows(Path(named).expanduser()).rows
    questions, odd = sound_rows(rows, lambda _, cells: _question(cells))
    categories = sorted({str(question.metadata.get("category", "")) for question in questions})
    category = options.get("category")
    if category is not None and category not in categories:
        raise ConfigError(f"category is {category!r:.60}; the file has {', '.join(categories)}")
    chosen = [
        question
        for question in questions
        if (pictures or not question.images) and category in (None, question.metadata.get("category"))
    ]
    if not chosen:
        raise ConfigError(f"{named} has no question that these options leave")
    seen = sum(bool(question.images) for question in chosen)
    about = f"# Humanity's Last Exam\n\n{len(chosen)} questions, {seen} with a picture.\n"
    return Pool(shared_out(chosen, SHARES), about, "public benchmark", "exam", notes=left_out(odd))


def _question(cells: Mapping[str, Any]) -> Question:
    text, reference = (str(cells.get(name) or "").strip() for name in ("question", "answer"))
    if not text or not reference:
        raise ConfigError("expected question and answer, not empty")
    metadata = {name: str(cells[name]) for name in _KEPT if cells.get(name)}
    return Question(text, reference, {"kind": "hle"}, (), _FORM, _pictures(cells.get("image")), metadata)


def _pictures(cell: Any) -> tuple[tuple[str, bytes], ...]:
    if not cell:
        return ()
    match = _PICTURE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None:
        raise ConfigError(f"image is {str(cell)[:40]!r}; expected data:image/…;base64,…")
    try:
        return ((match[1], base64.b64decode(match[2], validate=True)),)
    except binascii.Error as error:
        raise ConfigError(f"image is no base 64: {error}; write it as data:image/png;base64,…") from error
