"""Checking answers against their reference. Answers are compared, never evaluated.

| kind | reads from the answer | options |
|---|---|---|
| `numeric` | a number; right within `max(absolute, relative × reference)` | `relative` (1e-6), `absolute` (0) |
| `integer` | a whole number | `minimum`, `maximum` (none) |
| `choice` | the letter of an option, or its words | |
| `exact` | the marked answer, else the whole text | `ignore` (`["case", "whitespace"]`; also `"punctuation"`) |
| `gaia` | the marked answer, else the last line; compared by the benchmark's rule | |
| `judge` | the whole text, for a model that knows the reference | `rubric` (ours), `pass_at` (0.5) |
| `hle` | the whole text, for a model that compares the final answer with the reference and reads the stated confidence | |
| `unpublished` | as `gaia`; it is not scored, since the reference is unpublished | |
| `reasoning-gym` | `<answer>…</answer>`, for the scorer of the package | `dataset`, `config`, `seed` |
"""

from __future__ import annotations

import asyncio
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.questions.contract import LETTERS, Question, Verification
from heredity.engine.questions.extract import (
    AMBIGUOUS,
    ambiguous,
    bare,
    correction,
    final_text,
    first_turn,
    marked_answers,
    matches,
    worded_number,
)
from heredity.engine.questions.generated import score
from heredity.engine.questions.judge import DEFAULT_RUBRIC, examine, grade
from heredity.models import Model
from heredity.models.replies import unfenced

_MAX_DIGITS = 120
_MAX_EXPONENT = 400
"""Limits beyond which a number is not computed: `1e999999999` would fill the memory."""

_READ = 4000
"""Characters read of a stated answer, or of the end of a text without one."""

