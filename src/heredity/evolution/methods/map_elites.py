"""MAP-Elites on islands: any program, changed by its constants, at its syntax tree, and by a language model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import Field

from heredity.errors import ConfigError
from heredity.evolution.contract import EvolverContext, Feedback, Outcome, SessionContract, Trial
from heredity.evolution.operators.cma import CmaEs
from heredity.evolution.operators.dialogue import together
from heredity.evolution.operators.draw import jitter, spread
from heredity.evolution.operators.evaluate import until_closed
from heredity.evolution.operators.program_author import Known, ProgramAuthor
from heredity.evolution.operators.select import tournament
from heredity.evolution.operators.syntax import edited
from heredity.evolution.operators.tuning import Tunable, has_constants, program_file
from heredity.evolution.options import MethodOptions, parse_options
from heredity.ids import generator
from heredity.tasks.programs.blocks import distance, open_lines, size_of

_TRIES = 8
_STEP = 0.2
_MOST_IDLE = 3
"""After so many rounds in a row in which nobody thought of a program that is new, it ends."""
_GENERATION = 6
"""How many points of a distribution are measured before it moves."""
_JITTERS = (0.003, 1.5)
"""Relative sizes of moves of single constants, drawn between these on a scale of logarithms."""
_MOST_TUNED = 400


class MapElitesOptions(MethodOptions):
    """Options of MAP-Elites."""

    islands: int = Field(3, ge=1, le=64, description="maps that are filled apart")
    brood: int = Field(6, ge=1, le=1_000, description="offspring of an island in one round")
    migrate: int = Field(5, ge=0, le=1_000, description="rounds between migrations; 0 for none")
    written: float = Field(
        0.75, ge=0, le=1, description="share of offspring that a model writes, where one is configured"
    )
    tuned: float = Field(
        0.67, ge=0, le=1, description="share of the others whose constants are tuned, where there are any"
    )
    crossover: float = Field(0.1, ge=0, le=1, description="chance of the rest to take a function of another elite")
    inspirations: int = Field(2, ge=0, le=20, description="other elites that a model is shown")
    repeats: int = Field(
        0, ge=0, le=1_000, description="train tasks that each is measured on; by default 1, with seeds 4"
    )
    temperature: float | None = Field(None, ge=0, le=2, description="of the model")


@dataclass(frozen=True)
class _Elite:
    """The best program of its kind on an island: of about this size and about this far from the start."""

    program: Tunable
    cell: tuple[int, int]
    score: float
    outcome: Outcome | None

    @property
    def digest(self) -> str:
        return self.program.candidate.digest


@dataclass
class _Child:
    """A program of a brood."""

    program: Tunable
    parents: tuple[str, ...]
    note: str
    point: np.ndarray | None = None


@dataclass
class _Tuning:
    """CMA-ES around the constants of one program."""

    centre: Tunable
    scale: np.ndarray
    cma: CmaEs
    structure: str
    evaluated: list[tuple[np.ndarray, float]] = field(default_factory=list[tuple[np.ndarray, float]])


@dataclass
class _Island:
    number: int
    rng: np.random.Generator
    elites: dict[tuple[int, int], _Elite] = field(default_factory=dict[tuple[int, int], _Elite])
    tuning: _Tuning | None = None

    @property
    def best(self) -> _Elite | None:
        return max(self.elites.values(), key=lambda e: e.score, default=None)

    def take(self, elite: _Elite) -> bool:
        """Keep a program if it is the best of its kind, which a later equal one is."""
        there = self.elites.get(elite.cell)
        if math.isfinite(elite.score) and (there is None or elite.score >= there.score):
            self.elites[elite.cell] = elite
            return True
        return False


class MapElites:
    """MAP-Elites (Mouret and Clune 2015, arXiv:1504.04909) on islands with migration.

    A map keeps the best program of each kind: of each power of two of size, and each tenth of lines that differ from the start
    program. Parents are elites of an island, the better ones more often. Offspring are written by the model, if there is one,
    which is shown the parent, what its scorer said and some other elites; or have constants moved, by CMA-ES around the island's
    best or a few at a time; or are edited at the syntax tree, or take a function of another elite. All are measured on the same
    train tasks, so that scores compare. Every few rounds the best of each island joins the next one's map.
    """

    name = "map-elites"
    options_model = MapElitesOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the budget is spent.

        Raises:
            ConfigError: if an option is wrong, or nothing can change the initial program.
        """
        options = parse_options(MapElitesOptions, self.name, context.options)
        search = _Search(session, context, options)
        with until_closed():
            await search.begin()
            number = 1
            while not search.exhausted:
                await search.round(number)
                if options.migrate and number % options.migrate == 0:
                    search.migrate()
                number += 1


