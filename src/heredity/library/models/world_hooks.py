"""Hooks of the offline authors: Python functions that replace rules if a theme wants computed values."""

from __future__ import annotations

from typing import Any

COMPUTED = frozenset(("computed", "formula", "formulas", "curve", "curves"))
"""Words of a theme that ask for it."""
FILE = "hooks.py"
CODE = '''"""What things are worth, computed."""

from bisect import bisect

AGES, WORTHS = (4, 9), (1, 5, 2)


def worth_at(age):
    """Return what a plant is worth at an age: little while it is young, most when it is ripe."""
    return WORTHS[bisect(AGES, age)]


def worth_of(size):
    """Return what a plant is worth that has grown to a size."""
    return {3: 3, 4: 5}.get(size, 1)
'''
_WORTH = {"type": "integer", "low": 1, "high": 9}
_OF_SIZE = "value = 3 if size == 3 else 5 if size == 4 else 1"


def hooked(value: dict[str, Any]) -> dict[str, Any]:
    """Return a world with values computed by hooks equivalent to its rules; the same world if it has none.

    Args:
        value: a composed world's description; modified in place.
    """
    rules = value["rules"]
    if "worth" in rules.get("functions", {}):
        del rules["functions"]["worth"]
        rules["hooks"] = {"worth_at": {"takes": ["age"], "returns": _WORTH}}
        for text in ("actions", "observe"):
            rules[text] = {name: rule.replace("worth(", "worth_at(") for name, rule in rules[text].items()}
    elif any(_OF_SIZE in rule for rule in rules["actions"].values()):
        rules["hooks"] = {"worth_of": {"takes": ["size"], "returns": _WORTH}}
        rules["actions"] = {
            name: rule.replace(_OF_SIZE, "value = worth_of(size)") for name, rule in rules["actions"].items()
        }
    return value
