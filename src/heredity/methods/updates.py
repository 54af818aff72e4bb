"""Updates: methods that change the agent once per batch of train tasks, over epochs (SEAGym, section 3).

By default they adopt every update; with `gate = true` the commit gate decides. Both use the shared loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import Field, ValidationInfo, field_validator

from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.loop import Recipe, run_loop
from heredity.methods.proposals import LoopOptions, Proposed, Turn
from heredity.methods.targets import Target

_OF_THE_GATE = ("min_gain", "tolerance", "protect", "confirm")


class UpdateOptions(LoopOptions):
    """Options of methods that update after each batch."""

    patience: int = Field(0, ge=0, le=10_000, description="rounds without an update after which it ends; 0: never")
    candidates: int = Field(1, ge=1, le=1, description="always one")
    evidence: int = Field(1000, ge=1, le=1_000, description="rollouts learned from, worst first")
    epochs: int = Field(0, ge=0, le=10_000, description="passes over the train tasks; 0: use `rounds`")
    gate: bool = Field(False, validate_default=True, description="require updates to pass the commit gate")

    @field_validator("gate")
    @classmethod
    def _needed(cls, gate: bool, info: ValidationInfo) -> bool:
        given = [name for name in _OF_THE_GATE if info.data.get(name)]
        if given and not gate:
            raise ValueError(f"{given[0]} is the gate's; set gate = true")
        return gate


class LibraryOptions(UpdateOptions):
    """Options of methods that change only a library in the agent's memory."""

    target: tuple[Target, ...] = Field(("memory",), description="always memory")
    size: int = Field(64, ge=1, le=10_000, description="maximum entries of the library")
    entry_chars: int = Field(500, ge=1, le=100_000, description="maximum characters of an entry")

    @field_validator("target")
    @classmethod
    def _only_memory(cls, target: tuple[Target, ...]) -> tuple[Target, ...]:
        if target != ("memory",):
            raise ValueError('the library is a memory; leave target as ["memory"]')
        return target


async def run_updates(
    name: str,
    propose: Callable[[Turn], Awaitable[list[Proposed]]],
    session: SessionContract,
    context: EvolverContext,
    options: UpdateOptions,
) -> None:
    """Update after each batch until the rounds, epochs or budget end; raises as `run_loop`."""
    if options.epochs:
        train = max(context.train_tasks, 1)
        options = options.model_copy(update={"rounds": options.epochs * max(1, train // options.batch)})
    await run_loop(Recipe(name, propose, gated=options.gate), session, context, options)
