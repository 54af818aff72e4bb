"""Halving: names numbers, and goes on in the half that was better."""

from __future__ import annotations

from acme.kind import naming
from acme.tasks import HIGHEST
from heredity import Decision, EvolverContext, MethodOptions, Session, Trial, parse_options, until_closed


class Options(MethodOptions):
    """How many train tasks a number is compared with."""

    batch: int = 8


class Halving:
    """Compares the quarters of what is left, and keeps the half around the better one."""

    name = "halving"
    options_model = Options

    async def evolve(self, session: Session, context: EvolverContext) -> None:
        """Name numbers until two are left, and commit the better one."""
        tasks = range(parse_options(Options, self.name, context.options).batch)
        low, high = 0, HIGHEST
        with until_closed():
            while high - low > 2:
                quarter = (high - low) // 4
                pair = (low + quarter, high - quarter)
                trials = [Trial(naming(number), tasks, note=f"names {number}") for number in pair]
                first, second = await session.submit(trials, key=f"{self.name}/{low}-{high}")
                better, evidence = (0, first) if first.mean >= second.mean else (1, second)
                low, high = (low, (low + high) // 2) if better == 0 else ((low + high) // 2, high)
                digest = trials[better].candidate.digest
                await session.commit(Decision(digest, "", True, "the better of two", (evidence.submit_id,)))
