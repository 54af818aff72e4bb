"""Scripts of the judge that run in sandboxes like solutions."""

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
"""A constant piece of work, for measuring a machine's speed."""

USUAL_S = 0.2
"""Its CPU seconds on the usual machine, including Python's startup."""
