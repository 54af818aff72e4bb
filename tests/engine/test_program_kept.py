from __future__ import annotations

import asyncio
from typing import Any

import pytest

from heredity._core.errors import ConfigError, ProviderError
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.resources import SourceTree

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORLD = SourceTree(
    {
        "world.py": (
            "import os, threading, time\n"
            "from heredity_guest import ServiceError, ask\n"
            "class World:\n"
            "    def __init__(self, start):\n"
            "        print('made')\n"
            "        self.total = start\n"
            "        if start < 0:\n"
            "            raise ValueError('below zero')\n"
            "    def add(self, n=1, wait=0.0):\n"
            "        print('adding', n)\n"
            "        time.sleep(wait)\n"
            "        self.total += n\n"
            "        return self.total\n"
            "    def fail(self):\n        raise KeyError('lost')\n"
            "    def big(self):\n        return 'x' * (1 << 20)\n"
            "    def hang(self):\n        print('hanging', flush=True)\n        while True: pass\n"
            "    def leave(self):\n        threading.Timer(0.05, os._exit, (5,)).start()\n"
            "    def chatter(self):\n        threading.Timer(0.05, os.write, (4, b'news')).start()\n"
            "    def spin(self):\n"
            "        def forever():\n            while True: pass\n"
            "        threading.Thread(target=forever, daemon=True).start()\n"
            "    def ask_later(self):\n"
            "        def later():\n"
            "            time.sleep(0.05)\n"
            "            try:\n                self.told = ask('model')\n"
            "            except ServiceError as error:\n                self.told = str(error)\n"
            "        threading.Thread(target=later).start()\n"
            "    def told_later(self):\n        return self.told\n"
            "    def ask(self, n):\n        return ask('model', n)\n"
            "    def __call__(self):\n        return 'called'\n"
            "def make(start):\n    return World(start + 1)\n"
        )
    }
)


async def test_an_object_keeps_its_state_and_each_call_has_its_own_output(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 5}) as world:
        assert (world.opened.error, world.opened.value, world.opened.stdout) == ("", None, "made\n")
        assert [(await world.call("add", {"n": n}, seconds=60)).value for n in (1, 2, 3)] == [6, 8, 11]
        result = await world.call("add", {}, seconds=60)
        assert (result.value, result.stdout) == (12, "adding 1\n")
        assert (await world.call("__call__", {}, seconds=60)).value == "called"
        assert world.alive
    assert not world.alive
    assert (await world.call("add", {}, seconds=60)).message == "the program is closed"


async def test_two_objects_of_one_program_share_nothing(programs: SandboxedPrograms) -> None:
    async with (
        programs.open(WORLD, "world:World", {"start": 0}) as one,
        programs.open(WORLD, "world:make", {"start": 0}) as other,
    ):
        assert [(await w.call("add", {}, seconds=60)).value for w in (one, other, one, other)] == [1, 2, 2, 3]


