"""The judge of programs: compiles one, runs it on each case in a new sandbox, and returns a verdict.

Expected answers never enter a sandbox: a program gets one case on its standard input, and the host compares its
answer. So it has no tests to read, no verdict to forge, and no state between cases.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import itertools
import json
import re
import shutil
import signal
import tempfile
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import CandidateError, ConfigError
from heredity._core.ids import canonical_json
from heredity._core.outside import json_value
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.languages.contract import MARK, Language
from heredity.kinds.code.problem import CHECKER, Problem
from heredity.kinds.code.signature import Signature
from heredity.kinds.code.toolchains import Toolchain, toolchain
from heredity.sandbox.containers.archives import unpacked
from heredity.sandbox.native import Bounds, Ended, NativeRuns

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


PACKED = """
cp -r /source/. . && {{ {compile}; }} 1>&2 || exit 1
[ "$(find . -type f | wc -l)" -le {most} ] || {{ echo "more than {most} files were made of it" >&2; exit 1; }}
tar -cf - {kept}
"""

CASES = """
import json, random, sys
sys.path.insert(0, "/work")
import tests
seed, small, whole = json.loads(sys.stdin.read())
draw = random.Random(seed)
print(json.dumps([tests.small(draw) for _ in range(small)] + (list(tests.cases(draw)) if whole else [])))
"""

CHECKED = """
import json, sys
sys.path.insert(0, "/work")
import checker
def accepts(row):
    try:
        return bool(checker.accepts(*row))
    except Exception:
        return False
print(json.dumps([accepts(row) for row in json.loads(sys.stdin.read())]))
"""

WORK = """
total = 0
for number in range(3_000_000):
    total += number
"""
"""A constant piece of work, for measuring a machine's speed."""

USUAL_S = 0.2
"""Its CPU seconds on the usual machine, including Python's startup."""


SMALL = 20
"""Number of small cases before a problem's own."""

_COMPILING = Bounds(60.0, 240.0, 3 << 30, output_bytes=64 << 20, disk_bytes=256 << 20)
_MACHINE_BYTES = 1200 << 20  # memory of a Java virtual machine outside its heap: stacks, code, classes
_BESIDE_BYTES = 128 << 20  # memory of libraries and of a deep stack, which is not a program's data
_MAKING = Bounds(120.0, 600.0, 2 << 30, output_bytes=64 << 20)
_KEPT_PROGRAMS, _KEPT_BYTES = 256, 1 << 30
_MOST_FILES = 2000
"""Maximum files that a compiler may make of one program."""


@dataclass
class _Program:
    """A compiled program: its folder on the host and its size, or the compiler's message; and its number of users."""

    folder: Path
    error: str = ""
    bytes: int = 0
    ready: asyncio.Lock = field(default_factory=asyncio.Lock)
    done: bool = False
    users: int = 0


