"""The judge of programs on a problem of its own; every language that is installed is tried by the slow tests."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.code.sums import FILES, SOLUTIONS, in_python, write

from heredity.kinds.code.judge import Judge, Judgement, Tests
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import Problem, library_folder, problem_folders, read_problem
from heredity.kinds.code.toolchains import installed, missing
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.native import Bounds

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOPS = {
    "cpp": "for (volatile int i = 0;; ++i);",
    "java": "for (long i = 0; ; ) if (i++ < 0) break;",
    "go": "for x := 0; x >= 0; { x ^= 1 }",
}
LOOPS |= {"javascript": "for (;;);"}
LOOPS |= {"kotlin": "while (numbers.size >= 0) { }", "python3": "while True: pass"}
FAILS = {
    "cpp": "abort();",
    "java": "numbers[99999] = 1;",
    "go": 'panic("no")',
    "kotlin": 'error("no")',
    "javascript": "null.x",
    "python3": "1 / 0",
}
SLEEPS = {
    "cpp": "for (;;) this_thread::sleep_for(chrono::seconds(9));",
    "java": "try { Thread.sleep(3600000); } catch (InterruptedException e) { }",
    "go": "time.Sleep(time.Hour)",
    "kotlin": "Thread.sleep(3600000)",
    "javascript": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "python3": "import time; time.sleep(3600)",
}
GREEDY = {
    "cpp": "vector<vector<char>> v; for (;;) v.emplace_back(1 << 20, 1);",
    "java": "ArrayList<byte[]> v = new ArrayList<>(); while (v.size() >= 0) v.add(new byte[1 << 20]);",
    "go": "v := [][]byte{}; for len(v) >= 0 { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; v = append(v, b) }",
    "javascript": "const v = []; for (;;) v.push(new Array(1 << 17).fill(1.5))",
    "kotlin": "val v = ArrayList<ByteArray>(); while (true) v.add(ByteArray(1 shl 20))",
    "python3": "v = []\n        while True: v.append(bytearray(1 << 20))",
}


async def verdict(judge: Judge, asked: Problem, tests: Tests, source: str, language: str = "python3") -> Judgement:
    return await judge.judge(asked, LANGUAGES[language], source, tests)


@pytest.mark.parametrize(
    ("line", "expected", "said"),
    [
        ("", "PR", ""),
        ("while True: pass", "TLE", "processor time"),
        ("import time; time.sleep(3600)", "TO", "no answer after"),
        (GREEDY["python3"], "MLE", "MemoryError"),
        ("1 / 0", "RE", "ZeroDivisionError"),
        ("return 4", "WA", "case 0: answered 4; expected 3; input [[1, 2]]"),
        ("return sum(numbers) if len(numbers) == 2 else 0", "WA", "a hidden case, number"),
        ("return 'three'", "RE", "AttributeError"),
        ("import os; os._exit(0)", "RE", "ended by itself"),
        ("raise SystemExit", "RE", "ended by itself"),
        ("import sys; sys.stdout.write('x' * (17 << 20))", "RE", "printed too much"),
        ("print('=answer=')\n        print(7)", "PR", ""),
    ],
)
async def test_each_verdict(judge: Judge, asked: Problem, tests: Tests, line: str, expected: str, said: str) -> None:
    if expected == "TO":
        tests = Tests(tests.cases[:1], tests.expected[:1], 1, 0.0)
        asked_for = await judge.answers(
            asked, LANGUAGES["python3"], in_python(line), tests.cases, Bounds(5.0, 1.0, 64 << 20)
        )
        assert str(asked_for[0]).startswith(f"{expected}: {said}")
        return
    found = await verdict(judge, asked, tests, in_python(line))
    assert found.verdict == expected, found
    assert said in found.message
    assert found.passed == (len(tests.cases) if expected == "PR" else found.failed_case)


async def test_nothing_is_no_program_and_what_does_not_compile_says_where(
    judge: Judge, asked: Problem, tests: Tests
) -> None:
    assert (await verdict(judge, asked, tests, " \n")).verdict == "RpE"
    if missing(LANGUAGES["cpp"]):
        pytest.skip(missing(LANGUAGES["cpp"]))
    found = await verdict(judge, asked, tests, "class Solution {\nnonsense", "cpp")
    assert (found.verdict, found.score) == ("CE", 0.0)
    assert "solution.cpp:2" in found.message


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_language_gets_the_verdicts(language: str, judge: Judge, asked: Problem, tests: Tests) -> None:
    if missing(LANGUAGES[language]):
        pytest.skip(missing(LANGUAGES[language]))
    solution = SOLUTIONS[language]
    wrong = (
        solution.replace("+=", "-=")
        .replace("numbers.sum()", "-numbers.sum()")
        .replace("return sum(", "return -sum(")
        .replace("a + b", "a - b")
    )
    head = 'import "time"\n' if language == "go" else ""
    for source, expected in (
        (solution.format(""), "PR"),
        (wrong.format(""), "WA"),
        (solution.format(FAILS[language]), "RE"),
        (solution.format(GREEDY[language]), "MLE"),
        (solution.format(LOOPS[language]), "TLE"),
        (head + solution.format(SLEEPS[language]), "TO"),
        ("nonsense {", "RE" if language == "python3" else "CE"),
        (" \n", "RpE"),
    ):
        found = await verdict(judge, asked, tests, source, language)
        assert found.verdict == expected, (language, found)


@pytest.mark.slow
async def test_a_problem_that_is_unsound_is_told_why(judge: Judge, tmp_path: Path) -> None:
    from heredity.kinds.code.check import check

    right = SOLUTIONS["python3"].format("")
    brute = FILES["brute.py"].replace("sum(reversed(numbers))", "abs(sum(numbers))")
    found = await check(judge, write(tmp_path / "odd", **{"brute.py": brute, "wrong/right.py": right}), "0", agree=10)
    said = "\n".join(found.faults)
    assert "1 wrong solutions; store at least 3" in said
    assert "reference and brute force differ on" in said
    assert "wrong/right.py got PR, expected WA or RE" in said


async def test_what_takes_too_long_is_measured_once_more_beside_the_reference(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that has become slower since the reference was measured makes nothing too slow, nor one that was slow then."""
    monkeypatch.setattr("heredity.kinds.code.judge.SMALLEST_LIMIT_S", 0.1)
    monkeypatch.setattr("heredity.kinds.code.judge.USUAL_S", 1e9)
    busy = "import time\n        while time.process_time() < {}: pass"
    asked = write(tmp_path / "sum", **{"reference.py": in_python(busy.format(0.4))})
    [example] = asked.examples
    read = asked.signature.encoded(example.case).encode()
    measured_before = Tests([example.case], [example.answer], 1, 0.01, slowest=read)
    assert (await verdict(judge, asked, measured_before, in_python(busy.format(0.8)))).verdict == "PR"
    assert (await verdict(judge, asked, measured_before, in_python("while True: pass"))).verdict == "TLE"
    quick = replace(asked, files={**asked.files, "reference.py": in_python("")})
    assert (await verdict(judge, quick, measured_before, in_python(busy.format(0.8)))).verdict == "TLE"
    monkeypatch.setattr("heredity.kinds.code.judge.USUAL_S", 1e-3)
    assert (await verdict(judge, quick, measured_before, in_python(busy.format(0.8)))).verdict == "PR"
    stated = replace(measured_before, slowest=b"")
    assert (await verdict(judge, asked, stated, in_python(busy.format(0.8)))).verdict == "TLE"


