"""Similarity of two texts, a stand-in for the ratio of two policies when probabilities are unavailable."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

_WORD = re.compile(r"\w+|[^\w\s]")


def similarity(a: str, b: str) -> float:
    """Return the similarity of two texts, in (0, 1]: 1 for the same words in the same order.

    The Dice coefficient over words and pairs of neighbouring words, with one added on both sides so that it never
    reaches 0: the function η of Autogenesis (sections E.3.6 and E.3.7), which leaves its choice open. It takes linear
    time and is symmetric; `difflib`'s ratio is neither, and is useless on whole programs.
    """
    mine, theirs = _pieces(a), _pieces(b)
    common = (mine & theirs).total()
    return (2 * common + 1) / (mine.total() + theirs.total() + 1)


def _pieces(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter([*((word,) for word in words), *pairwise(words)])
