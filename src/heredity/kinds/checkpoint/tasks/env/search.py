"""Questions over a collection of documents: one searches, opens documents, and answers within a few steps.

Actions: `search[words]`, `open[title]`, `answer[words]`. An answer is right if it names what is asked for, all of it and nothing
else; words, not their case, articles or punctuation, decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .ranking import Index
from .rollout import FORM

STEPS = 6
RESULTS = 4
"""How many documents a search shows."""

INSTRUCTION = f"""\
Answer the question from the documents. You have {STEPS} steps, and answering is one of them.
Actions: search[words] looks for documents; open[title] shows one whole; answer[words] gives the answer and ends the game.
If several things are asked for, name them all: answer[first; second].
{FORM}"""

_ACTION = re.compile(r"(search|open|answer)\s*\[(.*)\]", re.IGNORECASE | re.DOTALL)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_SNIPPET = 90


@dataclass(frozen=True)
class Document:
    """A text with a title of its own."""

    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question and its answer.

    Attributes:
        text: what is asked.
        answers: everything that has to be named, in any order; each with the ways in which it may be written.
    """

    text: str
    answers: tuple[tuple[str, ...], ...]


def normal(text: str) -> str:
    """Return words without case, articles, punctuation and surplus space."""
    return " ".join(_ARTICLES.sub(" ", re.sub(r"[^\w\s]", " ", text.lower())).split())


def correct(question: Question, given: str) -> bool:
    """Return whether an answer names all that is asked for, and nothing else; items are separated by `;`."""
    items = {normal(item) for item in given.split(";")} - {""}
    accepted = [{normal(way) for way in ways} for ways in question.answers]
    return len(items) == len(accepted) and all(items & ways for ways in accepted)


class Library:
    """Documents and their search, shared by all episodes.

    Args:
        documents: what there is to read.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = tuple(documents)
        self._by_title = {normal(d.title): d for d in documents}
        self._index = Index([f"{d.title} {d.title} {d.text}" for d in documents])

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Library:
        """Return the library of the rows of `documents.jsonl`."""
        return cls([Document(row["title"], row["text"]) for row in rows])

    def search(self, words: str) -> list[Document]:
        """Return the documents that fit best, best first."""
        return [self.documents[i] for i in self._index.search(words, RESULTS)]

    def titled(self, title: str) -> Document | None:
        """Return the document of a title, written in any case; None if there is none."""
        return self._by_title.get(normal(title))


class SearchEpisode:
    """One question.

    Args:
        library: where to look.
        question: what is asked.

    Attributes:
        given: the answer that was given; None before.
    """

    def __init__(self, library: Library, question: Question) -> None:
        self.steps = STEPS
        self._library, self._question = library, question
        self.given: str | None = None

    def reset(self) -> str:
        """Begin with the question."""
        self.given = None
        return f"Question: {self._question.text}"

    def step(self, action: str) -> tuple[str, float, bool]:
        """Search, open or answer; anything else costs its step."""
        read = _ACTION.search(action)
        if read is None:
            return "That is no action. Use search[words], open[title] or answer[words].", 0.0, False
        verb, argument = read[1].lower(), " ".join(read[2].split())
        if verb == "answer":
            self.given = argument
            return "The answer was taken.", float(correct(self._question, argument)), True
        if verb == "search":
            documents = self._library.search(argument)
            lines = [f"[{d.title}] {d.text[:_SNIPPET]}…" for d in documents]
            return "\n".join(lines) or "Nothing was found.", 0.0, False
        document = self._library.titled(argument)
        return (document.text if document else f"There is no document {argument!r}."), 0.0, False


def question_of(row: Mapping[str, Any]) -> Question:
    """Return the question of a row of `episodes.jsonl`."""
    return Question(row["question"], tuple(tuple(ways) for ways in row["answers"]))
