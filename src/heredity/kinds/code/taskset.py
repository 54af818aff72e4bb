"""Programming problems as tasksets: `code/all?language=cpp&difficulty=easy&tag=graph&split=train`.

`code/FILE.jsonl?…` are the problems of a user's file (`heredity.kinds.code.files`), and `code/solution/NAME` is one
problem whose solution evolves (`SolutionTaskset`). Options:

- `whole=true` holds out all problems, for runs without training, such as evolution within a task.
- `ranks=true` ranks accepted programs among the stored solutions of their problem.
- `variant=SEED` selects variants (`heredity.kinds.code.problem.variant`).

The problem and its collection alone determine its split, so filters do not move it: within each difficulty, half are
for training, a fifth for validation, and the rest is held out (`hidden`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.plugins import located
from heredity._core.refusals import quoted
from heredity.engine.questions import Presented
from heredity.kinds.code.files import problems_of
from heredity.kinds.code.languages import LANGUAGES, language
from heredity.kinds.code.problem import CHECKER, DIFFICULTIES, UNRATED, Problem, library_problems, problem, variant
from heredity.tasks.contract import CLUSTER, SPLITS, Task, Taskset, TasksetInfo
from heredity.tasks.registry import written_options

KIND = "solution"
SOLUTION_PREFIX = "code/solution/"


@dataclass(frozen=True)
class SolutionTaskset:
    """The taskset of a problem in a language; see `heredity.tasks.contract.Taskset`. Scores are from 0 to 1.

    A task is the whole set of the problem's hidden cases under a separate seed. So a program is written and repaired
    using verdicts on train tasks, and judged on cases not seen during its evolution.

    Attributes:
        name: the taskset's full name.
        problem: the problem.
        language: language of solutions.
        version: incremented whenever verdicts may change.
    """

    name: str
    problem: Problem
    language: str
    version: int

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        one, written = self.problem, LANGUAGES[self.language]
        statement = one.text(written)
        return TasksetInfo(
            name=self.name,
            version=f"problem {one.digest[:12]}, judge {self.version}",
            kind=KIND,
            spec={"problem": one.source, "language": self.language},
            public={
                "taskset": self.name,
                "title": one.title,
                "statement": statement,
                "program_file": written.file,
                "entry": "",
                "metric": "the share of cases passed before the first that is failed, from 0 to 1; higher is better",
                "best_known": None,
                "hidden": "other cases than those of train tasks",
                "seeded": True,
                "judged": f"in a sandbox, in {written.title}, on one case after the other",
            },
            description=f"{statement.strip()}\n",
            failure_return=0.0,
            group="code",
            family="code",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw tasks; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give 0 or more")
        return tuple(self._task(split, index, entropy) for index in range(count))

    def _task(self, split: str, index: int, entropy: int) -> Task:
        one = self.problem
        spec: dict[str, Any] = dict(self._info.spec)
        spec["seed"] = digest_json([str(entropy), KIND, one.name, split, index])
        attributes = {"difficulty": one.difficulty, "language": self.language, "tags": ", ".join(one.tags)}
        return Task(f"{split}/{index}", split, index, spec, attributes)


def solution_taskset(name: str, version: int) -> SolutionTaskset:
    """Return the taskset of a full name.

    Args:
        name: `code/solution/PROBLEM?language=NAME`; Python by default.
        version: of the judge.

    Raises:
        UnknownNameError: if the problem or the language does not exist.
        ConfigError: if an option is unknown, or the problem cannot be solved in the language.
    """
    base, _, query = name.removeprefix(SOLUTION_PREFIX).partition("?")
    key, _, written = (query or "language=python3").partition("=")
    if key != "language":
        raise ConfigError(f"{name}: {query!r} is not an option; write ?language=cpp, or leave it out")
    one, chosen = problem(base), language(written)
    chosen.check(one.signature)
    return SolutionTaskset(name, one, chosen.name, version)


ALL, _OWN = "code/all", "code/"
FILES = (".jsonl", ".csv", ".parquet")
_LEVELS = (*DIFFICULTIES, UNRATED)
SHARES = {"train": 0.5, "validation": 0.2, "heldout": 0.3}
SCORES = ("share", "verdict")
"""The share of cases passed before the first failure; or 1 if all pass, else 0."""

VERSION = 1
"""Incremented whenever verdicts may change."""

_OPTIONS = ("language", "difficulty", "tag", "split", "problem", "score", "whole", "ranks", "variant")
_SPLIT_NAMES = {**{name: name for name in SPLITS}, "hidden": "heldout"}


@dataclass(frozen=True)
class _Options:
    languages: tuple[str, ...] = ("python3",)
    difficulties: tuple[str, ...] = _LEVELS
    tags: tuple[str, ...] = ()
    splits: tuple[str, ...] = SPLITS
    problems: tuple[str, ...] = ()
    score: str = "share"
    whole: bool = False
    ranks: bool = False
    variant: str = ""

    def takes(self, one: Problem) -> bool:
        """Return True if the options select a problem."""
        named = not self.problems or one.name in self.problems
        return named and one.difficulty in self.difficulties and (not self.tags or bool({*self.tags} & {*one.tags}))


class CodeTaskset:
    """Programming problems, each in every selected language. Scores are from 0 to 1.

    Args:
        name: the taskset's full name.
        options: of its name.
        problems: all problems of the collection.
        left_out: errors of a file's invalid rows.
    """

    def __init__(self, name: str, options: _Options, problems: Sequence[Problem], left_out: Sequence[str] = ()) -> None:
        self.name, self._options, self._left_out = name, options, left_out
        by_split = split_of(problems)
        self._splits: dict[str, list[Problem]] = {
            split: [one for one in problems if by_split[one.name] == split and options.takes(one)]
            for split in options.splits
        }
        if options.whole:
            self._splits = {"heldout": [one for one in problems if options.takes(one)]}
        if options.variant:
            self._splits = {
                split: [variant(one, options.variant) for one in own if one.compare != CHECKER]
                for split, own in self._splits.items()
            }
        if not any(self._splits.values()):
            raise ConfigError(f"{name} selects none of {len(problems)} problems; remove a filter (heredity code list)")
        for one in (one for chosen in self._splits.values() for one in chosen):
            for written in options.languages:
                LANGUAGES[written].check(one.signature)

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        options, everything = self._options, [one for problems in self._splits.values() for one in problems]
        stock = digest_json([[one.name, one.digest] for one in everything] + [options.score])[:12]
        shown = all(one.examples for one in everything)
        rows = "".join(f"\n- {row}" for row in self._left_out)
        left_out = f"\n{len(self._left_out)} rows of the file are left out:\n{rows}\n" if rows else ""
        titles = ", ".join(LANGUAGES[name].title for name in options.languages)
        metric = {
            "share": "the share of cases passed before the first that is failed, from 0 to 1, higher is better",
            "verdict": "1 if every case is passed, else 0; higher is better",
        }[options.score]
        return TasksetInfo(
            name=self.name,
            version=f"problems {stock}, judge {VERSION}",
            kind="code",
            spec={"taskset": self.name},
            public={
                "taskset": self.name,
                "metric": metric,
                "languages": list(options.languages),
                "instructions": "\n".join(map(instructions, options.languages)),
                "answer_format": "one fenced block of code",
                **({"public_tests": "the examples of the statement"} if shown else {}),
                "train_tasks": self.sizes["train"],
                "hidden": "other problems of the collection, and their hidden cases",
            },
            description=f"# Programming problems\n\n{_described(everything)}, each in {titles}. A program is judged on hidden "
            f"cases: {metric}.\n{left_out}",
            failure_return=0.0,
            group="code",
            family="code",
        )

    @property
    def sizes(self) -> Mapping[str, int]:
        """Number of tasks in each split."""
        return {split: len(self._splits.get(split, ())) * len(self._options.languages) for split in SPLITS}

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split in an order drawn from the entropy; see `Taskset.draw`.

        A problem's cases are drawn anew under each entropy, the same for all languages; its tasks in several
        languages are a cluster.
        """
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        problems, languages = self._splits.get(split, []), self._options.languages
        total = len(problems) * len(languages)
        if not 0 <= count <= total:
            raise ConfigError(f"{count} tasks of split {split!r} of {self.name} asked for; it has {total}")
        order = generator(entropy, "code", self.name, split).permutation(len(problems))
        pairs = [(problems[i], name) for i in order for name in languages][:count]
        return tuple(self._task(split, i, *pair, entropy) for i, pair in enumerate(pairs))

    def _task(self, split: str, index: int, one: Problem, name: str, entropy: int) -> Task:
        seed = digest_json([str(entropy), "cases", one.name])
        attributes = {"difficulty": one.difficulty, "language": name, "tags": ", ".join(one.tags)}
        if len(self._options.languages) > 1:
            attributes[CLUSTER] = one.original.name if one.original else one.name
        spec: dict[str, Any] = {"problem": one.source, "language": name, "seed": seed, "score": self._options.score}
        if self._options.ranks:
            spec["ranks"] = True
        return Task(f"{split}/{index}", split, index, spec, attributes)


