#!/bin/bash
set -euo pipefail
cat > /app/calc.py <<'PYTHON'
import re
import sys

def divided(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient

OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": divided, "%": lambda a, b: a - b * divided(a, b)}

def value(line):
    stack = []
    for part in line.split():
        if part in OPERATORS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATORS[part](a, b))
        elif re.fullmatch("-?[0-9]+", part):
            stack.append(int(part))
        else:
            raise ValueError(part)
    [result] = stack
    return result

wrong = False
for line in sys.stdin:
    try:
        print(value(line))
    except (ValueError, IndexError, ZeroDivisionError):
        wrong = True
        print("error")
sys.exit(1 if wrong else 0)
PYTHON
