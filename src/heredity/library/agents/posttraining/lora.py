"""Low-rank adaptation (Hu et al. 2021): W + scale · B·A, where only A and B are trained, and B starts at zero.

A hook adds the low-rank part to the output of unchanged layers. So the names of the model's weights do not change, and
a merged checkpoint has exactly the tensors of its base.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


class LowRank:
    """The low-rank parts of all linear layers of a model, except for its output layer.

    Args:
        model: the model; its weights are frozen.
        rank: columns of B and rows of A.
        scale: factor of the product.
    """

    def __init__(self, model: nn.Module, rank: int, scale: float = 2.0) -> None:
        self.scale = scale
        self.parts: dict[str, tuple[nn.Parameter, nn.Parameter]] = {}
        model.requires_grad_(False)
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear) and not name.endswith("lm_head"):
                a = nn.Parameter(
                    layer.weight.new_empty(rank, layer.in_features).normal_() / math.sqrt(layer.in_features)
                )
                b = nn.Parameter(layer.weight.new_zeros(layer.out_features, rank))
                self.parts[f"{name}.weight"] = a, b
                layer.register_forward_hook(self._hook(a, b))

    def parameters(self) -> list[nn.Parameter]:
        """Return the trained parameters."""
        return [part for pair in self.parts.values() for part in pair]

    def merged(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return a model's weights with the low-rank parts added, under the same names."""
        with torch.no_grad():
            added = {name: weights[name] + self.scale * (b @ a) for name, (a, b) in self.parts.items()}
        return {**weights, **added}

    def _hook(self, a: Tensor, b: Tensor) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor]:
        return lambda _layer, given, out: out + self.scale * (given[0] @ a.T) @ b.T
