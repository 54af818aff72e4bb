"""Selection of the next candidate from a pool of all so far (AutoEnv, section 4 and appendix D.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from pydantic import Field

from heredity._core.errors import ConfigError, ProviderError
from heredity._core.ids import generator, seed_sequence
from heredity._core.spans import span
from heredity.engine.questions import grade, pairwise
from heredity.methods.contract import Decision, EvolverContext, SessionContract
from heredity.methods.operators.commit import GateRules, decision, weigh
from heredity.methods.operators.dialogue import Dialogue, Failed
from heredity.methods.operators.evaluate import Proposal, until_closed
from heredity.methods.operators.evidence import latest_once, shortened, worst_first
from heredity.methods.operators.improve import improve, one_line
from heredity.methods.operators.measure import Measured, Measurements
from heredity.methods.proposals import LoopOptions, Revision, Turn
from heredity.methods.targets import Target, chosen_variables, new_variables
from heredity.models import Model
from heredity.resources.assembly import check_candidate

Selection = Literal["best", "pareto", "pareto-tasks", "random", "mixed", "lineage"]


@dataclass(slots=True)
class Member:
    """A candidate in the pool.

    Attributes:
        measured: its rollouts.
        value: selection criterion: the mean reward, or a judge's rating; higher is better.
        parent: position of the member it was made from; None for the first.
        children: number of members made from it.
    """

    measured: Measured
    value: float
    parent: int | None = None
    children: int = 0

    @property
    def cost(self) -> float:
        """Cost of a rollout: US dollars if known and not zero, else tokens, else 0."""
        for names in (("cost_usd",), ("input_tokens", "output_tokens")):
            cost = self.measured.cost(*names)
            if cost:
                return cost
        return 0.0


def best(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Return the member with the greatest value; ties go to the latest (SPO)."""
    return max(range(len(pool)), key=lambda i: (pool[i].value, i))


