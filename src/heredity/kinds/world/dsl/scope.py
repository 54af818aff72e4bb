"""The scope of a rule, and the checked rule."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scope:
    """The names that a rule may use.

    Attributes:
        state: variables of the state; those in `fixed` cannot be assigned.
        fixed: see `state`.
        constants: names of constants.
        functions: names of the world's functions, with their parameters.
        hooks: names of its Python functions, each with its parameters and with the variables it reads.
        names: other names: parameters of the action, `level`.
        draws: True if random draws are allowed: only when levels are made.
        refuses: True if an action can still be refused.
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
        """Return the parameters of a function defined by the world, and the variables it reads; None if it is unknown."""
        return (self.functions[name], ()) if name in self.functions else self.hooks.get(name)


@dataclass(frozen=True)
class Rule:
    """A checked rule.

    Attributes:
        path: its path in the file, such as `rules.actions.move`.
        tree: the syntax tree to compile.
        calls: the world's functions that it calls.
        changes: True if it assigns to the state.
        reads: variables of the state that it depends on, except those it only adds to.
    """

    path: str
    tree: ast.FunctionDef
    calls: frozenset[str]
    changes: bool
    reads: frozenset[str]
