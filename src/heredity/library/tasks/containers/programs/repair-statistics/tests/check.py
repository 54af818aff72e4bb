"""The functions do what their docstrings say. They are called in a process of their own, and compared here."""

import subprocess
import sys

CALLS = """
import sys
sys.path.insert(0, "/app")
import stats
given = [5, 1, 4, 2]
for result in (
    stats.mean([1, 2]), stats.mean([2, 4]), stats.median(given), given, stats.median([3, 1, 2]), stats.median((9,)),
    stats.mode(["b", "a", "a", "b", "c"]), stats.mode([7, 3, 3]), stats.running([1, 2, 3]), stats.running([1, 2, 3]),
    stats.running([]),
):
    print(result)
for function in (stats.mean, stats.median, stats.mode):
    try:
        function([])
    except ValueError:
        print("refused", bool(function.__doc__))
"""
EXPECTED = (1.5, 3, 3, [5, 1, 4, 2], 2, 9, "b", 3, [1, 3, 6], [1, 3, 6], [])

done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=False, timeout=10)
assert done.returncode == 0, done.stderr[-1000:]
lines = done.stdout.splitlines()
assert len(lines) == len(EXPECTED) + 3, lines
for line, expected in zip(lines, EXPECTED, strict=False):
    if isinstance(expected, int | float):
        assert float(line) == expected, (line, expected)
    else:
        assert line == str(expected), (line, expected)
assert lines[-3:] == ["refused True"] * 3, lines[-3:]
