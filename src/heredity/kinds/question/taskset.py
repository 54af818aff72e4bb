"""Questions as tasks: benchmarks, files and generated ones, with answers checked by a rule or by a judge.

The tasksets are named `questions/gsm8k`, `questions/aime24`, `questions/aime25`, `questions/gpqa`, `questions/gaia`,
`questions/hle`, `questions/local-web`, `questions/file:PATH` and `questions/reasoning-gym/NAME`; the last five take
options, such as `?min_digits=2&max_digits=3`. Benchmarks take `?whole=true`, in addition to their other options, which
holds out all their questions, so that none are left for training. `questions/mix/A+B` alternates between several, such
as `questions/mix/gsm8k+reasoning-gym/gcd`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from heredity._core.errors import ConfigError, MissingExtraError, UnknownNameError
from heredity._core.ids import canonical_json, digest_json, generator
from heredity._core.outside import json_value
from heredity._core.plugins import located
from heredity._core.refusals import quoted
from heredity.engine.questions.contract import Question
from heredity.engine.questions.generated import datasets, entry_of, reference_of
from heredity.engine.questions.pools import SITES, Pool, PoolTaskset, question_info, question_tasks, whole
from heredity.engine.questions.verify import VERSION
from heredity.kinds.question.benchmarks import (
    AIME,
    GAIA,
    GPQA,
    GSM8K,
    HLE,
    read_aime,
    read_gaia,
    read_gpqa,
    read_gsm8k,
    read_hle,
)
from heredity.kinds.question.files import read_pool
from heredity.tasks.contract import CLUSTER, SPLITS, Task, Taskset, TasksetInfo
from heredity.tasks.registry import written_options

MIXED = "questions/mix/"


class MixedTaskset:
    """Questions of several tasksets, alternating: the first of each, the second of each, and so on.

    Args:
        name: the full name, `questions/mix/` and the members' names without `questions/`, joined by `+`.
        members: the tasksets.

    Raises:
        ConfigError: if there are fewer than two, or duplicates.
    """

    def __init__(self, name: str, members: Sequence[Taskset]) -> None:
        names = [member.info.name for member in members]
        if len(set(names)) != len(names) or len(names) < 2:
            raise ConfigError(f"{name} mixes {', '.join(names)}; give two or more different tasksets")
        self.name, self._members = name, tuple(members)

    @property
    def sizes(self) -> Mapping[str, int] | None:
        """Number of questions in each split; None if a member's are generated."""
        sizes = [getattr(member, "sizes", None) for member in self._members]
        if None in sizes:
            return None
        return {split: min(one[split] * len(sizes) + i for i, one in enumerate(sizes) if one) for split in SPLITS}

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        infos = [member.info for member in self._members]
        keys = ("instructions", "answer_format", "hidden")
        joined = {key: "\n".join(dict.fromkeys(str(info.public[key]) for info in infos)) for key in keys}
        counts = [info.public["train_tasks"] for info in infos]
        sizes = [count for count in counts if count is not None]
        return question_info(
            self.name,
            version=f"mix {digest_json([[info.name, info.version] for info in infos])[:12]}",
            description="# Mixed questions\n\n" + "\n".join(info.description for info in infos),
            family="mixed",
            notes=[note for info in infos for note in info.notes],
            public={**joined, "train_tasks": min(sizes) * len(counts) if sizes else None},
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split; see `Taskset.draw`."""
        size = len(self._members)
        shares = [member.draw(split, (count + size - 1 - i) // size, entropy) for i, member in enumerate(self._members)]
        drawn = [shares[i % size][i // size] for i in range(count)]
        domains = [member.info.name.removeprefix("questions/") for member in self._members]
        return tuple(
            replace(task, id=f"{split}/{i}", index=i, attributes=_labels(task, domains[i % size]))
            for i, task in enumerate(drawn)
        )


def _labels(task: Task, domain: str) -> dict[str, str]:
    """Return a task's domain, and its cluster qualified by the domain, since cluster names may repeat across domains."""
    return {"domain": domain, **({CLUSTER: f"{domain}: {task.cluster}"} if task.cluster else {})}


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
"""Of reasoning-gym 0.1.25 these data sets had no wrong key among 300 each, by solvers of our own: base_conversion,
binary_matrix, bitwise_arithmetic, circuit_logic, count_bits, count_primes, course_schedule, dice, gcd, knights_knaves,
largest_island, lcm, letter_counting, number_sorting, prime_factorization, products, rotten_oranges, shortest_path,
spell_backward; and time_intervals among 155.
"""


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


GENERATED = "questions/reasoning-gym/"
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
        options: fields of its configuration (those left out keep their defaults).

    Raises:
        MissingExtraError: if reasoning-gym is not installed.
        UnknownNameError: if the data set or one of its options does not exist.
        ConfigError: if a value is rejected, or the data set cannot be reproduced in this process.
    """

    def __init__(self, dataset: str, options: Mapping[str, Any]) -> None:
        if find_spec("reasoning_gym") is None:
            raise MissingExtraError(f"{GENERATED}{dataset}", "reasoning")
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
        self.name = f"{GENERATED}{dataset}?{query}" if query else GENERATED + dataset
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


_OWN = "questions/"
_FILE = "questions/file:"
_WITH_OPTIONS = {GAIA: read_gaia, HLE: read_hle}


class QuestionTasksets:
    """The tasksets named `"questions/…"`."""

    _benchmarks: ClassVar[Mapping[str, Callable[[], Pool]]] = {
        GSM8K: read_gsm8k,
        GPQA: read_gpqa,
        **{name: partial(read_aime, year) for name, year in AIME.items()},
    }

    def names(self) -> tuple[str, ...]:
        """Return all names but those of files; generated ones only if reasoning-gym is installed."""
        generated = (GENERATED + name for name in dataset_names())
        return (
            GSM8K,
            *AIME,
            GPQA,
            *_WITH_OPTIONS,
            *(_OWN + site for site in SITES.names()),
            *generated,
        )

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name (files are read when its questions are first needed).

        Raises:
            UnknownNameError: if the taskset or one of its options does not exist.
            MissingExtraError: if reasoning-gym is needed and not installed.
            ConfigError: if an option's value is wrong.
        """
        if name.startswith(MIXED):
            members = name.removeprefix(MIXED).split("+")
            return MixedTaskset(name, [self.taskset(f"questions/{member}") for member in members])
        base, _, query = name.partition("?")
        options = _options(name, query)
        if base.startswith(_FILE):
            return PoolTaskset(name, partial(read_pool, Path(base.removeprefix(_FILE)).expanduser(), options))
        if base.startswith(GENERATED):
            return ReasoningTaskset(base.removeprefix(GENERATED), options)
        if (site := base.removeprefix(_OWN)) in SITES:
            return PoolTaskset(name, partial(SITES.load(site).pool, options))
        if base in _WITH_OPTIONS or base in self._benchmarks:
            return PoolTaskset(name, self._benchmark(base, options))
        raise UnknownNameError("taskset", name, [*self.names(), f"{_FILE}PATH"])

    def _benchmark(self, base: str, options: dict[str, Any]) -> Callable[[], Pool]:
        """Return the reader of a benchmark with its options."""
        held = options.pop("whole", False)
        if not isinstance(held, bool):
            raise ConfigError(
                f"{base}: whole is {quoted(held)}; expected true, which holds out all questions, or false"
            )
        if base in _WITH_OPTIONS:
            read: Callable[[], Pool] = partial(_WITH_OPTIONS[base], options)
        elif options:
            raise ConfigError(f"{base} has no option {min(options)!r}; it has only whole=true")
        else:
            read = self._benchmarks[base]
        return partial(whole, read) if held else partial(_published, base, read)

    def located(self, name: str, base: Path) -> str:
        """Return a name with the paths of its files made absolute relative to the folder `base`."""
        if name.startswith(MIXED):
            members = name.removeprefix(MIXED).split("+")
            return MIXED + "+".join(self.located(_OWN + member, base).removeprefix(_OWN) for member in members)
        path, question_mark, query = name.removeprefix(_FILE).partition("?")
        return f"{_FILE}{located(path, base)}{question_mark}{query}" if name.startswith(_FILE) else name


SOURCE = QuestionTasksets()
"""What `heredity.tasks.registry` loads."""


def _published(base: str, read: Callable[[], Pool]) -> Pool:
    pool = read()
    if any(question.verifier["kind"] == "unpublished" for part in pool.splits.values() for question in part):
        raise ConfigError(
            f"the answers of these questions are not published, so none can be for training; ask them whole: {base}?whole=true"
        )
    return pool


def _options(name: str, query: str) -> dict[str, Any]:
    return {key: _value(value) for key, value in written_options(name, query).items()}


def _value(text: str) -> Any:
    """Return an option's value: JSON where it is JSON, else the text itself."""
    try:
        return json_value(text)
    except ValueError:
        return text
