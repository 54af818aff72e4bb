"""Bases in the form in which the hub has them: configurations of earlier versions of transformers, tiny or of full shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .folders import write_json

COMMON: dict[str, Any] = {
    "attention_dropout": 0.0,
    "initializer_range": 0.02,
    "rms_norm_eps": 1e-06,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.44.0",
    "use_cache": True,
}
QWEN25 = {
    **COMMON, "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "bos_token_id": 1, "eos_token_id": 1,
    "hidden_act": "silu", "max_position_embeddings": 131072, "max_window_layers": 28, "rope_theta": 1000000.0,
    "sliding_window": 131072, "tie_word_embeddings": False, "use_mrope": False, "use_sliding_window": False,
}  # fmt: skip
QWEN3 = {
    **COMMON, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": False, "bos_token_id": 1,
    "eos_token_id": 2, "hidden_act": "silu", "max_position_embeddings": 40960, "max_window_layers": 36,
    "rope_scaling": None, "rope_theta": 1000000, "sliding_window": None, "tie_word_embeddings": False,
    "use_sliding_window": False,
}  # fmt: skip
LLAMA3 = {
    **COMMON, "architectures": ["LlamaForCausalLM"], "model_type": "llama", "attention_bias": False, "bos_token_id": 1,
    "eos_token_id": [1, 2], "hidden_act": "silu", "max_position_embeddings": 131072, "mlp_bias": False,
    "pretraining_tp": 1, "rope_theta": 500000.0, "tie_word_embeddings": False,
    "rope_scaling": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}  # fmt: skip
GEMMA2 = {
    **COMMON, "architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "attention_bias": False,
    "attn_logit_softcapping": 50.0, "bos_token_id": 1, "cache_implementation": "hybrid", "eos_token_id": 2,
    "final_logit_softcapping": 30.0, "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh",
    "max_position_embeddings": 8192, "pad_token_id": 0, "query_pre_attn_scalar": 256, "rope_theta": 10000.0,
    "sliding_window": 4096,
}  # fmt: skip
GEMMA3 = {
    **COMMON, "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "attention_bias": False,
    "attn_logit_softcapping": None, "bos_token_id": 2, "cache_implementation": "hybrid", "eos_token_id": [1, 2],
    "final_logit_softcapping": None, "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 32768,
    "pad_token_id": 0, "query_pre_attn_scalar": 256, "rope_local_base_freq": 10000, "rope_scaling": None,
    "rope_theta": 1000000, "sliding_window": 512, "sliding_window_pattern": 6,
}  # fmt: skip
FAMILIES = {"qwen2.5": QWEN25, "qwen3": QWEN3, "llama3": LLAMA3, "gemma2": GEMMA2, "gemma3": GEMMA3}
"""Configurations without their shapes."""

TINY = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "vocab_size": 96,
}
SHAPES = {
    "qwen2.5": {
        "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "vocab_size": 152064,
    },
    "qwen3": {
        "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
    },
}  # fmt: skip
"""The shapes of Qwen2.5-7B and Qwen3-8B."""

TOKENIZER_CLASSES = {
    "qwen2.5": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "llama3": "PreTrainedTokenizerFast",
    "gemma2": "PreTrainedTokenizerFast",
    "gemma3": "PreTrainedTokenizerFast",
}
_SPECIAL = ("<pad>", "<|endoftext|>", "<|im_end|>")
_TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"


def hub_files(folder: Path, family: str, shapes: Mapping[str, Any] | None = None) -> Path:
    """Write all files of a base but its weights."""
    folder.mkdir(parents=True)
    own = {k: v for k, v in (shapes or TINY).items() if k != "head_dim" or family not in ("qwen2.5", "llama3")}
    write_json(folder / "config.json", {**FAMILIES[family], **own})
    write_json(folder / "generation_config.json", {"bos_token_id": 1, "eos_token_id": [1, 2], "max_new_tokens": 2048})
    added = [
        {"id": n, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for n, text in enumerate(_SPECIAL)
    ]  # fmt: skip
    letters = [chr(code) for code in range(33, 120)]
    vocabulary = {letter: n for n, letter in enumerate([*_SPECIAL, *letters, "Ġ", "ab", "abc"])}
    split = {
        "type": "Split", "pattern": {"Regex": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"},
        "behavior": "Isolated", "invert": False,
    }  # fmt: skip
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    table = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]}, "post_processor": level, "decoder": level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": ["a b", "ab c"],
        },
    }  # fmt: skip
    write_json(folder / "tokenizer.json", table)
    settings = {
        "add_prefix_space": False, "additional_special_tokens": ["<|im_end|>"], "bos_token": None,
        "added_tokens_decoder": {str(a["id"]): {k: a[k] for k in a if k != "id"} for a in added},
        "chat_template": _TEMPLATE, "clean_up_tokenization_spaces": False, "eos_token": "<|im_end|>", "errors": "replace",
        "model_max_length": 131072, "pad_token": "<pad>", "split_special_tokens": False,
        "tokenizer_class": TOKENIZER_CLASSES[family], "unk_token": None,
    }  # fmt: skip
    write_json(folder / "tokenizer_config.json", settings)
    return folder


def tensors_of(family: str, shapes: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the names and shapes of the tensors of a Qwen model."""
    size, inner, words = shapes["hidden_size"], shapes["intermediate_size"], shapes["vocab_size"]
    head = shapes.get("head_dim", size // shapes["num_attention_heads"])
    wide, narrow = head * shapes["num_attention_heads"], head * shapes["num_key_value_heads"]
    yield "model.embed_tokens.weight", (words, size)
    for layer in range(shapes["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        for name, rows in (("q", wide), ("k", narrow), ("v", narrow)):
            yield f"{at}.self_attn.{name}_proj.weight", (rows, size)
            if family == "qwen2.5":
                yield f"{at}.self_attn.{name}_proj.bias", (rows,)
        yield f"{at}.self_attn.o_proj.weight", (size, wide)
        if family == "qwen3":
            yield from ((f"{at}.self_attn.{name}_norm.weight", (head,)) for name in "qk")
        yield from ((f"{at}.mlp.{name}_proj.weight", (inner, size)) for name in ("gate", "up"))
        yield f"{at}.mlp.down_proj.weight", (size, inner)
        yield from ((f"{at}.{name}_layernorm.weight", (size,)) for name in ("input", "post_attention"))
    yield "model.norm.weight", (size,)
    yield "lm_head.weight", (words, size)


def sparse_weights(folder: Path, family: str, shapes: Mapping[str, int], shards: int = 4) -> None:
    """Write weights of zeros as sparse shards of BF16, which take no space on disk."""
    tensors = list(tensors_of(family, shapes))
    each = -(-len(tensors) // shards)
    places: dict[str, str] = {}
    for number in range(shards):
        name = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        header, at = dict[str, Any](), 0
        for tensor, shape in tensors[number * each : (number + 1) * each]:
            size = 2
            for axis in shape:
                size *= axis
            header[tensor] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
            at += size
            places[tensor] = name
        text = json.dumps(header).encode()
        with (folder / name).open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + at)
    write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": 0}, "weight_map": places})
