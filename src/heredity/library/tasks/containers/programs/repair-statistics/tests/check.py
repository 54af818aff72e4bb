"""The functions do what their docstrings say."""

import sys

sys.path.insert(0, "/app")
import stats

assert stats.mean([1, 2]) == 1.5
assert stats.mean([2, 4]) == 3
given = [5, 1, 4, 2]
assert stats.median(given) == 3
assert given == [5, 1, 4, 2]
assert stats.median([3, 1, 2]) == 2
assert stats.median((9,)) == 9
assert stats.mode(["b", "a", "a", "b", "c"]) == "b"
assert stats.mode([7, 3, 3]) == 3
assert stats.running([1, 2, 3]) == [1, 3, 6]
assert stats.running([1, 2, 3]) == [1, 3, 6]
assert stats.running([]) == []
for function in (stats.mean, stats.median, stats.mode):
    assert function.__doc__
    try:
        function([])
    except ValueError:
        continue
    raise AssertionError(function.__name__)
