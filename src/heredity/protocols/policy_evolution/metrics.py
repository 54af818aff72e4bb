"""Results of policy evolution: returns of episodes, beside those of a uniform random policy."""

from heredity.analysis.contract import CommonMetrics

METRICS = CommonMetrics(reference="random policy", returns=True)
