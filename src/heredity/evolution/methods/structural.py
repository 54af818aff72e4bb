"""Structural search: islands of controllers that change their syntax trees."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pydantic import Field

from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.crossover import crossover
from heredity.evolution.operators.evaluate import Evaluator, Proposal, episodes_per_candidate, until_closed
from heredity.evolution.operators.mutate import mutate
from heredity.evolution.operators.probe import behaviour, probes
from heredity.evolution.operators.select import survivors, tournament
from heredity.evolution.options import MethodOptions, parse_options
from heredity.evolution.programs import Shape, control_source, controller_program, controls_of, find_control, shape_of
from heredity.evolution.vocabulary import NICHES, draw_controls
from heredity.ids import generator
from heredity.resources import Candidate

_ATTEMPTS = 12


class StructuralOptions(MethodOptions):
    """Options of structural search."""

    candidates: int = Field(42, ge=2, le=10_000, description="programs to try; the budget is shared among them")
    islands: int = Field(3, ge=1, le=64, description="populations that breed apart")
    founders: int = Field(7, ge=1, le=1_000, description="programs that each island begins with")
    members: int = Field(3, ge=1, le=1_000, description="programs that an island keeps")
    brood: int = Field(3, ge=1, le=1_000, description="offspring of an island in one round")
    migrate: int = Field(2, ge=0, le=1_000, description="rounds between migrations; 0 for none")
    crossover: float = Field(0.25, ge=0, le=1, description="chance of an offspring to have two parents")


@dataclass(slots=True)
class _Member:
    """A program that stays, and its mean over the rounds it took part in, each corrected for how hard its tasks were."""

    controls: tuple[str, ...]
    proposal: Proposal
    score: float
    rounds: int = 1

    @property
    def digest(self) -> str:
        return self.proposal.candidate.digest

    def add(self, score: float) -> None:
        self.rounds += 1
        self.score += (score - self.score) / self.rounds


@dataclass(slots=True)
class _Child:
    """A program of a brood; `member` is set if it is not new but attempted again."""

    controls: list[str]
    proposal: Proposal
    member: _Member | None = None


@dataclass
class _Island:
    niche: Mapping[str, float]
    rng: np.random.Generator
    members: list[_Member] = field(default_factory=list[_Member])

    @property
    def best(self) -> _Member | None:
        return max(self.members, key=lambda m: m.score, default=None)

    def keep(self, count: int) -> None:
        self.members = survivors(self.members, [m.score for m in self.members], count)


class Structural:
    """Mutation and crossover over the vocabulary of `heredity.evolution.vocabulary`, on islands with migration.

    Each island draws founders from its own niche of the vocabulary. In each round every island submits its best once more
    and a brood, at the same time as the others and on the same train tasks, which are new in every round, so that nothing
    is bred for the luck of a few starts. What the best of all islands score more or less than before is how hard the tasks
    are, and is subtracted. An offspring must decide differently from its parent on some observation drawn at random. Every
    few rounds the best of each island joins the next one. An initial program whose `control` function has the form of
    `heredity.evolution.programs` is a founder on every island.
    """

    name = "structural"
    options_model = StructuralOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the budget is spent.

        Raises:
            ConfigError: if an option or a space is wrong, or the initial program is not valid Python.
        """
        options = parse_options(StructuralOptions, self.name, context.options)
        search = _Search(Evaluator(session, context, self.name), context, options)
        with until_closed():
            await search.round([search.founders(island) for island in search.islands], 0)
            number = 1
            while not search.evaluator.exhausted:
                await search.round([search.offspring(island) for island in search.islands], number)
                if options.migrate and number % options.migrate == 0:
                    search.migrate()
                number += 1


