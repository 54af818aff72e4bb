"""Static baseline: evaluates the initial candidate and changes nothing."""

from __future__ import annotations

from pydantic import Field

from heredity.methods.contract import Decision, EvolverContext, SessionContract, Trial
from heredity.methods.loop import check_scheduled
from heredity.methods.operators.evaluate import until_closed
from heredity.methods.registry import MethodOptions, parse_options


class StaticOptions(MethodOptions):
    """Options of the static baseline."""

    batch: int = Field(8, ge=1, le=10_000, description="train tasks to evaluate it on, once")


class Static:
    """Submits the initial candidate once and commits it."""

    name = "static"
    scheduled = True
    options_model = StaticOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evaluate the initial candidate.

        Raises:
            ConfigError: if an option is invalid.
        """
        options = parse_options(StaticOptions, self.name, context.options)
        if context.scheduled:
            await self._follow(session, context)
            return
        left = session.remaining().episodes
        count = min(options.batch, context.train_tasks, options.batch if left is None else left)
        with until_closed():
            trial = Trial(context.initial, range(count), note="the initial candidate")
            (feedback,) = await session.submit([trial], key=f"{self.name}/0")
            evidence = (feedback.submit_id,)
            await session.commit(Decision(context.initial.digest, "", True, "the initial candidate", evidence))

    async def _follow(self, session: SessionContract, context: EvolverContext) -> None:
        check_scheduled(context.options)
        with until_closed():
            first = Decision(context.initial.digest, "", True, "the initial candidate")
            await session.commit(first, context.initial)
            async for batch in session.batches():
                trial = Trial(context.initial, batch.tasks, note="the initial candidate")
                await session.submit([trial], key=f"{self.name}/{batch.number}")
