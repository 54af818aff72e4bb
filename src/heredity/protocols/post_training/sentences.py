"""What a run of post-training came to, in sentences."""

from __future__ import annotations

from heredity.protocols.post_training.results import Gain, ScoreSummary, TrainingRunResults, ViewGain
from heredity.results import text
from heredity.results.run import RunResults, RunStatus
from heredity.results.run import Verdict as Judged
from heredity.results.text import plural

_SAID = {
    Judged.BETTER: "a gain beyond noise",
    Judged.WORSE: "a loss beyond noise",
    Judged.WITHIN_NOISE: "within noise",
}


def views(part: TrainingRunResults) -> tuple[ViewGain, ViewGain]:
    """Return how base and best checkpoint compare on the graded view and on the held-out slice.

    A run that submitted the base model and nothing else ends with it, so it gains exactly nothing.
    """
    best = part.best
    if best is None and part.process.copies:
        return _nothing_gained(part.baseline.graded), _nothing_gained(part.baseline.heldout)
    graded = ViewGain(
        baseline=part.baseline.graded, best=best.score if best else None, gain=best.gain if best else None
    )
    return graded, part.heldout or ViewGain(baseline=part.baseline.heldout, best=None, gain=None)


def _nothing_gained(base: ScoreSummary | None) -> ViewGain:
    gain = None
    if base is not None and base.mean is not None:
        gain = Gain(difference=0.0, ci=None, p=None, mde=None, pairs=base.n, verdict=Judged.WITHIN_NOISE)
    return ViewGain(baseline=base, best=base, gain=gain)


def summary(run: RunResults, part: TrainingRunResults) -> str:
    """Say what the run reached, on the graded view and beyond it."""
    process = part.process
    graded, heldout = views(part)
    elapsed = f"In {text.duration(process.ended_s)}"
    if process.budget_s is not None:
        elapsed += f" of {text.duration(process.budget_s)}"
    opening = f"{elapsed} {plural(process.graded, 'checkpoint')} {'was' if process.graded == 1 else 'were'} graded"
    scored = graded.best if part.best is not None else None
    if (scored is None or scored.mean is None) and not process.copies and run.status is not RunStatus.UNFINISHED:
        tried = (
            plural(process.requests, "request") + (" was" if process.requests == 1 else " were") + " refused or failed"
        )
        why = tried if process.requests else "no checkpoint was submitted"
        return f"Nothing was graded: {elapsed.lower()} {why}. This is no finding about what the agent can train."
    if scored is None or scored.mean is None:
        stands = "ends" if run.status is RunStatus.FINISHED else "stands"
        copies = f", which it submitted {plural(process.copies, 'time')}" if process.copies else ""
        return f"{opening}, so the run {stands} with the base model{copies}."
    reached = f"the best scores {text.number(scored.mean, 3)}"
    if graded.gain is not None:
        reached += f", {_gain(graded.gain)} over the base model on the view that chose it"
    if heldout.gain is None:
        return f"{opening}; {reached}."
    if run.stand_ins:
        return f"{opening}; {reached}. On held-out items it is {text.signed(heldout.gain.difference, 3)}."
    because = f", with {heldout.gain.because}" if heldout.gain.because else ""
    judged = f"{_SAID[heldout.gain.verdict]}{because}, for this checkpoint on new items"
    return f"{opening}; {reached}. On held-out items it is {_gain(heldout.gain)}: {judged}."


def _gain(gain: Gain) -> str:
    return text.difference(gain.difference, *(gain.ci or (None, None)))
