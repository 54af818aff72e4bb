"""Coding and decoding, and codes that are wrong."""

import subprocess
import sys
from pathlib import Path

given, out = Path("/tmp/rle-in"), Path("/tmp/rle-out")


def run(what, data):
    """Return the exit code and what was written."""
    out.unlink(missing_ok=True)
    given.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "/app/rle.py", what, given, out], capture_output=True, check=False, timeout=10
    )
    return done.returncode, out.read_bytes() if out.exists() else None


cases = {
    b"": b"",
    b"a": b"\x01a",
    b"aaab": b"\x03a\x01b",
    b"\x00" * 300: b"\xff\x00\x2d\x00",
    b"\n\r\n": b"\x01\n\x01\r\x01\n",
    b"z" * 510: b"\xffz\xffz",
}
for plain, code in cases.items():
    assert run("encode", plain) == (0, code), plain
    assert run("decode", code) == (0, plain), code
every = bytes(range(256)) * 3
assert run("decode", run("encode", every)[1]) == (0, every)
assert run("decode", b"\x01a\x01b\x02b") == (0, b"abbb")
for wrong in (b"\x01", b"\x00a", b"\x01a\x00b", b"\x01ab"):
    assert run("decode", wrong) == (1, None), wrong
