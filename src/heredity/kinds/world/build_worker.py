"""The build process: reads one JSON line, writes one, until stdin closes.

Rules are interpreted, and their hooks run in the sandbox. Memory is limited, and the parent kills a build that takes
too long.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import sys
from functools import cache
from typing import Any

from heredity._core.errors import HostError, IsolationError
from heredity.kinds.world.dsl.bounded import UnansweredHookError
from heredity.kinds.world.gates.build import build
from heredity.kinds.world.world import World, sound_worlds

MEMORY = 4 << 30
"""Address space limit of a build process, in bytes."""
AGAIN = 1.0
"""Interval in CPU seconds at which a late build is interrupted again; destructors and imports may swallow the exception."""


@cache
def _library() -> dict[str, World]:
    return dict(sound_worlds()[0])


class _LateError(BaseException):
    """Raised when a build has used its CPU time; intermediate exception handlers do not stop it."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Build a world from a request: `files` (path to base64), `world`, `seed`, `gates`, in `seconds` of CPU time.

    Returns:
        The result (`Built.to_json`), or `late`, true, or `host`: the reason why the build could not be judged.
    """
    files = {path: base64.b64decode(data) for path, data in request["files"].items()}
    library = _library() if "novelty" in request["gates"] else {}

    def late(number: int, frame: object) -> None:
        raise _LateError

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, request["seconds"], AGAIN)
    try:
        return build(files, request["world"], request["seed"], request["gates"], lambda: library).to_json()
    except _LateError:
        return {"late": True}
    except (HostError, IsolationError, UnansweredHookError) as error:
        return {"host": str(error)}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def main() -> None:
    """Answer every line of stdin; other output is discarded."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
