"""Ledgers, right and wrong ones."""

import subprocess
import sys


def run(*words, text=""):
    """Return the exit code and the output of the program."""
    done = subprocess.run(
        [sys.executable, "/app/ledger.py", *words], input=text, capture_output=True, text=True, check=False, timeout=10
    )
    return done.returncode, done.stdout


from pathlib import Path  # noqa: E402

ledger = Path("/tmp/ledger.csv")
assert run("/app/example.csv") == (0, "Café: 0.00\nRent, flat: -1250.40\n")
ledger.write_text(
    "".join(f"2024-01-01,a,0.{digit}\n" for digit in range(1, 10)) + "d,b,+1'000'000.5\nd,b,2\n", encoding="utf-8"
)
assert run(str(ledger)) == (0, "a: 4.50\nb: 1000002.50\n")
ledger.write_text("d,a,1\nd,a\nd,b,x\nd,b,5\nd,b,1.234\n", encoding="utf-8")
done = subprocess.run(
    [sys.executable, "/app/ledger.py", str(ledger)], capture_output=True, text=True, check=False, timeout=10
)
assert (done.returncode, done.stdout) == (1, "a: 1.00\nb: 5.00\n")
assert all(number in done.stderr for number in "235")
ledger.write_text("", encoding="utf-8")
assert run(str(ledger)) == (0, "")
ledger.write_text("d,a,-0.10\nd,a,0.1\nd,Z,-0.01\n", encoding="utf-8")
assert run(str(ledger)) == (0, "Z: -0.01\na: 0.00\n")
