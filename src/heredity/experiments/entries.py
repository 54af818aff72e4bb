"""Entries of a suite by name, as users write them: `"gepa vs random"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from heredity._core.errors import ConfigError

_QUESTION = re.compile(r"\s*(?P<a>\S.*?)\s+vs\.?\s+(?P<b>\S.*?)(?:\s+decided)?\s*", re.IGNORECASE)


def pair_of(question: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the two entries named by a question such as `"gepa vs random"` or `"gepa vs random decided"`.

    Args:
        question: names are labels, or parts that match one label only.
        labels: labels of the entries.

    Raises:
        ConfigError: if the question has another form, or a name matches no label or several.
    """
    match = _QUESTION.fullmatch(question)
    if match is None:
        raise ConfigError(f'{question!r} does not name two entries; write "A vs B", of {_choices(labels)}')
    a, b = _entry(match["a"], labels), _entry(match["b"], labels)
    if a == b:
        raise ConfigError(f"{question!r} names {a} twice; name two of {_choices(labels)}")
    return a, b


def _entry(name: str, labels: Sequence[str]) -> str:
    fitting = [label for label in labels if label == name] or [label for label in labels if name in label]
    if len(fitting) != 1:
        why = f"matches {_choices(fitting)}" if fitting else "matches no entry"
        raise ConfigError(f"{name!r} {why}; give a name that matches one of {_choices(labels)}")
    return fitting[0]


def _choices(labels: Iterable[str]) -> str:
    return ", ".join(map(repr, labels)) or "none"
