"""The judge of programs: compiles one, runs it on each case in a sandbox of its own, and says what came of it.

What is expected never enters a sandbox: a program is given one case on its standard input, and the host compares what it
answers. So there is nothing to read, nothing to forge, and no state from one case to the next.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import tempfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from heredity.errors import CandidateError, ConfigError
from heredity.ids import canonical_json
from heredity.rollouts.code.toolchains import Toolchain, toolchain
from heredity.sandbox.containers.archives import unpacked
from heredity.sandbox.native import Bounds, Ended, NativeRuns
from heredity.tasks.code.languages import LANGUAGES, MARK, Language
from heredity.tasks.code.problem import Problem

SMALL = 20
"""How many small cases stand before a problem's own."""

SMALLEST_LIMIT_S = 1.0
"""Processor seconds that a solution has at least, beside what its language needs to start."""

_SLOWER = {"python3": 4.0, "cpp": 1.0, "go": 1.5, "java": 2.0, "kotlin": 2.0}
"""How many times the seconds of the reference, which is in Python, a solution in a language may take."""

_STARTS = {"python3": 0.2, "cpp": 0.1, "go": 0.1, "java": 1.5, "kotlin": 1.5}
_COMPILING = Bounds(60.0, 240.0, 3 << 30, output_bytes=64 << 20, disk_bytes=256 << 20)
_MACHINE_BYTES = 1200 << 20  # what a Java virtual machine has beside its heap: stacks, code, classes
_MAKING = Bounds(120.0, 600.0, 2 << 30, output_bytes=64 << 20)
_KEPT_PROGRAMS = 256
_SHOWN_CHARS = 400
_OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "OutOfMemoryError", "out of memory", "cannot allocate memory")

_CASES = """
import json, random, sys
sys.path.insert(0, "/work")
import tests
seed, small, whole = json.loads(sys.stdin.read())
draw = random.Random(seed)
print(json.dumps([tests.small(draw) for _ in range(small)] + (list(tests.cases(draw)) if whole else [])))
"""


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


