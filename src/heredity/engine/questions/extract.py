r"""Extracting and comparing final answers. They are found in `\boxed{…}`, in `<answer>…</answer>`, after `Answer:` or `####`."""

from __future__ import annotations

import math
import re
import string
from fractions import Fraction
from itertools import islice

MAX_CHARS = 200_000
"""Only the end of a longer text is read."""

AMBIGUOUS = "ambiguous: "
"""Prefix of the reason for an ambiguous answer."""

_MARKERS_READ = 16
_BOXED, _TAG, _TAG_END = "\\boxed", "<answer>", "</answer>"
_VERBS = r"(?:is|was|equals|(?:would|should|must|will|has to) be)\b"
_MARKER = re.compile(
    r"\\boxed\s*\{|<answer>|####|[\"']answer[\"']\s*:\s*[\"']|\b(?:answer|(?:correct|right|best) (?:option|choice|answer))\b"
    rf"(?:</\w+>)?[ \t*_`]*(?:{_VERBS}|[:=\uff1a\u2192]|[-\u2013\u2014][ \t])(?:</\w+>)?[ \t*_`:]*",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"^[ \t>*_#]*(?:(?:next|new|another)[ \t]+)?(?:question|problem|exercise|q|human|user|instruction)[ \t]?#?\d{0,3}[ \t]?"
    r"\**[ \t]?[:\uff1a]",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"\bfinal answer\b", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thoughts?|i (?:made|see) (?:an error|a mistake)|i was wrong)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"^(?:sure|ok(?:ay)?|certainly|of course|solution|reasoning|let|here|yes|step)\b", re.IGNORECASE)
_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,14}(?:\s[^<>]{0,80}=[^<>]{0,80})?\s?/?>")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None)
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WRAPPED = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|boldsymbol|mbox)\s*\{([^{}]*)\}")


def final_text(text: str) -> str:
    """Return a model's final words: without its thoughts (`<think>…</think>`), and cut to the last `MAX_CHARS`."""
    # JSON can carry half a surrogate pair, which cannot be encoded again.
    tail = text[-MAX_CHARS:].encode(errors="replace").decode().translate(_INVISIBLE)
    _, closed, after = tail.rpartition("</think>")
    return after.strip() if closed else tail.partition("<think>")[0].strip()


def first_turn(text: str) -> str:
    """Return a text up to the next question: base models continue with one after the answer."""
    markers = islice(_MARKER.finditer(text), _MARKERS_READ)
    first = next((match for match in markers if _content(text, match, to_the_end=False)), None)
    for match in islice(_NEXT_QUESTION.finditer(text), _MARKERS_READ):
        before, after = text[: match.start()].strip(), text[match.end() :]
        answered = (first is not None and first.end() < match.start()) or _is_answer(before)
        if answered and (_FINAL.search(before) or not _FINAL.search(after)):
            return before
        if answered:
            break
    return text


def _is_answer(text: str) -> bool:
    return bool(text) and len(text) <= 40 and "\n" not in text and len(text.split()) <= 3 and not _ASIDE.match(text)


def marked_answers(text: str, *, to_the_end: bool = False) -> list[str]:
    """Return the marked answers of a text, the last one first.

    Args:
        text: the result of `final_text`.
        to_the_end: read an answer after `Answer:` to the end of the text instead of its line.
    """
    places = list(_MARKER.finditer(text))[-_MARKERS_READ:]
    contents = (_content(text, match, to_the_end=to_the_end) for match in reversed(places))
    return [content for content in contents if content]


def correction(text: str) -> str:
    """Return the text after the last marked answer that retracts it ("wait, …"); `""` if none does."""
    ends = [match.end() for match in _MARKER.finditer(text)]
    taken_back = _TAKEN_BACK.search(text, ends[-1]) if ends else None
    return text[taken_back.end() :].strip(" \t\n,.:;!-") if taken_back else ""


def bare(text: str) -> str:
    r"""Return a text without HTML tags and `\text{…}` around its parts, and with full-width characters as ASCII."""
    return _WRAPPED.sub(r"\1", _HTML.sub(" ", text.translate(_FULL_WIDTH)))


def ambiguous(content: str, why: str) -> str:
    """Return the reason for a stated answer that can be read in two ways."""
    return f"{AMBIGUOUS}{content[:80]!r} {why}"


def _content(text: str, match: re.Match[str], *, to_the_end: bool) -> str:
    rest = text[match.end() :]
    if match[0].startswith(_BOXED):
        return _until_closed(rest)
    if match[0][0] in "\"'":  # of JSON
        return rest.partition(match[0][-1])[0].strip()
    rest = rest.partition(_TAG_END)[0]
    if to_the_end or match[0].lower() == _TAG:
        return rest.strip()
    return next((stripped for line in rest.splitlines() if (stripped := line.strip(" \t*_`"))), "")


def _until_closed(text: str) -> str:
    depth = 1
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[:position].strip()
    return ""


# GAIA's rule for comparing answers: numbers as numbers, lists element by element, all else by letters and digits.


_PUNCTUATION = str.maketrans("", "", string.punctuation)


def matches(answer: str, reference: str) -> bool:
    """Return True if an answer equals the reference by the benchmark's rule.

    Args:
        answer: the answer alone, without surrounding words.
        reference: the right one.
    """
    if _number(reference) is not None:
        return _number(_plain_number(answer)) == _number(reference)
    if re.search("[,;]", reference):
        ours, theirs = (re.split("[,;]", text) for text in (answer, reference))
        return len(ours) == len(theirs) and all(map(_same_element, ours, theirs))
    return _squeezed(answer).translate(_PUNCTUATION) == _squeezed(reference).translate(_PUNCTUATION)


def _same_element(answer: str, reference: str) -> bool:
    if _number(reference) is not None:
        return _number(_plain_number(answer)) == _number(reference)
    return _squeezed(answer) == _squeezed(reference)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _plain_number(text: str) -> str:
    return re.sub("[$%,]", "", text)


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text).lower()


# Numbers in English words: `five`, `twenty-five`, `two hundred and six`, `half`, `three quarters`, `two and a half`.


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
