from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.engine.actor import ToolResult
from heredity.engine.program_process import ProgramLimits
from heredity.engine.programs import SandboxedPrograms
from heredity.resources import SourceTree

pytestmark = pytest.mark.asyncio(loop_scope="module")

Call = Callable[..., Awaitable[ToolResult]]

TOOL = SourceTree(
    {
        "tool.py": (
            "import os\nimport numpy as np\nimport sibling\n"
            "def run(a, b=1):\n    print('adding', a, b)\n    return {'sum': sibling.add(a, b), 'array': np.arange(3) * 0.5}\n"
            "def data():\n"
            "    open('note.txt', 'w').write('written')\n"
            "    here = os.path.dirname(__file__)\n"
            "    return [open(here + '/data/words.txt').read(), os.listdir('.'), os.getcwd() == os.environ['TMPDIR']]\n"
            "def draws():\n    import random\n    return [random.random(), float(np.random.random())]\n"
            "class Box:\n    @staticmethod\n    def size():\n        return 7\n"
        ),
        "sibling.py": "def add(a, b):\n    return a + b\n",
        "data/words.txt": "alpha beta",
    }
)


async def test_a_function_gives_its_value_and_what_it_printed(programs: SandboxedPrograms) -> None:
    result = await programs.call(TOOL, "tool:run", {"a": 2, "b": 40}, seconds=5)
    assert result.error == ""
    assert result.value == {"sum": 42, "array": [0.0, 0.5, 1.0]}
    assert (result.stdout, result.stderr) == ("adding 2 40\n", "")
    assert 0 < result.seconds < 5


async def test_a_coroutine_is_awaited_with_its_timers_threads_and_tasks(programs: SandboxedPrograms) -> None:
    code = (
        "import asyncio\nasync def half(a):\n    await asyncio.sleep(0.01)\n    return a / 2\n"
        "async def run(a):\n    later = await asyncio.to_thread(pow, a, 2)\n"
        "    return [later, *await asyncio.gather(half(a), half(3))]\n"
        "async def late():\n    await asyncio.wait_for(asyncio.Event().wait(), 0.01)\n"
    )
    tree = SourceTree({"tool.py": code})
    assert (await programs.call(tree, "tool:run", {"a": 4}, seconds=5)).value == [16, 2.0, 1.5]
    failed = await programs.call(tree, "tool:late", {}, seconds=5)
    assert (failed.error, failed.message.startswith("TimeoutError")) == ("tool_error", True)


async def test_the_files_of_a_program_are_readable_and_its_working_folder_is_scratch(
    programs: SandboxedPrograms,
) -> None:
    for _ in range(2):
        result = await programs.call(TOOL, "tool:data", {}, seconds=5)
        assert result.value == ["alpha beta", ["note.txt"], True]


async def test_every_call_starts_from_the_same_random_state_and_a_fresh_process(programs: SandboxedPrograms) -> None:
    first, second = [await programs.call(TOOL, "tool:draws", {}, seconds=5) for _ in range(2)]
    assert first.value == second.value
    counting = SourceTree({"tool.py": "count = 0\ndef run():\n    global count\n    count += 1\n    return count\n"})
    assert [(await programs.call(counting, "tool:run", {}, seconds=5)).value for _ in range(2)] == [1, 1]


async def test_functions_may_lie_in_packages_and_in_classes(programs: SandboxedPrograms) -> None:
    tree = SourceTree({"pack/__init__.py": "", "pack/json.py": "def run():\n    return __name__\n", **TOOL})
    assert (await programs.call(tree, "pack.json:run", {}, seconds=5)).value == "pack.json"
    assert (await programs.call(tree, "tool:Box.size", {}, seconds=5)).value == 7


async def test_a_module_may_have_the_name_of_one_that_the_sandbox_has_imported(programs: SandboxedPrograms) -> None:
    for name in ("program", "frames", "random", "heapq"):
        tree = SourceTree({f"{name}.py": "def run():\n    return 'mine'\n"})
        assert (await programs.call(tree, f"{name}:run", {}, seconds=5)).value == "mine"


@pytest.mark.parametrize("function", ["tool", "tool:", ":run", "tool:run()", "../tool:run", "tool:run:run", "tööl:run"])
async def test_what_names_no_function_is_refused(function: str, programs: SandboxedPrograms) -> None:
    with pytest.raises(ConfigError, match="names no function"):
        await programs.call(TOOL, function, {}, seconds=1)


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
async def test_arguments_that_are_no_json_are_refused(value: Any, programs: SandboxedPrograms) -> None:
    with pytest.raises(ConfigError, match="must be JSON"):
        await programs.call(TOOL, "tool:run", {"a": value}, seconds=1)


@pytest.mark.parametrize(
    ("function", "said"),
    [("other:run", "no other.py"), ("tool:walk", "no function 'walk'"), ("tool:np.no", "no function 'no'")],
)
async def test_a_missing_function_is_said_to_be_missing(function: str, said: str, programs: SandboxedPrograms) -> None:
    result = await programs.call(TOOL, function, {}, seconds=1)
    assert result.error == "missing"
    assert said in result.message