class Judge:
    """Judges programs, several at a time.

    Args:
        runs: runs commands.
        folder: folder for compiled programs while it is used.
    """

    def __init__(self, runs: NativeRuns, folder: Path) -> None:
        self._runs, self._folder = runs, folder
        self._programs, self._numbers = OrderedDict[str, _Program](), itertools.count()

    async def tests(self, problem: Problem, seed: str) -> Tests:
        """Draw a problem's cases and have the reference answer them.

        Args:
            problem: the problem.
            seed: seed of the cases; secret if solutions are judged.

        Raises:
            ConfigError: if the problem's own programs fail.
        """
        if problem.original is not None and problem.changed is not None:
            original = await self.tests(problem.original, seed)
            pairs = [problem.changed(*pair) for pair in zip(original.cases, original.expected, strict=True)]
            return replace(original, cases=[case for case, _ in pairs], expected=[answer for _, answer in pairs])
        if problem.given:
            cases, expected = [list(case) for case, _ in problem.given], [answer for _, answer in problem.given]
            return Tests(cases, expected, len(problem.examples), 0.0, limit_s=problem.seconds)
        made = await self.draw(problem, seed, SMALL, whole=True)
        cases = [*(example.case for example in problem.examples), *made]
        language = LANGUAGES["python3"]
        answers = await self.answers(problem, language, problem.files["reference.py"], cases, _MAKING)
        failed = [a for a in answers if isinstance(a, str)]
        if failed:
            raise ConfigError(f"{problem.name}: the reference fails: {failed[0]}")
        expected = [answer for answer, _ in (a for a in answers if not isinstance(a, str))]
        seconds = [ended.cpu_s for _, ended in (a for a in answers if not isinstance(a, str))]
        slowest = problem.signature.encoded(cases[seconds.index(max(seconds))]).encode()
        return Tests(cases, expected, len(problem.examples), max(seconds), seconds, slowest=slowest)

    async def draw(self, problem: Problem, seed: str, small: int, *, whole: bool) -> list[Any]:
        """Draw cases with a problem's own generator, in the sandbox.

        Args:
            problem: the problem.
            seed: seed of the draw.
            small: number of small cases.
            whole: true to append the maximal and adversarial ones.

        Raises:
            ConfigError: if the generator fails.
        """
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            folder = Path(made)
            (folder / "tests.py").write_text(problem.files["tests.py"])
            (folder / "main.py").write_text(CASES)
            command = _command(toolchain("python3"), LANGUAGES["python3"], problem)
            asked = json.dumps([seed, small, whole]).encode()
            ended = await self._runs.run(command, _MAKING, work=folder, stdin=asked)
        if ended.code or ended.reason != "exited":
            raise ConfigError(f"{problem.name}: tests.py fails ({ended.reason}): {ended.stderr.strip()[-SHOWN_CHARS:]}")
        return _cases(problem, ended.stdout)

    async def answers(
        self, problem: Problem, language: Language, source: str, cases: Sequence[Sequence[Any]], bounds: Bounds
    ) -> list[tuple[Any, Ended] | str]:
        """Return a program's answers to cases, with the resources used by each; a text for a failure.

        Raises:
            ConfigError: if the language is not installed.
        """
        async with self._compiled(problem, language, source) as program:
            if program.error:
                return [program.error] * len(cases)

            async def judge_case(case: Sequence[Any]) -> tuple[Any, Ended] | str:
                asked = problem.signature.encoded(case).encode()
                ended = await self._run(problem, language, program, asked, bounds)
                answer = answered(problem, ended, case, bounds.cpu_s)
                return f"{answer.verdict.value}: {answer.detail}" if isinstance(answer, Failed) else (answer, ended)

            return list(await asyncio.gather(*map(judge_case, cases)))

    async def answered_at_once(
        self, problem: Problem, source: str, cases: Sequence[Sequence[Any]], bounds: Bounds
    ) -> list[Any]:
        """Return the answers of a problem's own Python program to cases, all in one process.

        Raises:
            ConfigError: if it fails.
        """
        language = LANGUAGES["python3"]
        command = [*_command(toolchain("python3"), language, problem), str(len(cases))]
        asked = "".join(map(problem.signature.encoded, cases)).encode()
        async with self._compiled(problem, language, source) as program:
            ended = await self._runs.run(command, bounds, work=program.folder, stdin=asked)
        answers = ended.stdout.split(f"\n{MARK}\n".encode())[1:]
        if ended.code or len(answers) != len(cases):
            raise ConfigError(
                f"{problem.name}: its own program fails ({ended.reason}): {ended.stderr.strip()[-SHOWN_CHARS:]}"
            )
        texts = (answer.decode("ascii", "replace") for answer in answers)
        try:
            return [problem.signature.decoded(text, case) for text, case in zip(texts, cases, strict=True)]
        except CandidateError as error:
            raise ConfigError(f"{problem.name}: its own program gives invalid answers: {error}") from error

    async def right(self, problem: Problem, answers: Sequence[tuple[Sequence[Any], Any, Any]]) -> list[bool]:
        """Mark which answers are right: the expected ones, and those that the problem's checker accepts, in the sandbox.

        Args:
            problem: the problem.
            answers: for each, the case, the reference's answer, and the answer. One that makes the checker fail is
                wrong.

        Raises:
            ConfigError: if the checker times out or is invalid.
        """
        matches = [problem.equal(expected, answer) for _, expected, answer in answers]
        if problem.compare != CHECKER or all(matches):
            return matches
        open_ones = [number for number, equal in enumerate(matches) if not equal]
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            folder = Path(made)
            (folder / "checker.py").write_text(problem.files["checker.py"])
            (folder / "main.py").write_text(CHECKED)
            command = _command(toolchain("python3"), LANGUAGES["python3"], problem)
            asked = json.dumps([answers[number] for number in open_ones]).encode()
            ended = await self._runs.run(command, _MAKING, work=folder, stdin=asked)
        output = ended.stdout.decode("ascii", "replace").strip()
        if ended.code or ended.reason != "exited" or not re.fullmatch(r"\[((true|false)(, |(?=\])))+\]", output):
            raise ConfigError(
                f"{problem.name}: checker.py fails ({ended.reason}): {ended.stderr.strip()[-SHOWN_CHARS:]}"
            )
        accepted = json.loads(output)
        if len(accepted) != len(open_ones):
            raise ConfigError(f"{problem.name}: checker.py prints something itself; let it only return")
        return [equal or bool(accepted[open_ones.index(number)]) for number, equal in enumerate(matches)]

    async def judge(self, problem: Problem, language: Language, source: str, tests: Tests) -> Judgement:
        """Judge a program: the cases in order, up to the first failure.

        A program that exceeds its time is measured once more, next to the reference: only if it is too slow for the
        machine's current speed does it fail.

        Args:
            problem: the problem.
            language: language of the program.
            source: the solution's file.
            tests: the cases.

        Raises:
            ConfigError: if the language is not installed.
        """
        limit = limit_s(language, tests)
        if not source.strip():
            return Judgement(Verdict.NO_PROGRAM, cases=len(tests.cases), limit_s=limit, examples=tests.examples)
        async with self._compiled(problem, language, source) as program:
            if not program.error:
                return await self._judged(problem, language, program, tests, limit)
            count, shown, message = len(tests.cases), tests.examples, program.error
            return Judgement(Verdict.COMPILATION, cases=count, limit_s=limit, message=message, examples=shown)

    async def _judged(
        self, problem: Problem, language: Language, program: _Program, tests: Tests, limit: float
    ) -> Judgement:
        count, slowest, peak = len(tests.cases), 0.0, 0
        for number, (case, expected) in enumerate(zip(tests.cases, tests.expected, strict=True)):
            asked = tests.input(problem.signature, number)
            ended = await self._run(problem, language, program, asked, _bounds(problem, limit))
            if ended.reason == "cpu" and tests.slowest:
                limit = max(limit, await self._limit_now(problem, language, tests))
                ended = await self._run(problem, language, program, asked, _bounds(problem, limit))
            slowest, peak = max(slowest, ended.cpu_s), max(peak, ended.peak_bytes)
            answer = answered(problem, ended, case, limit)
            if not isinstance(answer, Failed):
                if (await self.right(problem, [(case, expected, answer)]))[0]:
                    continue
                answer = wrong(answer, expected)
            message = answer.message(number, case if number < tests.examples else None)
            return Judgement(answer.verdict, number, count, slowest, peak, limit, message, number, tests.examples)
        return Judgement(Verdict.PASSED, count, count, slowest, peak, limit, examples=tests.examples)

    async def _limit_now(self, problem: Problem, language: Language, tests: Tests) -> float:
        """Return the limit for the machine's current speed, measured by the reference and a constant piece of work."""
        own, python = problem.original or problem, LANGUAGES["python3"]
        *interpreter, _ = _command(toolchain("python3"), python, own)
        async with self._compiled(own, python, own.files["reference.py"]) as reference:
            ended = await self._run(own, python, reference, tests.slowest, _MAKING)
            same = await self._runs.run((*interpreter, "-c", WORK), _MAKING, work=reference.folder)
        slower = max(1.0, same.cpu_s / USUAL_S)
        return limit_s(language, replace(tests, reference_s=ended.cpu_s), slower)

    @asynccontextmanager
    async def _compiled(self, problem: Problem, language: Language, source: str) -> AsyncGenerator[_Program]:
        """Return a compiled program, which is kept for later requests of the same."""
        tools = toolchain(language.name)
        files = language.program(problem.signature, source)
        content = {name: text.encode(errors="replace").decode() for name, text in files.items()}
        key = hashlib.sha256(canonical_json({"language": language.name, "files": content})).hexdigest()
        program = self._programs.setdefault(key, _Program(self._folder / f"{next(self._numbers)}"))
        self._programs.move_to_end(key)
        program.users += 1
        try:
            async with program.ready:
                if not program.done:
                    # Discard a compilation that was started but not finished, for example because it was cancelled.
                    await asyncio.to_thread(shutil.rmtree, program.folder, ignore_errors=True)
                    program.error, program.bytes = await self._compile(tools, files, program.folder)
                    program.done = True
            yield program
        finally:
            program.users -= 1
            await self._evict()

    async def _evict(self) -> None:
        folders, kept = list[Path](), sum(program.bytes for program in self._programs.values())
        for key in [key for key, program in self._programs.items() if not program.users]:
            if len(self._programs) <= _KEPT_PROGRAMS and kept <= _KEPT_BYTES:
                break
            program = self._programs.pop(key)
            kept -= program.bytes
            folders.append(program.folder)
        for folder in folders:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _compile(self, tools: Toolchain, files: Mapping[str, str], folder: Path) -> tuple[str, int]:
        """Compile a program; return the error, if any, and its size in bytes."""
        language = tools.language
        await asyncio.to_thread(_write, folder, files)
        if not language.compile:
            return "", sum(map(len, files.values()))
        kept = " ".join(language.outputs) or "."
        script = PACKED.format(compile=tools.filled(language.compile), most=_MOST_FILES, kept=kept)
        ended = await self._runs.run(
            ("/bin/sh", "-c", script),
            _COMPILING,
            work=folder,
            shown=tools.shown,
            environment=dict(language.environment),
            compiling=True,
        )
        if ended.reason != "exited":
            return f"compiling it was ended: too much of {ended.reason}", 0
        if ended.code:
            return ended.stderr.replace("/work/", "").strip()[: 10 * SHOWN_CHARS] or f"exit code {ended.code}", 0
        try:
            await asyncio.to_thread(_replace, folder, ended.stdout)
        except CandidateError as error:
            return str(error), 0
        return "", len(ended.stdout)

    async def _run(
        self, problem: Problem, language: Language, program: _Program, asked: bytes, bounds: Bounds
    ) -> Ended:
        tools = toolchain(language.name)
        extra = _MACHINE_BYTES if language.heap_apart else 0
        memory = bounds.memory_bytes + extra
        ended = await self._runs.run(
            _command(tools, language, problem),
            Bounds(bounds.cpu_s, bounds.wall_s, memory, bounds.output_bytes),
            work=program.folder,
            stdin=asked,
            shown=tools.shown,
            environment=dict(language.environment),
        )
        # The kernel limits private memory; memory mapped as shared is only counted.
        shared = ended.reason == "exited" and ended.peak_bytes > memory + _BESIDE_BYTES
        return replace(ended, reason="memory") if shared else ended


def _bounds(problem: Problem, limit: float) -> Bounds:
    return Bounds(limit, 4 * limit + 20, problem.memory_bytes)


def _command(tools: Toolchain, language: Language, problem: Problem) -> list[str]:
    return [tools.filled(part) for part in language.run(problem.memory_bytes >> 20)]


def _cases(problem: Problem, printed: bytes) -> list[Any]:
    """Parse a problem generator's output, which is untrusted."""
    try:
        cases = json_value(printed.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{problem.name}: tests.py prints more than its cases: {error!s:.200}") from error
    for case in cases if isinstance(cases, list) else [cases]:
        if not isinstance(case, list):
            raise ConfigError(f"{problem.name}: tests.py gives {case!r:.60} as a case; give a list of arguments")
        problem.signature.encoded(cast("list[Any]", case))
    return cast("list[Any]", cases)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, errors="replace")


def _replace(folder: Path, archive: bytes) -> None:
    """Replace the sources by the compiler's output."""
    for path in folder.iterdir():
        path.unlink()
    unpacked(io.BytesIO(archive), folder, "the compiler's output", folder=True)
