"""Verdicts of the judge of programs: the result of a run, and the part of it that may be shown."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from heredity._core.errors import CandidateError
from heredity.kinds.code.languages import MARK, Language
from heredity.kinds.code.problem import Problem
from heredity.kinds.code.signature import Signature
from heredity.sandbox.native import Ended

SHOWN_CHARS = 400
"""Maximum characters shown of a value, or of a program's message."""

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
    """The verdict on a program, by the names of the paper's table 6 (Autogenesis, appendix D)."""

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
"""Minimum time limit in CPU seconds of the usual machine, added to the language's startup."""

_SLOWER = {"python3": 4.0, "cpp": 1.0, "go": 1.5, "java": 2.0, "kotlin": 2.0, "javascript": 2.0}
"""Time limit of a solution by language, as a multiple of the Python reference's seconds."""

_STARTS = {"python3": 0.2, "cpp": 0.1, "go": 0.1, "java": 1.5, "kotlin": 1.5, "javascript": 0.3}


@dataclass(frozen=True)
class Tests:
    """The cases that judge a problem's solutions.

    Attributes:
        cases: arguments, the examples first.
        expected: the reference's answers.
        examples: number of public cases.
        reference_s: CPU seconds of the reference on the slowest of them.
        seconds: likewise on each.
        limit_s: CPU seconds of a solution for each, if stated instead of measured with a reference.
        slowest: the reference's input of its slowest case, for measuring it again; empty if none was measured.
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
        """Return a program's input for a case, encoded once for all programs."""
        if number not in self._inputs:
            self._inputs[number] = signature.encoded(self.cases[number]).encode()
        return self._inputs[number]


def limit_s(language: Language, tests: Tests, slower: float = 1.0) -> float:
    """Return the time limit of a solution in a language for a case, in CPU seconds.

    Args:
        language: the language.
        tests: the tests, with the reference's times.
        slower: slowdown of this machine relative to the usual one, at least 1.
    """
    measured = max(slower * SMALLEST_LIMIT_S, _SLOWER[language.name] * tests.reference_s)
    return slower * _STARTS[language.name] + (tests.limit_s or measured)


@dataclass(frozen=True)
class Judgement:
    """The result of judging a program.

    Attributes:
        verdict: the verdict of the first case that it failed, or `PR`.
        passed: cases that it passed before.
        cases: number of cases.
        cpu_s: CPU seconds on the slowest case that was run.
        peak_bytes: peak memory over them.
        limit_s: time limit of each, in CPU seconds.
        message: the compiler's message, or a description of the failure; for a hidden case only the kind of failure,
            nothing that depends on the case's content.
        failed_case: number of the failed case, from 0.
        examples: number of public cases.
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
        """The judgement on the examples alone."""
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
    """A failed case.

    Attributes:
        verdict: the verdict.
        detail: full description, which may repeat the case's content.
        kind: the description for a hidden case.
    """

    verdict: Verdict
    detail: str
    kind: str = ""

    def message(self, number: int, case: Sequence[Any] | None) -> str:
        """Return the message about it.

        Args:
            number: of the case, from 0.
            case: its arguments; None if it is hidden.
        """
        if case is not None:
            return f"case {number}: {self.detail}; input {short(case)}"
        return f"a hidden case, number {number}" + (f": {self.kind}" if self.kind else "")


def answered(problem: Problem, ended: Ended, case: Sequence[Any], limit_s: float) -> Any | Failed:
    """Return the answer of a run, or its failure."""
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
    """Return the failure for a wrong answer."""
    return Failed(Verdict.WRONG, f"answered {short(answer)}; expected {short(expected)}")


def short(value: Any) -> str:
    """Return a value as text, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text)} characters)"


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _kind(code: int, stderr: str) -> str:
    """Return the kind of failure, one of a few known ones, so that a program cannot use it to leak a hidden case."""
    if -code in _SIGNALS:
        return signal.Signals(-code).name
    named = (
        word for line in reversed(stderr.splitlines()[-40:]) for word in re.findall(r"\w+(?:Error|Exception)", line)
    )
    return next((word for word in named if word in _KINDS_OF_ERROR.split()), "")
