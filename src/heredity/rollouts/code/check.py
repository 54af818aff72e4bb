"""Whether a problem is sound: what `heredity code check` shows of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from heredity.errors import HeredityError
from heredity.rollouts.code.judge import Judge, Judgement, Tests, Verdict
from heredity.rollouts.code.toolchains import installed
from heredity.sandbox.native import Bounds
from heredity.tasks.code.languages import Language
from heredity.tasks.code.problem import Problem

AGREE = 500
"""On how many small cases the reference and the brute force are compared."""

WRONG = 3
"""How many wrong solutions a problem has at least."""

_BATCH = 100
_BRUTE = Bounds(20.0, 120.0, 1 << 30)
_REJECTS = {
    "wrong": (Verdict.WRONG, Verdict.RUNTIME),
    "slow": (Verdict.TIME,),
}


@dataclass(frozen=True)
class Checked:
    """What was found of a problem.

    Attributes:
        problem: its name.
        faults: what is wrong with it; nothing, if it is sound.
        agreed: small cases on which the reference and the brute force agree.
        cases: cases that a solution is judged on.
        reference_s: processor seconds of the reference on the slowest of them.
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


async def check(
    judge: Judge, problem: Problem, seed: str, agree: int = AGREE, languages: Sequence[Language] | None = None
) -> Checked:
    """Check a problem: its two references agree, its examples hold, and every solution gets the verdict that it is stored for.

    Args:
        judge: who judges.
        problem: the problem.
        seed: what its cases are drawn from.
        agree: on how many small cases the references are compared.
        languages: of which solutions and harnesses; all that are installed by default.
    """
    languages = installed() if languages is None else languages
    try:
        tests = await judge.tests(problem, seed)
        faults = [*_counts(problem), *_examples(problem, tests)]
        different = await _compared(judge, problem, seed, agree)
        faults += different
        judged = [(p, one) for p, one in {**problem.accepted, **problem.rejected}.items() if one[0] in languages]
        found = await asyncio.gather(*(judge.judge(problem, *one, tests) for _, one in judged))
        verdicts = {path: judgement for (path, _), judgement in zip(judged, found, strict=True)}
        faults += await _harnesses(judge, problem, tests, languages)
        faults += [fault for path, judgement in verdicts.items() if (fault := _fault(path, judgement))]
    except HeredityError as error:
        return Checked(problem.name, (str(error),))
    skipped = tuple(path for path in {**problem.accepted, **problem.rejected} if path not in verdicts)
    said = {path: judgement.verdict.value for path, judgement in verdicts.items()}
    agreed = 0 if different else agree
    return Checked(problem.name, tuple(faults), agreed, len(tests.cases), tests.reference_s, said, skipped)


async def _harnesses(judge: Judge, problem: Problem, tests: Tests, languages: Sequence[Language]) -> list[str]:
    """Compile what a solution begins as where no solution is stored: the harness of every language is there and fits."""
    stored = {language.name for language, _ in problem.accepted.values()}
    others = [language for language in languages if language.name not in stored]
    sources = [language.complete(problem.signature) for language in others]
    judged = await asyncio.gather(*(judge.judge(problem, *one, tests) for one in zip(others, sources, strict=True)))
    return [
        f"the harness in {language.title} does not fit: {judgement.verdict.value} {judgement.message}"
        for language, judgement in zip(others, judged, strict=True)
        if judgement.verdict is not Verdict.RUNTIME
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


def _examples(problem: Problem, tests: Tests) -> list[str]:
    return [
        f"example {number} says {example.answer}, the reference {expected}"
        for number, (example, expected) in enumerate(zip(problem.examples, tests.expected, strict=False), 1)
        if not problem.equal(expected, example.answer)
    ]


async def _compared(judge: Judge, problem: Problem, seed: str, count: int) -> list[str]:
    """Compare the reference and the brute force: many cases in one process each, for both are the problem's own."""
    for start in range(0, count, _BATCH):
        cases = await judge.drawn(problem, f"{seed}/small/{start}", min(_BATCH, count - start), whole=False)
        answers = [
            await judge.answered_at_once(problem, problem.files[name], cases, _BRUTE)
            for name in ("reference.py", "brute.py")
        ]
        for case, one, other in zip(cases, *answers, strict=True):
            if not problem.equal(one, other):
                return [f"reference and brute force differ on {case}: {one} and {other}"]
    return []


def _fault(path: str, judgement: Judgement) -> str:
    place = path.partition("/")[0]
    wanted = _REJECTS.get(place, (Verdict.PASSED,))
    if judgement.verdict in wanted:
        return ""
    return f"{path} got {judgement.verdict.value}, expected {' or '.join(v.value for v in wanted)}; {judgement.message}"
