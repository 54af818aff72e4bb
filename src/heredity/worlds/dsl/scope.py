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
        names: what else is there: parameters of the action, `level`.
        draws: whether chance may be drawn: only where levels are made.
    """

    state: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    names: frozenset[str] = frozenset()
    draws: bool = False


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
