#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import statistics
from decimal import Decimal

found, missing = {}, {}
with open("/app/readings.tsv", newline="") as file:
    for _, sensor, value in csv.reader(file, delimiter="\t"):
        found.setdefault(sensor, [])
        missing.setdefault(sensor, 0)
        if value in ("", "NA"):
            missing[sensor] += 1
        else:
            found[sensor].append(Decimal(value))
with open("/app/medians.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["sensor", "readings", "missing", "median"])
    for sensor in sorted(found):
        values = found[sensor]
        writer.writerow([sensor, len(values), missing[sensor], f"{statistics.median(values):.2f}" if values else ""])
PYTHON
