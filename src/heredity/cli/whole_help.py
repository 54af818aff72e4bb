"""Help that lists commands with their whole first sentence instead of cutting it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from typer.core import TyperGroup

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