_VULGAR = {ord(c): " " + unicodedata.normalize("NFKC", c).replace("\u2044", "/") for c in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
_CHARACTERS = {
    **_VULGAR,
    **dict.fromkeys(map(ord, "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " "),
    **dict.fromkeys(map(ord, "×·"), "*"),
}
_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_REWRITES = (
    (re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[()\[\]]"), " "),
    (re.compile(r"\b(?:Rs|EUR|USD|GBP|INR|CHF|US|CA|AU)(?:\.\s?|\s?(?=[$\d]))(?=[$€£¥₹]?\d)"), " "),
    (re.compile(r"\\[,;!: ]|\\left|\\right|\\displaystyle"), ""),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"\\(?:times|cdot)\b"), "*"),
    (re.compile(r"\s*\^\s*\{?\s*\\circ\s*\}?|°"), " "),
    (re.compile(r"\b([ckm]?m|ft|in|units?|feet|inches)\s*\^\s*\{?[23]\}?"), r"\1"),
    (re.compile(r"\\[dt]?frac\s*\{\s*([-+]?[0-9.,]+)\s*\}\s*\{\s*([0-9.,]+)\s*\}"), r" \1/\2"),
    (re.compile(r"\\[dt]?frac\s*([0-9])\s*([0-9])"), r" \1/\2"),
    (re.compile(r"(?<=[0-9])\s?[*x]\s?10\s?\^\s?\{?\s?([-+]?[0-9]+)\s?\}?"), r"e\1"),
    (re.compile(r"(?<![\w.])10\s?\^\s?\{?\s?([-+]?[0-9]+)\s?\}?"), r"1e\1"),
)
_POWER_OF_TEN = re.compile(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_PLAIN = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
_NUMBER = re.compile(
    r"(?<![\w^.])(?<!\^-)"
    r"(?P<sign>(?<![)\]}])[-+](?=[$€£¥₹.0-9]))?[$€£¥₹]?(?P<inner>[-+](?=[.0-9]))?"
    r"(?:(?P<whole>[0-9]+) +(?=[0-9]+/[0-9]))?"
    rf"(?P<number>{_PLAIN})(?P<exponent>[eE][-+]?[0-9]+)?"
    rf"(?:\s?/\s?(?P<under>{_PLAIN}))?"
    r"(?P<percent>\s?%|\s?percent\b)?(?P<scale>\s?(?:dozen|thousand|lakh|million|crore|billion|trillion)\b)?"
)
_SCALES = {
    "dozen": 12,
    "thousand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
}
_SHORT_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6}
_NOT_PLAIN = re.compile(r"\\(?:sqrt|pi|log|ln|sin|cos|tan|infty|binom)\b|[√π∞^]")
_POWER = re.compile(r"(?<![\w.^)}])([0-9]{1,6})\s?(?:\^|\*\*)\s?\{?([0-9]{1,2})\}?(?![\w^*.])")
_HEXADECIMAL = re.compile(r"\b0x([0-9a-fA-F]{1,16})\b")
_SUPERSCRIPTS = re.compile(r"(?<=[0-9])[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?![\w⁻])")
_SHORT_SCALE = re.compile(r"(?<![\w.,])([$€£¥₹]?)([0-9]+(?:\.[0-9]+)?)([kKM])\b")
_MINUS = re.compile(
    r"(?:^|(?<=[=:(])|\b(is|but|about|approximately|equals|exactly|be)\b)\s*(?:minus|negative)\s+(?=[$€£¥₹]?[0-9.])",
    re.IGNORECASE,
)
_LOCAL = (
    (re.compile(r"(?<![\w.,])([0-9]{1,3}(?:\.[0-9]{3})+),([0-9]+)(?![\w.,]?[0-9])"), "."),
    (re.compile(r"(?<![\w.,])([0-9]{1,3}(?:\.[0-9]{3}){2,})()(?![\w.,]?[0-9])"), "."),
    (
        re.compile(r"(?<![\w.,])(?<![0-9] )([0-9]{1,3}(?:[ '’_][0-9]{3})+)(?:[.,]([0-9]+))?(?![\w.,]?[0-9])(?! [0-9])"),
        " '’_",
    ),
    (re.compile(r"(?<![\w.,])([0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?:\.([0-9]+))?(?![\w.,]?[0-9])"), ","),
)
"""Digit groupings of other countries; the second part is decimals."""
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])([0-9]+),([0-9]{1,2}|[0-9]{4,})(?![\w.,]?[0-9])")
_ASIDE = re.compile(
    r"[\s,;(:\u2013\u2014-]*\b(?:because|since|which|i\.\s?e\.|that is|not|rather than|instead of|given that|as (?=[\w ]*[0-9]))"
)
_NUMBERS_REJECTED = re.compile(r"\bnot\s+\S{0,3}[0-9][\w.,]*\s*(?:,|;|but|\b)\s*(?:but\s)?")
_PARENTHESIS = re.compile(r"\([^()]{0,200}\)")
_VARIABLE = re.compile(r"(?<![\w])[A-Za-z]\s*=")
_CALCULATION = re.compile(r"^\s*(?:[*+/×÷]|-(?=\s))\s*\(?$|^\s*\*\*\s*$")
_RANGE = re.compile(r"^\s*(?:to|through|until|up to|-|\.\.\.?|…)\s*$")
_LIST = re.compile(r"^(?:\s*[,;&]\s*(?:and\s)?|\s+|\s*(?:[^\W\d]+\s+)?\band\s+)$")
_DURATION = re.compile(
    r"\b(?:in|over|after|within|during|for|every|per)\s+(?:the\s+)?(?:\w+\s+)?[0-9]+\s+(?:second|minute|hour|day|week|month|year)s?\b"
)
_BOUND = re.compile(
    r"^\W*(?:more|less|fewer|greater|higher|lower) than\b|[<>≤≥±]|\\(?:pm|leq?|geq?|lt|gt)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        value: None if it is too large to compute.
        percent: true if "%" follows.
        written: the number as written.
        start: start offset.
        end: end offset.
        scale: factor of the following word, such as 10**6 for "million".
    """

    value: Fraction | None
    percent: bool
    written: str
    start: int
    end: int
    scale: int = 1

    def equals(self, reference: Number, relative: float, absolute: float) -> bool:
        """Return True if it is the reference within a tolerance.

        `50%` is both 50 and 0.5, and `3 million` both 3000000 and 3, unless both are written so.
        """
        mine, theirs = self._values(reference), reference._values(self)
        return any(abs(a - b) <= max(Fraction(absolute), Fraction(relative) * abs(b)) for a in mine for b in theirs)

    def _values(self, other: Number) -> list[Fraction]:
        if self.value is None:
            return []
        values = [self.value]
        if self.percent and not other.percent:
            values.append(self.value / 100)
        if self.scale != 1 and other.scale == 1:
            values.append(self.value / self.scale)
        return values


def numbers(text: str) -> list[Number]:
    """Return the numbers in a text, in order; digits that belong to words or exponents are skipped."""
    return _numbers(_rewritten(bare(text)))


def grouped(text: str) -> str:
    """Return a text with the digit groupings of other countries (`1 080`, `1.000.000`) removed."""
    for pattern, separators in _LOCAL:
        text = pattern.sub(lambda m, s=separators: _joined(m[1], s) + (f".{m[2]}" if m[2] else ""), text)
    return text


def read_number(text: str) -> tuple[Number | None, str]:
    """Return the number that a text gives as its answer; if there is none, None and the reason.

    It is read from the marked answers (see `marked_answers`) unless retracted, else from the last sentence with a
    number.
    """
    for content in (*_last_sentence(correction(text)), *marked_answers(text), *_last_sentence(text)):
        number, problem = _stated(content[:_READ])
        if number or problem:
            return number, problem
    return None, "the answer holds no number"


def _last_sentence(text: str) -> list[str]:
    lines = [line for line in text[-_READ:].splitlines() if re.search("[0-9]", bare(line))]
    if not lines:
        return [text] if 0 < len(text) <= 200 else []
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z*])", lines[-1])
    return [next(one for one in reversed(sentences) if re.search("[0-9]", bare(one)))]


def _stated(content: str) -> tuple[Number | None, str]:
    content = bare(content)
    plain = _local(_rewritten(content))
    if len({name.group() for name in _VARIABLE.finditer(plain)}) > 1:
        return None, ambiguous(content, "gives several values")
    plain = _result(_without_asides(plain))
    candidates = _numbers(plain)
    if not candidates:
        value, words, doubt = worded_number(content) or (None, "", False)
        if doubt:
            return None, ambiguous(content, "names several numbers")
        return (Number(value, False, words, 0, 0) if words else None), ""
    if _NOT_PLAIN.search(plain):
        return None, f"the stated answer {content[:80]!r} is no plain number"
    # "42 apples for 7 days" begins with the answer; "the 7 boys pay 42" ends with it.
    leads = not re.search(r"[^\W\d_]", plain[: candidates[0].start])
    if candidates[2:] and _RESULT.fullmatch(plain[candidates[-2].end : candidates[-1].start]):
        return candidates[-1], ""  # "3 and 4 make 7"
    problem = _undecided(plain, candidates)
    if problem:
        return None, ambiguous(content, problem)
    if leads and candidates[1:] and _CALCULATION.search(plain[candidates[0].end : candidates[1].start]):
        return None, f"the stated answer {content[:80]!r} is a calculation without its result"
    return (candidates[0] if leads else candidates[-1]), ""


_RESULT = re.compile(r"\W*(makes?|gives?|equals?|is|are|(sums?|adds?) (up )?to)\b\W*", re.IGNORECASE)
"""Stands between numbers and their result."""


def _undecided(plain: str, candidates: list[Number]) -> str:
    """Return the reason it is unclear which number is meant; `""` if one is."""
    if _BOUND.search(plain):
        return "bounds a number and gives none"
    for a, b in pairwise(candidates):
        gap = plain[a.end : b.start]
        if a.value == b.value:
            continue
        if re.search(r"\bor\b", gap):
            return "leaves it open which number is meant"
        if _RANGE.search(gap) or (re.search(r"\bbetween\W*$", plain[: a.start]) and re.search(r"\band\b", gap)):
            return "is a range"
        if _LIST.search(gap):
            return "lists several numbers"
    return ""


def _without_asides(plain: str) -> str:
    """Return a stated answer without parts that reject another number, explain, or stand in parentheses next to one."""
    plain = _NUMBERS_REJECTED.sub(" ", plain)
    first = re.search("[0-9]", plain)
    aside = _ASIDE.search(plain, first.end()) if first else None
    if aside:
        plain = plain[: aside.start()]
    for pattern in (_PARENTHESIS, _DURATION):
        outside = pattern.sub(" ", plain)
        plain = outside if re.search("[0-9]", outside) else plain
    return plain


def _result(plain: str) -> str:
    """Return the numeric side of an equation: the last, unless that is a calculation and the first is a number."""
    first, equals, rest = plain.partition("=")
    last = rest.rpartition("=")[2] if equals else plain
    if equals and len(_numbers(last)) != 1 and len(_numbers(first)) == 1:
        return first
    return last


def _local(text: str) -> str:
    text = _SUPERSCRIPTS.sub(lambda m: "^" + m[0].translate(_SUPERSCRIPT), text)
    text = _HEXADECIMAL.sub(lambda m: str(int(m[1], 16)), text)
    text = _POWER.sub(lambda m: str(int(m[1]) ** int(m[2])), text)
    text = _SHORT_SCALE.sub(lambda m: f"{m[1]}{_decimal(Fraction(m[2]) * _SHORT_SCALES[m[3]])}", text)
    return _DECIMAL_COMMA.sub(r"\1.\2", grouped(_MINUS.sub(lambda m: f"{m[1] or ''} -", text)))


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(float(value))


def _joined(groups: str, separators: str) -> str:
    return "".join(character for character in groups if character not in separators)


def _numbers(plain: str) -> list[Number]:
    return [
        Number(_value(m), bool(m["percent"]), m[0].strip(), m.start(), m.end(), _scale(m))
        for m in _NUMBER.finditer(plain)
    ]


def _scale(match: re.Match[str]) -> int:
    return _SCALES[match["scale"].strip().lower()] if match["scale"] else 1


def _rewritten(text: str) -> str:
    text = _POWER_OF_TEN.sub(lambda m: "10^" + m[1].translate(_SUPERSCRIPT), text)
    first, *others = _REWRITES
    text = first[0].sub(first[1], text).translate(_CHARACTERS)
    for pattern, replacement in others:
        text = pattern.sub(replacement, text)
    return text


def _value(match: re.Match[str]) -> Fraction | None:
    exponent = match["exponent"] or "e0"
    if len(match[0]) > _MAX_DIGITS or len(exponent) > 5 or abs(int(exponent[1:])) > _MAX_EXPONENT:
        return None
    value = Fraction(match["number"].replace(",", "")) * Fraction(10) ** int(exponent[1:])
    if match["under"]:
        under = Fraction(match["under"].replace(",", ""))
        if under == 0:
            return None
        value /= under
    value = (value + int(match["whole"] or 0)) * _scale(match)
    return -value if "-" in (match["sign"] or "") + (match["inner"] or "") else value


_LONGEST = 2000
_MARKUP = re.compile(r"[*_`$\\{}\"\u201c\u201d@]")
_SMALL = re.compile(r"^[(\[]?([a-j])(?![\w'’])(?P<closed>[)\].:]|\s*$)?")
_LETTER = re.compile(
    r"(?<![\w'’])(?:(?i:option|choice|answer|letter)\s+[(\[]?([A-Ja-j])(?![\w'’])[)\]]?"
    r"|\(([A-Ja-j])\)|\[([A-J])\]|([A-J])(?![\w'’])\)?)"
)
_AFTER_A = (
    "is|isn't|was|are|because|since|as|and|or|nor|but|so|then|over|not|seems?|looks?|would|could|should|might|may|must|can|can't|cannot|"
    "has|does|doesn't|rather|instead|which|while|whereas|for|with|by|due|given|also|too|here|follows|fits?|holds?|fails?|though|"
    "although|if|however|it|its|this|that|these|the|we|you|option|choice|only|both|to|through|maybe|perhaps|possibly|[A-J]"
)
_ARTICLE = re.compile(rf"\s+(?=[\w\"'])(?!(?:{_AFTER_A})\b)")
_PRONOUN = re.compile(r"\s+(?=\w)(?!(?:is|isn't|because|since|as|and|or|but|so|to|through|[A-J])\b)")

# Below, texts are in lower case, with each letter that names an option written as @A.
_SEVERAL = r"@[A-J](?:(?:\s*[,/&+]\s*|\s+)(?:(?:and|or|nor)\s+)?@[A-J])*"
_WRONG = (
    r"(?:is|are|was|were|looks?|seems?|must be|would be|can be|has been)\s+(?:(?:all|both|\w+ly)\s+)?(?:not\b|wrong\b|incorrect\b|"
    r"false\b|ruled out|excluded|eliminated|impossible|out\b|too\b|no good|invalid|untrue|implausible|unlikely)"
    r"|(?:isn't|aren't|can't|cannot|does not|doesn't|do not|won't|fails?|could not|couldn't|would not|wouldn't)\b"
)
_REJECTED = re.compile(
    rf"{_SEVERAL}\s+(?:{_WRONG})|(?<!can't )(?<!cannot )(?<!not )\b(?:not(?: choose| pick| select)?|neither|reject\w*|"
    r"rul(?:e|ed|es|ing) out|eliminat\w+|exclud\w+|rather than|instead of|unlike|discard\w*|over|dismiss\w*)\s+"
    rf"{_SEVERAL}"
)
_LEADING = frozenset(
    (
        *(
            "the",
            "correct",
            "right",
            "best",
            "one",
            "is",
            "be",
            "it",
            "its",
            "it's",
            "that's",
            "must",
            "most",
            "likely",
        ),
        *("definitely", "clearly", "certainly", "probably", "simply", "just", "still", "indeed", "surely", "obviously"),
        *("therefore", "so", "thus", "hence"),
    )
)
_JOINED = re.compile(
    r"@[A-J](?:\s|[,/&+?\-\u2013]|\b(?:or|and|to|through|maybe|perhaps|possibly|probably|also|even|else|potentially|alternatively)\b)*@[A-J]"
)
_HEDGED = re.compile(r"\b(?:or|but|although|though|however)\b([^.;]*)")
_HEDGES = re.compile(r"\b(?:could|might|may|maybe|perhaps|possibly|also|equally|plausible|possible)\b")
_CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|leaving|leaves|must be|choose|pick|select|go (?:with|for)|(?:choice|pick) is|conclude)\b"
    r"[\s,:]*(?:(?:it's|it|is|must be|be|only|with|for|we|i|choose|pick|select|the|with)\s+)*@([A-J])"
)


def read_choice(text: str, choices: tuple[str, ...]) -> tuple[str, str]:
    """Return the letter of the option that a text names; if that is unclear, `""` and the reason.

    It is read from the marked answers (see `marked_answers`) unless retracted, else from the whole text, else from
    its last line.
    """
    for content in (*filter(None, [correction(text)]), *marked_answers(text)):
        letter, problem = _choice_in(content[:_LONGEST], choices, stated=True)
        if letter or problem:
            return letter, problem
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    doubt = ""
    for part in (text, last) if len(text) <= _LONGEST else (last[:_LONGEST],):
        letter, problem = _choice_in(part, choices, stated=False)
        if letter:
            return letter, ""
        doubt = doubt or problem
    return "", doubt or "the answer names no option"


def _choice_in(content: str, choices: tuple[str, ...], *, stated: bool) -> tuple[str, str]:
    plain = _MARKUP.sub("", bare(content)).strip()
    worded = _worded(plain, choices)
    if len(worded) == 1 and _folded(plain) in map(_folded, choices):
        return worded.pop(), ""
    tokens = _tokens(plain, choices, stated=stated)
    explained = len(_listed(tokens, choices)) == 1 and tokens.startswith("@")
    named, doubt = _meant(_REJECTED.sub(" ", tokens), stated=stated, explained=explained)
    if not named or not (stated or explained) or _folded(tokens[2:]) in map(_folded, choices):
        named |= worded
    if doubt or len(named) > 1:
        return "", ambiguous(content, f"names {', '.join(sorted(named))}")
    for letter in named - set(LETTERS[: len(choices)]):
        return "", f"there is no option {letter}"
    return (named.pop() if named else ""), ""


def _meant(tokens: str, *, stated: bool, explained: bool) -> tuple[set[str], bool]:
    """Return the letters that a text, without rejected ones, may mean, and True if it leaves open which one.

    Args:
        tokens: the result of `_tokens`.
        stated: true if the text is a marked answer.
        explained: true if it begins with a letter and the words of that option, and lists no other option that way.
    """
    mentioned = set(re.findall(r"@([A-J])", tokens))
    places = [match.start(1) - 1 for match in _CONCLUDED.finditer(tokens)]
    if _leads(tokens) and (stated or explained):
        places = [tokens.index("@")]
    if len(mentioned) < 2 or not places:
        return mentioned, False
    chosen = tokens[places[-1] + 1]
    clauses = [match[1] for match in _HEDGED.finditer(tokens, places[-1])]
    hedged = any(_HEDGES.search(clause) and set(re.findall(r"@([A-J])", clause)) - {chosen} for clause in clauses)
    if hedged or _JOINED.match(tokens, places[-1]):
        return mentioned, True
    return {chosen}, False


def _listed(tokens: str, choices: tuple[str, ...]) -> set[str]:
    """Return the letters directly followed by the words of their options, as where a text repeats the question."""
    return {
        letter
        for letter, choice in zip(LETTERS, choices, strict=False)
        for rest in tokens.split(f"@{letter}")[1:]
        if f"{_folded(rest[: 2 * len(choice) + 20])} ".startswith(f"{_folded(choice)} ")
    }


def _leads(tokens: str) -> bool:
    """Return True if a stated answer begins with a letter, after words such as "definitely"."""
    before, letter, _ = tokens.partition("@")
    return bool(letter) and not set(re.findall(r"[a-z']+", before)) - _LEADING


def _tokens(plain: str, choices: tuple[str, ...], *, stated: bool) -> str:
    """Return a text in lower case, with each letter that names an option as @A."""
    small = _SMALL.match(plain)
    if small and (small["closed"] is not None or (stated and not _is_word(small[1].upper(), plain[small.end() :]))):
        plain = plain[: small.end()].upper() + plain[small.end() :]
    parts: list[str] = []
    end = 0
    for match in _LETTER.finditer(plain):
        named, letter = match[2] or match[3], (match[1] or match[4] or "")
        if named or not (
            letter in "AIai" and _is_word(letter.upper(), plain[match.start(match.lastindex or 0) + 1 :], len(choices))
        ):
            parts += [plain[end : match.start()].lower(), f"@{(named or letter).upper()}"]
            end = match.end()
    return "".join([*parts, plain[end:].lower()])


def _is_word(letter: str, rest: str, choices: int = len(LETTERS)) -> bool:
    """Return True if "A" is the article, or "I" the pronoun, judging by the text that follows."""
    if letter == "I":
        return choices <= LETTERS.index("I") or bool(_PRONOUN.match(rest))
    return letter == "A" and bool(_ARTICLE.match(rest))


def _worded(plain: str, choices: tuple[str, ...]) -> set[str]:
    """Return the letters of the options whose words a text contains, except words contained in another option's."""
    text = _folded(plain)
    present = {letter: _folded(choice) for letter, choice in zip(LETTERS, choices, strict=False)}
    present = {letter: words for letter, words in present.items() if words and f" {words} " in f" {text} "}
    return {
        letter
        for letter, words in present.items()
        if not any(words != other and f" {words} " in f" {other} " for other in present.values())
    }


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.+/%-]|(?<!\d)\.|\.(?!\d)", " ", text.casefold()).split())


