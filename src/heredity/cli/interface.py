"""Shared by all commands: help in whole sentences, completion by the shell, standard output reserved for JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import MethodType
from typing import IO, TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable


def suites(incomplete: str) -> list[str]:
    """Return the installed suites that begin with `incomplete`; if there are none, the shell offers files."""
    from heredity.experiments.config import suites as installed

    return beginning(installed(), incomplete)


def methods(incomplete: str) -> list[str]:
    """Complete the name of a method."""
    from heredity.methods.registry import METHODS

    return beginning(METHODS.names(), incomplete)


def projects(incomplete: str) -> list[str]:
    """Return the kinds of projects that begin with `incomplete`."""
    from heredity.cli.init import kinds

    return beginning(kinds(), incomplete)


def tasksets(incomplete: str) -> list[str]:
    """Return the tasksets that begin with `incomplete`."""
    from heredity.tasks.registry import taskset_names

    return beginning(taskset_names(), incomplete)


def beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that begin with `incomplete`, sorted."""
    return sorted(name for name in names if name.startswith(incomplete))


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


_LONGEST = 10_000
_WORDS = {"path": "PATH", "Path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}
"""Names of values in help, by Python type."""


def _in_words(display_type: Callable[[Any], str], ctx: Any) -> str:
    shown = display_type(ctx)
    kind = shown.strip("<>").removeprefix("list[").removesuffix("]").removesuffix(" range")
    return _WORDS.get(kind, shown)


class WholeHelp(TyperGroup):
    """Group of commands whose help wraps descriptions instead of cutting them."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command whose help shows words instead of Python types."""
        command = super().get_command(ctx, cmd_name)
        for param in getattr(command, "params", ()):
            if isinstance(param.display_type, MethodType):
                param.display_type = partial(_in_words, param.display_type)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, c.get_short_help_str(_LONGEST)) for name, c in commands if c is not None and not c.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
