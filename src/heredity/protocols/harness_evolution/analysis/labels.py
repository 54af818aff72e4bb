"""Labels of rollouts: kinds of failure, by readable rules. Labels are for readers and never affect a score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, nearest
from heredity._core.ids import digest_json
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import quoted, reading

OTHER, SOLVED = "other", "solved"
"""The labels of rollouts that match no rule."""

WHEN = ("failed", "solved", "any")
PLACES = ("status", "error", "reason", "transcript")

_KEYS = ("label", "pattern", "when", "in", "about")


@dataclass(frozen=True, slots=True)
class Rollout:
    """A rollout to label.

    Attributes:
        solved: True if its score is 1 or more.
        status: `"ok"`, a failure category, or `"missing"`.
        error: its final error, if recorded.
        reason: the verifier's reason.
        transcript: the conversation.
        task: the task's id.
        question: the question.
    """

    solved: bool
    status: str
    error: str
    reason: str
    transcript: str = field(repr=False)
    task: str = ""
    question: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """A label and the condition for it.

    Attributes:
        label: its name.
        pattern: regular expression, searched in each place.
        when: applies to failed rollouts, to solved ones, or to any.
        places: the places to search, from `PLACES`.
        about: description of the label.
    """

    label: str
    pattern: re.Pattern[str]
    when: str = "failed"
    places: tuple[str, ...] = ("error", "reason", "transcript")
    about: str = ""

    def holds(self, rollout: Rollout) -> str | None:
        """Return the matching text, in one line; None if the rule does not match."""
        if self.when != "any" and rollout.solved != (self.when == "solved"):
            return None
        matches = (self.pattern.search(getattr(rollout, field_name)) for field_name in self.places)
        return next((" ".join(match[0].split())[:200] for match in matches if match), None)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in matching order.

    Attributes:
        rules: the first match gives the label.
        digest: identifies the rules.
    """

    rules: tuple[Rule, ...]
    digest: str

    @property
    def labels(self) -> dict[str, str]:
        """Every label with its description, those without a rule last."""
        named = {rule.label: "" for rule in self.rules}
        named |= {rule.label: rule.about for rule in self.rules if rule.about}
        return {**named, OTHER: "none of these", SOLVED: "the task was solved"}

    def label(self, rollout: Rollout) -> tuple[str, str]:
        """Return a rollout's label and the matching text."""
        for rule in self.rules:
            why = rule.holds(rollout)
            if why is not None:
                return rule.label, why
        return (SOLVED if rollout.solved else OTHER), ""


def read_rules(path: Path | None = None) -> Rules:
    """Read rules from a TOML file; by default the built-in kinds of failure.

    Raises:
        ConfigError: if the file cannot be read, is not TOML, or has an invalid rule; the message names the rule.
    """
    source = resources.files(__package__ or "") / "failure_kinds.toml" if path is None else path
    with reading(str(source), "TOML", "correct it or pass a file of rules"):
        data = toml_table(source.read_text(encoding="utf-8") if path is None else read_text(path))
    tables = data.get("rule")
    if not isinstance(tables, list) or not tables or set(data) != {"rule"}:
        raise ConfigError(f"{source} has {', '.join(data) or 'nothing'}; expected one or more tables [[rule]]")
    rules = tuple(_rule(f"{source}, rule {number}", table) for number, table in enumerate(tables, 1))
    return Rules(rules, digest_json(tables))


def _rule(where: str, table: Any) -> Rule:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} is {table!r}; expected a table with label and pattern")
    given: Mapping[str, Any] = table
    for key in given:
        if key not in _KEYS:
            close = nearest(key, _KEYS)
            raise ConfigError(
                f"{where}: unknown key {quoted(key)}; {f'did you mean {close[0]}?' if close else _list_keys()}"
            )
    label, pattern = _text(where, given, "label"), _text(where, given, "pattern")
    when, about = _text(where, given, "when", "failed"), _text(where, given, "about", "")
    places: Sequence[Any] = given.get("in", ("error", "reason", "transcript"))
    if when not in WHEN:
        raise ConfigError(f"{where}: when is {quoted(when)}; expected {', '.join(WHEN)}")
    if not isinstance(places, list | tuple) or not places or any(field_name not in PLACES for field_name in places):
        raise ConfigError(f"{where}: in is {quoted(places)}; expected a list of {', '.join(PLACES)}")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"{where}: pattern is not a regular expression: {error}; escape . ( [ * + ? with \\"
        ) from error
    return Rule(label, compiled, when, tuple(places), about)


def _list_keys() -> str:
    return f"known keys: {', '.join(_KEYS)}"


def _text(where: str, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise ConfigError(f"{where}: {key} is {value!r}; expected a string")
    return value
