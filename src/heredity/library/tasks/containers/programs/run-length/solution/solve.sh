#!/bin/bash
set -euo pipefail
cat > /app/rle.py <<'PYTHON'
import sys
from itertools import groupby

what, source, target = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
if what == "encode":
    found = bytearray()
    for byte, run in groupby(data):
        left = len(list(run))
        while left:
            found += bytes((min(left, 255), byte))
            left -= min(left, 255)
else:
    if len(data) % 2 or 0 in data[::2]:
        sys.exit(1)
    found = b"".join(bytes((data[i + 1],)) * data[i] for i in range(0, len(data), 2))
with open(target, "wb") as file:
    file.write(found)
PYTHON
