"""The site of Varnholm as the taskset `questions/local-web`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.questions.contract import Question
from heredity.engine.questions.pools import Pool
from heredity.library.localweb.questions import practice, questions
from heredity.library.localweb.server import serving, write_site
from heredity.library.localweb.steps import LocalQuestion
from heredity.library.localweb.town import make_town

LEVELS = (1, 2, 3)
_FORM = 'End with the line "Answer: " and the answer alone: a name, or a number in digits without its unit.'
_ABOUT = """# Varnholm

{count} questions about a town that does not exist, its web site and its archive, in three levels: a fact on one page or in one
document; two or three steps; four or more, with several kinds of tools. Ten more of the first level are to be trained on.
"""


class LocalWeb:
    """Implements `heredity.engine.questions.pools.Site`."""

    def pool(self, options: Mapping[str, Any]) -> Pool:
        """Return the questions.

        Args:
            options: `level`, 1 to 3, for one level; `ids`, such as `"1-01,3-07"`, for selected questions.

        Raises:
            ConfigError: if an option is unknown, or its value is invalid.
        """
        if unknown := set(options) - {"level", "ids"}:
            raise ConfigError(f"questions/local-web has no option {min(unknown)!r}; it has level and ids")
        level, ids = options.get("level"), str(options.get("ids", ""))
        if level not in (None, *LEVELS):
            raise ConfigError(f"level is {level!r}; expected 1, 2 or 3")
        wanted = set(filter(None, ids.split(",")))
        made = {question.id: question for question in questions(make_town())}
        if missing := wanted - made.keys():
            raise ConfigError(f"ids has {min(missing)!r}, and there is no such question; they go from 1-01 to 3-12")
        chosen = [q for q in made.values() if level in (None, q.level) and (not wanted or q.id in wanted)]
        splits = {
            "train": [_question_of(q) for q in practice(make_town())],
            "heldout": [_question_of(q) for q in chosen],
        }
        return Pool(splits, _ABOUT.format(count=len(chosen)), "this package", "assistants")

    def serving(self, port: int = 0) -> AbstractContextManager[str]:
        """Serve the site on 127.0.0.1."""
        return serving(make_town(), port)

    def write(self, folder: Path) -> None:
        """Write pages, documents, and the questions as `questions.jsonl`."""
        town = make_town()
        write_site(town, folder)
        lines = (json.dumps(_row(q), ensure_ascii=False) for q in (*questions(town), *practice(town)))
        (folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _question_of(question: LocalQuestion) -> Question:
    row = _row(question)
    metadata = {name: row[name] for name in ("id", "level", "files", "shows")}
    return Question(row["question"], row["answer"], {"kind": "gaia"}, (), _FORM, (), metadata)


def _row(question: LocalQuestion) -> dict[str, Any]:
    """Return a question in the format of a file of questions."""
    return {
        "id": question.id,
        "level": question.level,
        "question": question.text,
        "answer": question.answer,
        "split": "train" if question.id.startswith("0-") else "heldout",
        "files": [f"archive/{question.file}"] if question.file else [],
        "shows": {"hops": len(question.calls), "tools": list(question.kinds), "agents": list(question.agents)},
    }


SITE = LocalWeb()