@dataclass(frozen=True)
class Tests:
    """The cases that a problem is judged on.

    Attributes:
        cases: arguments, the examples first.
        expected: the reference's answers.
        examples: how many of them are shown.
        reference_s: processor seconds of the reference on the slowest of them.
    """

    cases: Sequence[Sequence[Any]]
    expected: Sequence[Any]
    examples: int
    reference_s: float


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
        message: what the compiler or the program said, or how its answer differs where the case is shown.
        failed_case: the number of the case that it failed, from 0; of hidden ones nothing else is said.
    """

    verdict: Verdict
    passed: int = 0
    cases: int = 0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    limit_s: float = 0.0
    message: str = ""
    failed_case: int | None = None

    @property
    def score(self) -> float:
        """The share of cases that it passed."""
        return self.passed / self.cases if self.cases else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"verdict": self.verdict.value, "meaning": VERDICTS[self.verdict], "score": self.score} | {
            name: getattr(self, name)
            for name in ("passed", "cases", "cpu_s", "peak_bytes", "limit_s", "message", "failed_case")
        }


@dataclass
class _Program:
    """A compiled program: its folder on the host, or what the compiler said."""

    folder: Path
    error: str = ""
    ready: asyncio.Lock = field(default_factory=asyncio.Lock)
    done: bool = False


class Judge:
    """Judges programs, several at a time.

    Args:
        runs: where commands run.
        folder: where compiled programs are kept while it is used.
    """

    def __init__(self, runs: NativeRuns, folder: Path) -> None:
        self._runs, self._folder = runs, folder
        self._programs = OrderedDict[str, _Program]()

    async def tests(self, problem: Problem, seed: str) -> Tests:
        """Draw a problem's cases and have the reference answer them.

        Args:
            problem: the problem.
            seed: what the cases are drawn from; secret where solutions are judged.

        Raises:
            ConfigError: if the problem's own programs fail.
        """
        made = await self.drawn(problem, seed, SMALL, whole=True)
        cases = [*(example.case for example in problem.examples), *made]
        language = LANGUAGES["python3"]
        answers = await self.answers(problem, language, problem.files["reference.py"], cases, _MAKING)
        wrong = [a for a in answers if isinstance(a, str)]
        if wrong:
            raise ConfigError(f"{problem.name}: the reference fails: {wrong[0]}")
        slowest = max(ended.cpu_s for _, ended in (a for a in answers if not isinstance(a, str)))
        expected = [answer for answer, _ in (a for a in answers if not isinstance(a, str))]
        return Tests(cases, expected, len(problem.examples), slowest)

    async def drawn(self, problem: Problem, seed: str, small: int, *, whole: bool) -> list[Any]:
        """Draw cases with a problem's own generator, in the sandbox.

        Args:
            problem: the problem.
            seed: what they are drawn from.
            small: how many small ones.
            whole: whether the maximal and adversarial ones follow.

        Raises:
            ConfigError: if the generator fails.
        """
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            folder = Path(made)
            (folder / "tests.py").write_text(problem.files["tests.py"])
            (folder / "main.py").write_text(_CASES)
            command = _command(toolchain("python3"), LANGUAGES["python3"], problem)
            asked = json.dumps([seed, small, whole]).encode()
            ended = await self._runs.run(command, _MAKING, work=folder, stdin=asked)
        if ended.code or ended.reason != "exited":
            raise ConfigError(
                f"{problem.name}: tests.py fails ({ended.reason}): {ended.stderr.strip()[-_SHOWN_CHARS:]}"
            )
        cases: list[Any] = json.loads(ended.stdout)
        for case in cases:
            problem.signature.encoded(case)
        return cases

    async def answers(
        self, problem: Problem, language: Language, source: str, cases: Sequence[Sequence[Any]], bounds: Bounds
    ) -> list[tuple[Any, Ended] | str]:
        """Return what a program answers to cases, with what each took; a text where it failed.

        Raises:
            ConfigError: if the language is not installed.
        """
        program = await self._compiled(problem, language, source)
        if program.error:
            return [program.error] * len(cases)

        async def one(case: Sequence[Any]) -> tuple[Any, Ended] | str:
            ended = await self._run(problem, language, program, case, bounds)
            verdict, answer = _answered(problem, ended, case)
            return (answer, ended) if verdict is None else f"{verdict.value}: {answer}"

        return list(await asyncio.gather(*map(one, cases)))

    async def answered_at_once(
        self, problem: Problem, source: str, cases: Sequence[Sequence[Any]], bounds: Bounds
    ) -> list[Any]:
        """Return what a program of a problem's own, in Python, answers to cases, all in one process.

        Raises:
            ConfigError: if it fails.
        """
        language = LANGUAGES["python3"]
        program = await self._compiled(problem, language, source)
        command = [*_command(toolchain("python3"), language, problem), str(len(cases))]
        asked = "".join(map(problem.signature.encoded, cases)).encode()
        ended = await self._runs.run(command, bounds, work=program.folder, stdin=asked)
        answers = ended.stdout.split(f"\n{MARK}\n".encode())[1:]
        if ended.code or len(answers) != len(cases):
            raise ConfigError(
                f"{problem.name}: its own program fails ({ended.reason}): {ended.stderr.strip()[-_SHOWN_CHARS:]}"
            )
        texts = (answer.decode("ascii") for answer in answers)
        return [problem.signature.decoded(text, case) for text, case in zip(texts, cases, strict=True)]

    async def judge(self, problem: Problem, language: Language, source: str, tests: Tests) -> Judgement:
        """Judge a program: the cases in order, to the first that it fails.

        Args:
            problem: the problem.
            language: what the program is written in.
            source: the solution's file.
            tests: the cases.

        Raises:
            ConfigError: if the language is not installed.
        """
        limit = limit_s(language, tests)
        if not source.strip():
            return Judgement(Verdict.NO_PROGRAM, cases=len(tests.cases), limit_s=limit)
        program = await self._compiled(problem, language, source)
        if program.error:
            return Judgement(Verdict.COMPILATION, cases=len(tests.cases), limit_s=limit, message=program.error)
        bounds = Bounds(limit, 4 * limit + 20, problem.memory_bytes)
        slowest, peak = 0.0, 0
        for number, (case, expected) in enumerate(zip(tests.cases, tests.expected, strict=True)):
            ended = await self._run(problem, language, program, case, bounds)
            slowest, peak = max(slowest, ended.cpu_s), max(peak, ended.peak_bytes)
            verdict, answer = _answered(problem, ended, case)
            if verdict is None and not problem.equal(expected, answer):
                verdict, answer = Verdict.WRONG, f"answered {_short(answer)}; expected {_short(expected)}"
            if verdict is not None:
                shown = number < tests.examples
                hidden = verdict is Verdict.WRONG and not shown
                said = f"case {number}: {answer}" if not hidden else f"a hidden case, number {number}"
                if shown:
                    said += f"; input {_short(case)}"
                return Judgement(verdict, number, len(tests.cases), slowest, peak, limit, said, number)
        return Judgement(Verdict.PASSED, len(tests.cases), len(tests.cases), slowest, peak, limit)

    async def _compiled(self, problem: Problem, language: Language, source: str) -> _Program:
        files = language.program(problem.signature, source)
        key = hashlib.sha256(canonical_json({"language": language.name, "files": files})).hexdigest()
        program = self._programs.setdefault(key, _Program(self._folder / key))
        self._programs.move_to_end(key)
        async with program.ready:
            if not program.done:
                program.error = await self._compile(toolchain(language.name), files, program.folder)
                program.done = True
        while len(self._programs) > _KEPT_PROGRAMS:
            self._programs.popitem(last=False)
        return program

    async def _compile(self, tools: Toolchain, files: Mapping[str, str], folder: Path) -> str:
        language = tools.language
        await asyncio.to_thread(_write, folder, files)
        if not language.compile:
            return ""
        kept = " ".join(language.outputs) or "."
        script = f"cp -r /source/. . && {{ {tools.filled(language.compile)}; }} 1>&2 && tar -cf - {kept}"
        ended = await self._runs.run(
            ("/bin/sh", "-c", script),
            _COMPILING,
            work=folder,
            shown=tools.shown,
            environment=dict(language.environment),
            compiling=True,
        )
        if ended.reason != "exited":
            return f"compiling it was ended: too much of {ended.reason}"
        if ended.code:
            return ended.stderr.replace("/work/", "").strip()[: 10 * _SHOWN_CHARS] or f"exit code {ended.code}"
        await asyncio.to_thread(_replace, folder, ended.stdout)
        return ""

    async def _run(
        self, problem: Problem, language: Language, program: _Program, case: Sequence[Any], bounds: Bounds
    ) -> Ended:
        tools = toolchain(language.name)
        extra = _MACHINE_BYTES if language.heap_apart else 0
        return await self._runs.run(
            _command(tools, language, problem),
            Bounds(bounds.cpu_s, bounds.wall_s, bounds.memory_bytes + extra, bounds.output_bytes),
            work=program.folder,
            stdin=problem.signature.encoded(case).encode(),
            shown=tools.shown,
            environment=dict(language.environment),
        )


def limit_s(language: Language, tests: Tests) -> float:
    """Return the processor seconds that a solution in a language has for a case."""
    return _STARTS[language.name] + max(SMALLEST_LIMIT_S, _SLOWER[language.name] * tests.reference_s)


def _command(tools: Toolchain, language: Language, problem: Problem) -> list[str]:
    return [tools.filled(part) for part in language.run(problem.memory_bytes >> 20)]


def _answered(problem: Problem, ended: Ended, case: Sequence[Any]) -> tuple[Verdict | None, Any]:
    """Return None and the answer, or a verdict and why."""
    said = ended.stderr.strip()
    if ended.reason == "cpu":
        return Verdict.TIME, f"took {ended.cpu_s:.2f} s of processor time"
    if ended.reason == "wall":
        return Verdict.NO_ANSWER_IN_TIME, f"no answer after {ended.wall_s:.0f} s"
    if ended.reason == "output":
        return Verdict.RUNTIME, "printed too much"
    if ended.code:
        verdict = Verdict.MEMORY if any(words in said for words in _OUT_OF_MEMORY) else Verdict.RUNTIME
        return verdict, f"{_ending(ended.code)}: {said[-_SHOWN_CHARS:]}"
    _, mark, answer = ended.stdout.rpartition(f"\n{MARK}\n".encode())
    if not mark:
        return Verdict.RUNTIME, "it ended by itself before the solution returned"
    try:
        return None, problem.signature.decoded(answer.decode("ascii", "replace"), case)
    except CandidateError as error:
        return Verdict.WRONG, str(error)


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text)} characters)"


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, errors="replace")


def _replace(folder: Path, archive: bytes) -> None:
    """Put what a compiler made in the place of what it was made of."""
    for path in folder.iterdir():
        path.unlink()
    unpacked(io.BytesIO(archive), folder, "what the compiler made", folder=True)
