"""Parametric search: CMA-ES over the numeric constants in a program's text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.cma import CmaEs
from heredity.methods.operators.draw import spread, survivors
from heredity.methods.operators.evaluate import Evaluation, Evaluator, Proposal, episodes_per_candidate, until_closed
from heredity.methods.operators.tuning import Tunable, has_constants, program_file, random_linear
from heredity.methods.programs import POLICY
from heredity.methods.registry import MethodOptions, parse_options

_CONFIRMED = 3


class ParametricOptions(MethodOptions):
    """Options of parametric search."""

    candidates: int = Field(32, ge=2, le=10_000, description="members of generations the budget is shared among")
    explore: float = Field(0.42, ge=0, le=1, description="share of the episodes for wide draws if nothing can be tuned")
    population: int = Field(5, ge=3, le=1_000, description="members of a generation, the best so far included")
    step: float = Field(0.5, gt=0, le=10, description="initial step size relative to the constants")


@dataclass
class _State:
    """State of the search: the best program so far and the distribution around it."""

    best: Tunable
    scale: np.ndarray
    cma: CmaEs
    generation: int = 0
    stale: int = 0

    def point(self, program: Tunable) -> np.ndarray:
        return program.values / self.scale


class Parametric:
    """CMA-ES over a program's constants, for budgets of a few hundred episodes.

    A program with constants is tuned directly. Otherwise the search starts from wide, mirrored draws of linear
    controllers and tunes the best. Each generation is ranked on new train tasks that all members share. The best so far
    is evaluated again, so a lucky score does not persist. After generations without improvement the distribution
    restarts around the best, wider.
    """

    name = "parametric"
    options_model = ParametricOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Tune until the budget is exhausted.

        Raises:
            ConfigError: if an option or a space is invalid, or the initial program is not valid Python.
        """
        options = parse_options(ParametricOptions, self.name, context.options)
        evaluator = Evaluator(session, context, self.name)
        rng = generator(context.seed, "method", self.name)
        # Without seeds, measurements are the same each time.
        once = context.taskset.public.get("seeded") is False
        episodes = 1 if once else episodes_per_candidate(evaluator.total, options.candidates)
        with until_closed():
            path = program_file(context.taskset.public)
            if has_constants(context.initial, path):
                best = Tunable(context.initial, path)
            elif path != POLICY:
                raise ConfigError(
                    f"{path} has no float literal to tune; write the numbers that matter as floats, such as 1.0"
                )
            else:
                draws = max(2, round(options.explore * evaluator.total / max(1, episodes // 2)))
                best = await _explore(evaluator, context, rng, draws, episodes)
            state = _restarted(best, options.step, rng)
            while not evaluator.exhausted:
                await _generation(evaluator, state, options, episodes, rng)


async def _explore(
    evaluator: Evaluator, context: EvolverContext, rng: np.random.Generator, draws: int, episodes: int
) -> Tunable:
    """Return the best of mirrored draws: if a controller pushes the wrong way, its mirror image pushes the right way.

    The draws get half the usual episodes. The top few are then compared on other train tasks, because the best of many
    noisy means is mostly luck.
    """
    programs: list[Tunable] = []
    while len(programs) < draws:
        drawn = random_linear(context, rng)
        programs += [drawn, drawn.with_values(-drawn.values)]
    notes = ("a wide draw", "its mirror image")
    proposals = [Proposal(p.candidate, (), notes[i % 2]) for i, p in enumerate(programs[:draws])]
    wide = max(1, episodes // 2)
    results = await evaluator.evaluate(proposals, evaluator.tasks(wide))
    first = survivors(programs[: len(results)], [r.mean for r in results], _CONFIRMED)
    again = [Proposal(p.candidate, (), "a promising draw, again") for p in first]
    confirmed = await evaluator.evaluate(again, evaluator.tasks(episodes, first=wide))
    ranked = survivors(first[: len(confirmed)], [r.mean for r in confirmed], 1)
    return (ranked or first or programs)[0]


def _restarted(best: Tunable, step: float, rng: np.random.Generator) -> _State:
    scale = spread(best.values)
    return _State(best, scale, CmaEs(best.values / scale, step, rng))


async def _generation(
    evaluator: Evaluator, state: _State, options: ParametricOptions, episodes: int, rng: np.random.Generator
) -> None:
    state.generation += 1
    tasks = evaluator.tasks(episodes, first=episodes * state.generation)
    affordable = evaluator.left // episodes
    if affordable < 2:
        centre = state.best.with_values(state.cma.mean * state.scale)
        await evaluator.evaluate(
            [Proposal(centre.candidate, (state.best.candidate.digest,), "centre of the search")], tasks
        )
        return
    points = state.cma.ask(min(options.population, affordable) - 1)
    members = [state.best, *(state.best.with_values(point * state.scale) for point in points)]
    parent = state.best.candidate.digest
    note = f"generation {state.generation}, step size {state.cma.sigma:.3g}"
    proposals = [Proposal(m.candidate, (parent,), note) for m in members[1:]]
    again = Proposal(state.best.candidate, (), f"best so far, again, in generation {state.generation}")
    results = await evaluator.evaluate([again, *proposals], tasks)
    if len(results) > 1:
        _learn(state, members[: len(results)], results, options, rng)


def _learn(
    state: _State,
    members: list[Tunable],
    results: list[Evaluation],
    options: ParametricOptions,
    rng: np.random.Generator,
) -> None:
    scores = np.array([result.mean for result in results])
    news = int(np.argmax(scores))
    if len(set(scores.tolist())) > 1:
        state.cma.tell(np.array([state.point(m) for m in members]), scores)
    state.stale = 0 if scores[news] > scores[0] else state.stale + 1
    if scores[news] > scores[0]:
        state.best = members[news]
    if state.stale >= 3:
        # Three generations without improvement: escape with a wider step around the best.
        fresh = _restarted(state.best, 2 * options.step, rng)
        state.scale, state.cma, state.stale = fresh.scale, fresh.cma, 0
