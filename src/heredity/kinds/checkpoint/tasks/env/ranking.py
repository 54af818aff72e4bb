"""Ranking of texts by the words of a query: BM25 (Robertson and Zaragoza, 2009), k1 = 1.5, b = 0.75, over a fixed collection."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"[a-z]+|[0-9]+")
_K1, _B = 1.5, 0.75


class Index:
    """An index of texts, made once and searched often.

    Args:
        texts: what is searched.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        mean = sum(c.total() for c in counts) / max(1, len(counts))
        having = Counter(word for c in counts for word in c)
        self._weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, c in enumerate(counts):
            norm = _K1 * (1 - _B + _B * c.total() / mean) if mean else _K1
            for word, times in c.items():
                rarity = math.log(1 + (len(counts) - having[word] + 0.5) / (having[word] + 0.5))
                self._weights[word].append((i, rarity * times * (_K1 + 1) / (times + norm)))

    def search(self, query: str, most: int) -> list[int]:
        """Return the places of at most `most` texts that share a word with the query, best first, earlier ones first of equals."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_WORD.findall(query.lower())):
            for i, weight in self._weights.get(word, ()):
                scores[i] += weight
        return sorted(scores, key=lambda i: (-scores[i], i))[:most]
