#!/bin/bash
set -euo pipefail
cat > /app/order.py <<'PYTHON'
import heapq
import sys

needs = {}
for line in sys.stdin:
    line = line.partition("#")[0].strip()
    if not line:
        continue
    name, colon, rest = line.partition(":")
    if not colon:
        sys.exit(2)
    needs.setdefault(name.strip(), set()).update(rest.split())
    for need in rest.split():
        needs.setdefault(need, set())
users = {name: [] for name in needs}
for name, found in needs.items():
    for need in found:
        users[need].append(name)
left = {name: len(found) for name, found in needs.items()}
ready, order = [name for name, count in left.items() if not count], []
heapq.heapify(ready)
while ready:
    name = heapq.heappop(ready)
    order.append(name)
    for user in users[name]:
        left[user] -= 1
        if not left[user]:
            heapq.heappush(ready, user)
if len(order) < len(needs):
    sys.exit(3)
sys.stdout.write("".join(name + "\n" for name in order))
PYTHON
