"""One programming problem as a taskset whose solution evolves: `code/solution/two-gates?language=cpp`.

A task is the whole set of a problem's hidden cases under its own seed. So a program is written and repaired using
verdicts on train tasks, and judged on cases not seen during its evolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json
from heredity.kinds.code.languages import LANGUAGES, language
from heredity.kinds.code.problem import Problem, problem
from heredity.tasks.contract import SPLITS, Task, TasksetInfo

KIND = "solution"
PREFIX = "code/solution/"


@dataclass(frozen=True)
class SolutionTaskset:
    """The taskset of a problem in a language; see `heredity.tasks.contract.Taskset`. Scores are from 0 to 1.

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
    base, _, query = name.removeprefix(PREFIX).partition("?")
    key, _, written = (query or "language=python3").partition("=")
    if key != "language":
        raise ConfigError(f"{name}: {query!r} is not an option; write ?language=cpp, or leave it out")
    one, chosen = problem(base), language(written)
    chosen.check(one.signature)
    return SolutionTaskset(name, one, chosen.name, version)
