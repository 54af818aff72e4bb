"""What a rule may name, and what it is once it was checked."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scope:
    """What a rule may name.

    Attributes:
        state: variables of the state; those in `fixed` are never assigned.
        fixed: see `state`.
        constants: names of constants.
        functions: names of the world's own functions, with their parameters.
        hooks: names of its functions in Python, each with its parameters and with what it reads.
        names: what else is there: parameters of the action, `level`.
        draws: whether chance may be drawn: only where levels are made.
        refuses: whether an action can still be refused.
    """

    state: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    hooks: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, "tuple[tuple[str, ...], tuple[str, ...]]"]
    )
    names: frozenset[str] = frozenset()
    draws: bool = False
    refuses: bool = True

    def own(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the parameters of a function of the world's own, and what it is given besides; None if there is none."""
        return (self.functions[name], ()) if name in self.functions else self.hooks.get(name)


@dataclass(frozen=True)
class Rule:
    """A rule that was checked.

    Attributes:
        path: where it stands in the file, such as `rules.actions.move`.
        tree: what it is compiled from.
        calls: the world's own functions that it calls.
        changes: whether it assigns to the state.
        reads: variables of the state on which it depends; one that it only adds to is none of them.
    """

    path: str
    tree: ast.FunctionDef
    calls: frozenset[str]
    changes: bool
    reads: frozenset[str]
