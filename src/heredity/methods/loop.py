"""The loop of Autogenesis (section 3.2.3): execute, reflect, select, improve, evaluate, commit or roll back, again.

A method defines how candidates are proposed and ordered. This module does the rest, so all optimizers spend, compare,
commit and stop the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from heredity._core.errors import BudgetError, ConfigError
from heredity._core.ids import generator
from heredity._core.spans import span
from heredity.methods.contract import Batch, Decision, EvolverContext, SessionContract
from heredity.methods.operators.commit import Finding, GateRules, decision, weigh
from heredity.methods.operators.dialogue import Dialogue, Failed
from heredity.methods.operators.evaluate import Proposal, until_closed
from heredity.methods.operators.evidence import latest_once, shortened, worst_first
from heredity.methods.operators.measure import Measured, Measurements
from heredity.methods.operators.objectives import Signal
from heredity.methods.proposals import LoopOptions, Proposed, Revision, Turn
from heredity.methods.targets import Target, chosen_variables, new_variables
from heredity.resources import Candidate
from heredity.resources.assembly import check_candidate


def by_reward(_: Turn, measured: Sequence[Measured], __: Candidate) -> list[Signal]:
    """Value candidates by their mean score."""
    return [Signal(m.mean, 1.0, m.mean, m.mean) for m in measured]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Definition of an optimizer.

    Attributes:
        name: name of the method.
        propose: makes the revisions of a turn.
        value: values measured candidates, given the turn and the initial candidate: a signal for the model that writes
            the next ones. The score alone decides which candidate is considered for a commit first.
        staged: whether a second stage of each round edits the parts of the target `solution` separately.
        gated: whether a revision has to pass the gate. Otherwise the first of a turn is adopted unseen, and the next
            round's tasks measure it.
    """

    name: str
    propose: Callable[[Turn], Awaitable[list[Proposed]]]
    value: Callable[[Turn, Sequence[Measured], Candidate], list[Signal]] = by_reward
    staged: bool = False
    gated: bool = True


@runtime_checkable
class Optimizer(Protocol):
    """A method that shares the loop. Its operators can also be used individually, outside of `run_loop`."""

    name: str

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return its functions that propose and value, given the configured options.

        Raises:
            ConfigError: if an option is invalid.
        """
        ...

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until converged or out of budget.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
        """
        recipe, options = self.recipe(context.options)
        await run_loop(recipe, session, context, options)


async def run_loop(recipe: Recipe, session: SessionContract, context: EvolverContext, options: LoopOptions) -> None:
    """Evolve until no round improves for `patience` rounds, the rounds are over, or the budget is exhausted.

    The initial candidate is committed first; every later one considered is committed or refused with evidence.

    Raises:
        ConfigError: if no model is configured, a canary is not a train task, or the initial candidate cannot be built
            or has nothing that may change.
    """
    search = _Search(recipe, session, context, options)
    with until_closed():
        await search.start()
        if context.scheduled:
            await search.follow()
            return
        stale = 0
        for number in range(1, options.rounds + 1):
            with span("round", kind="round", method=recipe.name, number=number):
                stale = 0 if await search.round(number) else stale + 1
            if options.patience and stale >= options.patience:
                return


def check_scheduled(options: Mapping[str, Any]) -> None:
    """Check that a method's options do not set what the schedule decides.

    Raises:
        ConfigError: if they do not.
    """
    for name in ("batch", "rounds", "epochs", "patience", "canaries", "confirm"):
        if name in options:
            raise ConfigError(
                f"the option {name} = {options[name]!r} has no meaning in a run with a schedule; leave it out and see [schedule]"
            )


