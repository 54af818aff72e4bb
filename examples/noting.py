"""A scheduled method: after each batch it notes what the verifier said of the first failure."""

from heredity.methods import Decision, EvolverContext, SessionContract, Trial
from heredity.methods.registry import MethodOptions
from heredity.resources import Candidate, SourceTree


def noted(candidate: Candidate, line: str) -> Candidate:
    """Add a line to a harness's prompt."""
    prompt = candidate.parts["prompt/system"].text("prompt.md")
    return Candidate({**candidate.parts, "prompt/system": SourceTree({"prompt.md": f"{prompt}\n{line}"})})


class Noting:
    """After each batch, note what the verifier said of the first failure."""

    name, scheduled, options_model = "noting", True, MethodOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        current = context.initial
        await session.commit(Decision(current.digest, "", True, "the initial harness"), current)
        async for batch in session.batches():
            if batch.reset:
                current = context.initial
            (feedback,) = await session.submit([Trial(current, batch.tasks)], f"batch/{batch.number}")
            failed = [o.trajectory for o in feedback.outcomes if o.score < 1 and o.trajectory and o.trajectory.length]
            if not failed:
                continue
            made = noted(current, f"- Last time: {str(failed[0].columns['info/reason'][-1])[-200:]}")
            asked = Decision(made.digest, current.digest, True, "a note", (feedback.submit_id,))
            if (await session.commit(asked, made)).accepted:
                current = made


first = Candidate({"prompt/system": SourceTree({"prompt.md": "Work carefully."})})
assert noted(first, "- Look twice.").parts["prompt/system"].text("prompt.md").endswith("twice.")

print(Noting.__doc__)
