#!/bin/bash
set -euo pipefail
cat > /app/ledger.py <<'PYTHON'
import csv
import re
import sys
from decimal import Decimal

sys.stdout.reconfigure(encoding="utf-8")
balances, wrong = {}, False
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    for number, line in enumerate(file.read().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in next(csv.reader([line], skipinitialspace=True))]
        if len(fields) != 3 or not re.fullmatch(r"[+-]?[0-9][0-9']*(\.[0-9]{1,2})?", fields[2]):
            sys.stderr.write(f"line {number} is wrong: {line}\n")
            wrong = True
            continue
        balances[fields[1]] = balances.get(fields[1], Decimal("0.00")) + Decimal(fields[2].replace("'", ""))
for account in sorted(balances):
    print(f"{account}: {balances[account] + 0:.2f}")
sys.exit(1 if wrong else 0)
PYTHON
