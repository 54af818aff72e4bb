"""The process that builds: one JSON line in, one out, until nobody writes any more.

Rules are interpreted, and their hooks are called in the sandbox; memory is bounded, and who waits ends what takes too long.
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

from heredity.errors import HostError, IsolationError
from heredity.worlds.dsl.allowance import UnansweredHookError
from heredity.worlds.gates.build import build
from heredity.worlds.world import World, sound_worlds

MEMORY = 4 << 30
"""Most bytes of addresses of a process that builds."""
AGAIN = 1.0
"""Processor seconds after which a build that is late is ended again: what is raised in a destructor or an import may be lost."""


@cache
def _library() -> dict[str, World]:
    return dict(sound_worlds()[0])


class _LateError(BaseException):
    """A build has taken its processor time; no handler of exceptions on the way stops it."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Build what is asked for: `files` (path to base64), `world`, `seed`, `gates`, in `seconds` of the processor.

    Returns:
        What came of it (`Built.to_json`), or `late`, true, or `host`: why nothing can be said of it.
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
