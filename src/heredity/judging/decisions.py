"""Decisions of a session: commits and refusals, recorded once, and the contract gate that may stand before a commit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from heredity.errors import BudgetError, RejectedError, ReplayDivergedError
from heredity.evolution import Decision, Feedback, Trial
from heredity.judging.schedule import BatchPlan
from heredity.judging.session_log import SessionLog, decision_to_json
from heredity.records import Blob
from heredity.records.events import CANDIDATE_DECIDED, CANDIDATE_PROBED
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.results.status import PROGRAM_FAILURES

GATE_KEYS = "gate/"
"""What the keys of the gate's own submissions begin with; an evolver's may not."""

REFUSED = "contract gate: "
"""What the reason of a decision begins with that the gate turned down."""

Record = Callable[[Sequence[Line], Sequence[Blob]], Awaitable[None]]
"""Journals lines and the blobs that they name."""

Probe = Callable[[Candidate], Awaitable[str]]
"""Loads a candidate and checks it against its contract: `""`, or one line on what is broken."""

Submit = Callable[[Sequence[Trial], str], Awaitable[list[Feedback]]]
"""Rollouts trials under a key."""


@dataclass(frozen=True, slots=True)
class ContractGate:
    """What a candidate has to pass before it is adopted: it loads, keeps its contract, and its code works on canaries.

    None of the published methods has this (SEAGym, section 5: one broken hook failed 66 of 80 tasks).

    Attributes:
        probe: loads and checks a candidate.
        canaries: train task indices that it attempts, charged to the budget.
        submit: attempts them.
    """

    probe: Probe
    canaries: Sequence[int]
    submit: Submit


def gate_of(plan: BatchPlan | None, probe: Probe | None, submit: Submit) -> ContractGate | None:
    """Return the gate that a run's schedule asks for; None for none."""
    if plan is None or probe is None or not plan.schedule.gate:
        return None
    return ContractGate(probe, plan.canaries, submit)


class Decisions:
    """The decisions of one session, in order.

    A replaying method repeats its earlier ones, which are on record already.
    """

    def __init__(self, log: SessionLog, record: Record, gate: ContractGate | None, *, replay: bool) -> None:
        """Continue from what the log holds.

        Args:
            log: what the journal says of the session.
            record: journals.
            gate: stands before every commit but the first; None for none.
            replay: whether the method starts again from the beginning.
        """
        self._log, self._record, self._gate = log, record, gate
        self._position = 0 if replay else len(log.decisions)

    def repeated(self, asked: Decision) -> Decision | None:
        """Return what is on record of a decision that was made before; None if it is a new one.

        Raises:
            ReplayDivergedError: if another decision is on record at this place.
        """
        if self._position >= len(self._log.decisions):
            return None
        recorded = self._log.decisions[self._position]
        if not _came_of(recorded, asked):
            raise ReplayDivergedError(
                f"decision {self._position + 1} of the resumed run differs from its journal: start a new run"
            )
        self._position += 1
        return recorded

    async def make(self, asked: Decision, candidate: Candidate | None) -> Decision:
        """Journal a new decision, after the gate has looked at it, and return what was recorded.

        Raises:
            RejectedError: if the candidate was never submitted and is not given.
        """
        await self._know(asked, candidate)
        made = asked
        if self._gate is not None and asked.accepted and asked.baseline:
            made = await self._checked(self._gate, asked, candidate)
        await self._record([CANDIDATE_DECIDED.line(decision_to_json(made))], [])
        self._position += 1
        return made

    async def _know(self, asked: Decision, candidate: Candidate | None) -> None:
        if asked.candidate in self._log.candidates:
            return
        if candidate is None or candidate.digest != asked.candidate:
            raise RejectedError(
                f"the candidate {asked.candidate[:12]} was never submitted; submit it first, or give it"
            )
        blob = Blob.of(candidate.to_bytes())
        line = {
            "digest": candidate.digest,
            "blob": blob.digest,
            "parents": [asked.baseline] if asked.baseline else [],
            "note": asked.reason,
        }
        await self._record([("candidate", line)], [blob])

    async def _checked(self, gate: ContractGate, asked: Decision, candidate: Candidate | None) -> Decision:
        problem = self._log.probed.get(asked.candidate)
        if problem is None:
            if candidate is None or candidate.digest != asked.candidate:
                raise RejectedError("a commit before which the contract gate stands needs the candidate; give it")
            problem = await gate.probe(candidate)
            await self._record([CANDIDATE_PROBED.line({"candidate": asked.candidate, "problem": problem})], [])
        if problem:
            return _refusal(asked, REFUSED + problem)
        if not gate.canaries or candidate is None:
            return asked
        trial = Trial(candidate, gate.canaries, parents=[asked.baseline], note="canaries of the contract gate")
        try:
            (answer,) = await gate.submit([trial], f"{GATE_KEYS}{self._position}")
        except BudgetError as error:
            return _refusal(asked, f"{REFUSED}the canaries cannot be paid: {error}")
        evidence = replace(asked, submissions=(*asked.submissions, answer.submit_id))
        failed = [o for o in answer.outcomes if o.status in PROGRAM_FAILURES]
        if not failed:
            return evidence
        why = failed[0].failure.message if failed[0].failure else failed[0].status
        return _refusal(
            evidence, f"{REFUSED}its own code fails on {len(failed)} of {len(answer.outcomes)} canaries: {why}"
        )


def _refusal(asked: Decision, reason: str) -> Decision:
    return replace(asked, accepted=False, reason=" ".join(reason.split())[:2000])


def _came_of(recorded: Decision, asked: Decision) -> bool:
    """Whether a decision on record is the one asked for, or what the gate made of that: with its canaries, or refused."""
    more = recorded.submissions
    made = replace(asked, submissions=more) if more[: len(asked.submissions)] == asked.submissions else asked
    if recorded.reason.startswith(REFUSED):
        made = replace(made, accepted=False, reason=recorded.reason)
    return recorded in (asked, made)


def frozen(decisions: Sequence[Decision], initial: str | None = None) -> str | None:
    """Return the digest of the candidate that was committed last; `initial` if nothing was."""
    return next((d.candidate for d in reversed(decisions) if d.accepted), initial)