@dataclass
class _Search:
    recipe: Recipe
    session: SessionContract
    context: EvolverContext
    options: LoopOptions
    rejected: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    signals: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failures: list[str] = field(default_factory=list[str])
    considered: set[str] = field(default_factory=set[str])
    attempted: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        context, options, name = self.context, self.options, self.recipe.name
        self.committed = context.initial
        self.considered.add(context.initial.digest)
        self.dialogue = Dialogue(context.model, context.seed, name, options.temperature)
        self.measurements = Measurements(self.session, name, options.repeats, options.evidence_chars)
        self.rules = GateRules(*(getattr(options, f.name) for f in fields(GateRules)))
        self.batch: Batch | None = None
        check_candidate(context.initial)
        if not chosen_variables(context.initial, options.target) and not new_variables(context.initial, options.target):
            raise ConfigError(f"target = {list(options.target)} names nothing that may change in the initial candidate")
        if context.scheduled:
            check_scheduled(context.options)
        wrong = [task for task in options.canaries if not 0 <= task < context.train_tasks]
        if wrong:
            raise ConfigError(f"canaries names {wrong[0]}; expected train tasks, 0 to {context.train_tasks - 1}")
        if options.confirm and len({*options.canaries, *self.tasks(1)}) >= context.train_tasks:
            raise ConfigError(
                f"confirm = {options.confirm} needs fresh train tasks, and a batch has all {context.train_tasks}; take a"
                " smaller batch or more train tasks"
            )

    @property
    def stages(self) -> list[tuple[Target, ...]]:
        """Return the targets that each stage of a round may change."""
        others: tuple[Target, ...] = tuple(t for t in self.options.target if t != "solution")
        if self.recipe.staged and others and others != self.options.target:
            refinement: tuple[Target, ...] = ("solution",)
            return [others, refinement]
        return [self.options.target]

    def tasks(self, number: int) -> list[int]:
        """Return the train tasks of a round: the next in a random order, redrawn when exhausted, then canaries.

        Under a schedule they are the open batch's tasks.
        """
        if self.batch is not None:
            return list(self.batch.tasks)
        train = max(self.context.train_tasks, 1)
        batch = min(self.options.batch, train)
        epoch, position = divmod(number - 1, train // batch)
        order = self.rng("tasks", epoch).permutation(train)
        drawn = sorted(int(task) for task in order[position * batch : (position + 1) * batch])
        return list(dict.fromkeys([*drawn, *self.options.canaries]))

    def rng(self, *path: str | int) -> np.random.Generator:
        return generator(self.context.seed, "method", self.recipe.name, *path)

    async def measure(self, proposals: Sequence[Proposal], tasks: Sequence[int]) -> list[Measured]:
        with span("evaluate", kind="operator", candidates=len(proposals), tasks=len(tasks)) as step:
            measured = await self.measurements.measure(proposals, tasks)
            step.set(means=[m.mean for m in measured if m.scores])
        self.attempted.update(tasks)
        return measured

    async def follow(self) -> None:
        """Play a schedule: one round per update that each batch allows. Each batch makes new rollouts."""
        number = 0
        async for batch in self.session.batches():
            self.batch = batch
            self.measurements.forget()
            if batch.reset:
                self.committed = self.context.initial
                self.considered = {self.committed.digest}
                for learned in (self.rejected, self.signals, self.failures):
                    learned.clear()
            for _ in range(batch.updates):
                number += 1
                with span("round", kind="round", method=self.recipe.name, number=number, batch=batch.number):
                    await self.round(number)

    async def start(self) -> None:
        if self.context.scheduled:
            await self.commit(Decision(self.committed.digest, "", True, "the initial candidate"), self.committed)
            return
        (first,) = await self.measure([Proposal(self.committed, (), "the initial candidate")], self.tasks(1))
        made = Decision(self.committed.digest, "", True, "the initial candidate", first.submissions)
        await self.commit(made, self.committed)

    async def commit(self, asked: Decision, candidate: Candidate) -> Decision:
        with span("commit", kind="commit", candidate=asked.candidate) as step:
            made = await self.session.commit(asked, candidate)
            step.set(accepted=made.accepted, reason=made.reason)
        return made

    async def round(self, number: int) -> bool:
        """Play one round; return True if anything was committed."""
        gained = False
        tasks = self.tasks(number)
        for stage, targets in enumerate(self.stages):
            again = Proposal(self.committed, (), f"the committed candidate, on the tasks of round {number}")
            (base,) = await self.measure([again], tasks)
            if not (self.recipe.gated or self.batch or self.measurements.payable(self.tasks(number + 1))):
                raise BudgetError("nothing is left to attempt an update with, so none is made")
            evidence = worst_first(base.evidence, self.options.evidence)
            rejected = latest_once(self.rejected, self.options.history)
            turn = Turn(number, stage, base, targets, evidence, rejected, self.signals, self.options, self.dialogue)
            revisions = self.fresh(turn, await self.recipe.propose(turn))
            if revisions and self.recipe.gated:
                gained |= await self.settle(turn, revisions, tasks)
            elif revisions:
                gained |= await self.adopt(turn, revisions[0])
        return gained

    def fresh(self, turn: Turn, proposed: Sequence[Proposed]) -> list[Revision]:
        """Return the revisions not considered before; note for the model why the others were rejected."""
        revisions: list[Revision] = []
        for proposal in proposed:
            if isinstance(proposal, Failed):
                self.failed(turn, proposal.reason, proposal.edits)
            elif self.recipe.gated and proposal.candidate.digest in self.considered:
                self.failed(turn, "improve: the same was considered before", proposal.edits)
            else:
                self.considered.add(proposal.candidate.digest)
                revisions.append(proposal)
        return revisions

    def failed(self, turn: Turn, reason: str, edits: Mapping[str, str | None] | None) -> None:
        self.failures.append(f"round {turn.number}, {reason}")
        self.reject(turn, edits or {}, reason, None)

    def reject(self, turn: Turn, edits: Mapping[str, str | None], reason: str, difference: float | None) -> None:
        shown = {name: None if text is None else shortened(text, _SHOWN) for name, text in edits.items()}
        self.rejected.append({"round": turn.number, "edits": shown, "reason": reason, "difference": difference})

    def proposal(self, turn: Turn, revision: Revision) -> Proposal:
        """Return the revision to submit, with a note on the failures since the last one."""
        note = (
            f"round {turn.number}: {', '.join(revision.edits)}: {revision.why or revision.expects or 'no reason given'}"
        )
        if self.failures:
            note += f" (before it failed: {'; '.join(shortened(f, _SHOWN) for f in self.failures[-3:])})"
        return Proposal(revision.candidate, (turn.base.candidate.digest,), " ".join(note.split()))

    async def adopt(self, turn: Turn, revision: Revision) -> bool:
        """Commit a revision unless the protocol's gate refuses it; return True if it was committed.

        Before that, it attempts as many of the next round's tasks as the budget allows (under a schedule, the next
        batch's).
        """
        proposal, submissions = self.proposal(turn, revision), turn.base.submissions
        if self.batch is None:
            tasks = self.measurements.payable(self.tasks(turn.number + 1))
            (one,) = await self.measure([proposal], tasks)
            submissions = tuple(sorted({*submissions, *one.submissions}))
        self.failures.clear()
        reason = f"adopted as it is: {proposal.note}" if self.batch else "adopted as it is"
        asked = Decision(revision.candidate.digest, turn.base.candidate.digest, True, reason, submissions)
        made = await self.commit(asked, revision.candidate)
        if not made.accepted:
            self.reject(turn, revision.edits, made.reason, None)
            return False
        self.committed = revision.candidate
        return True

    async def settle(self, turn: Turn, revisions: Sequence[Revision], tasks: Sequence[int]) -> bool:
        """Measure revisions and commit the first that passes, best score first; return True if one did."""
        measured = await self.measure([self.proposal(turn, revision) for revision in revisions], tasks)
        self.failures.clear()
        edits = {revision.candidate.digest: revision.edits for revision in revisions}
        scored = [m for m in measured if m.scores]
        signals = self.recipe.value(turn, scored, self.context.initial)
        ranked = sorted(zip(scored, signals, strict=True), key=lambda pair: (-pair[0].mean, -pair[1].objective))
        accepted = False
        self.signals = []
        for one, signal in [*ranked, *((m, None) for m in measured if not m.scores)]:
            finding = await self.consider(turn, one, taken=accepted)
            accepted |= finding.accepted
            variables_ = list(edits[one.candidate.digest])
            worth = signal.to_json() if signal else {}
            self.signals.append({"round": turn.number, "edits": variables_, "accepted": finding.accepted, **worth})
            if not finding.accepted:
                self.reject(turn, edits[one.candidate.digest], finding.reason, finding.difference)
        return accepted

    async def consider(self, turn: Turn, one: Measured, *, taken: bool) -> Finding:
        """Put one candidate to the gate and record the decision; `taken` if another of its round was committed."""
        path = (turn.number, turn.stage, one.candidate.digest)
        base, finding = turn.base, weigh(self.rules, turn.base, one, self.rng("interval", *path))
        if finding.accepted and taken:
            finding = replace(
                finding, accepted=False, reason=f"{finding.reason}, but another of the round was committed"
            )
        elif finding.accepted and self.options.confirm:
            try:
                base, one, finding = await self.confirm(turn, one)
            except BudgetError:
                unpaid = replace(finding, accepted=False, reason="the budget is too small to confirm it")
                await self.commit(decision(self.rules, base, one, unpaid), one.candidate)
                raise
        made = await self.commit(decision(self.rules, base, one, finding), one.candidate)
        if made.accepted:
            self.committed = one.candidate
        return replace(finding, accepted=made.accepted, reason=made.reason)

    async def confirm(self, turn: Turn, one: Measured) -> tuple[Measured, Measured, Finding]:
        """Confirm a gain on fresh tasks: it must hold on all tasks together and not fall on the fresh ones.

        Fresh tasks are not in the round; untried tasks come first. A selected gain is biased upwards on the tasks used
        to select it.
        """
        tasks = list(turn.base.rollouts)
        order = self.rng("confirm", turn.number, turn.stage).permutation(self.context.train_tasks)
        others = [int(task) for task in order if int(task) not in tasks]
        fresh = sorted(others, key=lambda task: task in self.attempted)[: self.options.confirm]
        note = f"round {turn.number}: confirmation on fresh tasks"
        pair = [Proposal(turn.base.candidate, (), note), Proposal(one.candidate, (turn.base.candidate.digest,), note)]
        alone = await self.measure(pair, fresh)
        if len(alone) < 2:
            raise BudgetError("not enough of the budget is left to confirm a candidate")
        base, candidate = await self.measure(pair, [*tasks, *fresh])
        path = (turn.number, turn.stage, one.candidate.digest)
        finding = weigh(self.rules, base, candidate, self.rng("interval", *path, "confirmed"))
        check = weigh(self.rules, alone[0], alone[1], self.rng("interval", *path, "fresh"))
        if check.difference is None or check.difference < -self.options.tolerance:
            finding = replace(
                finding, accepted=False, reason=f"not confirmed on {len(fresh)} fresh tasks: {check.reason}"
            )
        return base, candidate, finding


_SHOWN = 500
"""Maximum characters of a rejected text or a failure's reason in later requests."""
