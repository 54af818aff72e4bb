"""Attention heads of sizes without a CPU kernel in vLLM: padded with zeros, which changes no answer.

Queries and keys are padded with zeros, so that their products stay the same; the rotation of positions keeps to the
true width; values are padded with zeros, and so are the matching columns of the output. Queries are scaled up to
compensate for vLLM's division by the root of the wider head.
"""

# pyright: reportMissingImports=false
# vllm and torch may be missing.
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

KNOWN = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""Head sizes of vLLM's CPU kernels."""

ARCHITECTURE = "LlamaForCausalLM"
_PROJECTION = re.compile(r".*\.self_attn\.([qkvo])_proj\.(?:weight|bias)")


def wider(config: Any) -> int | None:
    """Return the padded head size of a model; None if no padding is needed."""
    if (config.architectures or [""])[0] != ARCHITECTURE or head_size(config) in KNOWN:
        return None
    return next((size for size in KNOWN if size > head_size(config)), None)


def head_size(config: Any) -> int:
    """Return the size of a model's heads."""
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def widen(config: Any, to: int) -> dict[str, Any]:
    """Register a model that loads weights with heads of another size; return the changes of the configuration.

    Args:
        config: of a Llama, left unchanged.
        to: the new head size, larger than the old one.
    """
    import vllm
    from vllm.model_executor.models.llama import LlamaForCausalLM

    size = head_size(config)

    class Widened(LlamaForCausalLM):  # pyright: ignore[reportUntypedBaseClass]
        def load_weights(self, weights: Iterable[tuple[str, Any]]) -> Any:
            return super().load_weights(widened(weights, size, to))

    vllm.ModelRegistry.register_model(ARCHITECTURE, Widened)
    # Plus one half, because the product with the wider size is truncated to an integer.
    return {"head_dim": to, "rope_parameters": {**config.rope_parameters, "partial_rotary_factor": (size + 0.5) / to}}


def widened(weights: Iterable[tuple[str, Any]], size: int, to: int) -> Iterator[tuple[str, Any]]:
    """Yield weights with heads of another size.

    Args:
        weights: names and tensors of a Llama.
        size: its head size.
        to: the new head size.
    """
    from torch.nn.functional import pad

    for name, tensor in weights:
        match = _PROJECTION.fullmatch(name)
        if match is None or (match[1] == "o" and tensor.dim() == 1):
            yield name, tensor
        elif match[1] == "o":
            rows = tensor.shape[0]
            yield name, pad(tensor.reshape(rows, -1, size), (0, to - size)).reshape(rows, -1)
        else:
            heads = tensor.reshape(-1, size, *tensor.shape[1:])
            grown = pad(heads, (*(0, 0) * (tensor.dim() - 1), 0, to - size)).reshape(-1, *tensor.shape[1:])
            yield name, grown * math.sqrt(to / size) if match[1] == "q" else grown
