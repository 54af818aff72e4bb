"""Rules that were checked, compiled to Python functions that may call each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from heredity.errors import ConfigError
from heredity.worlds.dsl.bounded import CHECKED
from heredity.worlds.dsl.functions import FUNCTIONS
from heredity.worlds.dsl.scope import Rule

_COUNTED = """
__turn.passes -= {}
if __turn.passes < 0: __turn.count(0)
"""
"""What a function begins with."""


def link(
    rules: Mapping[str, Rule],
    constants: Mapping[str, Any],
    fits: Mapping[str, Callable[[Any], Any]],
    hooks: Mapping[str, Callable[..., Any]],
) -> dict[str, Callable[..., Any]]:
    """Compile rules that may call each other by name; each takes the state, the level, the turn, and its parameters.

    Args:
        rules: by their names; those of functions are `functions.NAME`.
        constants: by name.
        fits: by variable of the state, what returns a value that fits it and raises for others.
        hooks: functions in Python by name, which take the turn first.

    Raises:
        ConfigError: if functions call themselves, directly or through others.
    """
    _check_order(rules)
    space: dict[str, Any] = {"__builtins__": {}, **CHECKED}
    space.update({f"__b_{name}": function for name, function in FUNCTIONS.items()})
    space.update({f"__k_{name}": value for name, value in constants.items()})
    space.update({f"__fit_{name}": fit for name, fit in fits.items()})
    space.update({f"__hook_{name}": hook for name, hook in hooks.items()})
    names = {key: f"__f_{number}" for number, key in enumerate(rules)}
    for key, rule in rules.items():
        tree = rule.tree
        tree.name = names[key]
        # Functions that call functions twice each are soon called without end; those that call none are counted with their callers.
        if key.startswith("functions.") and rule.calls:
            tree.body[:0] = ast.parse(_COUNTED.format(1 + sum(1 for _ in ast.walk(tree)) // 20)).body
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("__own_"):
                node.id = names["functions." + node.id.removeprefix("__own_")]
        module = ast.fix_missing_locations(ast.Module([tree], []))
        try:
            exec(compile(module, f"<{rule.path}>", "exec"), space)  # every node was checked
        except (SyntaxError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            raise ConfigError(f"{rule.path}{line}: {getattr(error, 'msg', error)}") from error
    return {key: space[name] for key, name in names.items()}


def _check_order(rules: Mapping[str, Rule]) -> None:
    done: set[str] = set()

    def visit(key: str, way: tuple[str, ...]) -> None:
        if key in way:
            raise ConfigError(
                f"{key} calls itself, through {' and '.join(way[way.index(key) :])}; loops go through lists only"
            )
        if key not in done:
            for called in sorted(rules[key].calls):
                visit("functions." + called, (*way, key))
            done.add(key)

    for key in rules:
        visit(key, ())
