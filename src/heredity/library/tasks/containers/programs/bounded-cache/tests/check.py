"""The cache forgets the right entries at the right time."""

import sys

sys.path.insert(0, "/app")
from cache import Cache

now = [0.0]
made = Cache(2, 10, lambda: now[0])
made.put("a", 1)
made.put("b", 2)
assert made.get("a") == 1
made.put("c", 3)
assert ("a" in made, "b" in made, "c" in made, len(made)) == (True, False, True, 2)
now[0] = 9.9
assert made.get("a") == 1
now[0] = 10.0
assert made.get("a", "gone") == "gone"
assert len(made) == 0
made.put("a", 5)
now[0] = 15.0
made.put("b", 6)
assert made.get("a") == 5
now[0] = 20.0
made.put("c", 7)
assert ("a" in made, made.get("b"), made.get("c")) == (False, 6, 7)
assert "b" in made
made.put("c", 8)
made.put("d", 9)
assert (made.get("b"), made.get("c"), made.get("d")) == (None, 8, 9)
made.put("c", None)
assert made.get("c", 1) is None
late = Cache(2, 10, lambda: now[0])
now[0] = 100.0
late.put("old", 1)
now[0] = 105.0
late.put("new", 2)
now[0] = 109.0
assert late.get("old") == 1
now[0] = 111.0
late.put("third", 3)
assert (late.get("new"), late.get("third"), "old" in late) == (2, 3, False)
for size, seconds in ((0, 1), (1, 0), (1, -1)):
    try:
        Cache(size, seconds, lambda: 0)
    except ValueError:
        continue
    raise AssertionError((size, seconds))
