"""Generated questions: every data set of the package reasoning-gym (Stojanovski et al., 2025, arXiv:2505.24760).

Each task's question is generated from its own seed, drawn from the entropy, so that one task does not reveal another.
The digest of a question's text decides its split, so that splits are disjoint for any entropy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from heredity._core.errors import ConfigError, MissingExtraError, UnknownNameError
from heredity._core.ids import canonical_json, generator
from heredity.engine.questions.contract import Question
from heredity.engine.questions.generated import datasets, entry_of, reference_of
from heredity.engine.questions.pools import question_info, question_tasks
from heredity.engine.questions.verify import VERSION
from heredity.tasks.contract import SPLITS, Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault of a data set.

    Attributes:
        package: the distribution that has it.
        dataset: its name there.
        versions: those in which the fault was observed.
        what: the fault, with the number of wrong keys and of keys checked.
    """

    package: str
    dataset: str
    versions: tuple[str, ...]
    what: str


KNOWN_FAULTS = (
    KnownFault(
        "reasoning-gym",
        "syllogism",
        ("0.1.25",),
        'about one key in eight is wrong (374 of 3,000): from "All A are B" and "Some B are C" or "Some B are not C" it '
        "concludes something of A; a right answer scores 0 there",
    ),
    KnownFault(
        "reasoning-gym",
        "power_function",
        ("0.1.25",),
        "three keys in ten (87 of 300) take -2^4 for (-2)^4: a negative base has no parentheses before an even exponent, and the "
        "usual reading, -(2^4), scores 0",
    ),
)
"""Of reasoning-gym 0.1.25 these data sets had no wrong key among 300 each, by solvers of our own: base_conversion, binary_matrix,
bitwise_arithmetic, circuit_logic, count_bits, count_primes, course_schedule, dice, gcd, knights_knaves, largest_island, lcm,
letter_counting, number_sorting, prime_factorization, products, rotten_oranges, shortest_path, spell_backward; and time_intervals
among 155."""


def fault_notes(package: str, dataset: str) -> tuple[str, ...]:
    """Return the known faults of a data set, and if they were observed in the installed version."""
    faults = [fault for fault in KNOWN_FAULTS if (fault.package, fault.dataset) == (package, dataset)]
    return tuple(f"known fault of {dataset} in {_versions_of(fault)}: {fault.what}" for fault in faults)


def _versions_of(fault: KnownFault) -> str:
    try:
        installed = version(fault.package)
    except PackageNotFoundError:
        installed = ""
    seen = f"{fault.package} {', '.join(fault.versions)}"
    return seen if installed in fault.versions else f"{seen} (not looked for in the installed {installed or 'none'})"


PREFIX = "questions/reasoning-gym/"
INSTRUCTIONS = "Give your final answer between <answer> and </answer>, in just the form that is asked for."

_SEEDS = 2**31
_MISSES = 300
"""Consecutive seeds without a new question of the split after which its questions count as exhausted."""

_UNSTABLE = frozenset({"isomorphic_strings", "knight_swap", "polynomial_multiplication", "ransom_note", "word_ladder"})
"""Data sets that iterate over sets of texts: a seed gives other questions in each process unless PYTHONHASHSEED is set."""


def dataset_names() -> tuple[str, ...]:
    """Return the names of the data sets, sorted; none if the package is not installed."""
    if find_spec("reasoning_gym") is None:
        return ()
    # A composite needs a list of data sets and weights, which do not fit a name.
    return tuple(sorted(datasets().keys() - {"composite"}))


class ReasoningTaskset:
    """Questions of one data set of reasoning-gym.

    Args:
        dataset: its name there, such as `"chain_sum"`.
        options: fields of its configuration; those left out keep their defaults.

    Raises:
        MissingExtraError: if reasoning-gym is not installed.
        UnknownNameError: if the data set or one of its options does not exist.
        ConfigError: if a value is rejected, or the data set cannot be reproduced in this process.
    """

    def __init__(self, dataset: str, options: Mapping[str, Any]) -> None:
        if find_spec("reasoning_gym") is None:
            raise MissingExtraError(f"{PREFIX}{dataset}", "reasoning")
        if dataset not in dataset_names():
            raise UnknownNameError("data set of reasoning-gym", dataset, dataset_names())
        allowed = [f.name for f in fields(datasets()[dataset][1]) if f.name not in ("seed", "size")]
        for name in options:
            if name not in allowed:
                raise UnknownNameError(f"option of {dataset}", name, allowed)
        if dataset in _UNSTABLE and not os.environ.get("PYTHONHASHSEED", "").isdigit():
            raise ConfigError(
                f"{dataset} gives other questions in each process; set PYTHONHASHSEED to a number, such as 0, to fix them"
            )
        self.dataset, self.options = dataset, dict(options)
        query = "&".join(f"{name}={_written(value)}" for name, value in sorted(options.items()))
        self.name = f"{PREFIX}{dataset}?{query}" if query else PREFIX + dataset
        self._generate(0)

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        hashed = f", hash seed {os.environ['PYTHONHASHSEED']}" if self.dataset in _UNSTABLE else ""
        category = str(entry_of(self.dataset, self.options, 0)[0].category)
        shown = f" with {canonical_json(self.options).decode()}" if self.options else ""
        return question_info(
            self.name,
            version=f"reasoning-gym {version('reasoning_gym')}, verifier {VERSION}{hashed}",
            description=f"# {self.dataset}\n\nGenerated questions of reasoning-gym ({category}){shown}.\n",
            family=category,
            notes=fault_notes("reasoning-gym", self.dataset),
            public={
                "instructions": INSTRUCTIONS,
                "answer_format": "reasoning-gym",
                "train_tasks": None,
                "hidden": "generated from secret entropy",
            },
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split, all different; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give 0 or more")
        draws = generator(entropy, "questions", self.name, split)
        questions: dict[str, Question] = {}
        misses = 0
        while len(questions) < count:
            question = self._generate(int(draws.integers(_SEEDS)))
            if SPLITS[int(question.identity, 16) % len(SPLITS)] == split and question.identity not in questions:
                questions[question.identity] = question
                misses = 0
            elif (misses := misses + 1) >= _MISSES:
                raise ConfigError(
                    f"{count} tasks of split {split!r} of {self.name} asked for; it has about {len(questions)} different questions"
                )
        return question_tasks(split, list(questions.values()))

    def _generate(self, seed: int) -> Question:
        try:
            _, entry = entry_of(self.dataset, self.options, seed)
        except Exception as error:
            raise ConfigError(
                f"{self.name} cannot generate with {self.options}: {error!r}; change its options"
            ) from error
        verifier = {"kind": "reasoning-gym", "dataset": self.dataset, "config": self.options, "seed": seed}
        return Question(entry["question"], reference_of(entry), verifier, instructions=INSTRUCTIONS)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
