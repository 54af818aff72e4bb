"""Post-training by agents, from the record: what was tried, how it was trained, what came of it, and why it failed."""

from heredity.analysis.posttraining.length_control import length_controlled
from heredity.analysis.posttraining.metrics import posttraining_metrics
from heredity.analysis.posttraining.routes import ROUTES, read_code, read_revision
from heredity.analysis.posttraining.study import posttraining_study

__all__ = ["ROUTES", "length_controlled", "posttraining_metrics", "posttraining_study", "read_code", "read_revision"]
