"""Standard output of commands with `--json`: it is JSON, whatever packages, environments and programs print meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Any

import typer


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line has `--json` among the command's own options."""
    own = list(arguments)
    return "--json" in (own[: own.index("--")] if "--" in own else own)


def reserve_stdout() -> None:
    """Leave standard output to what commands echo; what anything else prints, in this process or below it, goes to stderr."""
    try:
        sys.stdout.flush()
        kept = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
        os.dup2(2, 1)
    except OSError:
        return  # it is closed, and nobody reads it
    sys.stdout = sys.stderr
    echo = typer.echo

    def echo_json(
        message: Any = None, file: IO[Any] | None = None, nl: bool = True, err: bool = False, color: bool | None = None
    ) -> None:
        echo(message, file if file is not None or err else kept, nl, err, color)

    typer.echo = echo_json
