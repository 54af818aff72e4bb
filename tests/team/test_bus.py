"""The bus: every request ends, one participant cannot stop the others, and what is recorded is not done again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, ProviderError, RecordError, UnknownNameError
from heredity.team import Bus, Context, EffectInDoubtError, Kind, Message, Outcome, Participant, Record, open_record


def run(scenario: Callable[[Bus], Awaitable[Any]], record: Record | None = None) -> Any:
    async def whole() -> Any:
        async with Bus(record, timeout=20) as bus:
            return await scenario(bus)

    return asyncio.run(whole())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (what is waited for is what anybody sees, not an event of the bus)
        await asyncio.sleep(0.001)


async def add(message: Message, _: Context) -> int:
    return sum(message.body["numbers"])


async def hang(_: Message, __: Context) -> None:
    await asyncio.Event().wait()


def test_a_request_is_answered_and_both_messages_are_kept_before_anybody_acts() -> None:
    async def scenario(bus: Bus) -> list[Message]:
        bus.register(Participant("adder", add))
        answer = await bus.outside.request("adder", {"numbers": [1, 2]})
        assert (answer.outcome, answer.value, answer.sender) == (Outcome.OK, 3, "adder")
        return list(bus.record.messages.values())

    asked, answered = run(scenario)
    assert (asked.id, asked.to, answered.id, answered.parent) == ("1", ("adder",), "1!", "1")
    assert Message.from_json(answered.to_json()) == answered


@pytest.mark.parametrize(
    ("raised", "said"),
    [(ValueError("no"), "ValueError: no"), (SystemExit(3), "SystemExit: 3"), (StopIteration(), "StopIteration")],
)
def test_a_participant_that_raises_is_a_result_for_its_caller(raised: BaseException, said: str) -> None:
    async def fail(_: Message, __: Context) -> None:
        raise raised

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("bad", fail))
        bus.register(Participant("adder", add))
        answer = await bus.outside.request("bad", {})
        assert answer.outcome is Outcome.FAILED
        assert said in answer.error
        assert (await bus.outside.request("adder", {"numbers": [4]})).value == 4

    run(scenario)


@pytest.mark.parametrize("value", [float("nan"), object(), "x" * 300_000, {1, 2}])
def test_an_answer_that_cannot_be_recorded_is_a_failure_of_whoever_gave_it(value: Any) -> None:
    async def give(_: Message, __: Context) -> Any:
        return value

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("giver", give))
        answer = await bus.outside.request("giver", {})
        assert answer.outcome is Outcome.FAILED
        assert "what giver answered" in answer.error

    run(scenario)


def test_one_that_hangs_is_timed_out_and_its_seat_is_free_again() -> None:
    async def sometimes(message: Message, context: Context) -> Any:
        return await (hang if message.body["hang"] else add)(message, context)

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("slow", sometimes, concurrency=1))
        late = await bus.outside.request("slow", {"hang": True}, timeout=0.05)
        assert late.outcome is Outcome.TIMED_OUT
        assert "0.05 s" in late.error
        assert (await bus.outside.request("slow", {"hang": False, "numbers": [1]})).value == 1

    run(scenario)


def test_one_that_ignores_its_cancellation_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.team.bus._GRACE", 0.05)
    released = asyncio.Event()

    async def stubborn(message: Message, _: Context) -> int:
        while message.body["stubborn"] and not released.is_set():
            try:
                await asyncio.wait_for(released.wait(), 5)
            except asyncio.CancelledError:
                continue
        return 1

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("stubborn", stubborn, concurrency=1))
        late = await bus.outside.request("stubborn", {"stubborn": True}, timeout=0.05)
        assert late.outcome is Outcome.TIMED_OUT
        assert (await bus.outside.request("stubborn", {"stubborn": False})).value == 1
        assert bus.abandoned == 1
        released.set()

    run(scenario)


def test_cancelling_reaches_what_the_participants_below_are_doing() -> None:
    started, stopped = list[str](), list[str]()

    async def tool(_: Message, __: Context) -> None:
        started.append("tool")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("tool")

    async def middle(_: Message, context: Context) -> None:
        await context.request("tool", {})

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("tool", tool))
        bus.register(Participant("middle", middle))
        asking = asyncio.create_task(bus.outside.request("middle", {}, key="whole"))
        await until(lambda: bool(started))
        assert await bus.cancel("whole", "the user changed their mind")
        answer = await asking
        assert (answer.outcome, answer.error) == (Outcome.CANCELLED, "the user changed their mind")
        await until(lambda: stopped == ["tool"])
        assert bus.record.result("whole.1") is None, "nobody asks for it any more"
        assert not await bus.cancel("whole")

    run(scenario)


def test_a_flood_holds_back_its_sender_alone() -> None:
    handled: list[str] = []

    async def slow(message: Message, _: Context) -> None:
        handled.append(message.sender)
        await asyncio.sleep(0.001)

    async def flood(_: Message, context: Context) -> None:
        await asyncio.gather(*(context.send("busy", {"n": n}, priority=9) for n in range(2_000)))

    async def scenario(bus: Bus) -> None:
        accepts = frozenset({Kind.NOTE, Kind.TASK})
        bus.register(Participant("busy", slow, accepts=accepts, concurrency=1, capacity=4))
        bus.register(Participant("flooder", flood))
        flooding = asyncio.create_task(bus.outside.request("flooder", {}))
        await until(lambda: len(handled) >= 20)
        before = len(handled)
        assert (await bus.outside.request("busy", {})).ok
        assert len(handled) - before <= 8, "a message of somebody else waits for a turn, not for the flood"
        flooding.cancel()

    run(scenario)


def test_participants_that_ask_each_other_do_not_wait_for_each_others_places() -> None:
    at_work, most = list[int](), list[int]()

    async def ask(message: Message, context: Context) -> int:
        other = {"left": "right", "right": "left"}[context.name]
        if depth := message.body["depth"]:
            answer = await context.request(other, {"depth": depth - 1}, timeout=15)
            assert answer.ok, answer.error
        at_work.append(1)
        most.append(len(at_work))
        await asyncio.sleep(0)
        at_work.pop()
        return depth

    async def scenario(bus: Bus) -> None:
        for name in ("left", "right"):
            bus.register(Participant(name, ask, concurrency=2, capacity=2))
        asking = [bus.outside.request(name, {"depth": 4}) for name in ("left", "right") for _ in range(6)]
        assert [answer.outcome for answer in await asyncio.gather(*asking)] == ["ok"] * 12
        await until(lambda: all(len(seat.workers) == 2 for seat in bus._seats.values()))
        assert all((seat.idle, seat.lent) == (2, 0) for seat in bus._seats.values())

    run(scenario)
    assert max(most) >= 2


def test_one_that_waits_for_nobody_keeps_its_place() -> None:
    at_work, most = list[int](), list[int]()

    async def work(_: Message, context: Context) -> None:
        at_work.append(1)
        most.append(len(at_work))
        await asyncio.sleep(0.001)
        at_work.pop()

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("worker", work, concurrency=2))
        await asyncio.gather(*(bus.outside.request("worker", {}) for _ in range(20)))

    run(scenario)
    assert max(most) == 2


def test_agents_that_ask_in_circles_are_told_so_at_some_depth() -> None:
    async def ask(_: Message, context: Context) -> str:
        answer = await context.request("asker", {})
        return str(answer.value) if answer.ok else f"{answer.outcome}: {answer.error}"

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("asker", ask, concurrency=1))
        answer = await bus.outside.request("asker", {})
        assert answer.value == "refused: 16 wait for each other's answers already; answer without asking asker"

    run(scenario)


def test_of_one_sender_the_more_urgent_comes_first() -> None:
    order: list[int] = []
    gate = asyncio.Event()

    async def keep(message: Message, _: Context) -> None:
        await gate.wait()
        order.append(message.priority)

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("keeper", keep, concurrency=1))
        asks = [asyncio.create_task(bus.outside.request("keeper", {}, priority=p)) for p in (9, 1, 5, 8)]
        await until(lambda: len(bus.record.messages) == 4)
        gate.set()
        await asyncio.gather(*asks)

    run(scenario)
    assert order == [9, 8, 5, 1]


def test_requests_that_cannot_be_delivered_are_refused_with_a_reason() -> None:
    async def scenario(bus: Bus) -> None:
        bus.register(Participant("adder", add))
        unknown = await bus.outside.request("addr", {})
        assert (unknown.outcome, "did you mean adder?" in unknown.error) == (Outcome.REFUSED, True)
        other = await bus.outside.request("adder", {}, kind="invoice")
        assert (other.outcome, "accepts task, and not 'invoice'" in other.error) == (Outcome.REFUSED, True)
        with pytest.raises(UnknownNameError):
            await bus.outside.send("addr", {})
        with pytest.raises(ConfigError, match="is taken"):
            bus.register(Participant("adder", add))
        with pytest.raises(ConfigError, match="not JSON"):
            bus.outside.request("adder", {"numbers": {1}})

    run(scenario)


def test_one_that_leaves_refuses_what_it_has_not_answered() -> None:
    async def scenario(bus: Bus) -> None:
        bus.register(Participant("leaving", hang))
        asking = asyncio.create_task(bus.outside.request("leaving", {}))
        await until(lambda: "1" in bus.record.messages)
        await bus.unregister("leaving")
        answer = await asking
        assert (answer.outcome, answer.error) == (Outcome.REFUSED, "leaving has left")

    run(scenario)


def test_notes_go_to_all_who_accept_them_and_a_fault_goes_on_record(tmp_path: Path) -> None:
    heard: list[str] = []

    async def listen(message: Message, context: Context) -> None:
        heard.append(context.name)
        if context.name == "b":
            raise ValueError("cannot read it")

    async def scenario(bus: Bus) -> None:
        for name in "abc":
            bus.register(Participant(name, listen, accepts=frozenset({Kind.NOTE})))
        bus.register(Participant("deaf", listen))
        await bus.outside.send((), {"found": "a source"})
        await until(lambda: len(heard) == 3)

    with open_record(tmp_path) as record:
        run(scenario, record)
    assert sorted(heard) == ["a", "b", "c"]
    assert "ValueError: cannot read it" in (tmp_path / "journal.jsonl").read_text()


def test_partial_results_come_in_order_and_then_the_result() -> None:
    async def count(message: Message, context: Context) -> str:
        for n in range(message.body["to"]):
            await context.report({"n": n})
        return "done"

    async def scenario(bus: Bus) -> list[Any]:
        bus.register(Participant("counter", count))
        return [m.body.get("n", m.value) async for m in bus.outside.stream("counter", {"to": 100})]

    assert run(scenario) == [*range(100), "done"]


def test_a_bus_on_the_record_of_another_answers_from_it_and_does_the_rest(tmp_path: Path) -> None:
    calls, stuck = list[str](), asyncio.Event()

    async def work(message: Message, context: Context) -> str:
        calls.append(message.body["step"])
        if message.body["step"] == "second" and len(calls) == 2:
            stuck.set()
            await hang(message, context)
        return message.body["step"].upper()

    async def lead(_: Message, context: Context) -> list[str]:
        return [(await context.request("worker", {"step": step})).value for step in ("first", "second", "third")]

    async def scenario(bus: Bus) -> Any:
        bus.register(Participant("worker", work))
        bus.register(Participant("lead", lead))
        asking = asyncio.create_task(bus.outside.request("lead", {}, key="job"))
        if not calls:
            await stuck.wait()
            return None
        return (await asking).value

    for expected in (None, ["FIRST", "SECOND", "THIRD"]):
        with open_record(tmp_path) as record:
            assert run(scenario, record) == expected
    assert calls == ["first", "second", "second", "third"]


def test_another_question_under_a_recorded_id_is_not_answered_by_the_record() -> None:
    record = Record()

    async def ask(numbers: list[int]) -> Any:
        async with Bus(record) as bus:
            bus.register(Participant("adder", add))
            return (await bus.outside.request("adder", {"numbers": numbers})).value

    assert [asyncio.run(ask(numbers)) for numbers in ([1], [2], [1], [2])] == [1, 2, 1, 2]
    assert [m.id for m in record.messages.values() if m.kind == "task"] == ["1", "1~2"]


def test_an_effect_is_done_once_and_one_in_doubt_is_said_to_be() -> None:
    record, paid = Record(), list[int]()

    async def pay(_: Message, context: Context) -> Any:
        async def charge() -> int:
            paid.append(1)
            return len(paid)

        return await context.once("charge", charge, repeatable=False)

    async def scenario() -> Message:
        async with Bus(record) as bus:
            bus.register(Participant("payer", pay))
            return await bus.outside.request("payer", {})

    assert asyncio.run(scenario()).value == 1
    del record._results["1"]  # As if it had been killed between the effect and the answer.
    assert asyncio.run(scenario()).value == 1
    assert paid == [1]
    del record._results["1"]
    record._effects.clear()
    record._in_doubt.add("1#charge")
    answer = asyncio.run(scenario())
    assert EffectInDoubtError.__name__ in answer.error
    assert paid == [1]


def test_an_interrupted_request_is_asked_again_and_is_nobodys_failure() -> None:
    record, handled = Record(), list[int]()

    async def tool(_: Message, context: Context) -> int:
        handled.append(1)
        return await (hang if len(handled) == 1 else add)(Message("m", "task", "a", (), {"numbers": [7]}), context)

    async def lead(_: Message, context: Context) -> Any:
        return (await context.request("tool", {})).value

    async def scenario(bus: Bus) -> Any:
        bus.register(Participant("tool", tool))
        bus.register(Participant("lead", lead))
        asking = asyncio.create_task(bus.outside.request("lead", {}, key="job"))
        if not handled:
            await until(lambda: bool(handled))
            asking.cancel()
            return await asyncio.wait({asking})
        return (await asking).value

    run(scenario, record)
    assert [m.id for m in record.messages.values()] == ["job", "job.1"]
    assert run(scenario, record) == 7


def test_a_provider_that_does_not_answer_ends_the_request_and_is_not_recorded_as_a_failure() -> None:
    down, record = [True], Record()

    async def ask(_: Message, __: Context) -> str:
        if down:
            raise ProviderError("server", "is down", transient=True)
        return "answered"

    async def lead(_: Message, context: Context) -> Any:
        return (await context.request("asker", {})).value

    async def scenario(bus: Bus) -> Any:
        bus.register(Participant("asker", ask))
        bus.register(Participant("lead", lead))
        return (await bus.outside.request("lead", {}, key="job")).value

    with pytest.raises(ProviderError):
        run(scenario, record)
    down.clear()
    assert run(scenario, record) == "answered"


def test_a_full_disk_ends_in_an_error_and_never_in_an_answer_that_is_not_on_record(tmp_path: Path) -> None:
    async def scenario(bus: Bus) -> None:
        bus.register(Participant("adder", add))
        assert (await bus.outside.request("adder", {"numbers": [1]})).ok

        async def full(_: Any) -> None:
            raise RecordError("no space left")

        bus.record._commit = full  # type: ignore[method-assign]
        with pytest.raises(RecordError):
            await bus.outside.request("adder", {"numbers": [2]})

    with open_record(tmp_path) as record:
        run(scenario, record)


def test_a_second_process_may_not_open_the_record(tmp_path: Path) -> None:
    with open_record(tmp_path), pytest.raises(RecordError, match="in use by process"), open_record(tmp_path):
        pass


_TEAM = """
import asyncio, sys
from pathlib import Path
from heredity.team import Bus, Participant, open_record

