"""All 3999 numbers there and back are too slow one by one: some of each kind."""

import subprocess
import sys


def run(*words, text=""):
    """Return the exit code and the output of the program."""
    done = subprocess.run(
        [sys.executable, "/app/roman.py", *words], input=text, capture_output=True, text=True, check=False, timeout=10
    )
    return done.returncode, done.stdout


pairs = {
    1: "I",
    4: "IV",
    9: "IX",
    14: "XIV",
    40: "XL",
    49: "XLIX",
    90: "XC",
    400: "CD",
    444: "CDXLIV",
    944: "CMXLIV",
    1994: "MCMXCIV",
    2024: "MMXXIV",
    3888: "MMMDCCCLXXXVIII",
    3999: "MMMCMXCIX",
}
for number, roman in pairs.items():
    assert run(str(number)) == (0, roman + "\n"), number
    assert run(roman) == (0, f"{number}\n"), roman
for wrong in ("0", "4000", "-1", "IIII", "IM", "VX", "mm", "MMMM", "IXIX", "12a", "", "1.5"):
    assert run(wrong) == (2, ""), wrong
assert run() == (2, "")