VERSION = 2
"""Incremented whenever scores may change; part of every taskset's version."""

_SHOWN = 2000
_IGNORABLE = ("case", "whitespace", "punctuation")


async def verify(spec: Mapping[str, Any], text: str, *, judge: Model | None = None, seed: int = 0) -> Verification:
    """Check an answer.

    Args:
        spec: the task's spec, as `Question.to_spec` returns it.
        text: the solver's final words (may be empty or of any length).
        judge: the model that judges, for questions that need one.
        seed: seed of the fences in a judge's prompt.

    Returns:
        The score (0 to 1, higher is better; NaN where the reference is unpublished). An unreadable answer is wrong, with
        the reason.

    Raises:
        ConfigError: if the spec is not a question, or a judge is needed and missing.
        ProviderError: if the judge gives no verdict (the answer then has no score).
        HostError: if a scorer of reasoning-gym itself fails.
        MissingExtraError: if reasoning-gym is needed and not installed.
    """
    question = Question.from_spec(spec)
    kind = question.verifier["kind"]
    answer = final_text(text) if kind in ("judge", "hle") else first_turn(final_text(text))
    if not answer:
        return Verification(0.0, False, "", "the answer is empty")
    if kind == "judge":
        return await _judged(question, answer, judge, seed)
    if kind == "hle":
        return await _examined(question, answer, judge, seed)
    if kind == "unpublished":
        return Verification(math.nan, False, _last_words(answer)[:_SHOWN], "the reference answer is not published")
    if kind == "reasoning-gym":
        return await asyncio.to_thread(score, question, _whole(answer))
    check = {"numeric": _numeric, "integer": _integer, "choice": _choice, "exact": _exact, "gaia": _gaia}[kind]
    return check(question, answer)


