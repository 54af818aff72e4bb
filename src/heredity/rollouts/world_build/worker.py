"""The process that builds: one JSON line in, one out, until nobody writes any more.

Rules are interpreted, not run, so nothing here needs the sandbox; memory is bounded, and who waits ends what takes too long.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
from functools import cache
from typing import Any

from heredity.worlds.gates.build import build
from heredity.worlds.world import World, sound_worlds

MEMORY = 4 << 30
"""Most bytes of addresses of a process that builds."""


@cache
def _library() -> dict[str, World]:
    return dict(sound_worlds()[0])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Build what is asked for: `files` (path to base64), `world`, `seed`, `gates`."""
    files = {path: base64.b64decode(data) for path, data in request["files"].items()}
    return build(files, request["world"], request["seed"], request["gates"], _library).to_json()


def main() -> None:
    """Answer every line of stdin; what anything prints goes nowhere."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
