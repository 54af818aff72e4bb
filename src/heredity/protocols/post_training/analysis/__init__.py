"""Analysis of post-training runs from the record: attempts, training routes, results, and failures."""

from heredity.protocols.post_training.analysis.metrics import length_controlled, posttraining_metrics
from heredity.protocols.post_training.analysis.routes import ROUTES, read_code, read_revision
from heredity.protocols.post_training.analysis.study import posttraining_study

__all__ = ["ROUTES", "length_controlled", "posttraining_metrics", "posttraining_study", "read_code", "read_revision"]
