"""What the judge of programs runs of its own, beside solutions: each in a sandbox too."""

PACKED = """
cp -r /source/. . && {{ {compile}; }} 1>&2 || exit 1
[ "$(find . -type f | wc -l)" -le {most} ] || {{ echo "more than {most} files were made of it" >&2; exit 1; }}
tar -cf - {kept}
"""

CASES = """
import json, random, sys
sys.path.insert(0, "/work")
import tests
seed, small, whole = json.loads(sys.stdin.read())
draw = random.Random(seed)
print(json.dumps([tests.small(draw) for _ in range(small)] + (list(tests.cases(draw)) if whole else [])))
"""

CHECKED = """
import json, sys
sys.path.insert(0, "/work")
import checker
def accepts(row):
    try:
        return bool(checker.accepts(*row))
    except Exception:
        return False
print(json.dumps([accepts(row) for row in json.loads(sys.stdin.read())]))
"""

WORK = """
total = 0
for number in range(3_000_000):
    total += number
"""
"""The same work wherever it is done."""

USUAL_S = 0.2
"""Processor seconds that it takes on the usual machine, Python's start among them."""
