"""Numbers in English words: `five`, `twenty-five`, `two hundred and six`, `half`, `three quarters`, `two and a half`."""

from __future__ import annotations

import re
from fractions import Fraction

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: i for i, word in enumerate(("zero", *_ONES, *_TEENS))},
    **{word: 10 * i for i, word in enumerate(_TENS, 2)},
}
_LARGE = {"dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = {
    "half": 2,
    "halve": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
}


def _any(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_FEW = _any((*_ONES, *_TEENS))
_SMALL = rf"(?:{_any(_TENS)}(?:[ -]{_any(_ONES)})?|{_FEW}|zero)"
_GROUP = rf"(?:(?:{_SMALL}|an?) hundred(?:(?: and)? {_SMALL})?|{_SMALL})"
_SCALE = _any(tuple(_LARGE))
_WHOLE = rf"(?:(?:{_GROUP}|an?) {_SCALE}(?:,? {_GROUP} {_SCALE}){{0,2}}(?:,?(?: and)? {_GROUP})?|{_GROUP})"
_PART = rf"(?:(?P<count{{0}}>{_FEW}|an?)[ -])?(?P<part{{0}}>{_any(tuple(_PARTS))})s?"
_LEAD = r"^\W*(?:(?:it is|it's|is|the|about|approximately|exactly|an? total of|just|only|there are|answer is)\W+)*"
_WORDED = re.compile(
    rf"{_LEAD}(?P<number>(?P<sign>minus |negative )?(?:{_PART.format(1)}|(?P<whole>{_WHOLE})(?: and {_PART.format(2)})?))\b(?![-])",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"\b(?:or|{_any(tuple(word for word in _VALUES if word != 'one'))})\b", re.IGNORECASE)


def worded_number(content: str) -> tuple[Fraction, str, bool] | None:
    """Return the number at the start of a stated answer in words, those words, and True if another number follows.

    Args:
        content: a stated answer without digits, such as `"twenty-five apples"`.
    """
    match = _WORDED.match(content[:400])
    if match is None:
        return None
    rest = content[match.end() : 400]
    # "one of them" is not a count.
    if match["number"].lower() == "one" and rest.lstrip().lower().startswith("of"):
        return None
    value = Fraction(_value(match["whole"])) if match["whole"] else Fraction(0)
    for part, count in ((match["part1"], match["count1"]), (match["part2"], match["count2"])):
        if part:
            value += Fraction(_VALUES.get((count or "").lower(), 1), _PARTS[part.lower()])
    return (-value if match["sign"] else value), match["number"], bool(_COUNTED.search(rest))


def _value(words: str) -> int:
    total, group = 0, 0
    for word in re.findall("[a-z]+", words.lower()):
        if word in _VALUES:
            group += _VALUES[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in _LARGE:
            total, group = total + (group or 1) * _LARGE[word], 0
    return total + group
