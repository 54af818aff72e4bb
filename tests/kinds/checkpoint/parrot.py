"""A checkpoint that says one thing whatever it is asked: real weights in the real worker, and quick."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers

from heredity.kinds.checkpoint.models.bases import _tokenizer

ALPHABET = string.ascii_letters + string.digits + string.punctuation + " \n“”’–…°"
CONTEXT = 8192
_WIDTH = 128


def make_parrot(folder: Path, says: Sequence[str]) -> Path:
    """Write a model that answers with `says` to every prompt whose last character is not in it, and return its folder.

    Attention and layers add nothing: each token alone decides the next one. So no part of `says`, a text of characters or whole
    lines, may occur twice.
    """
    assert len(set(says)) == len(says)
    tokenizer = _tokenizer(ALPHABET)
    tokenizer.add_tokens([part for part in says if len(part) > 1])
    tokenizer.model_max_length = CONTEXT
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=_WIDTH, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=CONTEXT, tie_word_embeddings=False,
        bos_token_id=None, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config)
    following = torch.full((len(tokenizer),), tokenizer.convert_tokens_to_ids(says[0]))
    after = [*says[1:], tokenizer.eos_token]
    following[tokenizer.convert_tokens_to_ids(list(says))] = torch.tensor(tokenizer.convert_tokens_to_ids(after))
    with torch.no_grad():
        layer = model.model.layers[0]
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(len(tokenizer), _WIDTH))
        model.lm_head.weight.copy_(torch.zeros(len(tokenizer), _WIDTH))
        model.lm_head.weight[following, torch.arange(len(tokenizer))] = 1.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
