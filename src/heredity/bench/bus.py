"""Throughput of durable messages on a team's bus, and isolation of its participants from each other's faults.

The baseline is the same conversation over bare `asyncio.Queue`s without recording, in the same run: each participant
asks its neighbour, which answers. On the bus each request and answer is synced to disk before delivery.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity.team import Bus, Context, Kind, Message, Participant, open_record
from heredity.team.participant import Outcome

_TEXT = "a line of what one agent tells another, of about the usual length of a status or a short finding " * 3


def measure(participants: int = 50, messages: int = 10_000, repeats: int = 3) -> dict[str, Any]:
    """Return messages per second of the bus and of bare queues, and the participants that finished despite faulty ones.

    Args:
        participants: number of participants; each has several requests in flight.
        messages: requests and answers per repeat.
        repeats: number of timings of each side, alternating.

    Returns:
        `messages_per_s`, the median; `queues_per_s`, of the baseline; `ratio_to_queues`, the median over pairs; and
        `faults`: the number of neighbours of a hanging, a raising and a flooding participant that got all their
        answers.
    """
    pairs = [
        (asyncio.run(_bus(participants, messages)), asyncio.run(_queues(participants, messages)))
        for _ in range(repeats)
    ]
    return {
        "baseline": "the same conversation over asyncio queues, nothing recorded",
        "participants": participants,
        "messages": messages,
        "messages_per_s": round(statistics.median(bus for bus, _ in pairs)),
        "queues_per_s": round(statistics.median(queues for _, queues in pairs)),
        "ratio_to_queues": round(statistics.median(bus / queues for bus, queues in pairs), 4),
        "faults": asyncio.run(_faults(participants)),
    }


async def _bus(participants: int, messages: int) -> float:
    with EngineFolder() as folder, open_record(folder / "team") as record:
        async with Bus(record) as bus:

            async def reply(message: Message, _: Context) -> str:
                return message.body["text"]

            for i in range(participants):
                bus.register(Participant(f"p{i}", reply, concurrency=8))
            asks = messages // 2

            async def asker(i: int) -> None:
                for _ in range(i, asks, participants * 8):
                    result = await bus.outside.request(f"p{i % participants}", {"text": _TEXT})
                    assert result.ok

            started = time.perf_counter()
            await asyncio.gather(*(asker(i) for i in range(participants * 8)))
            return 2 * asks / (time.perf_counter() - started)


async def _queues(participants: int, messages: int) -> float:
    boxes: list[asyncio.Queue[tuple[dict[str, str], asyncio.Future[str]]]] = [
        asyncio.Queue(64) for _ in range(participants)
    ]

    async def worker(box: asyncio.Queue[tuple[dict[str, str], asyncio.Future[str]]]) -> None:
        while True:
            body, reply = await box.get()
            reply.set_result(body["text"])

    workers = [asyncio.create_task(worker(box)) for box in boxes for _ in range(8)]
    asks = messages // 2

    async def asker(i: int) -> None:
        for _ in range(i, asks, participants * 8):
            reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            await boxes[i % participants].put(({"text": _TEXT}, reply))
            await reply

    started = time.perf_counter()
    await asyncio.gather(*(asker(i) for i in range(participants * 8)))
    seconds = time.perf_counter() - started
    for task in workers:
        task.cancel()
    return 2 * asks / seconds


async def _faults(participants: int) -> dict[str, Any]:
    """Make one hang, one raise and one flood, and count the others that got all answers."""
    with EngineFolder() as folder, open_record(folder / "team") as record:
        async with Bus(record, timeout=60) as bus:
            good = [f"p{i}" for i in range(participants - 3)]
            _register(bus, good)
            flood = asyncio.create_task(bus.outside.request("floods", {"of": good[0]}))
            hung = bus.outside.request("hangs", {"text": _TEXT}, timeout=0.5)
            raised = bus.outside.request("raises", {"text": _TEXT})

            async def rounds(name: str) -> bool:
                answers = [await bus.outside.request(name, {"text": f"{i}"}, timeout=30) for i in range(20)]
                return all(answer.ok for answer in answers)

            finished = await asyncio.gather(*map(rounds, good))
            outcomes = [(await hung).outcome, (await raised).outcome]
            flood.cancel()
            return {
                "others": len(good),
                "finished": sum(finished),
                "hung": str(outcomes[0]),
                "raised": str(outcomes[1]),
                "as_expected": outcomes == [Outcome.TIMED_OUT, Outcome.FAILED],
            }


def _register(bus: Bus, good: list[str]) -> None:
    async def echo(message: Message, _: Context) -> str:
        return message.body.get("text", "")

    async def hangs(_: Message, __: Context) -> None:
        await asyncio.Event().wait()

    async def raises(_: Message, __: Context) -> None:
        raise RuntimeError("a fault of this participant")

    async def floods(message: Message, context: Context) -> None:
        while True:
            await asyncio.gather(*(context.send(message.body["of"], {"text": _TEXT}) for _ in range(200)))

    accepts = frozenset({Kind.TASK, Kind.NOTE})
    for name in good:
        bus.register(Participant(name, echo, accepts=accepts))
    for name, handler in (("hangs", hangs), ("raises", raises), ("floods", floods)):
        bus.register(Participant(name, handler))