async def test_what_cannot_be_made_says_why_at_every_call(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": -1}) as world:
        assert not world.alive
        assert world.opened.message == "ValueError: below zero"
        assert 'File "world.py", line 8, in __init__' in world.opened.traceback
        assert await world.call("add", {}, seconds=60) == world.opened
    async with programs.open(WORLD, "wold:World", {}) as world:
        assert (await world.call("add", {}, seconds=60)).error == "missing"


async def test_a_method_that_fails_leaves_an_object_that_still_answers(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        failed = await world.call("fail", {}, seconds=60)
        assert (failed.error, failed.message) == ("tool_error", "KeyError: 'lost'")
        assert (await world.call("big", {}, seconds=60)).error == "output"
        assert (await world.call("missing", {}, seconds=60)).error == "missing"
        assert (await world.call("total", {}, seconds=60)).error == "missing"
        assert "unexpected keyword" in (await world.call("add", {"m": 1}, seconds=60)).message
        assert (await world.call("add", {}, seconds=60)).value == 1
        with pytest.raises(ConfigError, match="not a method name"):
            await world.call("add.x", {}, seconds=60)


async def test_a_call_that_takes_too_long_ends_the_object(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        late = await world.call("hang", {}, seconds=0.2)
        assert (late.error, late.stdout) == ("timeout", "hanging\n")
        after = await world.call("add", {}, seconds=60)
        assert (after.error, after.message) == ("crash", "the program has ended in an earlier call")
        assert not world.alive


@pytest.mark.parametrize(("method", "said"), [("leave", "exit status 5"), ("chatter", "between two calls")])
async def test_what_a_process_does_between_calls_is_found_at_the_next(
    method: str, said: str, programs: SandboxedPrograms
) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        assert (await world.call(method, {}, seconds=60)).error == ""
        await asyncio.sleep(0.3)
        result = await world.call("add", {}, seconds=60)
        assert result.error == "crash"
        assert said in result.message


async def test_services_answer_during_calls_alone(programs: SandboxedPrograms) -> None:
    async def model(value: Any) -> Any:
        return {"got": value}

    async with programs.open(WORLD, "world:World", {"start": 0}, services={"model": model}) as world:
        assert (await world.call("ask", {"n": 3}, seconds=60)).value == {"got": 3}
        await world.call("ask_later", {}, seconds=60)
        await asyncio.sleep(0.2)
        refusal = (await world.call("told_later", {}, seconds=60)).value
        assert refusal == "a service can only be asked while the host waits for a call"


async def test_the_error_of_a_service_that_failed_ends_the_object(programs: SandboxedPrograms) -> None:
    async def model(value: Any) -> Any:
        raise ProviderError("timeout", "no answer", transient=True)

    async with programs.open(WORLD, "world:World", {"start": 0}, services={"model": model}) as world:
        with pytest.raises(ProviderError):
            await world.call("ask", {"n": 1}, seconds=60)
        assert not world.alive


async def test_calls_of_several_tasks_come_one_after_the_other(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        results = await asyncio.gather(*(world.call("add", {"wait": 0.01}, seconds=60) for _ in range(5)))
        assert [r.value for r in results] == [1, 2, 3, 4, 5]


async def test_a_cancelled_call_ends_the_object(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        call = asyncio.create_task(world.call("hang", {}, seconds=30))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await world.call("add", {}, seconds=60)).error == "crash"


async def test_leaving_while_another_task_calls_ends_that_call(programs: SandboxedPrograms) -> None:
    async with programs.open(WORLD, "world:World", {"start": 0}) as world:
        call = asyncio.create_task(world.call("hang", {}, seconds=30))
        await asyncio.sleep(0.1)
    result = await asyncio.wait_for(call, 5)
    assert (result.error, result.message) == ("crash", "the program was closed in the middle of a call")


async def test_an_object_that_waits_for_its_next_call_takes_no_place() -> None:
    async with SandboxedPrograms(1) as one:
        worlds = [one.open(WORLD, "world:World", {"start": n}) for n in range(3)]
        for world in worlds:
            await world.__aenter__()
        assert [(await w.call("add", {}, seconds=60)).value for w in worlds] == [1, 2, 3]
        for world in worlds:
            await world.__aexit__()


async def test_output_of_many_calls_never_fills_what_it_goes_to() -> None:
    tree = SourceTree({"talk.py": "class Talk:\n    def talk(self):\n        print('x' * 50000)\n        return 1\n"})
    async with (
        SandboxedPrograms(1, ProgramLimits(scratch_bytes=1 << 18)) as programs,
        programs.open(tree, "talk:Talk", {}) as conversation,
    ):
        for _ in range(30):
            result = await conversation.call("talk", {}, seconds=60)
            assert (result.value, len(result.stdout)) == (1, 50001)


async def test_processor_time_between_calls_is_bounded() -> None:
    async with (
        SandboxedPrograms(1, ProgramLimits(kept_cpu_s=1)) as programs,
        programs.open(WORLD, "world:World", {"start": 0}) as world,
    ):
        assert (await world.call("spin", {}, seconds=60)).error == ""
        for _ in range(200):
            await asyncio.sleep(0.1)
            if (result := await world.call("add", {}, seconds=60)).error:
                break
        assert (result.error, result.message) == ("timeout", "the program exceeded its CPU time limit")
