r"""Numbers as people and models write them: `1,080`, `$18.50`, `−3`, `50%`, `3/4`, `\frac{3}{4}`, `1 1/2`, `2.5 × 10^6`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from heredity.tasks.questions.extract import marked_answers

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
    r"(?P<sign>(?<![)\]}])[-+](?=[$€£¥.0-9]))?[$€£¥]?(?P<inner>[-+](?=[.0-9]))?"
    r"(?:(?P<whole>[0-9]+) +(?=[0-9]+/[0-9]))?"
    rf"(?P<number>{_PLAIN})(?P<exponent>[eE][-+]?[0-9]+)?"
    rf"(?:\s?/\s?(?P<under>{_PLAIN}))?"
    r"(?P<percent>\s?%|\s?percent\b)?"
)
_NOT_PLAIN = re.compile(r"\\(?:sqrt|pi|log|ln|sin|cos|tan|infty|pm|binom)\b|[√π∞±^]")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: `value` (None if it is too large to compute), whether a percent sign follows, and where."""

    value: Fraction | None
    percent: bool
    written: str
    start: int
    end: int

    def equals(self, reference: Number, relative: float, absolute: float) -> bool:
        """Whether it is the reference within a tolerance; `50%` is both 50 and 0.5 unless both have the sign."""
        if self.value is None or reference.value is None:
            return False
        mine, theirs = [self.value], [reference.value]
        if self.percent and not reference.percent:
            mine.append(self.value / 100)
        if reference.percent and not self.percent:
            theirs.append(reference.value / 100)
        return any(abs(a - b) <= max(Fraction(absolute), Fraction(relative) * abs(b)) for a in mine for b in theirs)


def numbers(text: str) -> list[Number]:
    """Return the numbers in a text, in order; digits that belong to words or are exponents are none."""
    plain = _rewritten(text)
    return [Number(_value(m), bool(m["percent"]), m[0].strip(), m.start(), m.end()) for m in _NUMBER.finditer(plain)]


def read_number(text: str) -> tuple[Number | None, str]:
    """Return the number that a text gives as its answer; if there is none, None and why.

    It is read where answers stand (see `marked_answers`), else it is the text's last number.
    """
    for content in marked_answers(text):
        number, problem = _stated(content[:_READ])
        if number or problem:
            return number, problem
    everything = numbers(text[-_READ:])
    return (everything[-1], "") if everything else (None, "the answer holds no number")


def _stated(content: str) -> tuple[Number | None, str]:
    plain = _rewritten(content).rpartition("=")[2]
    candidates = numbers(plain)
    if _NOT_PLAIN.search(plain):
        return None, f"the stated answer {content[:80]!r} is no plain number"
    if not candidates:
        return None, ""
    if any(re.search(r"\bor\b", plain[a.end : b.start]) for a, b in pairwise(candidates)):
        return None, f"the stated answer {content[:80]!r} leaves it open which number is meant"
    # "42 apples for 7 days" begins with what was asked for; "the 7 boys pay 42" ends with it.
    leads = not re.search(r"[^\W\d_]", plain[: candidates[0].start])
    return (candidates[0] if leads else candidates[-1]), ""


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
    value += int(match["whole"] or 0)
    return -value if "-" in (match["sign"] or "") + (match["inner"] or "") else value
