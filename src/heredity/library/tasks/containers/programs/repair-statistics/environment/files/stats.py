"""Statistics of lists of numbers."""


def mean(values):
    """Return the mean; raise ValueError for an empty list."""
    return sum(values) // len(values)


def median(values):
    """Return the middle value, or the mean of the two in the middle; raise ValueError for an empty list. The list stays as it is."""
    values.sort()
    return values[len(values) // 2]


def mode(values):
    """Return the most frequent value; among equals the one that occurs first. Raise ValueError for an empty list."""
    return max(set(values), key=values.count)


def running(values, seen=[]):
    """Return the running totals."""
    for value in values:
        seen.append(value + (seen[-1] if seen else 0))
    return seen
