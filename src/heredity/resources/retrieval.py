"""Retrieval: finds the texts relevant to a question, by words or by meaning.

By words it is BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, with k1 = 1.5 and b = 0.75,
and the non-negative inverse document frequency): forty lines instead of a dependency. By meaning it is the cosine of
static embeddings, one vector a token, of a model2vec model in a folder; nothing is ever downloaded.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.resources.tree import AnyPath

FOLDER_VARIABLE = "HEREDITY_EMBEDDINGS"
"""Environment variable with the model's folder, used by default."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_K1 = 1.5
_B = 0.75


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `camelCase`, `snake_case` and `kebab-case` are split."""
    return _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def scores(query: str, texts: Sequence[str]) -> list[float]:
    """Score each text against a query: 0 without a shared word, higher is better."""
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


def similarities(query: str, texts: Sequence[str], folder: AnyPath | None = None) -> list[float]:
    """Score each text by similarity in meaning: the cosine of its embedding with the query's, -1 to 1, higher is better.

    A text or query without known tokens scores 0.

    Args:
        query: the question.
        texts: the candidate texts.
        folder: holds `model.safetensors`, `tokenizer.json` and `config.json`; None for `HEREDITY_EMBEDDINGS`.

    Raises:
        ConfigError: if no folder is given, or it holds no such model.
        MissingExtraError: if model2vec is not installed.
    """
    given = folder or os.environ.get(FOLDER_VARIABLE)
    if not given:
        raise ConfigError(
            f"retrieval by embeddings needs a model2vec model: give its folder, or set {FOLDER_VARIABLE} to it"
        )
    model = _model(str(Path(given).resolve()))
    vectors = model.encode([query, *texts], use_multiprocessing=False, normalize=True).astype(np.float64)
    return [float(cosine) for cosine in np.clip(vectors[1:] @ vectors[0], -1.0, 1.0)]


@lru_cache(maxsize=2)
def _model(folder: str) -> Any:
    try:
        from model2vec import StaticModel
        from safetensors import SafetensorError
    except ImportError as error:
        raise MissingExtraError("retrieval by embeddings", "embeddings") from error
    # Checked here, because model2vec treats a folder without a model as the name of one to download.
    missing = [n for n in ("model.safetensors", "tokenizer.json", "config.json") if not (Path(folder) / n).is_file()]
    if missing:
        raise ConfigError(f"{folder} is not a model2vec model: it has no {' and no '.join(missing)}")
    try:
        return StaticModel.from_pretrained(folder)
    except (SafetensorError, ValueError, KeyError, OSError) as error:
        raise ConfigError(f"the model2vec model in {folder} cannot be read: {error}") from error