def reference_number(question: Question) -> Number:
    """Return the reference answer of a numeric question as a number.

    Raises:
        ConfigError: if it is not a number.
    """
    answer = grouped(question.answer.strip())
    parsed = numbers(answer)
    if len(parsed) != 1 or parsed[0].value is None or parsed[0].written != answer:
        raise ConfigError(f"the reference answer {question.answer!r} is no single number; use the exact verifier")
    return parsed[0]


def normalised(text: str, ignore: tuple[str, ...]) -> str:
    """Return a text with some differences removed: `"case"`, `"whitespace"`, `"punctuation"`.

    Raises:
        ConfigError: if another is named.
    """
    unknown = set(ignore) - set(_IGNORABLE)
    if unknown:
        raise ConfigError(f"ignore names {', '.join(sorted(unknown))}; expected some of {', '.join(_IGNORABLE)}")
    if "case" in ignore:
        text = text.casefold()
    if "punctuation" in ignore:
        text = re.sub(r"[^\w\s]|_", " ", text)
    return " ".join(text.split()) if "whitespace" in ignore else text.strip()


def _numeric(question: Question, answer: str) -> Verification:
    options = question.verifier
    reference = reference_number(question)
    number, problem = read_number(answer)
    if number is None:
        return _wrong("", problem)
    same = number.equals(reference, options.get("relative", 1e-6), options.get("absolute", 0.0))
    return _compared(number.written, same, question.answer)


