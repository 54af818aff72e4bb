"""Answers of a submitted checkpoint: a confined process that loads it, and the gateway's contract around it."""

from heredity.posttraining.inference.choice import Inference, choose
from heredity.posttraining.inference.warm import WarmSandbox
from heredity.posttraining.inference.worker import Bounds, CheckpointModel, InferenceWorker

__all__ = ["Bounds", "CheckpointModel", "Inference", "InferenceWorker", "WarmSandbox", "choose"]