def pareto(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw uniformly from the members that no other beats in both value and cost (AutoEnv, section 4.2)."""
    return _draw_one(pareto_front([(m.value, -m.cost) for m in pool]), rng)


def pareto_tasks(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw from the members that are best on some task, weighted by the number of such tasks (GEPA)."""
    tasks = sorted({task for member in pool for task in member.measured.scores})
    wins = np.zeros(len(pool))
    for task in tasks:
        scores = [member.measured.scores.get(task, -math.inf) for member in pool]
        top = [i for i, score in enumerate(scores) if score == max(scores)]
        wins[top] += 1.0 / len(top)
    return int(rng.choice(len(pool), p=wins / wins.sum())) if wins.sum() > 0 else best(pool, rng)


def uniform(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw uniformly from all members."""
    return int(rng.integers(len(pool)))


def mixed(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw from a mixture of a uniform distribution (weight one fifth) and one that favours high values (AFlow)."""
    values = np.array([m.value for m in pool])
    finite = np.where(np.isfinite(values), values, -np.inf)
    weights = np.exp(5.0 * (finite - finite.max())) if np.isfinite(finite).any() else np.ones(len(pool))
    return int(rng.choice(len(pool), p=0.2 / len(pool) + 0.8 * weights / weights.sum()))


def lineage(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw by value and lineage: fewer children make a member likelier (Darwin Gödel Machine)."""
    values = np.array([m.value if math.isfinite(m.value) else -1e3 for m in pool])
    worth = 1.0 / (1.0 + np.exp(np.clip(-10.0 * (values - values.mean()), -500, 500)))
    weights = worth / (1.0 + np.array([m.children for m in pool]))
    return int(rng.choice(len(pool), p=weights / weights.sum()))


SELECTIONS: Mapping[Selection, Callable[[Sequence[Member], np.random.Generator], int]] = MappingProxyType(
    {
        "best": best,
        "pareto": pareto,
        "pareto-tasks": pareto_tasks,
        "random": uniform,
        "mixed": mixed,
        "lineage": lineage,
    }
)
"""Selection rules by name. Each returns a position in a nonempty pool."""


def pareto_front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the positions of the points on the Pareto front: no other is at least as good everywhere and better somewhere."""

    def beaten(one: tuple[float, ...]) -> bool:
        return any(other != one and all(o >= x for o, x in zip(other, one, strict=True)) for other in points)

    return [i for i, point in enumerate(points) if not beaten(point)]


def _draw_one(places: Sequence[int], rng: np.random.Generator) -> int:
    return places[int(rng.integers(len(places)))]


Rule = Literal["reward", "judge", "pairwise"]
_NO_REFERENCE = "(none is given: judge by the goal that the attempt itself was told)"
_RUBRIC = "1 if the goal was reached in a sensible way, 0 if nothing was achieved, between them by how far it came."
_PREFERENCE = "the attempt that came closer to its goal is better; among equals the one that took less."


async def worth(
    rule: Rule, model: Model | None, measured: Measured, against: tuple[Measured, float] | None, seed: int
) -> float:
    """Return a candidate's value; higher is better.

    Args:
        rule: `"reward"`: the mean score. `"judge"`: a model's mean rating of the rollouts, from 0 to 1. `"pairwise"`
            (SPO): the value of the candidate it is compared with, plus the share of tasks on which it is preferred,
            minus the share on which the other is preferred.
        model: the judge; None only for `"reward"`.
        measured: the candidate's rollouts.
        against: the best candidate so far and its value; None for the first.
        seed: seeds the judge's fences.
    """
    if rule == "reward" or model is None:
        return measured.mean
    try:
        if rule == "judge":
            marks = [
                (
                    await grade(model, _goal(i), _format_item(i), reference=_NO_REFERENCE, rubric=_RUBRIC, seed=seed)
                ).score
                for i in measured.evidence
            ]
            return math.fsum(marks) / len(marks) if marks else -math.inf
        if against is None:
            return 0.0
        return against[1] + await _preferred(model, measured, against[0], seed)
    except ProviderError:
        # Without a verdict the candidate is preferred to nothing.
        return -math.inf


async def _preferred(model: Model, measured: Measured, other: Measured, seed: int) -> float:
    mine, theirs = _first(measured), _first(other)
    tasks = sorted(mine.keys() & theirs.keys())
    points = 0
    for task in tasks:
        a, b = mine[task], theirs[task]
        verdict = await pairwise(model, _goal(a), _format_item(a), _format_item(b), rubric=_PREFERENCE, seed=seed)
        points += {"a": 1, "b": -1, "tie": 0}[verdict.winner]
    return points / len(tasks) if tasks else -1.0


def _first(measured: Measured) -> dict[int, dict[str, Any]]:
    return {task: rollouts[0].evidence for task, rollouts in measured.rollouts.items() if rollouts}


def _goal(item: dict[str, Any]) -> str:
    return str(item["question"] or "See the attempt, which begins with what it was told.")


def _format_item(item: dict[str, Any]) -> str:
    return str(item["transcript"] or item["answer"] or item["error"] or "(nothing was said)")


Signal = Literal["dynamics", "instruction"]


class LearningOptions(LoopOptions):
    """Options of all learning methods."""

    rounds: int = Field(10, ge=1, le=10_000, description="iterations")
    patience: int = Field(0, ge=0, le=10_000, description="iterations without a commit after which it ends; 0: never")
    repeats: int = Field(3, ge=1, le=100, description="rollouts per task")
    evidence_chars: int = Field(4000, ge=100, le=1_000_000, description="maximum characters of each of their texts")
    evaluate: Rule = Field("reward", description="criterion that selects candidates: reward, judge, pairwise")


@dataclass(frozen=True, slots=True)
class Style:
    """Learning style of one iteration: a point in the space of methods."""

    select: Selection
    signal: Signal
    target: tuple[Target, ...]

    @property
    def name(self) -> str:
        """Name made of selection, signal and targets."""
        return f"{self.select}-{self.signal}-{'+'.join(self.target)}"


Choose = Callable[[int, Sequence[Member]], Style]
"""Returns the style of iteration n (from 1), given the pool so far."""


async def run_learning(
    name: str, session: SessionContract, context: EvolverContext, options: LearningOptions, choose: Choose
) -> None:
    """Learn until the iterations are over or the budget is exhausted; the last commit is the best of the pool.

    All candidates are evaluated on the same train tasks, so they are comparable.

    Raises:
        ConfigError: if no model is configured, or the initial candidate cannot be built.
    """
    learner = _Learner(name, session, context, options)
    with until_closed():
        await learner.start()
        stale = 0
        for number in range(1, options.rounds + 1):
            style = choose(number, learner.pool)
            with span("round", kind="round", method=name, number=number, style=style.name):
                stale = 0 if await learner.iterate(number, style) else stale + 1
            if options.patience and stale >= options.patience:
                return


class _Learner:
    def __init__(self, name: str, session: SessionContract, context: EvolverContext, options: LearningOptions) -> None:
        check_candidate(context.initial)
        self.name, self.session, self.context, self.options = name, session, context, options
        self.dialogue = Dialogue(context.model, context.seed, name, options.temperature)
        self.measurements = Measurements(session, name, options.repeats, options.evidence_chars)
        self.tasks = [*range(min(options.batch, context.train_tasks))]
        self.pool: list[Member] = []
        self.rejected: list[dict[str, Any]] = []
        self.digests = {context.initial.digest}
        self.committed = 0

    async def start(self) -> None:
        (first,) = await self.measurements.measure(
            [Proposal(self.context.initial, (), "the initial candidate")], self.tasks
        )
        self.pool.append(Member(first, await self._worth(first, 0)))
        await self.session.commit(
            Decision(self.context.initial.digest, "", True, "the initial candidate", first.submissions)
        )

    async def iterate(self, number: int, style: Style) -> bool:
        """Make one candidate; return True if it was committed."""
        rng = generator(self.context.seed, "method", self.name, "select", number)
        with span("select", kind="operator", rule=style.select) as step:
            parent = SELECTIONS[style.select](self.pool, rng)
            step.set(parent=self.pool[parent].measured.candidate.digest, of=len(self.pool))
        revision = await self._optimise(number, style, self.pool[parent].measured)
        self.pool[parent].children += 1
        if revision is None:
            return False
        note = f"iteration {number}, {style.name}: {revision.why or revision.expects or 'no reason given'}"
        parents = (self.pool[parent].measured.candidate.digest,)
        (made,) = await self.measurements.measure([Proposal(revision.candidate, parents, note)], self.tasks)
        self.pool.append(Member(made, await self._worth(made, number), parent))
        return await self._consider(number, len(self.pool) - 1, revision)

    async def _optimise(self, number: int, style: Style, parent: Measured) -> Revision | None:
        options = self.options
        evidence = worst_first(parent.evidence, options.evidence)
        rejected = latest_once(self.rejected, options.history)
        turn = Turn(number, 0, parent, style.target, evidence, rejected, (), options, self.dialogue)
        if not chosen_variables(parent.candidate, style.target) and not new_variables(parent.candidate, style.target):
            raise ConfigError(f"target = {list(style.target)} names nothing that may change in the candidate")
        signal = await self.dialogue.ask(style.signal, turn.data(), _signal_in, (number,))
        made = signal if isinstance(signal, Failed) else await improve(turn, signal=signal)
        if isinstance(made, Failed) or made.candidate.digest in self.digests:
            reason = made.reason if isinstance(made, Failed) else "the same was tried before"
            self._reject(number, made.edits or {}, reason)
            return None
        self.digests.add(made.candidate.digest)
        return made

    async def _worth(self, measured: Measured, number: int) -> float:
        top = best(self.pool, generator(0, "unused")) if self.pool else None
        against = None if top is None else (self.pool[top].measured, self.pool[top].value)
        seed = int(seed_sequence(self.context.seed, "method", self.name, "judge", number).generate_state(1)[0])
        return await worth(self.options.evaluate, self.context.model, measured, against, seed)

    async def _consider(self, number: int, position: int, revision: Revision) -> bool:
        """Commit the newest member if its value exceeds the last committed one's."""
        member, base = self.pool[position], self.pool[self.committed]
        rng = generator(self.context.seed, "method", self.name, "interval", number)
        finding = weigh(GateRules(), base.measured, member.measured, rng)
        better = member.value > base.value
        if self.options.evaluate != "reward":
            reason = f"its value is {member.value:.4g}, of the committed one {base.value:.4g} ({self.options.evaluate})"
            finding = replace(finding, accepted=better, reason=reason)
        elif finding.accepted and not better:
            finding = replace(finding, accepted=False, reason=f"{finding.reason}, but it is not worth more")
        await self.session.commit(decision(GateRules(), base.measured, member.measured, finding))
        if finding.accepted:
            self.committed = position
        else:
            self._reject(number, revision.edits, finding.reason, finding.difference)
        return finding.accepted

    def _reject(
        self, number: int, edits: Mapping[str, str | None], reason: str, difference: float | None = None
    ) -> None:
        shown = {name: text and shortened(text, 500) for name, text in edits.items()}
        self.rejected.append({"round": number, "edits": shown, "reason": reason, "difference": difference})


def _signal_in(reply: Mapping[str, Any]) -> str:
    text = reply.get("signal")
    if not isinstance(text, str) or not one_line(text):
        raise ConfigError(f'"signal" is {text!r:.80}; expected a text')
    return text
