"""From a team.toml to a team at work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from heredity.actors.contract import Solving
from heredity.actors.solver import Solver
from heredity.errors import ConfigError, RecordError
from heredity.gateway.gateway import Gateway
from heredity.outside import json_value, read_bytes, read_text
from heredity.refusals import reading
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.rollouts.programs import SandboxedPrograms
from heredity.team.agent import SubAgent, TeamTool, shortened
from heredity.team.coding import CodingAgents, ModelDoor
from heredity.team.debate import Debate
from heredity.team.design import AgentDesign, TeamParts
from heredity.team.evolution.across import evolving
from heredity.team.evolution.generation import writing_tools
from heredity.team.evolution.makeup import Makeup, makeup
from heredity.team.evolution.trials import Staff
from heredity.team.foreign import ForeignAgent
from heredity.team.memory import Entry, SharedMemory, to_jsonl
from heredity.team.participant import Context, Handler
from heredity.team.plan import Plan
from heredity.team.planning import Planner
from heredity.team.settings import AgentSection, TeamSettings
from heredity.team.team import PLANNER, Member, Team, TeamResult, open_team, write_whole
from heredity.team.tools.asking import asking
from heredity.team.tools.corpus import Corpus
from heredity.team.tools.documents import ENDINGS, PICTURES, DocumentReader
from heredity.team.tools.mcp_settings import Servers, open_servers, variable, without_servers
from heredity.team.tools.python import python_tool
from heredity.team.tools.web.door import WebDoor, open_door


@asynccontextmanager
async def assembled(
    settings: TeamSettings,
    folder: Path,
    *,
    review: Callable[[Plan], Awaitable[Plan]] | None = None,
    watch: Callable[[Plan], None] = lambda _: None,
    planner: Planner | None = None,
    files: Mapping[str, Path] | None = None,
    unsafe: bool = False,
    answer: str = "",
    door: ModelDoor | None = None,
) -> AsyncGenerator[tuple[Team, Gateway]]:
    """Open everything that a team needs, and the team; everything is closed afterwards.

    Args:
        settings: what the team consists of.
        folder: where it works; the same folder again goes on with the same task.
        review: see `open_team`.
        watch: see `open_team`.
        planner: plans in place of the team's own.
        files: what is given with the task, by name; agents search and read it beside the corpus.
        unsafe: run programs with the isolation that works here.
        answer: the right answer, where it is known: a task that is solved becomes a canary of the team's evolution.
        door: serves models to coding agents (`heredity.server.agent_models.models_for_agent`).

    Raises:
        ConfigError: if a model, folder, memory or browser that is named is not there.
        MissingExtraError: if a package that a tool needs is not installed.
        IsolationError: if programs cannot be confined here.
        RunLockedError: if another process works in the folder.
    """
    async with equipped(settings, files, unsafe=unsafe, door=door) as equipment:
        opened = equipment.team(folder, review=review, watch=watch, planner=planner, answer=answer)
        async with opened as team:
            yield team, equipment.gateway


@dataclass(frozen=True, slots=True)
class Equipment:
    """What the members of a team are made of and share; made by `equipped`."""

    settings: TeamSettings
    gateway: Gateway
    programs: SandboxedPrograms
    corpus: Corpus
    pictures: tuple[tuple[str, bytes], ...]
    servers: Servers
    web: WebDoor
    memory: SharedMemory
    coding: CodingAgents

    @asynccontextmanager
    async def team(
        self,
        folder: Path,
        *,
        review: Callable[[Plan], Awaitable[Plan]] | None = None,
        watch: Callable[[Plan], None] = lambda _: None,
        planner: Planner | None = None,
        answer: str = "",
    ) -> AsyncGenerator[Team]:
        """Open a team in a folder (arguments and what is raised as of `assembled`)."""
        foreign = foreign_agents(self.settings)
        settings = await described(self.settings, foreign)
        outside: Mapping[str, Handler] = {**foreign, **self._coding(folder)}
        made = makeup(settings, candidate_of)
        with evolving(settings, made, self.staff(made), self.gateway, self.programs, folder) as at_work:
            team_now = at_work.evolving
            sections = settings.agents.items()
            members = {
                name: Member(s.description, outside.get(name) or team_now.handler(name), s.concurrency)
                for name, s in sections
            }
            async with open_team(
                folder,
                members,
                planner or _debate(settings) or team_now,
                rounds=self.settings.team.rounds,
                step_seconds=self.settings.team.step_seconds,
                review=review,
                between=team_now.between,
                watch=watch,
                memory=self.memory,
            ) as team:
                team_now.join(team.bus)
                team.after = partial(at_work.after, answer=answer)
                yield team

    def _coding(self, folder: Path) -> dict[str, Handler]:
        """Return the members that are coding agents."""
        models = self.settings.models()
        return {
            name: self.coding.agent(name, agent, self.gateway.model(models[name]) if name in models else None, folder)
            for name, agent in self.settings.agents.items()
            if agent.launcher
        }

    def fresh(self) -> Equipment:
        """Return the same with a memory as it was at first, for another task that is to know nothing of this one."""
        return replace(self, memory=SharedMemory(read_memory(self.settings.team.memory)))

    async def for_task(self, files: Mapping[str, Path]) -> Equipment:
        """Return the same for a task that comes with files: nobody who works on another one finds or is shown them.

        Args:
            files: what is given with it, by name; agents search and read it beside the corpus, and see the pictures among it.

        Raises:
            ConfigError: if one cannot be read.
        """
        own = await Corpus.load(None, DocumentReader(self.programs), files)
        return replace(
            self.fresh(),
            corpus=self.corpus.joined(own),
            pictures=await asyncio.to_thread(pictures_of, files),
            coding=replace(self.coding, files=files),
        )

    def staff(self, made: Makeup) -> Staff:
        """Return how agents are made: each of what the team is at the time, with the tools that it names."""
        team, models = self.settings.team, self.settings.models()
        seeing = {name for name, agent in self.settings.agents.items() if agent.pictures}

        def agent(now: TeamParts, name: str) -> SubAgent:
            turns = now.design.agents[name].turns
            return SubAgent(
                Solver(made.parts(now, name)),
                self.gateway.model(models.get(name, models[PLANNER])),
                partial(self._tools_of, name, now.design.agents),
                self.programs,
                Solving(max_turns=turns, seconds=team.step_seconds),
                self.pictures if name in seeing else (),
                self.web.close,
            )

        limits = (team.rounds, team.step_seconds, team.seconds)
        return Staff(agent, self.gateway.model(models[PLANNER]), made.offered, *limits, debate=_debate(self.settings))

    def _tools_of(self, name: str, agents: Mapping[str, AgentDesign], context: Context) -> list[TeamTool]:
        agent, section = agents[name], self.settings.agents.get(name)
        sees = section is not None and section.pictures
        tools = (*self.corpus.tools(), python_tool(self.programs))
        offered = {tool.tool.spec.name: tool for tool in tools} | writing_tools(self.programs, context)
        asked = [asking(other, agents[other].description, context) for other in agent.asks]
        named = [offered[called] for called in agent.tools or () if called in offered]
        servers = [called for called in agent.tools or () if called.partition(".")[0] in self.servers.by_name]
        foreign = [tool for called in servers for tool in self.servers.named(called)]
        reaching = [tool for called in agent.tools or () for tool in self.web.tools(called, context, sees=sees)]
        return [*named, *reaching, *foreign, *self.servers.of_agent(name), *asked, *self.memory.tools(context)]


@asynccontextmanager
async def equipped(
    settings: TeamSettings,
    files: Mapping[str, Path] | None = None,
    *,
    unsafe: bool = False,
    door: ModelDoor | None = None,
) -> AsyncGenerator[Equipment]:
    """Open what the members of a team work with, for one task or for many, and close it afterwards.

    Arguments and what is raised as of `assembled`.
    """
    async with (
        Gateway(settings.gateway) as gateway,
        SandboxedPrograms(unsafe=unsafe) as programs,
        AsyncExitStack() as stack,
    ):
        given = Path(settings.corpus.folder) if settings.corpus.folder else None
        yield Equipment(
            settings,
            gateway,
            programs,
            await Corpus.load(given, DocumentReader(programs), files),
            pictures_of(files or {}),
            await stack.enter_async_context(open_servers(settings, unsafe=unsafe)),
            await stack.enter_async_context(open_door(settings.web, settings.search, settings.tools(), programs)),
            SharedMemory(read_memory(settings.team.memory)),
            CodingAgents(files or {}, door, unsafe),
        )


async def work(
    settings: TeamSettings,
    folder: Path,
    task: str,
    files: Mapping[str, Path] | None = None,
    *,
    opened: Callable[[Team, Gateway], None] = lambda _team, _gateway: None,
    **how: Any,
) -> TeamResult:
    """Do one task with a team, and keep what it noted for later tasks.

    Args:
        settings: what the team consists of.
        folder: where it works.
        task: what is to be done.
        files: what is given with it, by name.
        opened: is given the team and its gateway before the task is.
        **how: as of `assembled`, which says what is raised.
    """
    async with assembled(settings, folder, files=files, **how) as (team, gateway):
        opened(team, gateway)
        result = await team.run(task, sorted(files or {}), settings.team.seconds)
        write_whole(folder / "usage.json", json.dumps(gateway.meter.to_json(), indent=1))
        if settings.team.memory:
            add_to_memory(Path(settings.team.memory), team.memory.general())
        return result


def _debate(settings: TeamSettings) -> Debate | None:
    debate = settings.debate
    evolves = settings.evolution.mode != "none"
    return Debate(debate.agents, debate.judge, debate.rounds, stepwise=evolves) if debate.agents else None


def foreign_agents(settings: TeamSettings) -> dict[str, ForeignAgent]:
    """Return the members that are reached over A2A.

    Raises:
        ConfigError: if the variable of a token is not set.
    """
    return {
        name: ForeignAgent(name, agent.a2a, variable(f"agents.{name}.token", agent.token) if agent.token else "")
        for name, agent in settings.agents.items()
        if agent.a2a
    }


async def described(settings: TeamSettings, foreign: Mapping[str, ForeignAgent]) -> TeamSettings:
    """Return a team whose members from elsewhere are described, by their cards where nothing else is said.

    Raises:
        ForeignAgentError: if one of them does not answer.
        ConfigError: if its card cannot be used.
    """
    agents = dict(settings.agents)
    for name, agent in foreign.items():
        if not agents[name].description:
            about = (await agent.card()).description.strip() or f"an agent at {agent.url}"
            agents[name] = agents[name].model_copy(update={"description": shortened(about, 1000)})
    return settings.model_copy(update={"agents": agents})


def candidate_of(agent: AgentSection) -> Candidate:
    """Return what an agent is made of: the parts of its folder, and its prompt.

    Raises:
        ConfigError: if there is no such folder, or a part of it cannot be built.
    """
    parts = dict(without_servers(candidate_from_folder(Path(agent.resources))).parts) if agent.resources else {}
    if agent.prompt:
        parts["prompt/system"] = SourceTree({"prompt.md": agent.prompt})
    return Candidate(parts)


def keep_files(files: Sequence[Path], folder: Path) -> dict[str, Path]:
    """Copy what is given with a task into the folder of the task, where it stays as it was given.

    Raises:
        ConfigError: if a file is not there, cannot be read as a document, or has the name of another.
        RecordError: if the folder cannot be written.
    """
    kept: dict[str, Path] = {}
    for file in files:
        if file.name in kept:
            raise ConfigError(f"two files are named {file.name}; rename one of them")
        if file.suffix.lower() not in ("", *ENDINGS):
            raise ConfigError(f"{file} cannot be read as a document; give one that ends in {', '.join(ENDINGS)}")
        try:
            data = read_bytes(file)
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}; give the path of a file") from error
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kept[file.name] = folder / file.name
            kept[file.name].write_bytes(data)
        except OSError as error:
            raise RecordError(f"{folder} cannot be written: {error.strerror}; free some space") from error
    return kept


def pictures_of(files: Mapping[str, Path]) -> tuple[tuple[str, bytes], ...]:
    """Return the pictures among files, as models that see are shown them.

    Raises:
        ConfigError: if one cannot be read.
    """
    kinds = {name: PICTURES.get(path.suffix.lower()) for name, path in files.items()}
    return tuple((kind, read_bytes(files[name])) for name, kind in kinds.items() if kind)


def read_memory(path: str) -> list[Entry]:
    """Return what a memory file holds; nothing where there is none yet.

    Raises:
        ConfigError: if a line of it is no note.
    """
    if not path or not Path(path).exists():
        return []
    entries: list[Entry] = []
    with reading(path, "text", "put a file of JSON lines there, or remove it"):
        whole = read_text(Path(path))
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            data: Any = json_value(line)
            note = cast("dict[str, Any]", data)
            entries.append(
                Entry(str(note["text"]), str(note.get("author", "")), "general", str(note.get("kind", "insight")))
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{path}, line {number} is no note: {error!s:.200}; write an object with `text`"
            ) from error
    return entries


def add_to_memory(path: Path, entries: Iterable[Entry]) -> None:
    """Add entries to a memory file that it has not yet: with one write at its end, since other teams may add to it meanwhile.

    Raises:
        RecordError: if it cannot be written.
    """
    texts = {entry.text for entry in read_memory(str(path))}
    added = to_jsonl(entry for entry in entries if entry.text not in texts)
    if not added:
        return
    try:
        ended = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
        with path.open("ab") as file:
            file.write(f"{'' if ended else chr(10)}{added}".encode())
    except OSError as error:
        raise RecordError(
            f"{path} cannot be written: {error.strerror}; free some space, then resume the task"
        ) from error
