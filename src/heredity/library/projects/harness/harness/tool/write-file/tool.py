"""Writes a text into a file of the task's container."""

import base64
import os
import shlex

from heredity_harness import shell

PIECE = 60_000  # a command line has room for about twice as much


def run(path: str, text: str, append: bool = False):
    folder, target = shlex.quote(os.path.dirname(path) or "."), shlex.quote(path)
    data = base64.b64encode(text.encode()).decode()
    pieces = [data[i : i + PIECE] for i in range(0, len(data), PIECE)] or [""]
    for number, piece in enumerate(pieces):
        into = ">>" if append or number else ">"
        output = shell(f"mkdir -p -- {folder} && printf %s {piece} | base64 -d {into} {target}")
        if not output.endswith("[exit code: 0]"):
            return f"not written: {output}"
    return f"{len(text.encode())} bytes were written to {path}"
