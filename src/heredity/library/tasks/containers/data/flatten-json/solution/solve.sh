#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import json

def flat(value, path=""):
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from flat(inner, f"{path}{name}.")
        elif isinstance(inner, list):
            yield path + name, "|".join(map(str, inner))
        elif isinstance(inner, bool):
            yield path + name, str(inner).lower()
        else:
            yield path + name, "" if inner is None else str(inner)

with open("/app/events.jsonl") as file:
    rows = [dict(flat(json.loads(line))) for line in file]
names = sorted({name for row in rows for name in row})
with open("/app/events.csv", "w", newline="") as file:
    csv.writer(file).writerows([names, *([row.get(name, "") for name in names] for row in rows)])
PYTHON
