"""Results of resource evolution: scores on held-out tasks, beside those of the candidate that a run began with."""

from heredity.analysis.contract import CommonMetrics

METRICS = CommonMetrics(reference="starting point")
