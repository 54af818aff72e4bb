from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from heredity.actors.contract import ToolResult
from heredity.errors import BudgetError, ConfigError, HostError, ProviderError
from heredity.resources import SourceTree
from heredity.rollouts.program_process import ProgramLimits
from heredity.rollouts.programs import SandboxedPrograms, call_once

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

LIMITS = ProgramLimits(memory_bytes=256 << 20, init_s=2.0, wall_s=20.0, result_bytes=1 << 16)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2, LIMITS) as running:
        yield running


@pytest.fixture
def run(programs: SandboxedPrograms) -> Call:
    """Call the function `run` of a program with the given lines in it."""

    async def call(body: str, *, top: str = "", seconds: float = 2.0, **options: Any) -> ToolResult:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        tree = SourceTree({"tool.py": f"{top}\ndef run():\n{lines}"})
        return await programs.call(tree, "tool:run", {}, seconds=seconds, **options)

    return call


async def test_a_function_gives_its_value_and_what_it_printed(programs: SandboxedPrograms) -> None:
    result = await programs.call(TOOL, "tool:run", {"a": 2, "b": 40}, seconds=5)
    assert result.error == ""
    assert result.value == {"sum": 42, "array": [0.0, 0.5, 1.0]}
    assert (result.stdout, result.stderr) == ("adding 2 40\n", "")
    assert 0 < result.seconds < 5


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
    "closes": ("import os\nos.close(4)\nimport time\ntime.sleep(9)", "oom", "closed its pipe", ""),
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
    body, error, message, place = FAILURES[name]
    result = await run(body, seconds=0.4 if error == "timeout" else 5.0)
    assert (result.error, result.value) == (error, None), result
    assert message in result.message
    assert place in result.traceback
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
    assert result.stdout == "x" * LIMITS.output_bytes
    assert result.stderr == "end"


async def test_what_was_printed_is_there_after_a_timeout_a_crash_and_without_python(run: Call) -> None:
    late = await run("print('before')\nwhile True: pass", seconds=0.3)
    assert (late.error, late.stdout) == ("timeout", "before\n")
    crashed = await run("print('before \\ud800')\nimport os\nos.write(2, b'below')\nos._exit(1)")
    assert (crashed.error, crashed.stdout, crashed.stderr) == ("crash", "before ?\n", "below")
    full = await run("import os\nwhile True:\n    os.write(1, bytes(1 << 20))")
    assert (full.error, len(full.stdout)) == ("tool_error", LIMITS.output_bytes)


async def test_threads_left_running_end_with_the_call(run: Call) -> None:
    top = "import threading, time\ndef spin():\n    while True: time.sleep(0.01)\n"
    result = await run("for _ in range(8): threading.Thread(target=spin).start()\nreturn 'left'", top=top)
    assert result.value == "left"
    assert result.seconds < 2
    many = await run("for _ in range(500): threading.Thread(target=spin).start()", top=top)
    assert (many.error, many.message) == ("tool_error", "RuntimeError: can't start new thread")


# --- services


async def test_a_program_may_ask_the_host(run: Call) -> None:
    async def double(value: Any) -> Any:
        return {"twice": value * 2}

    body = "from heredity_guest import ask\nreturn [ask('double', x) for x in (1, 'a', [2])]"
    result = await run(body, services={"double": double})
    assert result.value == [{"twice": 2}, {"twice": "aa"}, {"twice": [2, 2]}]


async def test_large_requests_and_answers_pass_whole(run: Call) -> None:
    async def echo(value: Any) -> Any:
        return value * 4

    body = "from heredity_guest import ask\nreturn len(ask('echo', 'ä' * 200_000))"
    assert (await run(body, services={"echo": echo})).value == 800_000


async def test_waiting_for_a_service_does_not_count_as_the_programs_time(run: Call) -> None:
    async def slow(value: Any) -> Any:
        await asyncio.sleep(0.5)

    asking = "from heredity_guest import ask\nask('slow')\nreturn 1"
    assert (await run(asking, seconds=0.3, services={"slow": slow})).value == 1
    late = await run(f"{asking.rpartition(chr(10))[0]}\nwhile True: pass", seconds=0.3, services={"slow": slow})
    assert (late.error, late.message) == ("timeout", "the call took more than 0.3 s")


