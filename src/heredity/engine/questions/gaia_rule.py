"""GAIA's rule for comparing answers: numbers as numbers, lists element by element, all else by letters and digits."""

from __future__ import annotations

import math
import re
import string

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
