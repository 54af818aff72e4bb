"""Programs seen as points: a fixed text with a vector of tunable constants in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heredity.evolution.contract import EvolverContext
from heredity.evolution.operators.constants import find_constants, rewrite_constants
from heredity.evolution.operators.draw import sparse_weights
from heredity.evolution.programs import POLICY
from heredity.evolution.starter import linear_program, linear_shape
from heredity.resources import Candidate
from heredity.resources.candidate import AGENT

_BIASED = 0.25


@dataclass(frozen=True, eq=False)
class Tunable:
    """A candidate whose policy program has numeric constants to tune.

    Attributes:
        candidate: the candidate; parts other than the program, and files other than `policy.py`, stay as they are.
    """

    candidate: Candidate

    @property
    def source(self) -> str:
        """Text of `policy.py`."""
        return self.candidate.agent.text(POLICY)

    @cached_property
    def values(self) -> np.ndarray:
        """The constants in the order of the text, shape (n,)."""
        return np.array([constant.value for constant in find_constants(self.source)])

    def with_values(self, values: np.ndarray) -> Tunable:
        """Return the same program with other constants, shape (n,)."""
        text = rewrite_constants(self.source, [float(v) for v in values])
        program = self.candidate.agent.with_file(POLICY, text)
        return Tunable(Candidate({**self.candidate.parts, AGENT: program}))


def has_constants(candidate: Candidate) -> bool:
    """Whether a candidate's `policy.py` has anything to tune.

    Raises:
        ConfigError: if it is not valid Python.
    """
    program = candidate.parts.get(AGENT)
    return program is not None and POLICY in program and bool(find_constants(program.text(POLICY)))


def starting_point(context: EvolverContext, rng: np.random.Generator) -> Tunable:
    """Return the initial program if it has constants to tune, else a linear controller drawn at random.

    Raises:
        ConfigError: if the initial program is not valid Python, or a space is wrong.
    """
    if has_constants(context.initial):
        return Tunable(context.initial)
    return random_linear(context, rng)


def random_linear(context: EvolverContext, rng: np.random.Generator) -> Tunable:
    """Return a linear controller with weights drawn at random, most of them zero and biases rare.

    Raises:
        ConfigError: if a space is missing or cannot be controlled.
    """
    public = context.taskset.public
    weights = sparse_weights(rng, linear_shape(public))
    weights[:, -1] *= rng.random(len(weights)) < _BIASED
    return Tunable(Candidate.program(linear_program(public, weights)))