class CodeTasksets:
    """The tasksets named `"code/…"`."""

    def names(self) -> Iterable[str]:
        """Return the names of the listed tasksets."""
        return (ALL,)

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if it does not exist, or one of its options, languages, difficulties, tags, splits or
                problems.
            ConfigError: if no problem is left.
        """
        if name.startswith(SOLUTION_PREFIX):
            return solution_taskset(name, VERSION)
        base, _, query = name.partition("?")
        if (path := Path(base.removeprefix(_OWN))).suffix.lower() in FILES:
            rows = problems_of(path)
            return CodeTaskset(name, _options(name, query, rows.problems), rows.problems, rows.left_out)
        if base != ALL:
            raise UnknownNameError("taskset", name, self.names())
        problems = library_problems()
        return CodeTaskset(name, _options(name, query, problems), problems)

    def located(self, name: str, base: Path) -> str:
        """Return a name with the path of its file, or of its problem's folder, made absolute relative to the folder `base`."""
        own = SOLUTION_PREFIX if name.startswith(SOLUTION_PREFIX) else _OWN
        path, mark, query = name.removeprefix(own).partition("?")
        is_path = "/" in path if own == SOLUTION_PREFIX else Path(path).suffix.lower() in FILES
        return f"{own}{located(path, base)}{mark}{query}" if is_path else name


