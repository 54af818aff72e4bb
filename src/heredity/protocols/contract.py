"""What a protocol is made of: see `heredity.analysis.contract` for its results."""

from heredity.analysis.contract import CommonMetrics, Metrics

__all__ = ["CommonMetrics", "Metrics"]
