"""Polishing of answers that are vectors: local searches, made by the programs that are submitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from pydantic import Field

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.methods.contract import EvolverContext, Feedback, SessionContract, Trial
from heredity.methods.operators.evaluate import UNBOUNDED_EPISODES, until_closed
from heredity.methods.operators.tuning import program_file
from heredity.methods.registry import MethodOptions, parse_options
from heredity.resources import Candidate, SourceTree
from heredity.resources.evolve_blocks import open_lines

_SEARCH = """import json

import answer
import polisher

START = json.loads({start!r})


def solve():
    start = None if START is None else answer.vector(START)
    return answer.answer(polisher.polish(answer, start, {seed}, {searches}, {seconds}))
"""
_ANSWER = """import json

ANSWER = {answer!r}


def solve():
    return json.loads(ANSWER)
"""


class PolishOptions(MethodOptions):
    """Options of polishing."""

    chains: int = Field(2, ge=1, le=64, description="searches that run side by side, each from its own best answer")
    searches: int = Field(200, ge=1, le=1_000_000, description="local searches in one evaluation")
    seconds: float = Field(
        15.0,
        gt=0,
        le=86_400,
        description="CPU seconds after which an evaluation begins no further search; keep it below limits.episode_s",
    )
    restart: int = Field(4, ge=0, le=1_000, description="rounds after which the worst chain starts anew; 0 for never")


@dataclass
class _Chain:
    """A chain of searches: its best answer as JSON, the score, and the program that found it."""

    answer: str | None = None
    score: float = -math.inf
    digest: str = ""


class Polish:
    """Polishes answers of tasks that describe them as vectors (`answer` in `task.toml`), by local searches.

    An evaluation runs a program that makes local searches from the best answer of a chain: sequential quadratic programs
    from changed copies, with restarts, and at the end sequential linear programs to the last digit. The last submission is a
    program that only holds the best answer, so it can be measured anywhere in no time. Needs scipy where programs run.
    """

    name = "polish"
    options_model = PolishOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Polish until the budget is exhausted.

        Raises:
            ConfigError: if an option is invalid, or the task does not describe its answer as a vector.
        """
        options = parse_options(PolishOptions, self.name, context.options)
        public, path = context.taskset.public, program_file(context.taskset.public)
        model = public.get("answer")
        if not model:
            raise ConfigError(
                f"{context.taskset.name} does not describe its answer as a vector, so there is nothing to polish; "
                "name a file as `answer` in its task.toml, see docs/evolve.md, or choose another method"
            )
        frame = _frame(context.initial.agent.text(path), path)
        seeds = generator(context.seed, "method", self.name)
        budget = session.remaining()
        left = min(
            UNBOUNDED_EPISODES if budget.episodes is None else budget.episodes,
            UNBOUNDED_EPISODES if budget.submissions is None else budget.submissions,
        )
        search = _Search(frame, path, str(model), options)
        chains = [_Chain() for _ in range(options.chains)]
        best, number = _Chain(), 0
        with until_closed():
            while left > 1:
                number += 1
                if options.restart and number % options.restart == 0 and len(chains) > 1:
                    chains[chains.index(min(chains, key=lambda chain: chain.score))] = _Chain()
                turn = chains[: left - 1]
                trials = [search.trial(chain, int(seeds.integers(2**31)), number) for chain in turn]
                left -= len(trials)
                for chain, feedback in zip(turn, await session.submit(trials, f"{self.name}/{number}"), strict=True):
                    _learn(chain, feedback)
                    if chain.score > best.score:
                        best = replace(chain)
            if left and best.answer is not None:
                await session.submit([search.result(best)], f"{self.name}/answer")


@dataclass(frozen=True)
class _Search:
    """What the programs of a run have in common.

    Attributes:
        frame: the texts before and after the part that changes.
        path: the program's file.
        model: the task's description of its answer as a vector, a module in Python.
        options: the method's options.
    """

    frame: tuple[str, str]
    path: str
    model: str
    options: PolishOptions

    def trial(self, chain: _Chain, seed: int, number: int) -> Trial:
        """Return the program that searches on from a chain's answer."""
        text = _SEARCH.format(
            start="null" if chain.answer is None else chain.answer,
            seed=seed,
            searches=self.options.searches,
            seconds=self.options.seconds,
        )
        begun = "a random start" if chain.answer is None else f"an answer worth {chain.score:.10g}"
        files = {self.path: self._framed(text), "answer.py": self.model, "polisher.py": _polisher()}
        return _trial(files, chain, f"round {number}: searches from {begun}")

    def result(self, best: _Chain) -> Trial:
        """Return the program that holds the best answer and searches no more."""
        files = {self.path: self._framed(_ANSWER.format(answer=best.answer))}
        return _trial(files, best, "the best answer, without the search for it")

    def _framed(self, text: str) -> str:
        before, after = self.frame
        return before + text + after


def _trial(files: Mapping[str, str], parent: _Chain, note: str) -> Trial:
    return Trial(Candidate.program(SourceTree(files)), (0,), 1, (parent.digest,) if parent.digest else (), note)


def _frame(source: str, path: str) -> tuple[str, str]:
    """Return the parts of a program before and after the block that has solve()."""
    lines = source.split("\n")
    defined = [number for number, line in enumerate(lines, 1) if line.startswith(("def solve(", "async def solve("))]
    blocks = [block for block in open_lines(source) if any(number in block for number in defined)]
    if not blocks:
        raise ConfigError(
            f"solve() of {path} is protected by its marks, so no other can be written; move it into a block"
        )
    before, after = lines[: blocks[0].start - 1], lines[blocks[0].stop - 1 :]
    return "".join(f"{line}\n" for line in before), "\n".join(after)


def _learn(chain: _Chain, feedback: Feedback) -> None:
    """Keep the answer of an evaluation if it is the chain's best."""
    for outcome in feedback.outcomes:
        answer = outcome.trajectory.columns.get("info/answer") if outcome.trajectory is not None else None
        if outcome.status == "ok" and answer and answer[0] and outcome.score > chain.score:
            chain.answer, chain.score, chain.digest = str(answer[0]), outcome.score, feedback.candidate


@cache
def _polisher() -> str:
    return files("heredity.methods.operators").joinpath("polisher.py").read_text(encoding="utf-8")
