#!/bin/bash
set -euo pipefail
cat > /app/wrap.py <<'PYTHON'
import re
import sys

sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
if len(sys.argv) != 2 or not re.fullmatch("[0-9]+", sys.argv[1]) or int(sys.argv[1]) < 1:
    sys.exit(2)
width = int(sys.argv[1])
paragraphs = []
for text in re.split(r"\n\s*\n", sys.stdin.read().strip()):
    lines = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    if lines:
        paragraphs.append("\n".join(lines))
if paragraphs:
    print("\n\n".join(paragraphs))
PYTHON
