#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import re

def cleaned(row):
    name, born, score = ("" if cell.strip() in ("", "-", "n/a") else cell.strip() for cell in row)
    if found := re.fullmatch(r"(\d+)[/.](\d+)[/.](\d{4})", born):
        born = f"{found[3]}-{int(found[2]):02d}-{int(found[1]):02d}"
    return (" ".join(name.split()), born, f"{float(score.replace(',', '.')):.2f}" if score else "")

with open("/app/people.csv", newline="") as file:
    rows = list(dict.fromkeys(map(cleaned, list(csv.reader(file))[1:])))
with open("/app/clean.csv", "w", newline="") as file:
    csv.writer(file).writerows([("name", "born", "score"), *rows])
PYTHON