async def work(message, context):
    async def write():
        with open(sys.argv[2], "a") as out:
            out.write(message.id + "\\n")
        return message.body["n"]
    return await context.once("write", write)

async def lead(message, context):
    for first in range(0, 60, 3):
        answers = [context.request("worker", {"n": n}, key=f"n{n}") for n in range(first, first + 3)]
        assert all(a.ok for a in await asyncio.gather(*answers))
    return 60

async def main():
    with open_record(Path(sys.argv[1])) as record:
        async with Bus(record) as bus:
            bus.register(Participant("worker", work)); bus.register(Participant("lead", lead))
            print((await bus.outside.request("lead", {}, key="job")).value, flush=True)

asyncio.run(main())
"""


def test_killed_at_any_instant_nothing_that_is_recorded_as_done_is_done_again(tmp_path: Path) -> None:
    script, written = tmp_path / "team.py", tmp_path / "written"
    script.write_text(_TEAM)
    command = [sys.executable, str(script), str(tmp_path / "record"), str(written)]
    kills = 0
    for lines in (1, 9, 20, 33, 50):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while process.poll() is None and (not written.exists() or written.read_text().count("\n") < lines):
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 5
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "60\n"
    effects = written.read_text().splitlines()
    assert len(set(effects)) == 60
    # What a kill met between doing and recording is done again: at most what was under way, three a kill.
    assert len(effects) <= 60 + 3 * kills


def test_a_participant_that_fails_before_it_is_awaited_answers_with_the_failure() -> None:
    def plain(message: Message, _: Context) -> Any:
        if message.body.get("raise"):
            raise ValueError("no coroutine here")
        return 7

    async def scenario(bus: Bus) -> None:
        bus.register(Participant("plain", plain))
        for body, error in (({"raise": True}, "ValueError: no coroutine here"), ({}, "TypeError"), ({}, "TypeError")):
            answered = await asyncio.wait_for(bus.outside.request("plain", body), 60)
            assert answered.outcome is Outcome.FAILED
            assert error in answered.error

    run(scenario)
