#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import json
from decimal import ROUND_HALF_UP, Decimal

def read(name):
    with open(f"/app/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))

rates, months = read("rates"), {}
for row in read("payments"):
    rate = "1"
    if row["currency"] != "EUR":
        known = [entry for entry in rates if entry["currency"] == row["currency"] and entry["date"] <= row["date"]]
        rate = max(known, key=lambda entry: entry["date"])["per_euro"]
    euros = (Decimal(row["amount"]) / Decimal(rate)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    months[row["date"][:7]] = months.get(row["date"][:7], Decimal(0)) + euros
with open("/app/months.json", "w") as file:
    json.dump({month: str(months[month]) for month in sorted(months)}, file)
PYTHON
