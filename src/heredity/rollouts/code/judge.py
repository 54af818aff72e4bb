"""The judge of programs: compiles one, runs it on each case in a sandbox of its own, and says what came of it.

What is expected never enters a sandbox: a program is given one case on its standard input, and the host compares what it
answers. So there is nothing to read, nothing to forge, and no state from one case to the next.
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

from heredity.errors import CandidateError, ConfigError
from heredity.ids import canonical_json
from heredity.outside import json_value
from heredity.rollouts.code import scripts
from heredity.rollouts.code.toolchains import Toolchain, toolchain
from heredity.rollouts.code.verdicts import (
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
from heredity.tasks.code.languages import LANGUAGES, MARK, Language
from heredity.tasks.code.problem import CHECKER, Problem

__all__ = ["VERDICTS", "Judge", "Judgement", "Tests", "Verdict"]

SMALL = 20
"""How many small cases stand before a problem's own."""

_COMPILING = Bounds(60.0, 240.0, 3 << 30, output_bytes=64 << 20, disk_bytes=256 << 20)
_MACHINE_BYTES = 1200 << 20  # what a Java virtual machine has beside its heap: stacks, code, classes
_BESIDE_BYTES = 128 << 20  # of libraries, and of a deep stack: what is no data of a program
_MAKING = Bounds(120.0, 600.0, 2 << 30, output_bytes=64 << 20)
_KEPT_PROGRAMS, _KEPT_BYTES = 256, 1 << 30
_MOST_FILES = 2000
"""That a compiler may make of one program."""


@dataclass
class _Program:
    """A compiled program: its folder on the host and what that takes, or what the compiler said; and how many use it now."""

    folder: Path
    error: str = ""
    bytes: int = 0
    ready: asyncio.Lock = field(default_factory=asyncio.Lock)
    done: bool = False
    users: int = 0


class Judge:
    """Judges programs, several at a time.

    Args:
        runs: where commands run.
        folder: where compiled programs are kept while it is used.
    """

    def __init__(self, runs: NativeRuns, folder: Path) -> None:
        self._runs, self._folder = runs, folder
        self._programs, self._numbers = OrderedDict[str, _Program](), itertools.count()

    async def tests(self, problem: Problem, seed: str) -> Tests:
        """Draw a problem's cases and have the reference answer them.

        Args:
            problem: the problem.
            seed: what the cases are drawn from; secret where solutions are judged.

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
            seed: what they are drawn from.
            small: how many small ones.
            whole: whether the maximal and adversarial ones follow.

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
        """Return what a program answers to cases, with what each took; a text where it failed.

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
        """Return what a program of a problem's own, in Python, answers to cases, all in one process.

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
            raise ConfigError(f"{problem.name}: its own program answers something else than asked: {error}") from error

    async def right(self, problem: Problem, answers: Sequence[tuple[Sequence[Any], Any, Any]]) -> list[bool]:
        """Return which answers are right: the expected ones, and those that the problem's checker accepts, in the sandbox.

        Args:
            problem: the problem.
            answers: of each the case, what the reference answers, and the answer. One that makes the checker fail is not right.

        Raises:
            ConfigError: if the checker takes too long, or is no program.
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
        """Judge a program: the cases in order, to the first that it fails.

        What takes too long is measured once more, beside the reference: it is too slow for the machine as it is now.

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
        """Return the limit by what the reference takes now, and a piece of work that is always the same."""
        own, python = problem.original or problem, LANGUAGES["python3"]
        *interpreter, _ = _command(toolchain("python3"), python, own)
        async with self._compiled(own, python, own.files["reference.py"]) as reference:
            ended = await self._run(own, python, reference, tests.slowest, _MAKING)
            same = await self._runs.run((*interpreter, "-c", scripts.WORK), _MAKING, work=reference.folder)
        slower = max(1.0, same.cpu_s / scripts.USUAL_S)
        return limit_s(language, replace(tests, reference_s=ended.cpu_s), slower)

    @asynccontextmanager
    async def _compiled(self, problem: Problem, language: Language, source: str) -> AsyncGenerator[_Program]:
        """Give a compiled program, which is kept for the next to ask for the same."""
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
                    # What was begun and not ended, as by somebody who was cancelled, is nobody's program.
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
        """Compile a program; return what is wrong with it, and the bytes that it takes."""
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
        # The kernel bounds private memory; what is shared, with nobody, it only counts.
        shared = ended.reason == "exited" and ended.peak_bytes > memory + _BESIDE_BYTES
        return replace(ended, reason="memory") if shared else ended


def _bounds(problem: Problem, limit: float) -> Bounds:
    return Bounds(limit, 4 * limit + 20, problem.memory_bytes)


def _command(tools: Toolchain, language: Language, problem: Problem) -> list[str]:
    return [tools.filled(part) for part in language.run(problem.memory_bytes >> 20)]


def _cases(problem: Problem, printed: bytes) -> list[Any]:
    """Read what a problem's generator printed, which nobody vouches for."""
    try:
        cases = json_value(printed.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{problem.name}: tests.py prints something beside its cases: {error!s:.200}") from error
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
    """Put what a compiler made in the place of what it was made of."""
    for path in folder.iterdir():
        path.unlink()
    unpacked(io.BytesIO(archive), folder, "what the compiler made", folder=True)
