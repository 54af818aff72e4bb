from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.resources import Registry, Store
from heredity.resources.retrieval import FOLDER_VARIABLE, similarities

VECTORS = {
    "volcano": [1.0, 0.1, 0.0],
    "eruption": [0.9, 0.2, 0.0],
    "recipe": [0.0, 0.1, 1.0],
    "soup": [0.0, 0.0, 0.9],
    "not": [-1.0, 0.0, 0.0],
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Write a model that knows six tokens."""
    model2vec = pytest.importorskip("model2vec")
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokens = {"[UNK]": 0, **{word: i for i, word in enumerate(VECTORS, 1)}}
    tokenizer = Tokenizer(models.WordLevel(tokens, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.array([[0.0, 0.0, 0.0], *VECTORS.values()], dtype=np.float32)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def registry(tmp_path: Path) -> Any:
    with Store(tmp_path / "resources.db") as store:
        registry = Registry(store)
        registry.register("memory", "lava", {"notes.md": "eruption"})
        registry.register("memory", "kitchen", {"notes.md": "soup"})
        registry.register("memory", "other", {"notes.md": "words that no model knows"})
        yield registry


def test_meaning_finds_what_words_do_not(registry: Registry, model: Path) -> None:
    assert registry.retrieve("volcano") == []
    matches = registry.retrieve("volcano", by="embeddings", model=model)
    assert [version.name for version, _ in matches] == ["lava"]
    assert 0.9 < matches[0][1] <= 1.0
    assert registry.retrieve("recipe", by="embeddings", model=model)[0][0].name == "kitchen"


def test_the_folder_may_come_from_the_environment(
    registry: Registry, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(model))
    assert [v.name for v, _ in registry.retrieve("recipe", by="embeddings", limit=1)] == ["kitchen"]


def test_the_score_is_the_cosine(model: Path) -> None:
    volcano, eruption = (np.array(VECTORS[word]) for word in ("volcano", "eruption"))
    cosine = float(volcano @ eruption / np.linalg.norm(volcano) / np.linalg.norm(eruption))
    assert similarities("volcano", ["eruption", "not", "unknown"], model) == pytest.approx(
        [cosine, -0.995, 0.0], abs=1e-3
    )


def test_without_a_model_it_says_what_is_missing(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(ConfigError, match=FOLDER_VARIABLE):
        registry.retrieve("volcano", by="embeddings")
    pytest.importorskip("model2vec")
    with pytest.raises(ConfigError, match=r"no model\.safetensors"):
        registry.retrieve("volcano", by="embeddings", model=tmp_path)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(ConfigError, match="cannot be read"):
        registry.retrieve("volcano", by="embeddings", model=tmp_path)
    with pytest.raises(UnknownNameError, match="did you mean words"):
        registry.retrieve("volcano", by="word")
