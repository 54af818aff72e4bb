#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import os
import re

folder, seen, plan = "/app/inbox", {}, []
for name in sorted(os.listdir(folder), key=os.fsencode):
    stem, _, extension = name.rpartition(".")
    stem = re.sub("[^a-z0-9]+", "-", "".join(c.lower() if c.isascii() else "-" for c in stem)).strip("-")
    key = (stem, extension.lower())
    seen[key] = seen.get(key, 0) + 1
    plan.append((name, stem + (f"-{seen[key]}" if seen[key] > 1 else "") + "." + extension.lower()))
os.mkdir("/tmp/tidy")
for old, new in plan:
    os.rename(os.path.join(folder, old), os.path.join("/tmp/tidy", new))
for _, new in plan:
    os.rename(os.path.join("/tmp/tidy", new), os.path.join(folder, new))
PYTHON
