"""Labels of rollouts by rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity.analysis.labels import counts
from heredity.protocols.harness_evolution.annotation import Rollout, read_rules

FAILED = Rollout(solved=False, status="ok", error="", reason="", transcript="")

KINDS = {
    "not attempted": replace(FAILED, status="missing", error="provider_error: rate_limit"),
    "harness broken": replace(FAILED, status="act_error", error="act_error: ContractError: before_model returned None"),
    "out of time": replace(FAILED, error="rollout_timeout: timeout: the time of the rollout was used up"),
    "out of turns": replace(FAILED, error="no_answer: turns: 20 turns were used up"),
    "no answer": replace(FAILED, status="no_answer", error="no_answer: empty: it said nothing"),
    "command not found": replace(FAILED, transcript="[tool]\nsh: 1: jq: command not found\nexit code 127"),
    "file missing": replace(FAILED, reason="FileNotFoundError: [Errno 2] No such file or directory: '/app/out.csv'"),
    "own program fails": replace(FAILED, reason="    return a / b\nZeroDivisionError: division by zero"),
    "wrong result": replace(FAILED, reason='    assert list(rows) == expected\nAssertionError: ["a"]'),
    "other": replace(FAILED, reason="0 points"),
    "solved": replace(FAILED, solved=True, transcript="command not found, so I used awk"),
}


@pytest.mark.parametrize("label", KINDS)
def test_the_rules_that_come_along_tell_kinds_of_failure_apart(label: str) -> None:
    rules = read_rules()
    assert rules.label(KINDS[label])[0] == label
    assert rules.labels[label]


def test_the_first_rule_that_holds_gives_the_label_and_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rule]]\nlabel = "lucky"\npattern = "(?i)guess"\nwhen = "solved"\nin = ["transcript"]\n'
        '[[rule]]\nlabel = "quotes"\npattern = "quot\\\\w+\\\\s+cells"\n'
        '[[rule]]\nlabel = "cells"\npattern = "cells"\n'
    )
    rules = read_rules(path)
    rollout = replace(FAILED, reason="the quoted\ncells differ")
    assert rules.label(rollout) == ("quotes", "quoted cells")
    assert rules.label(replace(rollout, reason="cells differ")) == ("cells", "cells")
    assert rules.label(replace(rollout, transcript="I Guess", reason="")) == ("other", "")
    assert rules.label(replace(rollout, solved=True, transcript="I Guess")) == ("lucky", "Guess")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one or more tables"),
        ("x = 1", "has x; expected"),
        ("[[rule]\n", "is not TOML"),
        ('[[rule]]\nlabel = "a"\n', "pattern is None; expected a string"),
        ('[[rule]]\nlabel = "a"\npattern = "("\n', "not a regular expression"),
        ('[[rule]]\nlabel = "a"\npattern = "b"\nwhen = "always"\n', "when is 'always'; expected failed"),
        ('[[rule]]\nlabel = "a"\npattern = "b"\nin = ["log"]\n', "expected a list of status"),
        ('[[rule]]\nlabel = "a"\npatern = "b"\n', "did you mean pattern"),
    ],
)
def test_a_wrong_file_of_rules_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_rules(tmp_path / "rules.toml")


def test_a_file_of_rules_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_rules(tmp_path / "rules.toml")


def test_labels_are_counted_by_annotator_view_and_snapshot_in_the_order_of_training() -> None:
    def row(label: str, *places: str, by: str = "rules:1", model: str | None = None) -> dict[str, object]:
        return {"view": "id", "places": places, "label": label, "by": by, "model": model}

    rows = [row("a", "A_T"), row("b", "E_10"), row("a", "E_2", "E_3"), row("a", "A_0"), row("a", "A_0")]
    by_annotator = counts([*rows, row("c", "A_0", by="judge:x/y:2"), row("d", "A_0", model="m/n")])
    assert list(by_annotator["rules"]["id"]) == ["A_0", "E_2", "E_3", "E_10", "A_T"]
    assert by_annotator["rules"]["id"]["A_0"] == {"a": 2}
    assert by_annotator["rules"]["id under m/n"] == {"A_0": {"d": 1}}
    assert by_annotator["judge:x/y"] == {"id": {"A_0": {"c": 1}}}
