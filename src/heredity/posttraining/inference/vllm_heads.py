"""Attention heads of sizes that vLLM has no kernel for on the processor: widened with zeros, which changes no answer.

Queries and keys get zeros where they were not, so that their products stay what they were; the rotation of positions keeps to the
true width; values get zeros, and the columns of the output that would meet them are zeros too. Queries are scaled up by what
vLLM's division by the root of the wider head takes away.
"""

# pyright: reportMissingImports=false
# vllm and torch need not be installed.
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

KNOWN = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""Sizes of heads that vLLM's kernels for processors are compiled for."""

ARCHITECTURE = "LlamaForCausalLM"
_PROJECTION = re.compile(r".*\.self_attn\.([qkvo])_proj\.(?:weight|bias)")


def wider(config: Any) -> int | None:
    """Return the width that the heads of a model are to have; None where they are to stay as they are."""
    if (config.architectures or [""])[0] != ARCHITECTURE or head_size(config) in KNOWN:
        return None
    return next((size for size in KNOWN if size > head_size(config)), None)


def head_size(config: Any) -> int:
    """Return the size of a model's heads."""
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def widen(config: Any, to: int) -> dict[str, Any]:
    """Register a model that loads weights with heads of another size; return what changes in the configuration.

    Args:
        config: of a Llama, left as it is.
        to: more than the size of its heads.
    """
    import vllm
    from vllm.model_executor.models.llama import LlamaForCausalLM

    size = head_size(config)

    class Widened(LlamaForCausalLM):  # pyright: ignore[reportUntypedBaseClass]
        def load_weights(self, weights: Iterable[tuple[str, Any]]) -> Any:
            return super().load_weights(widened(weights, size, to))

    vllm.ModelRegistry.register_model(ARCHITECTURE, Widened)
    # A half more, because the product with the wider size is cut to a whole number.
    return {"head_dim": to, "rope_parameters": {**config.rope_parameters, "partial_rotary_factor": (size + 0.5) / to}}


def widened(weights: Iterable[tuple[str, Any]], size: int, to: int) -> Iterator[tuple[str, Any]]:
    """Yield weights with heads of another size.

    Args:
        weights: names and tensors of a Llama.
        size: of its heads.
        to: the size that they get.
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
