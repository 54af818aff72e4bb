"""Bases as the hub has them, saved again by an agent: the base stays the base, and nothing else becomes it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import CandidateError
from heredity.kinds.checkpoint.models import Checkpoint, candidate_of, inspect, merge_adapter, snapshot
from heredity.kinds.checkpoint.models.bases import saved_form

from .folders import save, write_json
from .hub import FAMILIES, SHAPES, hub_files, sparse_weights, tensors_of

Changes = dict[str, Any]


def config_of(folder: Path) -> Changes:
    return json.loads((folder / "config.json").read_text())


@pytest.fixture(scope="module", params=FAMILIES)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch", reason="needs the extra posttrain")
    transformers = pytest.importorskip("transformers", reason="needs the extra posttrain")
    folder = hub_files(tmp_path_factory.mktemp("hub") / request.param, request.param)
    config = transformers.AutoConfig.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    model.save_pretrained(folder.parent / "weights")
    shutil.copy(folder.parent / "weights" / "model.safetensors", folder)
    return folder


def saved_by_agent(base: Path, into: Path, change: Callable[[Any, Any], None] = lambda *_: None) -> Path:
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    change(model, tokenizer)
    model.save_pretrained(into)
    tokenizer.save_pretrained(into)
    return into


def inspected(folder: Path, base: Path) -> Checkpoint:
    return inspect(folder, inside=folder.parent, base=inspect(base), saved=partial(saved_form, base))


def test_a_copy_of_a_base_is_the_base_in_whichever_form_it_is_saved(base: Path, tmp_path: Path) -> None:
    whole = inspect(base)
    first = saved_by_agent(base, tmp_path / "first")
    again = saved_by_agent(first, tmp_path / "again")
    shutil.copytree(base, tmp_path / "copied")
    mixed = shutil.copytree(first, tmp_path / "mixed")
    shutil.copy(base / "config.json", mixed)
    for name in ("first", "again", "copied", "mixed"):
        found = inspected(tmp_path / name, base)
        assert (found.digest, candidate_of(found)) == (whole.digest, candidate_of(whole)), name
    kept = snapshot(first, tmp_path / "kept", inspected(first, base), base)
    assert config_of(kept) == config_of(base), "the configuration that grades is the base's own"
    assert again.is_dir()


def test_a_trained_copy_of_a_base_is_accepted(base: Path, tmp_path: Path) -> None:
    def train(model: Any, tokenizer: Any) -> None:
        import torch

        with torch.no_grad():
            model.model.embed_tokens.weight += 1.0
        model.config.use_cache, tokenizer.padding_side = False, "left"
        # As trainers align the special tokens.
        model.config.eos_token_id = model.generation_config.eos_token_id = 2

    found = inspected(saved_by_agent(base, tmp_path / "trained", train), base)
    assert found.digest != inspect(base).digest
    assert found.metadata["config"] == inspect(base).metadata["config"]


def _set(**settings: Any) -> Callable[[Path], None]:
    return lambda folder: write_json(folder / "config.json", {**config_of(folder), **settings})


def _rope(folder: Path) -> None:
    config = config_of(folder)
    parameters = config["rope_parameters"]
    inner = parameters.get("full_attention", parameters)
    inner["rope_theta"] = 10 * inner["rope_theta"]
    write_json(folder / "config.json", config)


def _without(*keys: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        write_json(folder / "config.json", {k: v for k, v in config_of(folder).items() if k not in keys})

    return remove


def _tokenizer(change: Callable[[Changes], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        table = json.loads((folder / "tokenizer.json").read_text())
        change(table)
        write_json(folder / "tokenizer.json", table)

    return edit


def _template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ 'The answer is 7.' }}")


def _swap(table: Changes) -> None:
    words = table["model"]["vocab"]
    words["A"], words["B"] = words["B"], words["A"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_set(hidden_act="relu", hidden_activation="relu"), "the architecture is not the base model's: hidden_act"),
        (_set(rms_norm_eps=0.5), "rms_norm_eps"),
        (_set(num_key_value_heads=2), "num_key_value_heads"),
        (_set(num_hidden_layers=10**9), "num_hidden_layers"),
        (_set(layer_types=["full_attention", "linear_attention"]), "layer_types"),
        (_rope, "rope_parameters"),
        (_without("rope_parameters"), "rope_parameters"),
        (_set(rope_scaling={"rope_type": "linear", "factor": 4.0}), "rope_scaling"),
        (_set(to_dict="x"), "to_dict"),
        (_set(attn_implementation="someone/kernel"), "attn_implementation"),
        (_set(model_type="qwen2_moe"), "model_type"),
        (_set(quantization_config={"bits": 4}), "quantization_config"),
        (_tokenizer(_swap), "the tokenizer is not the base model's"),
        (_tokenizer(lambda table: table["model"]["merges"].append(["b", "c"])), "the tokenizer is not"),
        (_tokenizer(lambda table: table.update(normalizer={"type": "Lowercase"})), "the tokenizer is not"),
        (_template, "the chat template is not the base model's"),
    ],
)
def test_another_architecture_or_tokenizer_is_refused_in_the_saved_form_too(
    base: Path, tmp_path: Path, change: Callable[[Path], None], reason: str
) -> None:
    folder = saved_by_agent(base, tmp_path / "other")
    change(folder)
    with pytest.raises(CandidateError, match=reason):
        inspected(folder, base)


def test_without_transformers_only_the_files_of_the_base_are_its_form(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved_by_agent(base, tmp_path / "saved")
    with pytest.raises(CandidateError, match="the architecture is not the base model's"):
        inspect(folder, base=inspect(base), saved=lambda: None)
    shutil.copytree(base, tmp_path / "copied")
    assert inspect(tmp_path / "copied", base=inspect(base), saved=lambda: pytest.fail("it was asked for"))


@pytest.mark.slow
@pytest.mark.parametrize("family", SHAPES)
def test_a_checkpoint_of_eight_thousand_million_numbers_is_compared_merged_and_admitted(
    family: str, tmp_path: Path
) -> None:
    """The files are sparse: sixteen gigabytes that take no space, and are still read to the end."""
    pytest.importorskip("transformers", reason="needs the extra posttrain")
    import transformers

    shapes = SHAPES[family]
    folder = hub_files(tmp_path / "base", family, shapes)
    sparse_weights(folder, family, shapes)
    base = inspect(folder)
    assert base.parameters == {"qwen2.5": 7_615_616_512, "qwen3": 8_190_735_360}[family]
    agent = tmp_path / "agent"
    agent.mkdir()
    transformers.AutoConfig.from_pretrained(folder).save_pretrained(agent)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(agent)
    sparse_weights(agent, family, shapes, shards=1)
    assert inspect(agent, base=base, saved=partial(saved_form, folder)).digest == base.digest
    layer = "model.layers.3.mlp.down_proj"
    rows, columns = dict(tensors_of(family, shapes))[f"{layer}.weight"]
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    write_json(adapter / "adapter_config.json", {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "bias": "none"})
    a, b = np.zeros((8, columns), np.float32), np.zeros((rows, 8), np.float32)
    a[0, 0] = b[5, 0] = 1.0
    stem = f"base_model.model.{layer}"
    save(adapter / "adapter_model.safetensors", {f"{stem}.lora_A.weight": a, f"{stem}.lora_B.weight": b}, "BF16")
    merged = merge_adapter(adapter, (folder, base), tmp_path / "merged")
    admitted = inspect(merged, base=base)
    assert (admitted.parameters, admitted.bytes) == (base.parameters, base.bytes)
    assert admitted.metadata["dtypes"] == base.metadata["dtypes"]
    assert admitted.digest != base.digest
    kept = snapshot(merged, tmp_path / "kept", admitted, folder)
    taken = sum(path.stat().st_blocks * 512 for path in tmp_path.rglob("*") if path.is_file())
    assert (kept.is_dir(), taken < 1 << 30) == (True, True)
