"""Kinds of tasks: what one declares is all that anybody else knows of it."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError, HostError, IsolationError, ProviderError, UnknownNameError
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.kind import KINDS, Candidates, Kind, Needs, Opening, Shared
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Failure, Trajectory
from heredity.models import Usage
from heredity.models.settings import GatewaySettings
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import Rollouts, outcomes_of
from heredity.tasks import Task, TasksetInfo

SOURCE = Path(__file__).parents[2] / "src" / "heredity"

HOMES = {
    "episode": "policy",
    "question": "question",
    "container": "container",
    "code": "code",
    "solution": "code",
    "program": "program",
    "world": "world",
    "world-build": "world",
    "model": "checkpoint",
    "scored": "checkpoint",
    "preference": "checkpoint",
    "text-episode": "checkpoint",
    "glimpse-game": "checkpoint",
}
"""The folder of `kinds/` that a kind's name may be asked for in."""


NAMES = frozenset(HOMES)
SPANS = {"model"}
"""Names of kinds that spans have too: `kind == "model"` alone does not say which of both is meant."""


def texts(nodes: Iterable[ast.AST]) -> set[object]:
    return {part.value for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant)}


def asked(node: ast.AST) -> frozenset[str]:
    """Return the names of kinds that an expression may be compared with: none if it reads no taskset's kind."""
    read: frozenset[str] = frozenset()
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=owner, attr="kind") if re.search(r"(info|tasks?|taskset)$", ast.unparse(owner)):
                return NAMES
            case ast.Attribute(attr="kinds" | "_kinds") | ast.Name(id="kinds"):
                return NAMES
            case ast.Name(id="kind"):
                read = NAMES - SPANS
            case _:
                pass
    return read


