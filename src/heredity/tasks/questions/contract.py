"""Questions as tasks: what one is, what a solver may see of it, and what came of checking an answer."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED
from heredity.ids import digest_bytes

LETTERS = "ABCDEFGHIJ"
"""Options are named by these, in order; a choice question has 2 to 10 of them."""

DOCUMENT = "document"
"""The metadata that questions about one text share: they are a cluster (`Task.cluster`)."""

VERIFIER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "numeric": ("relative", "absolute"),
    "integer": ("minimum", "maximum"),
    "choice": (),
    "exact": ("ignore",),
    "gaia": (),
    "judge": ("rubric", "pass_at"),
    "reasoning-gym": ("dataset", "config", "seed"),
}
"""The kinds of verifiers, and the options each takes beside `kind`; `verify` says what they mean."""


@dataclass(frozen=True)
class Question:
    """A question with its reference answer. Trusted and secret, except for what `present` gives.

    Attributes:
        text: the question.
        answer: the reference answer; of a choice question, the letter of the right option.
        verifier: how answers are checked: `{"kind": …}` and that kind's options.
        choices: the options of a choice question, in order; empty if it is none.
        instructions: how the answer must be given.
        images: pictures (media type, bytes).
        metadata: whatever else is known of it, as JSON; nobody but people reads it, except for the `document` that it is about.
    """

    text: str
    answer: str = field(repr=False)
    verifier: Mapping[str, Any]
    choices: tuple[str, ...] = ()
    instructions: str = ""
    images: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ConfigError("the field question is empty; expected text")
        kind = str(self.verifier.get("kind"))
        if kind not in VERIFIER_OPTIONS:
            raise UnknownNameError("verifier", kind, VERIFIER_OPTIONS)
        for option in self.verifier.keys() - {"kind", *VERIFIER_OPTIONS[kind]}:
            raise UnknownNameError(f"option of the {kind} verifier", option, VERIFIER_OPTIONS[kind])
        if (kind == "choice") != bool(self.choices):
            raise ConfigError(
                f"the verifier is {kind!r} and there are {len(self.choices)} choices; one needs the other"
            )
        if self.choices and not 2 <= len(self.choices) <= len(LETTERS):
            raise ConfigError(f"the question has {len(self.choices)} choices; expected 2 to {len(LETTERS)}")
        if self.choices and self.answer not in LETTERS[: len(self.choices)]:
            raise ConfigError(
                f"the answer is {self.answer!r}; expected a letter up to {LETTERS[len(self.choices) - 1]}"
            )

    @cached_property
    def identity(self) -> str:
        """Digest of what is asked: two questions that share it must not lie in different splits."""
        return digest_bytes("\0".join([" ".join(self.text.split()), *sorted(self.choices)]).encode())

    def to_spec(self) -> dict[str, Any]:
        """Return it as the `spec` of a task, JSON values; what is empty is left out."""
        optional = {
            "choices": list(self.choices),
            "images": [[kind, base64.b64encode(data).decode()] for kind, data in self.images],
            "metadata": dict(self.metadata),
        }
        return {
            "question": self.text,
            "answer": self.answer,
            "verifier": dict(self.verifier),
            "instructions": self.instructions,
            **{name: value for name, value in optional.items() if value},
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Question:
        """Read what `to_spec` gave.

        Raises:
            ConfigError: if it is no question.
        """
        try:
            return cls(
                spec["question"],
                spec["answer"],
                spec["verifier"],
                tuple(spec.get("choices", ())),
                spec.get("instructions", ""),
                tuple((kind, base64.b64decode(data)) for kind, data in spec.get("images", ())),
                spec.get("metadata", {}),
            )
        except KeyError as error:
            raise ConfigError(f"the task's spec has no {error}; expected what Question.to_spec gives") from error


@dataclass(frozen=True, slots=True)
class Presented:
    """The public part of a question.

    Attributes:
        text: the question.
        choices: the options of a choice question, in order, without letters.
        images: pictures (media type, bytes).
        instructions: how the answer must be given.
    """

    text: str
    choices: tuple[str, ...] = ()
    images: tuple[tuple[str, bytes], ...] = ()
    instructions: str = ""

    @property
    def prompt(self) -> str:
        """The whole question as one text: options as lines `A) …`, instructions at the end."""
        options = "\n".join(option_lines(self.choices))
        return "\n\n".join(part for part in (self.text, options, self.instructions) if part)


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of checking an answer.

    Attributes:
        score: 0 (wrong) to 1 (right).
        correct: whether it counts as right.
        extracted: the answer that was read out of the text, cut where it is long; empty if there was none.
        reason: one line on why.
        usage: what a judge used; nothing where a rule decides.
        details: what else goes on record of it, as JSON.
    """

    score: float
    correct: bool
    extracted: str
    reason: str
    usage: Usage = NOTHING_USED
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


def present(spec: Mapping[str, Any]) -> Presented:
    """Return what a solver may see of a question task.

    Args:
        spec: the task's spec, as `Question.to_spec` gives it.

    Raises:
        ConfigError: if it is no question.
    """
    question = Question.from_spec(spec)
    return Presented(question.text, question.choices, question.images, question.instructions)


def option_lines(choices: tuple[str, ...]) -> list[str]:
    """Return options as lines: `A) first`, `B) second`."""
    return [f"{letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False)]


def letter_of(answer: str, choices: tuple[str, ...]) -> str:
    """Return the letter of the right option, which a data set names by its letter or by its text.

    Raises:
        ConfigError: if no option, or more than one, is meant.
    """
    wanted = answer.strip()
    meant = {LETTERS[i] for i, choice in enumerate(choices[: len(LETTERS)]) if choice.strip() == wanted}
    if wanted.upper() in LETTERS[: len(choices)] and len(wanted) == 1:
        meant.add(wanted.upper())
    if len(meant) != 1:
        problem = f"means {len(meant)} options ({', '.join(sorted(meant))})" if meant else "is no option"
        raise ConfigError(f"the answer {answer!r} {problem}; expected a letter, or the text of one of the choices")
    return meant.pop()