def _integer(question: Question, answer: str) -> Verification:
    number, problem = read_number(answer)
    if number is None:
        return _wrong("", problem)
    if number.value is None or number.value.denominator != 1 or number.percent:
        return _wrong(number.written, f"{number.written[:80]} is no whole number")
    low, high = question.verifier.get("minimum"), question.verifier.get("maximum")
    if (low is not None and number.value < low) or (high is not None and number.value > high):
        return _wrong(number.written, f"{number.written[:80]} is not from {low} to {high}")
    return _compared(number.written, number.value == reference_number(question).value, question.answer)


def _choice(question: Question, answer: str) -> Verification:
    letter, problem = read_choice(answer, question.choices)
    return _compared(letter, letter == question.answer, question.answer) if letter else _wrong("", problem)


def _exact(question: Question, answer: str) -> Verification:
    ignore = tuple(question.verifier.get("ignore", ("case", "whitespace")))
    wanted = normalised(question.answer, ignore)
    several_lines = "\n" in question.answer.strip()
    stated = marked_answers(answer, to_the_end=several_lines)
    extracted = stated[0] if stated else unfenced(answer)
    forms = [_undressed(one, wanted) for one in (extracted, bare(extracted))]
    same = any(normalised(form, ignore) == wanted for form in forms)
    if not same and wanted in [normalised(part, ignore) for part in re.split(r"\s+(?:or|and)\s+|\s*/\s*", forms[-1])]:
        return _wrong(extracted, ambiguous(extracted, "names the reference beside something else"))
    return _compared(forms[0], same, question.answer)


