r"""Numbers as people and models write them: `1,080`, `$18.50`, `−3`, `50%`, `3/4`, `\frac{3}{4}`, `1 1/2`, `2.5 × 10^6`.

Where an answer is stated, also `1 080`, `1.234,50`, `12,34,567`, `2.5 million`, `2^3`, `minus 5` and `twenty-five`. An answer
that can be read in two ways ("between 10 and 12", "17 or 18") is none: the reason says that it is ambiguous.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from heredity.tasks.questions.extract import ambiguous, bare, correction, marked_answers
from heredity.tasks.questions.number_words import worded_number

_MAX_DIGITS = 120
_MAX_EXPONENT = 400
"""Beyond these a number is not computed: `1e999999999` would fill the memory."""

_READ = 4000
"""So many characters of a stated answer, or of the end of a text without one, are read."""

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
"""Groupings of digits in other countries, and what stands between the groups; the second part is decimals."""
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])([0-9]+),([0-9]{1,2}|[0-9]{4,})(?![\w.,]?[0-9])")
_ASIDE = re.compile(
    r"[\s,;(:\u2013\u2014-]*\b(?:because|since|which|i\.\s?e\.|that is|not|rather than|instead of|given that|as (?=[\w ]*[0-9]))"
)
_REJECTED = re.compile(r"\bnot\s+\S{0,3}[0-9][\w.,]*\s*(?:,|;|but|\b)\s*(?:but\s)?")
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
        percent: whether a percent sign follows.
        written: as it stands in the text.
        start: where it begins.
        end: where it ends.
        scale: what the word behind it multiplies it by, such as 10**6 for "million".
    """

    value: Fraction | None
    percent: bool
    written: str
    start: int
    end: int
    scale: int = 1

    def equals(self, reference: Number, relative: float, absolute: float) -> bool:
        """Whether it is the reference within a tolerance.

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
    """Return the numbers in a text, in order; digits that belong to words or are exponents are none."""
    return _numbers(_rewritten(bare(text)))


def grouped(text: str) -> str:
    """Return a text whose digits are grouped as in other countries (`1 080`, `1.000.000`) with them ungrouped."""
    for pattern, separators in _LOCAL:
        text = pattern.sub(lambda m, s=separators: _joined(m[1], s) + (f".{m[2]}" if m[2] else ""), text)
    return text


def read_number(text: str) -> tuple[Number | None, str]:
    """Return the number that a text gives as its answer; if there is none, None and why.

    It is read where answers stand (see `marked_answers`), unless that is taken back; else from the last sentence that has a number.
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
    # "42 apples for 7 days" begins with what was asked for; "the 7 boys pay 42" ends with it.
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
"""Between numbers and the one that comes of them."""


def _undecided(plain: str, candidates: list[Number]) -> str:
    """Return why it is open which number is meant; `""` if one is."""
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
    """Return a stated answer without what rejects another number, explains, or stands in parentheses beside one."""
    plain = _REJECTED.sub(" ", plain)
    first = re.search("[0-9]", plain)
    aside = _ASIDE.search(plain, first.end()) if first else None
    if aside:
        plain = plain[: aside.start()]
    for pattern in (_PARENTHESIS, _DURATION):
        outside = pattern.sub(" ", plain)
        plain = outside if re.search("[0-9]", outside) else plain
    return plain


def _result(plain: str) -> str:
    """Return the side of an equation that is a number: the last, unless that is a calculation and the first is a number."""
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
