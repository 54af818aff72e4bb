"""The judge of programs: compiles one, runs it on each case in its own sandbox, and returns a verdict.

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
import tempfile
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import CandidateError, ConfigError
from heredity._core.ids import canonical_json
from heredity._core.outside import json_value
from heredity.kinds.code import scripts
from heredity.kinds.code.languages import LANGUAGES, MARK, Language
from heredity.kinds.code.problem import CHECKER, Problem
from heredity.kinds.code.toolchains import Toolchain, toolchain
from heredity.kinds.code.verdicts import (
    SHOWN_CHARS,
    VERDICTS,
    Failed,
    Judgement,
    Tests,
    Verdict,
    answered,
    limit_s,
    wrong,
)
from heredity.sandbox.containers.archives import unpacked
from heredity.sandbox.native import Bounds, Ended, NativeRuns

__all__ = ["VERDICTS", "Judge", "Judgement", "Tests", "Verdict"]

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
        made = await self.drawn(problem, seed, SMALL, whole=True)
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

    async def drawn(self, problem: Problem, seed: str, small: int, *, whole: bool) -> list[Any]:
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
            (folder / "main.py").write_text(scripts.CASES)
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

            async def one(case: Sequence[Any]) -> tuple[Any, Ended] | str:
                asked = problem.signature.encoded(case).encode()
                ended = await self._run(problem, language, program, asked, bounds)
                answer = answered(problem, ended, case, bounds.cpu_s)
                return f"{answer.verdict.value}: {answer.detail}" if isinstance(answer, Failed) else (answer, ended)

            return list(await asyncio.gather(*map(one, cases)))

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
            (folder / "main.py").write_text(scripts.CHECKED)
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
            same = await self._runs.run((*interpreter, "-c", scripts.WORK), _MAKING, work=reference.folder)
        slower = max(1.0, same.cpu_s / scripts.USUAL_S)
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
        script = scripts.PACKED.format(compile=tools.filled(language.compile), most=_MOST_FILES, kept=kept)
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
