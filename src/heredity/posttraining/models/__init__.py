"""Checkpoints and the base models that they are trained from."""

from heredity.posttraining.models.adapter import is_adapter, merge_adapter
from heredity.posttraining.models.bases import base_model, smollm2
from heredity.posttraining.models.characters import cached_characters, make_characters
from heredity.posttraining.models.checkpoint import Checkpoint, candidate_of, checkpoint_of, inspect, snapshot

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
