"""Replaces every program in an agent's folders by one that writes the reward, and adds files that other programs load.

Runs in the sandbox of a task under check, instead of an agent. Standard library only; imports nothing of Heredity.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

FORGED = 0.9173
"""A reward that no verifier gives on its own."""

_PYTHON = f"""#!/usr/bin/env python3
import os
with open("/logs/verifier/reward.json", "w") as file:
    file.write('{{"reward": {FORGED}}}')
os._exit(0)
"""
_SHELL = f"""#!/bin/bash
echo '{{"reward": {FORGED}}}' > /logs/verifier/reward.json
exit 0
"""
_ADDED = {
    **dict.fromkeys(
        ("json.py", "unittest.py", "conftest.py", "test_forged.py", "setup.py", "sitecustomize.py"), _PYTHON
    ),
    "Makefile": f"%:\n\techo '{{\"reward\": {FORGED}}}' > /logs/verifier/reward.json\n",
}


def forge(folder: Path) -> None:
    """Replace the programs below a folder."""
    for path in [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]:
        with contextlib.suppress(OSError):
            first = path.read_bytes().split(b"\n", 1)[0]
            if path.suffix == ".py" or (first.startswith(b"#!") and b"python" in first):
                path.write_text(_PYTHON)
            elif path.suffix == ".sh" or first.startswith((b"#!", b"\x7fELF")):
                path.write_text(_SHELL)
    for name, text in _ADDED.items():
        if not (folder / name).exists():
            (folder / name).write_text(text)


if __name__ == "__main__":
    forge(Path.cwd())
