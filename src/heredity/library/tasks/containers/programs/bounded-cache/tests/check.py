"""The cache forgets the right entries at the right time. It is used in a process of its own, and its answers are compared here."""

import json
import subprocess
import sys

DRIVER = """
import json, sys
sys.path.insert(0, "/app")
from cache import Cache

now, made, answers = [0.0], {}, []
for cache, do, *given in json.load(sys.stdin):
    try:
        if do == "now":
            now[0] = given[0]
            answer = None
        elif do == "make":
            made[cache] = Cache(*given, lambda: now[0])
            answer = "made"
        elif do == "put":
            made[cache].put(*given)
            answer = None
        elif do == "get":
            answer = made[cache].get(*given)
        else:
            answer = len(made[cache]) if do == "len" else given[0] in made[cache]
    except ValueError:
        answer = "ValueError"
    answers.append(answer)
print(json.dumps(answers))
"""
STEPS = (
    (("one", "make", 2, 10), "made"),
    (("one", "put", "a", 1), None),
    (("one", "put", "b", 2), None),
    (("one", "get", "a"), 1),
    (("one", "put", "c", 3), None),
    *((("one", "in", key), there) for key, there in (("a", True), ("b", False), ("c", True))),
    (("one", "len"), 2),
    (("one", "now", 9.9), None),
    (("one", "get", "a"), 1),
    (("one", "now", 10.0), None),
    (("one", "get", "a", "gone"), "gone"),
    (("one", "len"), 0),
    (("one", "put", "a", 5), None),
    (("one", "now", 15.0), None),
    (("one", "put", "b", 6), None),
    (("one", "get", "a"), 5),
    (("one", "now", 20.0), None),
    (("one", "put", "c", 7), None),
    (("one", "in", "a"), False),
    (("one", "get", "b"), 6),
    (("one", "get", "c"), 7),
    (("one", "in", "b"), True),
    (("one", "put", "c", 8), None),
    (("one", "put", "d", 9), None),
    *((("one", "get", key), value) for key, value in (("b", None), ("c", 8), ("d", 9))),
    (("one", "put", "c", None), None),
    (("one", "get", "c", 1), None),
    (("late", "make", 2, 10), "made"),
    (("late", "now", 100.0), None),
    (("late", "put", "old", 1), None),
    (("late", "now", 105.0), None),
    (("late", "put", "new", 2), None),
    (("late", "now", 109.0), None),
    (("late", "get", "old"), 1),
    (("late", "now", 111.0), None),
    (("late", "put", "third", 3), None),
    (("late", "get", "new"), 2),
    (("late", "get", "third"), 3),
    (("late", "in", "old"), False),
    *((("wrong", "make", *given), "ValueError") for given in ((0, 1), (1, 0), (1, -1))),
)

asked = json.dumps([step for step, _ in STEPS])
done = subprocess.run(
    [sys.executable, "-c", DRIVER], input=asked, capture_output=True, text=True, check=False, timeout=10
)
assert done.returncode == 0, done.stderr[-1000:]
answers = json.loads(done.stdout)
assert len(answers) == len(STEPS), len(answers)
for (step, expected), answer in zip(STEPS, answers, strict=False):
    assert (answer, type(answer)) == (expected, type(expected)), (step, answer, expected)
