"""Answers of a checkpoint by transformers: exact, so that what is asked together is answered as it would be alone."""

# pyright: reportMissingImports=false
# torch and transformers are an extra's, and need not be installed.
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from heredity.gateway import local_weights
from heredity.gateway.local import Local, LocalSettings

_IMPORTED = ("models.auto.modeling_auto", "models.auto.tokenization_auto", "models.llama.modeling_llama", "cache_utils")
"""Modules that transformers would import for the first checkpoint."""

_LAST_USER = "{{ (messages | selectattr('role', 'equalto', 'user') | list | last)['content'] }}"
"""The template of a model that has none: what the user said last, as it is."""


def prepare() -> None:
    """Import what every worker needs."""
    import torch
    import transformers

    for name in _IMPORTED:
        importlib.import_module(f"transformers.{name}")
    # Threads do not outlive a fork: there must be none when a worker is forked.
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()


def load(folder: str, settings: Mapping[str, Any]) -> Local:
    """Load a checkpoint.

    Args:
        folder: its folder.
        settings: `threads`, `batch`, `batch_tokens`, and `device`: `"cpu"`, or `"gpu"` for the only GPU in sight.

    Raises:
        ConfigError: if it cannot be loaded.
    """
    weights = local_weights.load(folder)
    give_template(weights.tokenizer)
    if settings["device"] == "gpu":
        weights.model.to("cuda")
    how = LocalSettings(threads=settings["threads"], batch=settings["batch"], batch_tokens=settings["batch_tokens"])
    return Local("checkpoint", how, load=lambda _: weights)


def give_template(tokenizer: Any) -> None:
    """Give a model that has no chat template one: it is asked what the user said last, as it is."""
    if not tokenizer.chat_template:
        begins = tokenizer("x")["input_ids"][:1] == [tokenizer.bos_token_id]
        tokenizer.chat_template = ("{{ bos_token }}" if begins else "") + _LAST_USER
