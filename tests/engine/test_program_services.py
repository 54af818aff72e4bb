from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from heredity._core.errors import BudgetError, HostError, ProviderError
from heredity.engine.actor import ToolResult
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.resources import SourceTree

pytestmark = pytest.mark.asyncio(loop_scope="module")

Call = Callable[..., Awaitable[ToolResult]]


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
        result = await programs.call(tree, "tool:run", {}, seconds=60, services={"never": never})
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
        result = await programs.call(tree, "tool:run", {}, seconds=60, services={"count": count})
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
    async with SandboxedPrograms(1) as programs:
        adder = SourceTree({"tool.py": "def run(a):\n    return a + 1\n"})

        async def tool(value: Any) -> Any:
            return (await programs.call(adder, "tool:run", {"a": value}, seconds=60)).value

        agent = SourceTree({"agent.py": "from heredity_guest import ask\ndef solve():\n    return ask('tool', 4)\n"})
        calls = [programs.call(agent, "agent:solve", {}, seconds=60, services={"tool": tool}) for _ in range(3)]
        assert [r.value for r in await asyncio.gather(*calls)] == [5, 5, 5]