@pytest.mark.parametrize("name", ["far-counting", "glaze-jars"])
async def test_a_harness_fits_where_nothing_is_returned(judge: Judge, name: str) -> None:
    """It is an empty list, and no number."""
    from heredity.kinds.code.check import _harnesses

    language = LANGUAGES["javascript"]
    if language not in installed():
        pytest.skip("Node is not installed")
    problem = read_problem(problem_folders(library_folder())[name])
    assert await _harnesses(judge, problem, await judge.tests(problem, "0"), [language]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"problem.toml": "title = 3"}, "signature is missing"),
        (
            {"problem.toml": FILES["problem.toml"].replace('"easy"', '"trivial"')},
            "difficulty is 'trivial'; give one of easy",
        ),
        ({"problem.toml": FILES["problem.toml"].replace("[[1, 2]]", "[1, 2]")}, "an example is"),
        ({"problem.toml": "extra = 1\n" + FILES["problem.toml"]}, "unknown key 'extra'"),
        ({"problem.toml": FILES["problem.toml"].replace("memory_mb = 64", "memory_mb = 1")}, "give 16 to 4096"),
    ],
)
async def test_a_problem_that_cannot_be_read_says_why(change: dict[str, str], said: str, tmp_path: Path) -> None:
    from heredity._core.errors import ConfigError

    with pytest.raises(ConfigError, match=said):
        write(tmp_path / "bad", **change)


async def test_the_same_seed_draws_the_same_cases(judge: Judge, asked: Problem, tests: Tests) -> None:
    again, other = await judge.tests(asked, "secret"), await judge.tests(asked, "another")
    assert (again.cases, again.expected) == (tests.cases, tests.expected)
    assert other.cases != tests.cases


async def test_types_of_annotations_are_there_for_who_names_them_and_cost_nobody_else_their_start(
    judge: Judge, asked: Problem, tests: Tests
) -> None:
    named = (
        "class Solution:\n    def total(self, numbers: List[int]) -> int:\n        {}\n        return sum(numbers)\n"
    )
    loaded = "import sys; assert 'typing' {} sys.modules"
    for source in (named.format(loaded.format("in")), in_python(loaded.format("not in"))):
        assert (await verdict(judge, asked, tests, source)).verdict == "PR"


async def test_what_a_case_is_read_from_is_made_once_for_all_programs(
    judge: Judge, asked: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests, made = await judge.tests(asked, "once"), []
    written = type(asked.signature).encoded

    def counted(signature: Any, case: Any) -> str:
        made.append(case)
        return written(signature, case)

    monkeypatch.setattr(type(asked.signature), "encoded", counted)
    for line in ("", "numbers = numbers[:]"):
        assert (await verdict(judge, asked, tests, in_python(line))).verdict == "PR"
    assert made == list(tests.cases)


async def test_a_file_is_judged_by_a_command(tmp_path: Path) -> None:
    write(tmp_path / "sum")
    (tmp_path / "mine.py").write_text(SOLUTIONS["python3"].format("return 4"))
    command = [
        sys.executable,
        "-m",
        "heredity",
        "code",
        "judge",
        str(tmp_path / "mine.py"),
        "--problem",
        str(tmp_path / "sum"),
    ]
    process = await asyncio.create_subprocess_exec(*command, "--json", stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 1
    assert json.loads(out)["verdict"] == "WA"


async def test_every_problem_of_the_library_can_be_read_and_has_starters() -> None:
    folders = problem_folders(library_folder())
    assert folders
    for folder in folders.values():
        one = read_problem(folder)
        for language in LANGUAGES.values():
            assert language.starter(one.signature) in one.text(language) + "\n"
            assert language.file in language.program(one.signature, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(problem_folders(library_folder())))
async def test_the_librarys_problems_are_sound(name: str, judge: Judge) -> None:
    from heredity.kinds.code.check import AGREE, check

    found = await check(judge, read_problem(problem_folders(library_folder())[name]), "0")
    assert found.faults == ()
    assert found.agreed == AGREE
    assert installed()