def _undressed(text: str, wanted: str) -> str:
    """Return a text without its final full stop and enclosing quotes, unless the reference has them."""
    text = text.strip(" \t\n*_`")
    if not wanted.endswith("."):
        text = text.removesuffix(".")
    quotes = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
    quoted = len(text) > 1 and quotes.get(text[0]) == text[-1] and not wanted.startswith(text[0])
    return text[1:-1].removesuffix("." if not wanted.endswith(".") else "") if quoted else text


def _gaia(question: Question, answer: str) -> Verification:
    extracted = _last_words(answer)
    return _compared(extracted, matches(extracted, question.answer), question.answer)


def _last_words(answer: str) -> str:
    """Return the marked answer, else the last line."""
    stated = marked_answers(answer)
    return stated[0] if stated else unfenced(answer).rpartition("\n")[2].strip()


def _needed(judge: Model | None) -> Model:
    if judge is None:
        raise ConfigError("this question is checked by a model; name one as the judge: set gateway.judge")
    return judge


async def _examined(question: Question, answer: str, judge: Model | None, seed: int) -> Verification:
    found = await examine(_needed(judge), question.text, answer, reference=question.answer, seed=seed)
    details = {"confidence": found.confidence}
    return Verification(
        float(found.correct), found.correct, found.extracted[:_SHOWN], found.reasoning, found.usage, details
    )


async def _judged(question: Question, answer: str, judge: Model | None, seed: int) -> Verification:
    options = question.verifier
    rubric = options.get("rubric") or DEFAULT_RUBRIC
    verdict = await grade(_needed(judge), question.text, answer, reference=question.answer, rubric=rubric, seed=seed)
    correct = verdict.score >= options.get("pass_at", 0.5)
    return Verification(verdict.score, correct, answer[:_SHOWN], verdict.reason, verdict.usage)


def _whole(answer: str) -> str:
    """Return the answer where it may span lines, such as a grid."""
    stated = marked_answers(answer, to_the_end=True)
    return unfenced(stated[0] if stated else answer)


def _compared(extracted: str, same: bool, reference: str) -> Verification:
    if same:
        return Verification(1.0, True, extracted[:_SHOWN], "matches the reference")
    return _wrong(extracted, f"{extracted[:80]!r} is not the reference {reference[:80]!r}")


def _wrong(extracted: str, reason: str) -> Verification:
    details = {"ambiguous": True} if reason.startswith(AMBIGUOUS) else {}
    return Verification(0.0, False, extracted[:_SHOWN], reason, details=details)
