"""Checkpoints and the base models that they are trained from."""

from heredity.kinds.checkpoint.models.adapter import is_adapter, merge_adapter
from heredity.kinds.checkpoint.models.bases import base_model, cached_characters, make_characters, smollm2
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of, checkpoint_of, inspect, snapshot

__all__ = [
    "Checkpoint",
    "base_model",
    "cached_characters",
    "candidate_of",
    "checkpoint_of",
    "inspect",
    "is_adapter",
    "make_characters",
    "merge_adapter",
    "smollm2",
    "snapshot",
]