SOURCE = CodeTasksets()
"""What `heredity.tasks.registry` loads."""


def presentation_of(spec: Mapping[str, Any]) -> Presented:
    """Return the public part of a task."""
    chosen = language(str(spec["language"]))
    return Presented(problem(str(spec["problem"])).text(chosen), instructions=instructions(chosen.name))


def instructions(name: str) -> str:
    """Return the required form of a program in a language."""
    return (
        f"Write the whole solution in {LANGUAGES[name].title}, beginning as shown, with the standard library alone, and give "
        "it as one fenced block of code."
    )


def split_of(problems: Sequence[Problem]) -> dict[str, str]:
    """Return the split of each problem by name: within each difficulty by the rank of a digest of the name."""
    splits_of: dict[str, str] = {}
    for difficulty in _LEVELS:
        names = sorted((one.name for one in problems if one.difficulty == difficulty), key=lambda n: digest_json([n]))
        sizes = _sizes(len(names))
        splits = [split for split, size in sizes.items() for _ in range(size)]
        splits_of |= dict(zip(names, splits, strict=True))
    return splits_of


def _sizes(count: int) -> dict[str, int]:
    """Divide a number among the splits: by the largest remainders, ties in order."""
    sizes = {split: int(share * count) for split, share in SHARES.items()}
    left = sorted(SHARES, key=lambda split: sizes[split] - SHARES[split] * count)
    for split in left[: count - sum(sizes.values())]:
        sizes[split] += 1
    return sizes


def _described(problems: Sequence[Problem]) -> str:
    counts = {level: sum(one.difficulty == level for one in problems) for level in _LEVELS}
    levels = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    return f"{len(problems)} problems ({levels})"


def _options(name: str, query: str, problems: Sequence[Problem]) -> _Options:
    written = written_options(name, query)
    if strange := [key for key in written if key not in _OPTIONS]:
        raise UnknownNameError("option of code tasksets", strange[0], _OPTIONS)
    given = {key: tuple(dict.fromkeys(value.split(","))) for key, value in written.items()}
    tags = sorted({tag for one in problems for tag in one.tags})
    score = ",".join(given.get("score", ("share",)))
    if score not in SCORES:
        raise ConfigError(f"{name}: score is {quoted(score)}; give one of {', '.join(SCORES)}")
    return _Options(
        languages=_all_among("language", given.get("language", ("python3",)), LANGUAGES),
        difficulties=_all_among("difficulty", given.get("difficulty", _LEVELS), _LEVELS),
        tags=_all_among("tag", given.get("tag", ()), tags),
        splits=tuple(_SPLIT_NAMES[s] for s in _all_among("split", given.get("split", SPLITS), _SPLIT_NAMES)),
        problems=_all_among("problem", given.get("problem", ()), [one.name for one in problems]),
        score=score,
        whole=_flag(name, given, "whole"),
        ranks=_flag(name, given, "ranks"),
        variant=_seed(name, given),
    )


def _seed(name: str, given: Mapping[str, tuple[str, ...]]) -> str:
    seed = ",".join(given.get("variant", ()))
    if seed and not seed.isalnum():
        raise ConfigError(f"{name}: variant is {quoted(seed)}; give a seed of letters and digits")
    return seed


def _flag(name: str, given: Mapping[str, tuple[str, ...]], key: str) -> bool:
    value = ",".join(given.get(key, ("false",)))
    if value not in ("true", "false"):
        raise ConfigError(f"{name}: {key} is {quoted(value)}; give true or false")
    return value == "true"


def _all_among(what: str, given: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    if unknown := [one for one in given if one not in names]:
        raise UnknownNameError(what, unknown[0], sorted(names))
    return given
