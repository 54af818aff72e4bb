"""Two participants of a bus: one splits a sum, the other adds."""

import asyncio

from heredity.team import Bus, Context, Message, Participant


async def add(message: Message, context: Context) -> int:
    await context.report({"numbers": len(message.body["numbers"])})
    return sum(message.body["numbers"])


async def lead(message: Message, context: Context) -> int:
    halves = [context.request("adder", {"numbers": half}, timeout=5) for half in message.body["halves"]]
    return sum(answer.value for answer in await asyncio.gather(*halves) if answer.ok)


async def main() -> None:
    async with Bus() as bus:
        bus.register(Participant("adder", add, "adds numbers"))
        bus.register(Participant("lead", lead))
        answer = await bus.outside.request("lead", {"halves": [[1, 2], [3, 4]]})
        print(answer.outcome, answer.value, list(bus.record.messages))


asyncio.run(main())
