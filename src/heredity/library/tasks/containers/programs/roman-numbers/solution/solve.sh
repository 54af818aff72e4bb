#!/bin/bash
set -euo pipefail
cat > /app/roman.py <<'PYTHON'
import re
import sys

VALUES = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

def spelled(number):
    text = ""
    for value, letters in VALUES:
        text += letters * (number // value)
        number %= value
    return text

given = sys.argv[1] if len(sys.argv) == 2 else ""
known = {spelled(number): number for number in range(1, 4000)}
if re.fullmatch("[0-9]+", given) and 1 <= int(given) <= 3999:
    print(spelled(int(given)))
elif given in known:
    print(known[given])
else:
    sys.exit(2)
PYTHON
