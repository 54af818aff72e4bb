"""Known faults of data sets: what is noted is so in the installed version, by logic of our own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest

from heredity.kinds.question import taskset as known_faults
from heredity.kinds.question.taskset import KNOWN_FAULTS, KnownFault, fault_notes
from heredity.tasks.registry import taskset

Members = tuple[int, ...]
READS: dict[str, Callable[[Members, Members], bool]] = {
    "All": lambda a, b: all(y for x, y in zip(a, b, strict=True) if x),
    "No": lambda a, b: not any(x and y for x, y in zip(a, b, strict=True)),
    "Some": lambda a, b: any(x and y for x, y in zip(a, b, strict=True)),
    "Some not": lambda a, b: any(x and not y for x, y in zip(a, b, strict=True)),
}


def parsed(statement: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(All|No|Some) ([\w ]+?) are (not )?([\w ]+)", statement.strip())
    assert match is not None, statement
    return match[1] + (" not" if match[3] else ""), match[2], match[4]


def follows(premises: list[tuple[str, str, str]], conclusion: tuple[str, str, str], *, inhabited: bool) -> bool:
    """Return whether a conclusion holds in every world of three individuals in which its premises do."""
    terms = sorted({term for _, *pair in (*premises, conclusion) for term in pair})
    for bits in itertools.product((0, 1), repeat=3 * len(terms)):
        members = {term: bits[3 * i : 3 * i + 3] for i, term in enumerate(terms)}
        if inhabited and not all(map(any, members.values())):
            continue
        held = [READS[kind](members[a], members[b]) for kind, a, b in (*premises, conclusion)]
        if all(held[:-1]) and not held[-1]:
            return False
    return True


def test_one_key_in_eight_of_syllogism_is_wrong_by_either_reading_of_all() -> None:
    gym = pytest.importorskip("reasoning_gym")
    items = list(gym.create_dataset("syllogism", size=300, seed=5))
    wrong = 0
    for item in items:
        about = item["metadata"]
        stated = [about[name] for name in ("premise1", "premise2") if about.get(name)] or [about["premise"]]
        premises, conclusion = [parsed(one) for one in stated], parsed(about["conclusion"])
        valid = {follows(premises, conclusion, inhabited=inhabited) for inhabited in (True, False)}
        wrong += (item["answer"] == "Yes") not in valid
    assert 0.08 < wrong / len(items) < 0.18


def test_power_function_takes_a_negative_base_without_parentheses_for_one_with_them() -> None:
    gym = pytest.importorskip("reasoning_gym")
    contradicted = 0
    for item in gym.create_dataset("power_function", size=300, seed=5):
        match = re.search(r"Compute (-?)([\d.]+)\^(-?\d+)", item["question"])
        assert match is not None
        contradicted += bool(match[1]) and int(match[3]) % 2 == 0 and float(item["answer"]) > 0
    assert 60 < contradicted < 120


@pytest.mark.parametrize("name", ["syllogism", "power_function"])
def test_a_taskset_says_what_is_wrong_with_its_keys(name: str) -> None:
    pytest.importorskip("reasoning_gym")
    (note,) = taskset(f"questions/reasoning-gym/{name}").info.notes
    assert note.startswith(f"known fault of {name} in reasoning-gym 0.1.25: ")
    assert taskset("questions/reasoning-gym/gcd").info.notes == ()
    mixed = taskset(f"questions/mix/reasoning-gym/gcd+reasoning-gym/{name}")
    assert mixed.info.notes == (note,)


def test_a_version_in_which_a_fault_was_not_looked_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_faults, "version", lambda package: "9.9")
    for fault in KNOWN_FAULTS:
        assert isinstance(fault, KnownFault)
        (note,) = fault_notes(fault.package, fault.dataset)
        assert "(not looked for in the installed 9.9)" in note
