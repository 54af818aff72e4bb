"""Tasksets that draw from a fixed stock of questions, such as a benchmark's; sites that questions are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.plugins import Group
from heredity.engine.questions.contract import DOCUMENT, LETTERS, Question
from heredity.engine.questions.verify import VERSION
from heredity.tasks.contract import CLUSTER, SPLITS, Task, TasksetInfo

NUMBER = 'Work it out, then end with the line "Answer: " and the number alone.'
LETTER = 'Think it through, then end with the line "Answer: " and the letter of the one right option.'
WORDS = 'End with the line "Answer: " and the answer alone, in as few words as it takes.'
FREELY = "Give the answer and, briefly, what it rests on."
"""Instructions by kind of answer."""

INSTRUCTIONS = {"numeric": NUMBER, "integer": NUMBER, "choice": LETTER, "exact": WORDS, "judge": FREELY}
"""The instructions by kind of verifier."""


@dataclass(frozen=True)
class Pool:
    """A stock of questions.

    Attributes:
        splits: the questions of each split; no question is in two of them.
        description: description in Markdown.
        hidden: source of validation and held-out questions, as evolvers see it: `"public benchmark"`, `"the user's
            file"`.
        family: label to aggregate by, such as `"math"`.
        shuffle: shuffle the options of choice questions anew for each draw.
        notes: see `TasksetInfo.notes`.
    """

    splits: Mapping[str, Sequence[Question]]
    description: str
    hidden: str
    family: str
    shuffle: bool = False
    notes: Sequence[str] = ()


class PoolTaskset:
    """Question tasks from a pool, which is read on first use.

    Args:
        name: the taskset's full name.
        read: reads the pool.
    """

    def __init__(self, name: str, read: Callable[[], Pool]) -> None:
        self.name = name
        self._read = read

    @cached_property
    def pool(self) -> Pool:
        """The questions.

        Raises:
            ConfigError: if their files are missing or wrong, or two splits share a question.
        """
        pool = self._read()
        seen: dict[str, str] = {}
        for split, questions in pool.splits.items():
            for question in questions:
                if seen.setdefault(question.identity, split) != split:
                    both = f"{seen[question.identity]} and {split}"
                    raise ConfigError(f"{self.name}: {question.text[:80]!r} is in {both}; splits must be disjoint")
        return pool

    @property
    def sizes(self) -> Mapping[str, int]:
        """Number of questions in each split."""
        return {split: len(self.pool.splits.get(split, ())) for split in SPLITS}

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset; reads the pool."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        pool = self.pool
        counts = self.sizes
        everything = [question for split in SPLITS for question in pool.splits.get(split, ())]
        stock = digest_json([list(counts.values()), [_scored(question) for question in everything]])[:12]
        return question_info(
            self.name,
            version=f"questions {stock}, verifier {VERSION}",
            description=pool.description,
            family=pool.family,
            public={
                "instructions": "\n".join(dict.fromkeys(question.instructions for question in everything)),
                "answer_format": ", ".join(dict.fromkeys(question.verifier["kind"] for question in everything)),
                "train_tasks": counts["train"],
                "hidden": pool.hidden,
            },
            notes=pool.notes,
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split in an order drawn from the entropy; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        questions = self.pool.splits.get(split, ())
        if not 0 <= count <= len(questions):
            raise ConfigError(
                f"{count} tasks of split {split!r} of {self.name} asked for; "
                f"it has {len(questions)} question{'s' * (len(questions) != 1)}"
            )
        order = generator(entropy, "questions", self.name, split).permutation(len(questions))[:count]
        drawn = [questions[i] for i in order]
        if self.pool.shuffle:
            drawn = [shuffled(question, entropy) for question in drawn]
        return question_tasks(split, drawn)


def _scored(question: Question) -> list[Any]:
    spec = question.to_spec()
    return [spec.get(name) for name in ("question", "answer", "verifier", "instructions", "choices", "images")]


def question_info(
    name: str, *, version: str, description: str, family: str, public: Mapping[str, Any], notes: Sequence[str] = ()
) -> TasksetInfo:
    """Return the info of a taskset of questions: scores range from 0 to 1, a failed rollout counts as 0."""
    return TasksetInfo(
        name=name,
        version=version,
        kind="question",
        spec={"taskset": name},
        public={"taskset": name, "metric": "accuracy: mean score from 0 to 1, higher is better", **public},
        description=description,
        failure_return=0.0,
        group="questions",
        family=family,
        notes=tuple(notes),
    )


def question_tasks(split: str, questions: Sequence[Question]) -> tuple[Task, ...]:
    """Return questions as the tasks of a split, in order."""
    return tuple(
        Task(f"{split}/{i}", split, i, question.to_spec(), attributes_of(question))
        for i, question in enumerate(questions)
    )


def attributes_of(question: Question) -> dict[str, str]:
    """Return the attributes of a question's task; questions about one `document` are a cluster."""
    document = question.metadata.get(DOCUMENT)
    return {} if document is None or str(document) == "" else {CLUSTER: str(document)}


def shuffled(question: Question, entropy: int) -> Question:
    """Return a choice question with its options shuffled by the entropy; other questions unchanged."""
    if not question.choices:
        return question
    order = generator(entropy, "questions", "options", question.identity).permutation(len(question.choices)).tolist()
    right = LETTERS[order.index(LETTERS.index(question.answer))]
    return replace(question, choices=tuple(question.choices[i] for i in order), answer=right)


def whole(read: Callable[[], Pool]) -> Pool:
    """Return a pool whose questions are all held out: evolution within tasks does not train."""
    pool = read()
    return replace(pool, splits={"heldout": [question for split in SPLITS for question in pool.splits.get(split, ())]})


def shared_out(questions: Sequence[Question], shares: Mapping[str, float]) -> dict[str, list[Question]]:
    """Divide questions among splits by the rank of their identities: the same questions are always divided alike.

    Args:
        questions: distinct questions.
        shares: of each split; they sum to 1.
    """
    ranked = sorted(questions, key=lambda question: question.identity)
    parts: dict[str, list[Question]] = {}
    start, total = 0, 0.0
    for split, share in shares.items():
        total += share
        end = round(total * len(ranked))
        parts[split] = ranked[start:end]
        start = end
    return parts


# Sites: small local webs that questions are about (entry point group `heredity.sites`).
#
#     [project.entry-points."heredity.sites"]
#     local-web = "my_package.site:SITE"
#
# The questions of a site are the taskset `questions/NAME`. A question's metadata lists its requirements: `files` are
# documents given with it, as paths below the folder that `write` fills; `shows` is the evidence that the record of a
# solver that found the answer must contain.


@runtime_checkable
class Site(Protocol):
    """A site, its documents and its questions."""

    def pool(self, options: Mapping[str, Any]) -> Pool:
        """Return its questions; raises `ConfigError` if an option is wrong."""
        ...

    def serving(self, port: int = 0) -> AbstractContextManager[str]:
        """Serve it on 127.0.0.1 within a block and return its address, such as `127.0.0.1:8000`; port 0 picks any."""
        ...

    def write(self, folder: Path) -> None:
        """Write its pages and documents into a folder."""
        ...


SITES = Group[Site](
    "heredity.sites", "site", "an object with pool, serving and write", lambda site: isinstance(site, Site)
)