FAILURES = {
    "raises": ("x = {}\nreturn x['colour']", "tool_error", "KeyError: 'colour'", 'File "tool.py", line 4, in run'),
    "leaves": ("import sys\nsys.exit(3)", "tool_error", "SystemExit: 3", "line 4"),
    "interrupts": ("raise KeyboardInterrupt", "tool_error", "KeyboardInterrupt", "line 3"),
    "reads": ("return input()", "tool_error", "EOFError", "line 3"),
    "recursion": ("return run()", "tool_error", "RecursionError", "line 3"),
    "denied": ("import torch", "tool_error", "'torch' is not available", "line 3"),
    "own message": (
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd",
        "tool_error",
        "Odd: (its message cannot be shown)",
        "line 6",
    ),
    "hangs": ("while True:\n    pass", "timeout", "took more than 0.4 s", ""),
    "sleeps": ("import time\ntime.sleep(60)", "timeout", "took more than 0.4 s", ""),
    "one allocation": ("return len(bytearray(1 << 30))", "oom", "MemoryError", "line 3"),
    "many allocations": ("kept = []\nwhile True:\n    kept.append('x' * 5000)", "oom", "MemoryError", "line 5"),
    "exits": ("import os\nos._exit(0)", "crash", "it ended itself", ""),
    "exits badly": ("import os\nos._exit(9)", "crash", "exit status 9", ""),
    "segfault": ("import ctypes\nctypes.string_at(0)", "crash", "SIGSEGV", ""),
    "endless recursion": (
        "import sys, json\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6):\n    x = [x]\njson.dumps(x)",
        "crash",
        "signal",
        "",
    ),
    "closes": ("import os\nos.close(4)\nimport time\ntime.sleep(9)", "crash", "closed its pipe", ""),
    "kills itself": ("import os\nos.kill(os.getpid(), 9)", "tool_error", "PermissionError", "line 4"),
    "forks": ("import os\nwhile True:\n    os.fork()", "tool_error", "PermissionError", "line 5"),
    "no number": ("return float('nan')", "output", "not JSON compliant", ""),
    "infinite": ("return [1e308 * 10]", "output", "not JSON compliant", ""),
    "object": ("return object()", "output", "object is no JSON value", ""),
    "circle": ("x = []\nx.append(x)\nreturn x", "output", "Circular", ""),
    "surrogate": ("return '\\ud800'", "output", "surrogates not allowed", ""),
    "huge": ("return 'x' * 70000", "output", "more than 65536", ""),
    "deep": ("x = []\nfor _ in range(100):\n    x = [x]\nreturn x", "output", "nested more than 64", ""),
    "very deep": ("x = []\nfor _ in range(10000):\n    x = [x]\nreturn x", "output", "recursion", ""),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failing_function_says_how_and_where(name: str, run: Call) -> None:
    body, error, message, location = FAILURES[name]
    result = await run(body, seconds=0.4 if error == "timeout" else 120.0)
    assert (result.error, result.value) == (error, None), result
    assert message in result.message
    assert location in result.traceback
    assert "/tmp" not in result.traceback


async def test_a_module_that_fails_on_import_is_a_tool_error_with_its_line(run: Call) -> None:
    result = await run("pass", top="import json\n1 / 0")
    assert (result.error, result.message) == ("tool_error", "ZeroDivisionError: division by zero")
    assert 'File "tool.py", line 2, in <module>' in result.traceback
    assert (await run("pass", top="def broken(:")).message.startswith("SyntaxError")


async def test_an_import_that_hangs_is_a_timeout() -> None:
    tree = SourceTree({"tool.py": "import time\ntime.sleep(60)\ndef run(): pass\n"})
    async with SandboxedPrograms(1, ProgramLimits(init_s=0.3)) as programs:
        result = await programs.call(tree, "tool:run", {}, seconds=5)
    assert (result.error, result.message) == ("timeout", "importing the program took more than 0.3 s")


async def test_what_is_printed_is_kept_up_to_its_limit_however_much_it_is(run: Call) -> None:
    result = await run(
        "import sys\nfor _ in range(100):\n    print('x' * (1 << 20))\nsys.stderr.write('end')\nreturn 1"
    )
    assert result.value == 1
    assert result.stdout == "x" * ProgramLimits().output_bytes
    assert result.stderr == "end"


async def test_what_was_printed_is_there_after_a_timeout_a_crash_and_without_python(run: Call) -> None:
    late = await run("print('before')\nwhile True: pass", seconds=0.3)
    assert (late.error, late.stdout) == ("timeout", "before\n")
    crashed = await run("print('before \\ud800')\nimport os\nos.write(2, b'below')\nos._exit(1)")
    assert (crashed.error, crashed.stdout, crashed.stderr) == ("crash", "before ?\n", "below")
    full = await run("import os\nwhile True:\n    os.write(1, bytes(1 << 20))")
    assert (full.error, len(full.stdout)) == ("tool_error", ProgramLimits().output_bytes)


async def test_threads_left_running_end_with_the_call(run: Call) -> None:
    top = "import threading, time\ndef spin():\n    while True: time.sleep(0.01)\n"
    result = await run("for _ in range(8): threading.Thread(target=spin).start()\nreturn 'left'", top=top)
    assert result.value == "left"
    assert result.seconds < 2
    many = await run("for _ in range(500): threading.Thread(target=spin).start()", top=top)
    assert (many.error, many.message) == ("tool_error", "RuntimeError: can't start new thread")


@pytest.mark.parametrize("field", ["memory_bytes", "wall_s", "requests"])
def test_a_limit_must_be_finite_and_above_zero(field: str) -> None:
    for value in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match=field):
            ProgramLimits(**{field: value})
