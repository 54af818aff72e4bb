"""What a program, a problem folder or a caller may do to the judge that is not a verdict's business."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kinds.code.sums import FILES, in_python, write

from heredity._core.errors import CandidateError, ConfigError, HostError
from heredity.kinds.code import judge as judging
from heredity.kinds.code.judge import Judge, Tests
from heredity.kinds.code.languages import LANGUAGES, language
from heredity.kinds.code.problem import Problem
from heredity.kinds.code.toolchains import toolchain
from heredity.sandbox import native
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.memory import family, queued_of
from heredity.sandbox.native import Bounds, NativeRuns

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

PYTHON = LANGUAGES["python3"]
SMALL = Bounds(2.0, 10.0, 256 << 20)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("raise KeyError(str(numbers))", "KeyError"),
        ("raise type('Saw' + str(abs(numbers[0])) + 'Error', (Exception,), {})('no')", ""),
        ("import os; print(numbers, file=__import__('sys').stderr); os._exit(abs(numbers[0]) % 250 + 1)", ""),
        ("v = []\n        while True: print(numbers, file=__import__('sys').stderr); v.append(bytearray(1 << 24))", ""),
    ],
)
async def test_how_a_hidden_case_is_failed_tells_nothing_of_it(
    judge: Judge, asked: Problem, tests: Tests, line: str, kind: str
) -> None:
    hidden = Tests([[[1, 2]], [[417, 23]]], [3, 440], 1, 0.01)
    source = in_python(f"if len(numbers) == 2 and numbers[0] == 1: return 3\n        {line}")
    found = await judge.judge(asked, PYTHON, source, hidden)
    assert found.failed_case == 1
    assert found.message in ("a hidden case, number 1", f"a hidden case, number 1: {kind}" if kind else "")
    shown = await judge.judge(asked, PYTHON, source, Tests(hidden.cases, hidden.expected, 2, 0.01))
    assert "417" in shown.message


async def test_programs_that_are_kept_no_longer_leave_no_folder(
    asked: Problem, tests: Tests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "_KEPT_PROGRAMS", 2)
    async with NativeRuns(1) as runs:
        judge = Judge(runs, tmp_path)
        for number in range(4):
            await judge.judge(
                asked, PYTHON, in_python(f"return {number}"), Tests(tests.cases[:1], tests.expected[:1], 1, 0.0)
            )
        assert len(os.listdir(tmp_path)) == 2


async def test_programs_that_take_much_room_are_kept_no_longer(
    asked: Problem, tests: Tests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = in_python("return 0")
    monkeypatch.setattr(judging, "_KEPT_BYTES", 3 * len("".join(PYTHON.program(asked.signature, source).values())))
    async with NativeRuns(1) as runs:
        judge, few = Judge(runs, tmp_path), Tests(tests.cases[:1], tests.expected[:1], 1, 0.0)
        for number in range(5):
            await judge.judge(asked, PYTHON, in_python(f"return {number}"), few)
        assert len(os.listdir(tmp_path)) == 3


async def test_a_program_of_very_many_files_does_not_compile(
    judge: Judge, asked: Problem, tests: Tests, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = replace(toolchain("python3"), language=replace(PYTHON, compile="seq -f c%g 2000 | xargs touch"))
    monkeypatch.setattr(judging, "toolchain", lambda name: tools)
    found = await judge.judge(asked, PYTHON, in_python("numbers = [*numbers]"), tests)
    assert (found.verdict, found.message) == ("CE", "more than 2000 files were made of it")


async def test_what_a_cancelled_compilation_left_is_made_anew(
    judge: Judge, asked: Problem, tests: Tests, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = in_python("numbers = list(numbers)")
    honest = judging._write

    def fails(folder: Path, files: dict[str, str]) -> None:
        honest(folder, {"solution.py": "half a file"})
        raise OSError("no space left")

    monkeypatch.setattr(judging, "_write", fails)
    with pytest.raises(OSError, match="no space"):
        await judge.judge(asked, PYTHON, source, tests)
    monkeypatch.setattr(judging, "_write", honest)
    assert (await judge.judge(asked, PYTHON, source, tests)).verdict == "PR"


async def test_what_a_compiler_makes_too_much_of_does_not_compile(
    judge: Judge, asked: Problem, tests: Tests, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: Path, archive: bytes) -> None:
        raise CandidateError("what the compiler made has more than 1 bytes")

    monkeypatch.setattr(judging, "_replace", refused)
    tools = replace(toolchain("python3"), language=replace(PYTHON, compile="true"))
    monkeypatch.setattr(judging, "toolchain", lambda name: tools)
    found = await judge.judge(asked, PYTHON, in_python("numbers = numbers[:]"), tests)
    assert (found.verdict, found.message) == ("CE", "what the compiler made has more than 1 bytes")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tests.py": "print('hello')\n" + FILES["tests.py"]}, "sum: tests.py prints"),
        ({"tests.py": "def small(random):\n    return 7\ndef cases(random):\n    return []\n"}, "gives 7 as a case"),
        ({"tests.py": FILES["tests.py"].replace("random.randint(-9, 9)", "'x'")}, "numbers is 'x'; its type is"),
    ],
)
async def test_a_generator_that_misbehaves_is_told_by_the_problems_name(
    judge: Judge, change: dict[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        await judge.tests(write(tmp_path / "sum", **change), "0")


async def test_a_reference_that_forges_the_mark_is_told_by_the_problems_name(judge: Judge, asked: Problem) -> None:
    forged = "print('\\n=answer=\\nx\\u00e9\\n', flush=True); __import__('os')._exit(0)"
    with pytest.raises(ConfigError, match="sum: its own program gives invalid answers"):
        await judge.answered_at_once(asked, in_python(forged), [[[1]]], SMALL)


async def test_a_class_whose_calls_are_none_is_refused() -> None:
    from heredity.kinds.code.signature import Function, Signature

    shelf = Signature((Function.parse({"name": "init"}, "s"),), "Shelf")
    for case in ([7], [[]]):
        with pytest.raises(ConfigError, match=r"call 0 of a case is .*; give \[method"):
            shelf.encoded(case)


async def test_a_cancelled_run_is_ended_and_keeps_its_turn_until_then() -> None:
    async with NativeRuns(1) as runs:
        endless = asyncio.ensure_future(runs.run(["/bin/sh", "-c", "while :; do :; done"], Bounds(300, 300, 1 << 28)))
        await asyncio.sleep(0.2)
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        ended = await asyncio.wait_for(runs.run(["/bin/echo", "next"], SMALL), 300)
        assert ended.stdout == b"next\n"
        immediately = asyncio.ensure_future(runs.run(["/bin/sh", "-c", "while :; do :; done"], SMALL))
        await asyncio.sleep(0)
        immediately.cancel()
        assert (await asyncio.wait_for(runs.run(["/bin/echo", "next"], SMALL), 300)).code == 0


async def test_what_starts_programs_is_started_anew_when_it_has_died() -> None:
    async with NativeRuns(1) as runs:
        next(iter(runs._reapers))._process.kill()
        with pytest.raises(HostError, match="the process that starts programs has ended"):
            await runs.run(["/bin/echo"], SMALL)
        assert (await runs.run(["/bin/echo", "again"], SMALL)).stdout == b"again\n"


async def test_of_many_words_the_beginning_and_the_end_are_kept() -> None:
    async with NativeRuns(1) as runs:
        ended = await runs.run(
            ["/bin/sh", "-c", "echo first >&2; seq 1 50000 >&2; echo last >&2"], SMALL, compiling=True
        )
        assert ended.stderr.startswith("first\n1\n")
        assert ended.stderr.endswith("50000\nlast\n")
        assert "bytes are left out" in ended.stderr
        assert len(ended.stderr) < 66_000
        with pytest.raises(ConfigError, match="give what is large on its standard input"):
            await runs.run(["/bin/echo", "x" * (200 << 10)], SMALL)


async def test_a_language_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="cobol"):
        language("cobol")


async def test_seconds_without_a_processor_do_not_count_as_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds, command = Bounds(5.0, 0.5, 1 << 28), ["/bin/sh", "-c", "sleep 1.5; echo done"]
    async with NativeRuns(1) as runs:
        assert (await runs.run(command, bounds, compiling=True)).reason == "wall"
        monkeypatch.setattr("heredity.sandbox.waiting.queued_of", lambda root: 60.0)
        ended = await runs.run(command, bounds, compiling=True)
        assert (ended.reason, ended.stdout) == ("exited", b"done\n")
        silent = ["/bin/sh", "-c", "exec >&- 2>&-; sleep 1.5"]
        assert (await runs.run(silent, bounds, compiling=True)).reason == "exited"


def test_what_shares_a_processor_is_known_to_have_queued_for_it() -> None:
    core = {min(os.sched_getaffinity(0))}
    busy = [subprocess.Popen(["/bin/sh", "-c", "(while :; do :; done)"], start_new_session=True) for _ in range(2)]
    try:
        for process in busy:
            for pid in family(process.pid):
                os.sched_setaffinity(pid, core)
        while min(queued_of(process.pid) for process in busy) < 0.05:
            time.sleep(0.05)
    finally:
        for process in busy:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


async def test_a_place_is_free_again_although_no_process_could_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    async with NativeRuns(1) as runs:
        (reaper,) = runs._free  # pyright: ignore[reportPrivateUsage]
        reaper._process.kill()  # pyright: ignore[reportPrivateUsage]
        with monkeypatch.context() as patched:
            patched.setattr(
                native, "_Reaper", lambda _: (_ for _ in ()).throw(BlockingIOError(11, "no process is free"))
            )
            for _ in range(2):
                with pytest.raises(HostError, match="the process that starts programs has ended"):
                    await asyncio.wait_for(runs.run(["/bin/true"], Bounds(1.0, 10.0, 1 << 28)), 60)
        with pytest.raises(HostError):
            await asyncio.wait_for(runs.run(["/bin/true"], Bounds(1.0, 10.0, 1 << 28)), 60)
        ended = await asyncio.wait_for(runs.run(["/bin/true"], Bounds(1.0, 10.0, 1 << 28)), 60)
        assert ended.code == 0