class _Search:
    def __init__(self, evaluator: Evaluator, context: EvolverContext, options: StructuralOptions) -> None:
        self.evaluator, self.options = evaluator, options
        self._public: Mapping[str, Any] = context.taskset.public
        self._shape: Shape = shape_of(self._public)
        self._episodes = episodes_per_candidate(evaluator.total, options.candidates)
        self._probes = probes(generator(context.seed, "method", Structural.name, "probes"), self._shape)
        given = find_control(context.initial.agent, self._public) if "agent" in context.initial.parts else None
        self._given = controls_of(given) if given else None
        self.islands = [
            _Island(NICHES[i % len(NICHES)], generator(context.seed, "method", Structural.name, i))
            for i in range(options.islands)
        ]

    def founders(self, island: _Island) -> list[_Child]:
        """Draw an island's first programs."""
        drawn = [draw_controls(island.rng, self._shape, island.niche) for _ in range(self.options.founders)]
        children = [self._child(controls, (), "founder") for controls in drawn]
        if self._given:
            children[0] = self._child(self._given, (), "the initial program")
        return children

    def offspring(self, island: _Island) -> list[_Child]:
        """Breed an island's next brood."""
        if not island.members:
            return self.founders(island)[: self.options.brood]
        best = island.best
        again = (
            [_Child(list(best.controls), replace(best.proposal, note="best of its island, again"), best)]
            if best
            else []
        )
        return [*again, *(self._offspring(island) for _ in range(self.options.brood))]

    def _offspring(self, island: _Island) -> _Child:
        rng, scores = island.rng, [m.score for m in island.members]
        parent = island.members[tournament(rng, scores, 3)]
        if len(island.members) > 1 and rng.random() < self.options.crossover:
            donor = island.members[tournament(rng, scores)]
            controls = crossover(rng, parent.controls, donor.controls)
            if self._differs(controls, parent.controls):
                parents = tuple(dict.fromkeys((parent.digest, donor.digest)))
                return self._child(controls, parents, "crossover")
        controls, name = mutate(rng, parent.controls, self._shape, island.niche)
        for _ in range(_ATTEMPTS):
            if self._differs(controls, parent.controls):
                break
            controls, name = mutate(rng, parent.controls, self._shape, island.niche)
        return self._child(controls, (parent.digest,), f"mutation: {name}")

    def _differs(self, controls: Sequence[str], parent: Sequence[str]) -> bool:
        if list(controls) == list(parent):
            return False
        one, other = (behaviour(expressions, self._shape, self._probes) for expressions in (controls, parent))
        return one is None or other is None or one != other

    async def round(self, broods: list[list[_Child]], number: int) -> None:
        """Evaluate the broods of all islands at the same time and let the best stay."""
        # Founders are many and most of them are hopeless, which fewer episodes show as well.
        episodes = self._episodes if number else max(1, 2 * self._episodes // 3)
        tasks = self.evaluator.tasks(episodes, first=number * self._episodes)
        requests = [self.evaluator.reserve([c.proposal for c in brood], tasks) for brood in broods]
        answers = await asyncio.gather(*(self.evaluator.run(request) for request in requests))
        pairs = [
            (island, child, result.mean)
            for island, brood, results in zip(self.islands, broods, answers, strict=True)
            for child, result in zip(brood, results, strict=False)
            if result.tasks == tasks
        ]
        repeated = [(score, child.member.score) for _, child, score in pairs if child.member]
        finite = [score - before for score, before in repeated if np.isfinite(score) and np.isfinite(before)]
        hardness = float(np.mean(finite)) if finite else 0.0
        for island, child, score in pairs:
            if child.member:
                child.member.add(score - hardness)
            else:
                island.members.append(_Member(tuple(child.controls), child.proposal, score - hardness))
        for island in self.islands:
            island.keep(self.options.members)

    def migrate(self) -> None:
        """Let the best of each island join the next one, around a ring."""
        travellers = [island.best for island in self.islands]
        for traveller, target in zip(travellers, [*self.islands[1:], self.islands[0]], strict=True):
            if traveller is not None and traveller.digest not in {m.digest for m in target.members}:
                target.members.append(replace(traveller))
                target.keep(self.options.members)

    def _child(self, controls: list[str], parents: tuple[str, ...], note: str) -> _Child:
        tree = controller_program(self._public, control_source(controls))
        return _Child(controls, Proposal(Candidate.program(tree), parents, note))