class _Search:
    def __init__(self, session: SessionContract, context: EvolverContext, options: MapElitesOptions) -> None:
        self.session, self.options = session, options
        path = program_file(context.taskset.public)
        self.start = Tunable(context.initial, path)
        if path not in context.initial.agent:
            raise ConfigError(f"the initial program has no file {path}; give the folder of a program that has")
        open_lines(self.start.source)
        self.python = path.endswith(".py")
        self.author = (
            None if context.model is None else ProgramAuthor(context, MapElites.name, path, options.temperature)
        )
        if not self.python and self.author is None:
            raise ConfigError(
                f"{path} is no Python, so nothing but a model can change it; set gateway.optimisation to the name of one"
            )
        repeats = options.repeats or (4 if context.taskset.public.get("seeded") else 1)
        self.tasks = tuple(range(min(repeats, max(context.train_tasks, 1))))
        budget = session.remaining()
        self.left = budget.episodes if budget.episodes is not None else 128
        self.submissions = budget.submissions
        self.seen, self.idle = {self.start.source}, 0
        self.islands = [
            _Island(i + 1, generator(context.seed, "method", MapElites.name, i)) for i in range(options.islands)
        ]

    @property
    def exhausted(self) -> bool:
        return self.left < len(self.tasks) or self.submissions == 0 or self.idle > _MOST_IDLE

    async def begin(self) -> None:
        """Measure the start program, which is on every island."""
        (first,) = await self._measure([_Child(self.start, (), "the start program")], self.islands[:1], "0") or (None,)
        if first is None:
            return
        for island in self.islands:
            island.take(first)

    async def round(self, number: int) -> None:
        """Breed a brood on every island and measure all of them at the same time."""
        children: list[_Child] = []
        homes: list[_Island] = []
        for island in self.islands:
            brood = await self._brood(island, number)
            children += brood
            homes += [island] * len(brood)
        self.idle = 0 if children else self.idle + 1
        measured = await self._measure(children, homes, str(number))
        for island in self.islands:
            own = [(c, e) for c, h, e in zip(children, homes, measured, strict=False) if h is island]
            for _, elite in own:
                island.take(elite)
            _learn(island, own)

    def migrate(self) -> None:
        """Let the best of each island join the next one's map, around a ring."""
        travellers = [island.best for island in self.islands]
        for traveller, target in zip(travellers, [*self.islands[1:], self.islands[0]], strict=True):
            if traveller is not None:
                target.take(traveller)

    async def _brood(self, island: _Island, number: int) -> list[_Child]:
        rng, options = island.rng, self.options
        written = sum(rng.random() < options.written for _ in range(options.brood)) if self.author else 0
        if not self.python:
            written = options.brood
        elif self.idle:
            written = 0
        others = options.brood - written
        tuned = round(others * options.tuned) if self._tunable(island) else 0
        drawn = self._drawn(island, tuned - tuned // 2) if tuned else []
        moved = [child for _ in range(tuned // 2) if (child := self._moved(island))]
        brood = drawn + moved
        brood += [child for _ in range(others - len(brood)) if (child := self._edited(island))]
        if self.author and written:
            asked = [self._written(island, (number, island.number, slot)) for slot in range(written)]
            # In the order of the requests: which of two equal replies is first may not hang on which arrives first.
            brood += [child for child in await together(asked) if child and self._new(child.program)]
        return brood

    def _tunable(self, island: _Island) -> bool:
        best = island.best.program if island.best else self.start
        return self.python and has_constants(best.candidate, best.path) and best.values.size <= _MOST_TUNED

    def _moved(self, island: _Island) -> _Child | None:
        """Move some constants of an elite."""
        rng = island.rng
        for _ in range(_TRIES):
            parent, step = self._parent(island), float(np.exp(rng.uniform(*np.log(_JITTERS))))
            if island.best is not None and rng.random() < 0.5:
                parent = island.best
            if not has_constants(parent.program.candidate, parent.program.path):
                continue
            values = jitter(rng, parent.program.values, step, share=float(rng.choice([0.0, 0.2, 0.6])))
            if self._new(child := parent.program.with_values(values)):
                return _Child(child, (parent.digest,), f"some constants, step {step:.2g}")
        return None

    def _drawn(self, island: _Island, count: int) -> list[_Child]:
        """Draw constants around the island's best, whose structure CMA-ES is begun for when it is new."""
        best, rng = (island.best.program if island.best else self.start), island.rng
        structure = best.with_values(np.zeros(best.values.size)).source
        tuning = island.tuning
        if tuning is None or tuning.structure != structure:
            scale = spread(best.values)
            tuning = island.tuning = _Tuning(best, scale, CmaEs(best.values / scale, _STEP, rng), structure)
        points = tuning.cma.ask(max(count, 2))[:count]
        parents = (best.candidate.digest,)
        drawn = [
            _Child(tuning.centre.with_values(p * tuning.scale), parents, f"constants, step {tuning.cma.sigma:.2g}", p)
            for p in points
        ]
        return [child for child in drawn if self._new(child.program)]

    def _edited(self, island: _Island) -> _Child | None:
        rng = island.rng
        for _ in range(_TRIES):
            parent, donor = self._parent(island), self._parent(island)
            crossed = rng.random() < self.options.crossover and donor.digest != parent.digest
            edit = edited(rng, parent.program.source, donor.program.source if crossed else None)
            if edit is None:
                continue
            text, name = edit
            child = parent.program.with_source(text)
            if rng.random() < 0.25 and has_constants(child.candidate, child.path):
                child = child.with_values(jitter(rng, child.values, 0.1))
            if self._new(child):
                parents = (parent.digest, donor.digest) if crossed else (parent.digest,)
                return _Child(child, parents, name)
        return None

    async def _written(self, island: _Island, position: tuple[int, ...]) -> _Child | None:
        assert self.author is not None
        parent, rng = self._parent(island), generator(int(island.rng.integers(2**62)), "shown")
        elites = sorted(island.elites.values(), key=lambda e: (-e.score, e.digest))
        others = [e for e in elites if e.digest != parent.digest]
        shown = [others[i] for i in rng.permutation(len(others))[: self.options.inspirations]]
        proposal = await self.author.write(_summary(parent), [_summary(elite) for elite in shown], position)
        if proposal is None:
            return None
        text, why = proposal
        child = parent.program.with_source(text)
        return _Child(child, (parent.digest,), f"written: {why}")

    def _parent(self, island: _Island) -> _Elite:
        elites = sorted(island.elites.values(), key=lambda e: e.cell)
        if not elites:
            return _Elite(self.start, (0, 0), -math.inf, None)
        return elites[tournament(island.rng, [e.score for e in elites], 1 + int(island.rng.integers(3)))]

    def _new(self, program: Tunable) -> bool:
        source = program.source
        if source in self.seen:
            return False
        self.seen.add(source)
        return True

    async def _measure(self, children: Sequence[_Child], homes: Sequence[_Island], key: str) -> list[_Elite]:
        """Measure as many as can be paid, and return what they are worth, in order."""
        count = min(len(children), self.left // len(self.tasks))
        if self.submissions is not None:
            count = min(count, self.submissions)
            self.submissions -= count
        self.left -= count * len(self.tasks)
        if not count:
            return []
        places = [self._cell(child.program) for child in children[:count]]
        trials = [
            Trial(
                child.program.candidate,
                self.tasks,
                parents=child.parents,
                note=f"island {home.number}, size {niche[0]}, change {niche[1]}: {child.note}",
            )
            for child, home, niche in zip(children, homes, places, strict=False)
        ]
        answers = await self.session.submit(trials, f"{MapElites.name}/{key}")
        return [
            _Elite(child.program, niche, _score(feedback), feedback.outcomes[0] if feedback.outcomes else None)
            for child, niche, feedback in zip(children, places, answers, strict=False)
        ]

    def _cell(self, program: Tunable) -> tuple[int, int]:
        source = program.source
        return int(math.log2(max(size_of(source), 1))), min(int(10 * distance(self.start.source, source)), 9)


def _score(feedback: Feedback) -> float:
    """Return the mean score; nothing that failed, or could not be measured, is an elite."""
    whole = feedback.outcomes and all(outcome.status == "ok" for outcome in feedback.outcomes)
    return feedback.mean if whole else -math.inf


def _learn(island: _Island, own: Sequence[tuple[_Child, _Elite]]) -> None:
    """Tell CMA-ES what its points were worth, once there are enough of them to be ranked."""
    tuning = island.tuning
    if tuning is None:
        return
    tuning.evaluated += [(child.point, elite.score) for child, elite in own if child.point is not None]
    scores = np.array([score for _, score in tuning.evaluated])
    if len(scores) >= _GENERATION and len(set(scores.tolist())) > 1:
        tuning.cma.tell(np.array([point for point, _ in tuning.evaluated]), scores)
        tuning.evaluated.clear()


def _summary(elite: _Elite) -> Known:
    outcome = elite.outcome
    shown: Mapping[str, Any] = {}
    if outcome is not None and outcome.trajectory is not None:
        columns = outcome.trajectory.columns
        shown = {name: columns[f"info/{name}"][0] for name in ("metrics", "texts") if f"info/{name}" in columns}
    return Known(elite.program.source, elite.score if math.isfinite(elite.score) else None, shown)
