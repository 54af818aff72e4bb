"""Parts that a package adds: an environment, questions, a taskset, a kind of task, a method, a model, a sandbox."""

from dataclasses import replace

import gymnasium
import numpy as np
from pydantic import Field

from heredity._core.errors import UnknownNameError
from heredity._core.ids import generator
from heredity.engine.kind import Kind, Needs
from heredity.engine.questions import Question
from heredity.engine.questions.pools import Pool, PoolTaskset
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.environments import EnvironmentSpec, EnvironmentTaskset
from heredity.methods import EvolverContext, SessionContract
from heredity.methods.operators.evaluate import Evaluator, Proposal, until_closed
from heredity.methods.operators.tuning import starting_point
from heredity.methods.registry import MethodOptions, parse_options
from heredity.models import Reply, Request, Usage
from heredity.results.status import FailureSource, Status
from heredity.sandbox.containers import BubblewrapBackend, ContainerLimits
from heredity.tasks import Task


class Countdown(gymnasium.Env):
    """Name 1 as long as the number shown is above 0."""

    observation_space = gymnasium.spaces.Box(0.0, 9.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(3, 10))
        return np.array([self.left], np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.array([self.left], np.float32), float(action == 1), self.left == 0, False, {}


gymnasium.register("Countdown-v0", entry_point=Countdown, max_episode_steps=20)


def squares() -> Pool:
    """Return questions for squares; no question may be in two splits."""
    asked = [Question(f"What is {n} squared?", str(n * n), {"kind": "integer"}) for n in range(2, 32)]
    splits = {"train": asked[:10], "validation": asked[10:15], "heldout": asked[15:]}
    return Pool(splits, description="Squares of small numbers.", hidden="public", family="math")


SQUARES = PoolTaskset("mine/squares", squares)


SPEC = EnvironmentSpec(
    id="tilted",
    family="mine",
    entry_id="Pendulum-v1",
    kwargs={"g": 5.0},
    max_episode_steps=100,
    failure_return=-1700.0,
    description="A pendulum under half of gravity, for 100 steps.",
)


class Tilted:
    """Implements `heredity.tasks.Taskset`: `info` and `draw`."""

    def __init__(self):
        self._episodes = EnvironmentTaskset(SPEC)
        self.info = replace(self._episodes.info, name="mine/tilted")

    def draw(self, split, count, entropy) -> tuple[Task, ...]:
        return self._episodes.draw(split, count, entropy)


class Source:
    def names(self):
        return ("mine/squares", "mine/tilted")

    def taskset(self, name):
        if name not in self.names():
            raise UnknownNameError("taskset", name, self.names())
        return SQUARES if name == "mine/squares" else Tilted()


SOURCE = Source()


class Dealt:
    """Attempts nothing: every episode returns what a die shows. Good for testing a method's bookkeeping."""

    async def run(self, jobs, limits):
        for position, job in enumerate(jobs):
            roll = float(generator(0, "dealt", job.candidate.digest, job.task.id).integers(1, 7))
            task, candidate = job.task.id, job.candidate.digest
            yield position, Trajectory(task, candidate, Status.OK, FailureSource.NONE, roll, 1, True, columns={})

    async def close(self):
        """Nothing was started."""


KIND = Kind("dealt", lambda opening: Dealt(), Needs(), usage=lambda trajectory: None)


class DoublingOptions(MethodOptions):
    factor: float = Field(2.0, gt=1, description="by which all constants grow")


class Doubling:
    """Lets the constants of a random controller grow for as long as that helps."""

    name = "doubling"
    options_model = DoublingOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        options = parse_options(DoublingOptions, self.name, context.options)
        evaluator = Evaluator(session, context, self.name)
        draws = generator(context.seed, "method", self.name)
        with until_closed():
            while not evaluator.exhausted:
                current, best = starting_point(context, draws), float("-inf")
                while results := await evaluator.evaluate([Proposal(current.candidate)], tasks=[0, 1]):
                    if results[0].mean <= best:
                        break
                    current, best = current.with_values(current.values * options.factor), results[0].mean


class Eliza:
    """Asks back."""

    name = "mine/eliza"

    async def reply(self, request: Request) -> Reply:
        last = request.messages[-1].content
        return Reply(f"Why do you say: {last}", usage=Usage(len(last.split()), 4 + len(last.split())))


def open_model(rest: str, settings: object = None) -> Eliza:
    return Eliza()


def small() -> BubblewrapBackend:
    """Return a backend that limits tasks to half a gibibyte of memory and 64 processes."""
    return BubblewrapBackend(ContainerLimits(memory_bytes=512 << 20, processes=64))
