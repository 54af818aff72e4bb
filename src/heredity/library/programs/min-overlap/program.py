"""A step function whose overlap with its complement is small at every shift."""

STEPS = 40


# EVOLVE-BLOCK-START
def solve():
    return bounded(function())


HEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.6, 0.6, 0.5, 0.4, 0.3, 0.2)


def function():
    """Return the values on all steps: symmetric, and between heights along straight lines."""
    half = STEPS // 2
    values = []
    for step in range(half):
        position = step * (len(HEIGHTS) - 1) / (half - 1)
        left = min(int(position), len(HEIGHTS) - 2)
        share = position - left
        values.append(HEIGHTS[left] * (1 - share) + HEIGHTS[left + 1] * share)
    return values + values[::-1]
# EVOLVE-BLOCK-END


def bounded(values):
    """Return the values between 0 and 1; all 1 if one of them would exceed 1 when scaled."""
    values = [min(max(v, 0.0), 1.0) for v in values]
    return values if max(values) * len(values) <= 2 * sum(values) else [1.0] * len(values)
