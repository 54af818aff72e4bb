"""Retrieval: which texts a question is about, by BM25.

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 = 1.5 and b = 0.75, and the inverse document
frequency that is never negative. It is forty lines, where a library would be a dependency.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[a-z]+|[0-9]+")
_K1 = 1.5
_B = 0.75


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `camelCase`, `snake_case` and `kebab-case` are split."""
    return _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def scores(query: str, texts: Sequence[str]) -> list[float]:
    """Return how well each text answers a query: 0 where they share no word, higher is better."""
    counts = [Counter(words(text)) for text in texts]
    lengths = [c.total() for c in counts]
    mean = sum(lengths) / len(lengths) if texts else 0.0
    result = [0.0] * len(texts)
    for word in dict.fromkeys(words(query)):
        having = sum(word in c for c in counts)
        weight = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for i, c in enumerate(counts):
            if word in c:
                norm = _K1 * (1 - _B + _B * lengths[i] / mean)
                result[i] += weight * c[word] * (_K1 + 1) / (c[word] + norm)
    return result
