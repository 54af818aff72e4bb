"""Verdicts of the judge of programs: what came of a run, and what may be said of it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from heredity.errors import CandidateError
from heredity.sandbox.native import Ended
from heredity.tasks.code.languages import MARK, Language
from heredity.tasks.code.problem import Problem
from heredity.tasks.code.signature import Signature

SHOWN_CHARS = 400
"""How much of a value, or of what a program said, is shown."""

_OUT_OF_MEMORY = (
    "MemoryError",
    "bad_alloc",
    "OutOfMemoryError",
    "out of memory",
    "cannot allocate memory",
    "allocation failed",
)
_KINDS_OF_ERROR = """
ArithmeticError AssertionError AttributeError IndexError KeyError NameError OverflowError RecursionError RuntimeError StopIteration
TypeError UnboundLocalError UnicodeDecodeError ValueError ZeroDivisionError ArithmeticException ArrayIndexOutOfBoundsException
ClassCastException IllegalArgumentException IllegalStateException IndexOutOfBoundsException NegativeArraySizeException
NoSuchElementException NullPointerException NumberFormatException StackOverflowError StringIndexOutOfBoundsException RangeError
ReferenceError
"""
_SIGNALS = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGKILL, signal.SIGBUS, signal.SIGILL})


class Verdict(StrEnum):
    """What came of a program, by the names of the paper's table 6 (Autogenesis, appendix D)."""

    PASSED = "PR"
    TIME = "TLE"
    MEMORY = "MLE"
    COMPILATION = "CE"
    RUNTIME = "RE"
    WRONG = "WA"
    NO_ANSWER_IN_TIME = "TO"
    NO_PROGRAM = "RpE"


VERDICTS = {
    Verdict.PASSED: "passed every case",
    Verdict.TIME: "took too much processor time",
    Verdict.MEMORY: "took too much memory",
    Verdict.COMPILATION: "does not compile",
    Verdict.RUNTIME: "failed while it ran",
    Verdict.WRONG: "gave a wrong answer",
    Verdict.NO_ANSWER_IN_TIME: "gave no answer in time",
    Verdict.NO_PROGRAM: "there is no program in the reply",
}


SMALLEST_LIMIT_S = 1.0
"""Processor seconds of the usual machine that a solution has at least, beside what its language needs to start."""

_SLOWER = {"python3": 4.0, "cpp": 1.0, "go": 1.5, "java": 2.0, "kotlin": 2.0, "javascript": 2.0}
"""How many times the seconds of the reference, which is in Python, a solution in a language may take."""

_STARTS = {"python3": 0.2, "cpp": 0.1, "go": 0.1, "java": 1.5, "kotlin": 1.5, "javascript": 0.3}


@dataclass(frozen=True)
class Tests:
    """The cases that a problem is judged on.

    Attributes:
        cases: arguments, the examples first.
        expected: the reference's answers.
        examples: how many of them are shown.
        reference_s: processor seconds of the reference on the slowest of them.
        seconds: likewise on each.
        limit_s: processor seconds that a solution has for each, where that is stated and no reference measured.
        slowest: what the reference reads of the case that took it longest, to measure it again; empty where none was measured.
    """

    cases: Sequence[Sequence[Any]]
    expected: Sequence[Any]
    examples: int
    reference_s: float
    seconds: Sequence[float] = ()
    limit_s: float = 0.0
    slowest: bytes = b""
    _inputs: dict[int, bytes] = field(default_factory=dict[int, bytes], init=False, repr=False, compare=False)

    def input(self, signature: Signature, number: int) -> bytes:
        """Return what a program reads of a case, which is made once for all that are judged."""
        if number not in self._inputs:
            self._inputs[number] = signature.encoded(self.cases[number]).encode()
        return self._inputs[number]


def limit_s(language: Language, tests: Tests, slower: float = 1.0) -> float:
    """Return the processor seconds that a solution in a language has for a case.

    Args:
        language: the language.
        tests: the tests, by what their reference took.
        slower: how many times as long as the usual machine this one takes for the same work, at least 1.
    """
    measured = max(slower * SMALLEST_LIMIT_S, _SLOWER[language.name] * tests.reference_s)
    return slower * _STARTS[language.name] + (tests.limit_s or measured)


