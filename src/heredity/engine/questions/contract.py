"""Questions as tasks: the question, its public part, and the verification of an answer."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_bytes
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED

LETTERS = "ABCDEFGHIJ"
"""Labels of the options, in order; a choice question has 2 to 10 options."""

DOCUMENT = "document"
"""Metadata key shared by questions about one text, which form a cluster (`Task.cluster`)."""

VERIFIER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "numeric": ("relative", "absolute"),
    "integer": ("minimum", "maximum"),
    "choice": (),
    "exact": ("ignore",),
    "gaia": (),
    "hle": (),
    "judge": ("rubric", "pass_at"),
    "unpublished": (),
    "reasoning-gym": ("dataset", "config", "seed"),
}
"""Kinds of verifiers and the options of each in addition to `kind`; see `verify`."""


@dataclass(frozen=True)
class Question:
    """A question with its reference answer. Trusted and secret, except for the part that `present` returns.

    Attributes:
        text: the question.
        answer: the reference answer; for a choice question, the letter of the right option.
        verifier: verifier of answers: `{"kind": …}` and that kind's options.
        choices: the options of a choice question, in order; empty for other questions.
        instructions: the required form of the answer.
        images: pictures (media type, bytes).
        metadata: further data as JSON, for people only, except for the `document` that the question is about.
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
        """Digest of the question: two questions that share it must not be in different splits."""
        return digest_bytes("\0".join([" ".join(self.text.split()), *sorted(self.choices)]).encode())

    def to_spec(self) -> dict[str, Any]:
        """Return it as the `spec` of a task, JSON values; empty fields are left out."""
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
        """Read the result of `to_spec`.

        Raises:
            ConfigError: if it is not a question.
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
            raise ConfigError(f"the task's spec has no {error}; create it with Question.to_spec") from error


@dataclass(frozen=True, slots=True)
class Presented:
    """The public part of a question.

    Attributes:
        text: the question.
        choices: the options of a choice question, in order, without letters.
        images: pictures (media type, bytes).
        instructions: the required form of the answer.
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
    """The result of checking an answer.

    Attributes:
        score: 0 (wrong) to 1 (right).
        correct: true if it counts as right.
        extracted: the answer extracted from the text (cut if long, empty if none was found).
        reason: one line on why.
        usage: the judge's usage; empty where a rule decides.
        details: further JSON data for the record.
    """

    score: float
    correct: bool
    extracted: str
    reason: str
    usage: Usage = NOTHING_USED
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


def present(spec: Mapping[str, Any]) -> Presented:
    """Return the public part of a question task.

    Args:
        spec: the task's spec, as `Question.to_spec` returns it.

    Raises:
        ConfigError: if it is not a question.
    """
    question = Question.from_spec(spec)
    return Presented(question.text, question.choices, question.images, question.instructions)


def option_lines(choices: tuple[str, ...]) -> list[str]:
    """Return options as lines: `A) first`, `B) second`."""
    return [f"{letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False)]


def letter_of(answer: str, choices: tuple[str, ...]) -> str:
    """Return the letter of the right option, given as a letter or as the option's text.

    Raises:
        ConfigError: if it matches no option, or several.
    """
    wanted = answer.strip()
    meant = {LETTERS[i] for i, choice in enumerate(choices[: len(LETTERS)]) if choice.strip() == wanted}
    if wanted.upper() in LETTERS[: len(choices)] and len(wanted) == 1:
        meant.add(wanted.upper())
    if len(meant) != 1:
        problem = f"means {len(meant)} options ({', '.join(sorted(meant))})" if meant else "is no option"
        raise ConfigError(f"the answer {answer!r} {problem}; expected a letter, or the text of one of the choices")
    return meant.pop()
