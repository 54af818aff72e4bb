"""Which option of a choice question a text names: `B`, `(B)`, `B.`, `Option B`, or the option's own words."""

from __future__ import annotations

import re

from heredity.tasks.questions.contract import LETTERS
from heredity.tasks.questions.extract import marked_answers

_WRAPPED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|boldsymbol)\s*\{([^{}]*)\}")
_MARKUP = re.compile(r"[*_`$\\{}]")
_LEAD = re.compile(r"^(?:(?:the|correct|right|best|option|choice|answer|letter)\s+)+(?=\W?[A-Ja-j]\b)", re.IGNORECASE)
_OPEN = re.compile(r"^[(\[]?([A-Ja-j])(?:[)\].:,;]|\s*[-\u2013\u2014]\s|$)")
_BARE = re.compile(r"^([A-J])\b")
_JOINED = re.compile(r"^\W*[A-J]\W*(?:[,/&]|\bor\b|\band\b)\W*(?:option\s+)?\(?[A-J]\b(?!\w)")
_ALONE = re.compile(
    r"(?<![\w'’])(?:\(([A-J])\)|\[([A-J])\]|([B-HJ])(?=[\s).:,;]|$)|([AI])(?=[).:]|$)|(?<=[a-z,;] )(A)\b)"
)


def read_choice(text: str, choices: tuple[str, ...]) -> tuple[str, str]:
    """Return the letter of the option that a text names; if that is not clear, `""` and why.

    It is read where answers stand (see `marked_answers`), else in the whole text, else in its last line.
    """
    for content in marked_answers(text):
        letter, problem = _named(content, choices, stated=True)
        if letter or problem:
            return letter, problem
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    for part in (text, last) if len(text) <= 2000 else (last,):
        letter, problem = _named(part, choices, stated=False)
        if letter or problem:
            return letter, problem
    return "", "the answer names no option"


def _named(content: str, choices: tuple[str, ...], *, stated: bool) -> tuple[str, str]:
    letters = LETTERS[: len(choices)]
    whole = _MARKUP.sub("", _WRAPPED.sub(r"\1", content)).strip()
    plain = _LEAD.sub("", whole)
    choice_named = _folded(plain)
    same = [letter for letter, choice in zip(letters, choices, strict=True) if _folded(choice) == choice_named]
    if len(same) == 1:
        return same[0], ""
    joined = _JOINED.match(plain)
    if len(same) > 1 or joined:
        return "", f"{content[:80]!r} names more than one option"
    leading = _leading(plain, choices, announced=plain != whole)
    alone = {next(g for g in m.groups() if g) for m in _ALONE.finditer(plain)}
    if leading and (stated or alone <= {leading}):
        named = {leading}
    else:
        named = alone | {
            letter for letter, choice in zip(letters, choices, strict=True) if _holds(choice_named, _folded(choice))
        }
    if len(named) > 1:
        return "", f"{content[:80]!r} names {', '.join(sorted(named))}: more than one option"
    for letter in named - set(letters):
        return "", f"there is no option {letter}"
    return (named.pop() if named else ""), ""


def _leading(plain: str, choices: tuple[str, ...], *, announced: bool) -> str:
    """Return the letter that a text begins with, if it is meant as one and not as a word such as "A"."""
    opened = _OPEN.match(plain)
    if opened:
        return opened[1].upper()
    bare = _BARE.match(plain)
    if bare is None:
        return ""
    position = LETTERS.index(bare[1])
    own = position < len(choices) and _folded(plain[1:]) == _folded(choices[position])
    return bare[1] if own or announced or bare[1] not in "AI" else ""


def _holds(answer: str, option: str) -> bool:
    return bool(option) and f" {option} " in f" {answer} "


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.+/%-]|(?<!\d)\.|\.(?!\d)", " ", text.casefold()).split())
