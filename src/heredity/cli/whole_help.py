"""Help that lists commands with their whole first sentence: what is cut off with dots helps nobody."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

_LONGEST = 10_000


class WholeHelp(TyperGroup):
    """A group of commands whose help wraps what each is for, instead of cutting it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, c.get_short_help_str(_LONGEST)) for name, c in commands if c is not None and not c.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
