"""Standard output of commands with `--json`: only JSON, even if packages, environments and programs print."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any

import typer


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Report whether a command line has `--json` among the command's options."""
    own = list(arguments)
    return "--json" in (own[: own.index("--")] if "--" in own else own)


@contextmanager
def reserved_stdout() -> Generator[None]:
    """Reserve standard output for what commands echo; other output, also of child processes, goes to stderr."""
    before, echo = sys.stdout, typer.echo
    with ExitStack() as stack:
        kept = before
        with suppress(OSError, ValueError):  # closed, or without a descriptor: nothing else writes to it
            before.flush()
            if before.fileno() == 1:
                kept = stack.enter_context(os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape"))
                os.dup2(2, 1)
                stack.callback(os.dup2, kept.fileno(), 1)

        def echo_json(
            message: Any = None,
            file: IO[Any] | None = None,
            nl: bool = True,
            err: bool = False,
            color: bool | None = None,
        ) -> None:
            echo(message, file if file is not None or err else kept, nl, err, color)

        sys.stdout, typer.echo = sys.stderr, echo_json
        try:
            yield
        finally:
            sys.stdout, typer.echo = before, echo
            with suppress(OSError, ValueError):
                kept.flush()
