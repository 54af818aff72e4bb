"""Orders, circles, and lines that are wrong."""

import subprocess
import sys


def run(*words, text=""):
    """Return the exit code and the output of the program."""
    done = subprocess.run(
        [sys.executable, "/app/order.py", *words], input=text, capture_output=True, text=True, check=False, timeout=10
    )
    return done.returncode, done.stdout


assert run(text="b: a\nc: a b\n") == (0, "a\nb\nc\n")
assert run(text="z:\ny:\nx: z\n") == (0, "y\nz\nx\n")
assert run(text="app: lib log # all\n\n# none\nlib: base\nlog: base\napp: lib\n") == (0, "base\nlib\nlog\napp\n")
assert run(text="m: a\nb: m\nc:\n") == (0, "a\nc\nm\nb\n")
assert run(text="a: b\nb: a\n") == (3, "")
assert run(text="a: a\n") == (3, "")
assert run(text="ok:\nwrong\n") == (2, "")
assert run(text="") == (0, "")
assert run(text="".join(f"n{i}: n{i + 1}\n" for i in range(1000, 4000))) == (
    0,
    "".join(f"n{i}\n" for i in range(4000, 999, -1)),
)