@dataclass(frozen=True)
class Judgement:
    """What a program came to.

    Attributes:
        verdict: the verdict of the first case that it failed, or `PR`.
        passed: cases that it passed before.
        cases: how many there are.
        cpu_s: processor seconds on the slowest case that was run.
        peak_bytes: the most memory on any of them.
        limit_s: the processor seconds that it had for each.
        message: what the compiler said, or how the case was failed; of a hidden case nothing that depends on what it holds but
            the kind of failure.
        failed_case: the number of the case that it failed, from 0.
        examples: how many of the cases are shown.
    """

    verdict: Verdict
    passed: int = 0
    cases: int = 0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    limit_s: float = 0.0
    message: str = ""
    failed_case: int | None = None
    examples: int = 0

    @property
    def public(self) -> Judgement:
        """What it would have come to on the examples alone."""
        passed = self.failed_case is not None and self.failed_case >= self.examples
        if not passed and self.verdict is not Verdict.PASSED:
            return replace(self, cases=self.examples)
        return Judgement(Verdict.PASSED, self.examples, self.examples, limit_s=self.limit_s, examples=self.examples)

    @property
    def score(self) -> float:
        """The share of cases that it passed."""
        return self.passed / self.cases if self.cases else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"verdict": self.verdict.value, "meaning": VERDICTS[self.verdict], "score": self.score} | {
            name: getattr(self, name)
            for name in ("passed", "cases", "cpu_s", "peak_bytes", "limit_s", "message", "failed_case", "examples")
        }


@dataclass(frozen=True)
class Failed:
    """How a program failed a case.

    Attributes:
        verdict: the verdict.
        detail: all that is known, which may repeat what the case holds.
        kind: what may be said of it where the case is hidden.
    """

    verdict: Verdict
    detail: str
    kind: str = ""

    def message(self, number: int, case: Sequence[Any] | None) -> str:
        """Return what is said of it.

        Args:
            number: of the case, from 0.
            case: its arguments; None where it is hidden.
        """
        if case is not None:
            return f"case {number}: {self.detail}; input {short(case)}"
        return f"a hidden case, number {number}" + (f": {self.kind}" if self.kind else "")


def answered(problem: Problem, ended: Ended, case: Sequence[Any], limit_s: float) -> Any | Failed:
    """Return the answer of a run, or how it failed."""
    if ended.reason == "cpu":
        return Failed(Verdict.TIME, f"took more than {limit_s:.2f} s of processor time")
    if ended.reason == "wall":
        return Failed(Verdict.NO_ANSWER_IN_TIME, f"no answer after {ended.wall_s:.0f} s")
    if ended.reason == "memory":
        return Failed(Verdict.MEMORY, f"had {ended.peak_bytes >> 20} MiB at once")
    if ended.reason == "output":
        return Failed(Verdict.RUNTIME, "printed too much", "printed too much")
    stderr = ended.stderr.strip()
    if ended.code:
        verdict = Verdict.MEMORY if any(words in stderr for words in _OUT_OF_MEMORY) else Verdict.RUNTIME
        return Failed(verdict, f"{_ending(ended.code)}: {stderr[-SHOWN_CHARS:]}", _kind(ended.code, stderr))
    if problem.signature.form == "program":
        return problem.signature.decoded(ended.stdout.decode("utf-8", "replace"), case)
    _, mark, answer = ended.stdout.rpartition(f"\n{MARK}\n".encode())
    if not mark:
        early = "it ended by itself before the solution returned"
        return Failed(Verdict.RUNTIME, early, early)
    try:
        return problem.signature.decoded(answer.decode("ascii", "replace"), case)
    except CandidateError as error:
        return Failed(Verdict.WRONG, str(error))


def wrong(answer: Any, expected: Any) -> Failed:
    """Return how an answer that is not the expected one fails."""
    return Failed(Verdict.WRONG, f"answered {short(answer)}; expected {short(expected)}")


def short(value: Any) -> str:
    """Return a value as text, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text)} characters)"


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _kind(code: int, stderr: str) -> str:
    """Return the kind of failure: of a few that are known, so that a program cannot tell by it what a hidden case holds."""
    if -code in _SIGNALS:
        return signal.Signals(-code).name
    named = (
        word for line in reversed(stderr.splitlines()[-40:]) for word in re.findall(r"\w+(?:Error|Exception)", line)
    )
    return next((word for word in named if word in _KINDS_OF_ERROR.split()), "")
