"""AHE: agentic harness engineering, which edits a harness as files, from an evidence pack (SEAGym, appendices B.2 and C.1)."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.dialogue import Failed
from heredity.evolution.operators.evidence_pack import Course, grouped_failures, statistics
from heredity.evolution.operators.improve import apply
from heredity.evolution.operators.manifest import manifest_in
from heredity.evolution.options import parse_options
from heredity.evolution.proposals import Proposed, Revision, Turn
from heredity.evolution.targets import Target
from heredity.evolution.updates import UpdateOptions, run_updates


class AheOptions(UpdateOptions):
    """Options of AHE."""

    target: tuple[Target, ...] = Field(
        ("prompt", "tool", "memory", "agent"), min_length=1, description="what may change"
    )
    history: int = Field(
        12, ge=0, le=1_000, description="earlier changes, their predictions, and refused ones shown to the model"
    )


async def propose(course: Course, turn: Turn) -> list[Proposed]:
    """Pack the evidence, ask for edits with a manifest, and apply them."""
    course.reached(turn)
    options = turn.options
    history, predictions = course.history(), course.predictions()
    latest = max(0, len(history) - options.history)
    data = turn.data(
        statistics=statistics(turn.base, options.solved),
        history=history[latest:],
        failures=grouped_failures(turn.base, options.solved),
        diffs=course.diffs(options.evidence_chars),
        predictions=predictions[latest:],
    )
    read = partial(manifest_in, course.unsolved)
    manifest = await turn.dialogue.ask("engineer", data, read, (turn.number, turn.stage))
    if isinstance(manifest, Failed):
        return [manifest]
    if not manifest.values:
        return [Failed("engineer: no edit was asked for")]
    made = apply(turn, manifest.edits)
    if isinstance(made, Revision):
        course.changed(turn, made.candidate, manifest)
    return [made]


class Ahe:
    """Edits prompts, tools, memories, middleware and project files; every update is adopted unless the gate is asked for."""

    name = "ahe"
    scheduled = True
    options_model = AheOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Engineer the harness batch by batch until the rounds or the schedule are over or the budget is spent.

        Raises:
            ConfigError: if an option is wrong, there is no model, or nothing may change.
        """
        options = parse_options(AheOptions, self.name, context.options)
        await run_updates(self.name, partial(propose, Course(options.solved)), session, context, options)
