"""Inference with a submitted checkpoint: a confined process that loads it, and the gateway's contract around it."""

from heredity.kinds.checkpoint.inference.worker import Bounds, CheckpointModel, InferenceWorker, WarmSandbox
from heredity.sandbox.inference import Inference, choose

__all__ = ["Bounds", "CheckpointModel", "Inference", "InferenceWorker", "WarmSandbox", "choose"]
