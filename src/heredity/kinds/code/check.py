"""Checks that a problem is sound, for `heredity code check`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from heredity._core.errors import HeredityError
from heredity._core.ids import digest_json
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.refusals import json_rows, reading
from heredity.kinds.code.judge import Judge, Judgement, Tests, Verdict
from heredity.kinds.code.languages import Language
from heredity.kinds.code.problem import Problem
from heredity.kinds.code.signature import LINKED, TREE
from heredity.kinds.code.toolchains import installed
from heredity.sandbox.native import Bounds

AGREE = 500
"""Number of small cases on which the reference and the brute force are compared."""

WRONG = 3
"""Minimum number of wrong solutions of a problem."""

_BATCH = 100
_ANOTHER = "name another file"
_BRUTE = Bounds(20.0, 120.0, 1 << 30)
_REJECTS = {
    "wrong": (Verdict.WRONG, Verdict.RUNTIME),
    "slow": (Verdict.TIME,),
}


@dataclass(frozen=True)
class Checked:
    """The findings on a problem.

    Attributes:
        problem: its name.
        faults: the faults found; empty if it is sound.
        agreed: small cases on which the reference and the brute force agree.
        cases: cases that judge a solution.
        reference_s: CPU seconds of the reference on the slowest of them.
        verdicts: verdicts of its solutions by path.
        skipped: solutions whose language is not installed.
    """

    problem: str
    faults: tuple[str, ...] = ()
    agreed: int = 0
    cases: int = 0
    reference_s: float = 0.0
    verdicts: dict[str, str] = field(default_factory=dict[str, str])
    skipped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


_CHECKED = TypeAdapter(Checked)


@dataclass(frozen=True)
class Checking:
    """Settings of a check.

    Attributes:
        seed: seed of the cases.
        agree: number of small cases on which the references are compared.
        languages: languages of solutions and harnesses to check.
    """

    seed: str
    agree: int
    languages: Sequence[Language]

    def key(self, problem: Problem) -> str:
        """Return a digest of everything that affects the check of a problem, except the machine."""
        stored = {path: source for path, (_, source) in {**problem.accepted, **problem.rejected}.items()}
        bounds = [problem.name, problem.memory_bytes, problem.no_slow, repr(problem.signature)]
        return digest_json(
            [problem.digest, stored, bounds, self.seed, self.agree, [one.name for one in self.languages]]
        )


class Kept:
    """Checks kept in a file, one per line, so that an interrupted check of many problems can continue.

    Args:
        path: the file; None keeps nothing.

    Raises:
        ConfigError: if the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._checked = path, dict[str, Checked]()
        if path is None:
            return
        for where, row in json_rows(path, "a check of a problem", _ANOTHER):
            with reading(where, "a check of a problem", _ANOTHER):
                self._checked[str(row.get("key"))] = _CHECKED.validate_python(row.get("checked"))
        if path.exists():
            whole, _, cut_off = read_bytes(path, ANY_SIZE).rpartition(b"\n")
            if cut_off:
                path.write_bytes(whole + b"\n" if whole else b"")

    def get(self, key: str) -> Checked | None:
        """Return a kept check without faults: a fault may have come from the machine, or been fixed without changing the key."""
        checked = self._checked.get(key)
        return None if checked is None or checked.faults else checked

    def put(self, key: str, checked: Checked) -> None:
        """Keep a check."""
        self._checked[key] = checked
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps({"key": key, "checked": checked.to_json()}) + "\n")


@dataclass(frozen=True)
class Progress:
    """A finished check, its duration in seconds, and the estimated seconds for the remaining problems.

    `seconds` is None for a check that was kept.
    """

    checked: Checked
    number: int
    seconds: float | None
    left_s: float | None


async def checks(judge: Judge, problems: Sequence[Problem], how: Checking, kept: Kept) -> AsyncIterator[Progress]:
    """Check problems one after the other, and yield each as it finishes.

    Args:
        judge: the judge.
        problems: the problems.
        how: settings of the checks.
        kept: earlier checks, which are not repeated; new ones are added.
    """
    durations: list[float] = []
    waiting = sum(kept.get(how.key(problem)) is None for problem in problems)
    for number, problem in enumerate(problems, 1):
        key, began = how.key(problem), time.monotonic()
        checked, seconds = kept.get(key), None
        if checked is None:
            kept.put(key, checked := await check(judge, problem, how.seed, how.agree, how.languages))
            durations.append(seconds := time.monotonic() - began)
        left = sum(durations) / len(durations) * (waiting - len(durations)) if durations else None
        yield Progress(checked, number, seconds, left)