async def test_the_whole_of_a_call_is_bounded_with_what_it_waits_for() -> None:
    cancelled = asyncio.Event()

    async def never(value: Any) -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    tree = SourceTree({"tool.py": "from heredity_guest import ask\ndef run():\n    ask('never')\n"})
    async with SandboxedPrograms(1, ProgramLimits(wall_s=0.4)) as programs:
        result = await programs.call(tree, "tool:run", {}, seconds=5, services={"never": never})
    assert result.error == "timeout"
    assert "0.4 s in all" in result.message
    assert cancelled.is_set()


REFUSED = {
    "unknown": ("ask('modle', 1)", "ServiceError: there is no service 'modle'; there are: bad, broke"),
    "no name": ("ask(['x'], 1)", "ServiceError: there is no service \"['x']\""),
    "bad request": ("ask('bad', {})", "ServiceError: KeyError: 'messages'"),
    "refused": ("ask('broke', 1)", "ServiceError: BudgetError: nothing is left"),
    "no json": ("ask('bad', object())", "cannot be sent: object is no JSON value"),
    "surrogate": ("ask('bad', '\\udc00')", "cannot be sent"),
    "too large": ("ask('bad', 'x' * (1 << 21))", "more than 1048576"),
    "too deep": (
        "x = []\nfor _ in range(99):\n    x = [x]\nask('bad', x)",
        "the request is no JSON that can be read: nested more than 64 deep",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_cannot_be_served_is_raised_in_the_program(name: str, run: Call) -> None:
    async def bad(value: Any) -> Any:
        return value["messages"]

    async def broke(value: Any) -> Any:
        raise BudgetError("nothing is left")

    body, message = REFUSED[name]
    result = await run(f"from heredity_guest import ask\n{body}", services={"bad": bad, "broke": broke})
    assert result.error == "tool_error"
    assert message in result.message


async def test_a_program_may_catch_what_a_service_refuses(run: Call) -> None:
    body = (
        "from heredity_guest import ServiceError, ask\ntry:\n    ask('none')\nexcept ServiceError:\n    return 'caught'"
    )
    assert (await run(body)).value == "caught"


async def test_a_service_that_the_host_or_a_provider_failed_ends_the_call_with_that_error(run: Call) -> None:
    async def model(value: Any) -> Any:
        raise ProviderError("server", "500", transient=True)

    body = "from heredity_guest import ask\ntry:\n    ask('model')\nexcept BaseException:\n    return 1"
    with pytest.raises(ProviderError):
        await run(body, services={"model": model})

    async def unsendable(value: Any) -> Any:
        return object()

    with pytest.raises(HostError, match="gave what is no JSON"):
        await run(body, services={"model": unsendable})


async def test_the_number_of_requests_is_bounded() -> None:
    served = 0

    async def count(value: Any) -> Any:
        nonlocal served
        served += 1

    tree = SourceTree({"tool.py": "from heredity_guest import ask\ndef run():\n    while True: ask('count')\n"})
    async with SandboxedPrograms(1, ProgramLimits(requests=20)) as programs:
        result = await programs.call(tree, "tool:run", {}, seconds=5, services={"count": count})
    assert (result.error, served) == ("tool_error", 20)
    assert "more than 20 times" in result.message


async def test_threads_may_ask_at_the_same_time(run: Call) -> None:
    async def echo(value: Any) -> Any:
        await asyncio.sleep(0.001)
        return value

    body = (
        "from concurrent.futures import ThreadPoolExecutor\nfrom heredity_guest import ask\n"
        "with ThreadPoolExecutor(8) as pool:\n    return list(pool.map(lambda x: ask('echo', x), range(40)))"
    )
    assert (await run(body, services={"echo": echo})).value == list(range(40))


async def test_a_service_may_call_another_program_though_there_is_one_place() -> None:
    async with SandboxedPrograms(1, LIMITS) as programs:

        async def tool(value: Any) -> Any:
            return (await programs.call(TOOL, "tool:run", {"a": value}, seconds=5)).value["sum"]

        agent = SourceTree({"agent.py": "from heredity_guest import ask\ndef solve():\n    return ask('tool', 4)\n"})
        calls = [programs.call(agent, "agent:solve", {}, seconds=5, services={"tool": tool}) for _ in range(3)]
        assert [r.value for r in await asyncio.gather(*calls)] == [5, 5, 5]


# --- several at once, cancellation, the end


async def test_more_programs_wait_at_once_than_one_zygote_holds() -> None:
    together, arrived = 18, 0
    everyone = asyncio.Event()

    async def meet(value: Any) -> Any:
        nonlocal arrived
        arrived += 1
        if arrived == together:
            everyone.set()
        await everyone.wait()

    tree = SourceTree({"tool.py": "from heredity_guest import ask\ndef run():\n    ask('meet')\n    return 1\n"})
    async with SandboxedPrograms(2, LIMITS) as programs:
        calls = [programs.call(tree, "tool:run", {}, seconds=5, services={"meet": meet}) for _ in range(together)]
        assert [r.value for r in await asyncio.gather(*calls)] == [1] * together


async def test_no_more_programs_run_at_once_than_there_are_places(programs: SandboxedPrograms) -> None:
    tree = SourceTree({"tool.py": "import time\ndef run():\n    time.sleep(0.2)\n"})
    started = time.monotonic()
    await asyncio.gather(*(programs.call(tree, "tool:run", {}, seconds=5) for _ in range(6)))
    assert time.monotonic() - started >= 0.6


def guests() -> list[int]:
    """Return the processes below this one."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


async def settled(count: int) -> bool:
    for _ in range(100):
        if len(guests()) <= count:
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_cancelled_call_ends_its_process_and_the_next_one_works(programs: SandboxedPrograms) -> None:
    hang = SourceTree({"tool.py": "def run():\n    while True: pass\n"})
    assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=5)).value
    await asyncio.sleep(0.1)
    before = len(guests())
    calls = [asyncio.create_task(programs.call(hang, "tool:run", {}, seconds=30)) for _ in range(4)]
    await asyncio.sleep(0.2)
    assert len(guests()) > before
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert await settled(before)
    assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=5)).value


async def test_the_event_loop_goes_on_while_programs_run(programs: SandboxedPrograms) -> None:
    hang = SourceTree({"tool.py": "import time\ndef run():\n    time.sleep(0.5)\n    return 'x' * 60000\n"})
    calls = asyncio.gather(*(programs.call(hang, "tool:run", {}, seconds=3) for _ in range(2)))
    ticks = 0
    while not calls.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks > 20


async def test_closing_ends_everything_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    hang = SourceTree({"tool.py": "def run():\n    while True: pass\n"})
    before = len(guests())
    programs = SandboxedPrograms(2, LIMITS)
    call = asyncio.create_task(programs.call(hang, "tool:run", {}, seconds=30))
    kept = programs.open(TOOL, "tool:Box", {})
    await kept.__aenter__()
    await programs.close()
    with pytest.raises(HostError, match="the sandbox ended"):
        await call
    assert not kept.alive
    await kept.__aexit__()
    await programs.close()
    assert await settled(before)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(HostError, match="closed"):
        await programs.call(TOOL, "tool:run", {"a": 1}, seconds=1)


async def test_a_dead_zygote_is_the_hosts_fault_and_another_one_is_started() -> None:
    hang = SourceTree({"tool.py": "def run():\n    while True: pass\n"})
    others = set(guests())
    async with SandboxedPrograms(1, LIMITS) as programs:
        call = asyncio.create_task(programs.call(hang, "tool:run", {}, seconds=30))
        await asyncio.sleep(0.5)
        for guest in set(guests()) - others:
            os.kill(guest, signal.SIGKILL)
        with pytest.raises(HostError):
            await call
        assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=5)).value["sum"] == 2


def test_guests_end_when_their_host_is_killed() -> None:
    code = (
        "import asyncio\n"
        "from heredity.resources import SourceTree\n"
        "from heredity.rollouts.programs import SandboxedPrograms\n"
        "tree = SourceTree({'tool.py': 'def run():\\n    print(1)\\n    while True: pass\\n'})\n"
        "async def main():\n"
        "    programs = SandboxedPrograms(1)\n"
        "    call = asyncio.create_task(programs.call(tree, 'tool:run', {}, seconds=60))\n"
        "    await asyncio.sleep(0.8)\n"
        "    print('running', flush=True)\n"
        "    await call\n"
        "asyncio.run(main())\n"
    )
    before = set(guests())
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline() == b"running\n"
    spawned = set(guests()) - before
    assert len(spawned) >= 3
    host.kill()
    host.wait()
    host.stdout.close()
    for _ in range(100):
        if not any(Path(f"/proc/{pid}/exe").exists() for pid in spawned):
            return
        time.sleep(0.02)
    pytest.fail("processes of a killed host are still there")


def test_a_call_can_be_made_without_an_event_loop() -> None:
    assert call_once(TOOL, "tool:run", {"a": 20, "b": 22}, 5.0).value["sum"] == 42


@pytest.mark.parametrize("field", ["memory_bytes", "wall_s", "requests"])
def test_a_limit_must_be_finite_and_above_zero(field: str) -> None:
    for value in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match=field):
            ProgramLimits(**{field: value})