def branches(tree: ast.AST) -> Iterator[tuple[int, set[object]]]:
    """Yield lines that tell kinds apart by their names, and these names."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                yield node.lineno, texts([node]) & asked(node)
            case ast.Match():
                yield node.lineno, texts(case.pattern for case in node.cases) & asked(node.subject)
            case ast.Dict(keys=items) | ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
                names = {item.value for item in items if isinstance(item, ast.Constant)} & NAMES
                yield node.lineno, names if len(names) > 1 else set()
            case _:
                pass


def strangers(text: str, path: str) -> list[tuple[int, str]]:
    """Return the lines of a module that ask for a kind which is not at home there."""
    mentions = [(line, str(name)) for line, names in branches(ast.parse(text)) for name in names]
    return [(line, name) for line, name in mentions if not path.startswith(f"kinds/{HOMES[name]}/")]


def machinery() -> list[Path]:
    """Return all modules but content and the list of built-in parts, whose rows of data have such names too."""
    modules = sorted(path for path in SOURCE.rglob("*.py") if path.name != "built_in.py")
    return [path for path in modules if "library" not in path.relative_to(SOURCE).parts]


def test_a_kinds_name_is_asked_for_in_its_own_folder_alone() -> None:
    found = {name: strangers(path.read_text(), name) for path in machinery() if (name := str(path.relative_to(SOURCE)))}
    assert {name: asked for name, asked in found.items() if asked} == {}


@pytest.mark.parametrize(
    "text",
    [
        'if info.kind == "episode": pass',
        'return kind != "episode" or found',
        'if self._taskset.kind != "world" and found: pass',
        'RUNNERS = {"question": 1, "container": 2}',
        'if kinds & {"container", "model"}: pass',
        'if taskset.info.kind in ("question",): pass',
        'match tasks.info.kind:\n    case "container" | "x": pass',
    ],
)
def test_every_way_to_ask_for_a_name_is_noticed(text: str) -> None:
    assert strangers(text, "experiments/engine.py")


def test_all_kinds_have_a_home_and_their_own_names() -> None:
    assert set(KINDS.names()) == set(HOMES)
    assert {name: KINDS.load(name).name for name in KINDS.names()} == {name: name for name in HOMES}


INFO = TasksetInfo("echoes/small", "1", "echo", {}, {}, "Small.", -1.0)
CANDIDATE = Candidate({"prompt/system": SourceTree({"prompt.md": "Echo."})})
MUTE = Candidate({"memory/notes": SourceTree({"memory.md": "nothing"})})
ENDS = {
    "well": None,
    "breaks": RolloutError("the echo is gone", "line 3"),
    "cheats": RolloutError("it shouts", status="shouted", failure_source=FailureSource.CANDIDATE),
    "unheard": ProviderError("server", "down", transient=True),
    "ill": HostError("no air"),
    "open": IsolationError("no walls"),
}


@dataclass
class Echoes:
    """The runner of an outside kind."""

    opening: Opening
    closed: int = 0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        async def rollout(position: int, job: Job) -> tuple[int, Trajectory]:
            return position, await attributed(Echo(job), self._echoed(job), limits.episode_s)

        async for item in as_completed(rollout(position, job) for position, job in enumerate(jobs)):
            yield item

    async def close(self) -> None:
        self.closed += 1

    async def _echoed(self, job: Job) -> Trajectory:
        error = ENDS[job.task.spec["ends"]]
        if error is not None:
            raise error
        assert self.opening.model is not None
        return Echo(job).trajectory(Status.OK, FailureSource.NONE, None, reward=1.0)


@dataclass
class Echo:
    job: Job

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        return self.trajectory(status, failure_source, Failure(status, message, trace))

    def trajectory(
        self, status: str, failure_source: FailureSource, failure: Failure | None, reward: float = 0.0
    ) -> Trajectory:
        cost = {"input_tokens": 3.0, "output_tokens": 2.0}
        return Trajectory(
            self.job.task.id,
            self.job.candidate.digest,
            status,
            failure_source,
            reward,
            1,
            True,
            {},
            failure=failure,
            cost=cost,
        )


@dataclass
class House:
    """What was opened."""

    opened: list[Echoes] = field(default_factory=list)

    def open(self, opening: Opening) -> Echoes:
        self.opened.append(Echoes(opening))
        return self.opened[-1]


def refusal(candidate: Candidate) -> Failure | None:
    return None if "prompt/system" in candidate.parts else Failure("mute", "it has no prompt")


@pytest.fixture
def house(offer: Offer) -> House:
    made = House()
    needs = Needs(model="required", purpose="echoes are given", placement=int)
    offer("heredity.kinds", "echo", Kind("echo", made.open, needs, Candidates(refusal=refusal)))
    return made


def settings(execution: str = "offline/rule-follower") -> EngineSettings:
    return EngineSettings(GatewaySettings(execution=execution, cache=False))


def tasks(split: str = "train") -> list[Task]:
    return [Task(f"{split}/{i}", split, i, {"ends": how}) for i, how in enumerate(ENDS)]


async def test_an_outside_kind_is_opened_and_each_failure_put_down_to_its_side(house: House) -> None:
    async with Engine(settings(), ["echo"]) as engine:
        assert engine.isolation == "none needed"
        jobs = [Job(INFO, CANDIDATE, task) for task in tasks()]
        trajectories = {position: trajectory async for position, trajectory in engine.run(jobs, Limits())}
    assert [(trajectories[i].status, trajectories[i].failure_source.value) for i in range(len(jobs))] == [
        ("ok", "none"),
        ("environment_error", "environment"),
        ("shouted", "candidate"),
        ("provider_error", "provider"),
        ("host_error", "host"),
        ("isolation_error", "host"),
    ]
    assert [runner.closed for runner in house.opened] == [1, 1]


async def test_hidden_tasks_other_models_and_places_have_runners_of_their_own(house: House) -> None:
    async with Engine(settings(), ["echo"]) as engine:
        train, hidden = engine.under().train["echo"], engine.under().hidden["echo"]
        assert train is engine.runner("echo")
        assert hidden is engine.runner("echo", judging=True)
        assert engine.runner("echo", placement=1) is engine.runner("echo", placement=1)
        assert engine.runner("echo", "offline/shell-worker") is engine.under("offline/shell-worker").train["echo"]
        assert len({id(runner) for runner in house.opened}) == len(house.opened) == 5
        with pytest.raises(ConfigError, match="tasks of the kind 'echo' cannot be placed with 'there'"):
            engine.runner("echo", placement="there")
        with pytest.raises(UnknownNameError, match="unknown model"):
            engine.under("nobody/none")
        assert {runner.opening.shared for runner in house.opened} == {house.opened[0].opening.shared}


async def test_a_kind_says_what_it_needs_a_model_for(house: House) -> None:
    with pytest.raises(
        ConfigError, match=r"echoes are given by a language model: set gateway.execution, such as openai"
    ):
        Engine(settings(""), ["echo"])
    with pytest.raises(UnknownNameError, match="unknown kind of task 'ecko'; did you mean echo"):
        Engine(settings(), ["ecko"])
    assert house.opened == []


async def test_the_judge_scores_an_outside_kind_by_what_it_declares(house: House) -> None:
    async with Engine(settings(), ["echo"]) as engine:
        attempter = Rollouts(engine, Limits(), retries=0)
        chosen = tasks()[:3]
        made = await attempter.tasks(INFO, chosen, CANDIDATE, 0)
        scored = outcomes_of(INFO, chosen, CANDIDATE, made)
        assert [(o.status, o.score == 1.0) for o in scored] == [("ok", True), ("missing", False), ("shouted", False)]
        assert KINDS.load("echo").usage(made[0]) == Usage(3, 2)
        assert await attempter.tasks(INFO, chosen, MUTE, 0) == []
        assert {o.status for o in outcomes_of(INFO, chosen, MUTE, [])} == {"mute"}


def test_shared_objects_are_made_once() -> None:
    shared = Shared()
    assert shared.of(list) is shared.of(list)
    assert shared.of(dict) == {}