async def check(
    judge: Judge, problem: Problem, seed: str, agree: int = AGREE, languages: Sequence[Language] | None = None
) -> Checked:
    """Check a problem: its two references agree, its examples hold, and every solution gets the verdict of its folder.

    Args:
        judge: the judge.
        problem: the problem.
        seed: seed of the cases.
        agree: number of small cases on which the references are compared.
        languages: languages of solutions and harnesses; all installed ones by default.
    """
    languages = installed() if languages is None else languages
    try:
        tests = await judge.tests(problem, seed)
        faults = [*_counts(problem), *await _examples(judge, problem, tests)]
        different = await _compared(judge, problem.original or problem, seed, agree)
        faults += different
        judged = [(p, one) for p, one in {**problem.accepted, **problem.rejected}.items() if one[0] in languages]
        judgements = await asyncio.gather(*(judge.judge(problem, *one, tests) for _, one in judged))
        verdicts = {path: judgement for (path, _), judgement in zip(judged, judgements, strict=True)}
        faults += await _harnesses(judge, problem, tests, languages)
        faults += [fault for path, judgement in verdicts.items() if (fault := _fault(path, judgement))]
    except HeredityError as error:
        return Checked(problem.name, (str(error),))
    skipped = tuple(path for path in {**problem.accepted, **problem.rejected} if path not in verdicts)
    verdict_names = {path: judgement.verdict.value for path, judgement in verdicts.items()}
    agreed = 0 if different else agree
    return Checked(problem.name, tuple(faults), agreed, len(tests.cases), tests.reference_s, verdict_names, skipped)


async def _harnesses(judge: Judge, problem: Problem, tests: Tests, languages: Sequence[Language]) -> list[str]:
    """Compile the starter of languages without a stored solution, to check that every language's harness exists and fits.

    It ends at once, or, if the default result is an empty list or tree, with a wrong answer.
    """
    stored = {language.name for language, _ in problem.accepted.values()}
    others = [language for language in languages if language.name not in stored]
    sources = [language.complete(problem.signature) for language in others]
    judged = await asyncio.gather(*(judge.judge(problem, *one, tests) for one in zip(others, sources, strict=True)))
    empty = any(function.result.name in (LINKED, TREE) for function in problem.signature.functions)
    return [
        f"the harness in {language.title} does not fit: {judgement.verdict.value} {judgement.message}"
        for language, judgement in zip(others, judged, strict=True)
        if judgement.verdict is not Verdict.RUNTIME and not (empty and judgement.verdict is Verdict.WRONG)
    ]


def _counts(problem: Problem) -> list[str]:
    wrong = [path for path in problem.rejected if path.startswith("wrong/")]
    slow = [path for path in problem.rejected if path.startswith("slow/")]
    faults = [f"{len(wrong)} wrong solutions; store at least {WRONG}"] if len(wrong) < WRONG else []
    if not slow and not problem.no_slow:
        faults.append(
            "no solution of a wrong complexity in slow/; store one, or say in problem.toml why there is none: slow = …"
        )
    return faults if problem.examples else [*faults, "no example; give at least one"]


async def _examples(judge: Judge, problem: Problem, tests: Tests) -> list[str]:
    shown = list(zip(tests.cases, tests.expected, problem.examples, strict=False))
    right = await judge.right(problem, [(case, expected, example.answer) for case, expected, example in shown])
    return [
        f"example {number} says {example.answer}, the reference {expected}"
        for number, ((_, expected, example), agree) in enumerate(zip(shown, right, strict=True), 1)
        if not agree
    ]


async def _compared(judge: Judge, problem: Problem, seed: str, count: int) -> list[str]:
    """Compare the reference and the brute force: many cases in one process each, since both belong to the problem."""
    for start in range(0, count, _BATCH):
        cases = await judge.draw(problem, f"{seed}/small/{start}", min(_BATCH, count - start), whole=False)
        answers = [
            await judge.answered_at_once(problem, problem.files[name], cases, _BRUTE)
            for name in ("reference.py", "brute.py")
        ]
        right = await judge.right(problem, list(zip(cases, *answers, strict=True)))
        for case, one, other, agree in zip(cases, *answers, right, strict=True):
            if not agree:
                return [f"reference and brute force differ on {case}: {one} and {other}"]
    return []


def _fault(path: str, judgement: Judgement) -> str:
    group = path.partition("/")[0]
    wanted = _REJECTS.get(group, (Verdict.PASSED,))
    if judgement.verdict in wanted:
        return ""
    return f"{path} got {judgement.verdict.value}, expected {' or '.join(v.value for v in wanted)}; {judgement.message}"
