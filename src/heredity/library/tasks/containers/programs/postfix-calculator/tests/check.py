"""Expressions, right and wrong ones."""

import subprocess
import sys


def run(*words, text=""):
    """Return the exit code and the output of the program."""
    done = subprocess.run(
        [sys.executable, "/app/calc.py", *words], input=text, capture_output=True, text=True, check=False, timeout=10
    )
    return done.returncode, done.stdout


right = {
    "1 2 +": 3,
    "5 1 2 + 4 * + 3 -": 14,
    "-7 2 /": -3,
    "-7 2 %": -1,
    "7 -2 /": -3,
    "7 -2 %": 1,
    "42": 42,
    "  3   4 * ": 12,
    "-0": 0,
    "9999999999999999999999 9999999999999999999999 *": 9999999999999999999999**2,
    "-10000000000000000000001 10 /": -1000000000000000000000,
}
wrong = ["1 +", "1 2", "1 0 /", "1 0 %", "", "x", "1 2 ^", "1.5 2 +", "+", "1 2 + +"]
assert run(text="".join(line + "\n" for line in right)) == (0, "".join(f"{value}\n" for value in right.values()))
assert run(text="".join(line + "\n" for line in wrong)) == (1, "error\n" * len(wrong))
assert run(text="1 1 +\n?\n2 2 +\n") == (1, "2\nerror\n4\n")
assert run(text="") == (0, "")
