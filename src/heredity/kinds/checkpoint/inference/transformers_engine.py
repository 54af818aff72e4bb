"""Inference with transformers: exact, so that batched requests get the same answers as single ones."""

# pyright: reportMissingImports=false
# torch and transformers belong to an extra and may be missing.
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from heredity.models import local_weights
from heredity.models.local import Local, LocalSettings

_IMPORTED = ("models.auto.modeling_auto", "models.auto.tokenization_auto", "models.llama.modeling_llama", "cache_utils")
"""Modules that transformers imports for the first checkpoint."""

_LAST_USER = "{{ (messages | selectattr('role', 'equalto', 'user') | list | last)['content'] }}"
"""Template for models without one: the user's last message, verbatim."""


def prepare() -> None:
    """Import the modules that every worker needs."""
    import torch
    import transformers

    for name in _IMPORTED:
        importlib.import_module(f"transformers.{name}")
    # Threads do not survive a fork, so none may run when a worker is forked.
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()


def load(folder: str, settings: Mapping[str, Any]) -> Local:
    """Load a checkpoint.

    Args:
        folder: its folder.
        settings: `threads`, `batch`, `batch_tokens`, and `device`: `"cpu"`, or `"gpu"` for the only visible GPU.

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
    """Give a model without a chat template one that passes on the user's last message, verbatim."""
    if not tokenizer.chat_template:
        begins = tokenizer("x")["input_ids"][:1] == [tokenizer.bos_token_id]
        tokenizer.chat_template = ("{{ bos_token }}" if begins else "") + _LAST_USER
