"""Evolvers, built from configuration: each spends a session's budget."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity._core.outside import python_tree
from heredity._core.refusals import reading
from heredity.agents.launchers import AgentExit, BrokerDoor, CommandAgent, Launch
from heredity.agents.run import AgentTools, evolve_with_agent, run_starts
from heredity.agents.terms import Briefing, RunTerms
from heredity.agents.workspace import Workspace
from heredity.configuration.config import Cell
from heredity.engine.kind import KINDS
from heredity.experiments.outside_agents import (
    WatchedModel,
    command_agent,
    described,
    model_door,
    record_stream,
    tools_door,
)
from heredity.methods import EvolverContext
from heredity.methods.operators.gepa_search import GepaOptions
from heredity.methods.portions import Portions
from heredity.methods.proposals import LoopOptions
from heredity.methods.registry import METHODS, method
from heredity.methods.starter import starter_candidate
from heredity.models import Model
from heredity.protocols.contract import Evolver, SuiteContext
from heredity.records.agent_starts import failure_of
from heredity.records.run_folder import check_no_record
from heredity.resources import Candidate
from heredity.sandbox.isolation import package_folders
from heredity.session.session import Session
from heredity.tasks import TasksetInfo

PROMPT = (
    "You are alone at this, and nobody answers questions. Read AGENTS.md in the current folder, then do what it says until the "
    "budget is spent or you are certain that nothing more can be gained; end with the command `heredity finish`."
)
"""First prompt of an agent started by name, unless the configuration sets another."""


def initial_candidate(cell: Cell, info: TasksetInfo) -> Candidate:
    """Return the initial candidate of a run: the folder it names, or a neutral starter.

    Raises:
        ConfigError: if the folder is missing, does not hold what tasks of this kind need, or holds invalid Python.
    """
    folder = cell.evolver.initial
    if folder is None:
        return starter_candidate(info)
    try:
        check_no_record(Path(folder))
        initial = KINDS.load(info.kind).candidates.read(Path(folder))
        for path, content in itertools.chain.from_iterable(tree.items() for tree in initial.parts.values()):
            if path.endswith(".py"):
                with reading(path, "valid Python", "correct it"):
                    python_tree(content)
        return initial
    except ConfigError as error:
        raise ConfigError(f"evolver.initial, {folder}: {error}") from error


def check_evolver(cell: Cell, suite: SuiteContext, briefing: Briefing | None = None) -> None:
    """Check the evolver of a run.

    Raises:
        ConfigError: as `build_evolver`, or if a method has no model that proposes edits.
    """
    name = cell.evolver.method
    edits = name is not None and issubclass(METHODS.load(name).options_model, LoopOptions | GepaOptions)
    if edits and not cell.config.gateway.optimisation:
        raise ConfigError(
            f"the method {name!r} has no model that proposes edits: set gateway.optimisation, such as openai/gpt-5"
        )
    info = suite.tasksets[cell.taskset].info
    if cell.evolver.initial is not None:
        initial_candidate(cell, info)
    build_evolver(cell, info, suite.run_folder(cell), suite.secrets, briefing=briefing)


def build_evolver(
    cell: Cell,
    info: TasksetInfo,
    folder: Path,
    secrets: Sequence[Path],
    model: Model | None = None,
    *,
    briefing: Briefing | None = None,
    scheduled: bool = False,
) -> Evolver:
    """Return the evolver of a run.

    Args:
        cell: the run.
        info: its taskset.
        folder: the run's folder.
        secrets: folders hidden from an outside agent.
        model: model that a method may call for edits, or an outside agent for any purpose.
        briefing: instructions for an outside agent; None for a protocol without outside agents.
        scheduled: whether train tasks are pushed to it in batches.

    Raises:
        ConfigError: if a method or an option is unknown, or the agent's folders are missing.
    """
    initial = initial_candidate(cell, info)
    if cell.evolver.method is None:
        if briefing is None:
            raise ConfigError(f"{cell.config.run.protocol} does not run outside agents; set evolver.method instead")
        workspace = Workspace(folder.resolve() / "workspace", _terms(cell, info), briefing)
        return _agent(cell, workspace, folder / "logs", initial, command_agent(cell, secrets, PROMPT), model)
    chosen, budget = method(cell.evolver.method, cell.evolver.options), cell.config.budget
    context = EvolverContext(info, initial, cell.seed, budget.train_cases, cell.evolver.options, scheduled=scheduled)

    async def evolve(session: Session) -> None:
        asked = None if model is None else session.recorded(model)
        portions = Portions(session, budget.min_per_submit, budget.max_per_submit)
        await chosen.evolve(portions, replace(context, model=asked))

    description = {"name": cell.label, "kind": "method", "method": cell.evolver.method, "options": cell.evolver.options}
    return Evolver(evolve, True, description)


def _terms(cell: Cell, info: TasksetInfo) -> RunTerms:
    config = cell.config
    return RunTerms(
        taskset=info,
        train_tasks=config.budget.train_cases,
        episode_budget=config.budget.episodes or 0,
        min_episodes=config.budget.min_per_submit,
        max_episodes=config.budget.max_per_submit,
        limits=config.limits.limits(),
        allowed_imports=tuple(sorted(n for n in package_folders() if not n.endswith(".libs"))),
        tools=bool(cell.evolver.tools),
    )


def _agent(
    cell: Cell,
    workspace: Workspace,
    logs: Path,
    initial: Candidate,
    started: tuple[CommandAgent, Launch],
    model: Model | None,
) -> Evolver:
    agent, launch = started
    watched = None if model is None else WatchedModel(model)

    async def evolve(session: Session) -> None:
        async with (
            record_stream(session, logs, launch),
            model_door(cell, session, logs.parent, watched) as broker,
            tools_door(cell, session) as tools,
        ):
            await run_starts(session, logs.parent / "journal.jsonl", agent, partial(start, session, broker, tools))

    async def start(
        session: Session, broker: BrokerDoor | None, tools: AgentTools | None, agent: CommandAgent
    ) -> AgentExit:
        ended = await evolve_with_agent(
            session, workspace, agent, initial=initial, logs=logs, broker=broker, tools=tools
        )
        if watched is not None:
            watched.check(ended, len(session.snapshot()))
        return ended

    return Evolver(evolve, False, described(cell, agent), workspace.publisher, failure_of)
