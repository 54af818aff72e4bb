"""Widths, paragraphs, long words."""

import subprocess
import sys


def run(*words, text=""):
    """Return the exit code and the output of the program."""
    done = subprocess.run(
        [sys.executable, "/app/wrap.py", *words], input=text, capture_output=True, text=True, check=False, timeout=10
    )
    return done.returncode, done.stdout


assert run("10", text="the quick brown fox\njumps over\n") == (0, "the quick\nbrown fox\njumps over\n")
assert run("5", text="extraordinary a b c d e\n") == (0, "extraordinary\na b c\nd e\n")
assert run("20", text="\n\n one\n  two \n   \n\nthree\n\n") == (0, "one two\n\nthree\n")
assert run("1", text="a b") == (0, "a\nb\n")
assert run("4", text="äöü ß\n") == (0, "äöü\nß\n")
assert run("8", text="well-known thing") == (0, "well-known\nthing\n")
assert run("9", text="") == (0, "")
for wrong in ("0", "-3", "x", "2.5"):
    assert run(wrong, text="a")[0] == 2
assert run()[0] == 2
