"""Assembly of a running team from a team.toml."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from heredity._core.errors import ConfigError, IsolationError, MissingExtraError, RecordError
from heredity._core.ids import digest_json
from heredity._core.outside import json_value, read_bytes, read_text
from heredity._core.refusals import reading
from heredity.configuration.tools import BROWSE, FETCH, SEARCH_WEB
from heredity.engine.actor import Solving
from heredity.engine.parts import Parts, read_parts
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import Solver
from heredity.models import Model
from heredity.models.contract import NOTHING_USED, Usage
from heredity.models.gateway import Gateway
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.resources.building import PROMPT
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.design import TEAM, AgentDesign, EvolutionDesign, TeamDesign, TeamParts, read_team
from heredity.team.evolution.evolving import NO_EVOLUTION, Evolving, check_optimizer
from heredity.team.evolution.generation import writing_tools
from heredity.team.evolution.lineage import Lineage, add_canary, after_task, read_canaries
from heredity.team.evolution.trials import Case, Staff, is_right, solved, used_in
from heredity.team.memory import Entry, SharedMemory, to_jsonl
from heredity.team.outside import CodingAgents, ModelDoor, described, foreign_agents
from heredity.team.participant import Context, Handler
from heredity.team.planning import INSTRUCTIONS, Debate, Plan, Planner
from heredity.team.settings import AgentSection, EvolutionSection, TeamSettings
from heredity.team.team import PLANNER, Member, Team, TeamResult, open_team, write_whole
from heredity.team.tools.documents import ENDINGS, PICTURES, Corpus, DocumentReader
from heredity.team.tools.mcp_settings import Servers, open_servers, without_servers
from heredity.team.tools.own_tools import asking, python_tool
from heredity.team.tools.web.browser import check as check_browser
from heredity.team.tools.web.client import check as check_client
from heredity.team.tools.web.door import WebDoor, open_door

if TYPE_CHECKING:
    pass

# A team.toml as a candidate, so that configured and evolved teams have the same parts.


@dataclass(frozen=True)
class Makeup:
    """A team as it is configured.

    Attributes:
        candidate: the parts that may evolve: prompts, tools, memories, the design.
        rest: fixed parts by agent (other prompts, its program, its way of calling tools).
        offered: names of the tools that the team provides to its agents.
    """

    candidate: Candidate
    rest: Mapping[str, Parts]
    offered: frozenset[str]

    def parts(self, team: TeamParts, name: str) -> Parts:
        """Return the parts of an agent of an evolved team."""
        own, rest = team.of_agent(name), self.rest.get(name, Parts())
        return replace(rest, prompts={**rest.prompts, **own.prompts}, memories=own.memories, tools=own.tools)


def makeup(settings: TeamSettings) -> Makeup:
    """Return a team as it is configured.

    Raises:
        ConfigError: if two agents have different tools or memories of one name, or a part cannot be built.
    """
    parts: dict[str, SourceTree] = {f"prompt/{PLANNER}": SourceTree({PROMPT: settings.planner.prompt or INSTRUCTIONS})}
    agents: dict[str, AgentDesign] = {}
    rest: dict[str, Parts] = {}
    for name, agent in settings.agents.items():
        own = candidate_of(agent)
        rest[name] = read_parts(own)
        shared = {part: tree for part, tree in own.parts.items() if part.startswith(("tool/", "memory/"))}
        for part, tree in shared.items():
            if parts.setdefault(part, tree) != tree:
                raise ConfigError(f"agents.{name}: another agent has another {part}; give one of them another name")
        if "prompt/system" in own.parts:
            parts[f"prompt/{name}"] = own.parts["prompt/system"]
        names = {
            kind: tuple(p.partition("/")[2] for p in shared if p.startswith(kind)) for kind in ("tool/", "memory/")
        }
        agents[name] = AgentDesign(
            description=agent.description,
            tools=(*agent.tools, *names["tool/"]),
            memories=names["memory/"],
            asks=agent.asks,
            turns=agent.turns,
        )
    parts[TEAM] = TeamDesign(agents=agents).to_part()
    return Makeup(Candidate(parts), rest, settings.tools())


def candidate_of(agent: AgentSection) -> Candidate:
    """Return an agent's parts: those of its folder, and its prompt.

    Raises:
        ConfigError: if the folder does not exist, or a part of it cannot be built.
    """
    parts = dict(without_servers(candidate_from_folder(Path(agent.resources))).parts) if agent.resources else {}
    if agent.prompt:
        parts["prompt/system"] = SourceTree({"prompt.md": agent.prompt})
    return Candidate(parts)


def present(settings: TeamSettings) -> tuple[TeamSettings, dict[str, str]]:
    """Return a team without its optional agents that cannot work here, and what each of these lacks.

    Raises:
        ConfigError: if another agent lacks something (an extra, a key of a search); the message names all of them.
    """
    lacking = {name: "; ".join(_lacks(agent, settings)) for name, agent in settings.agents.items()}
    lacking = {name: lacks for name, lacks in lacking.items() if lacks}
    required = [f"agents.{name}: {lacks}" for name, lacks in lacking.items() if not settings.agents[name].optional]
    if required or len(lacking) == len(settings.agents):
        named = required or [f"agents.{name}: {lacks}" for name, lacks in lacking.items()]
        raise ConfigError(
            f"{' | '.join(named)} | provide it, take the agent out, or set its optional = true beside others"
        )
    if not lacking:
        return settings, {}
    data = settings.model_dump()
    data["agents"] = {
        name: {**agent, "asks": [other for other in agent["asks"] if other not in lacking]}
        for name, agent in data["agents"].items()
        if name not in lacking
    }
    return TeamSettings.model_validate(data), lacking


def _lacks(agent: AgentSection, settings: TeamSettings) -> Iterable[str]:
    used = {tool.partition(".")[0] for tool in agent.tools}
    checks: list[Callable[[], object]] = []
    if BROWSE in used:
        checks.append(partial(check_browser, settings.web.browser))
    if used & {FETCH, SEARCH_WEB}:
        checks.append(check_client)
    for tried in checks:
        try:
            tried()
        except (ConfigError, IsolationError) as error:
            yield str(error)
    for extra, needed in (("mcp", used & set(settings.mcp)), ("a2a", agent.a2a)):
        if needed and find_spec(extra) is None:
            yield str(MissingExtraError(f"the protocol {extra}", extra))
    if SEARCH_WEB in used and settings.search.key and not os.environ.get(settings.search.key):
        yield f"search.key names the environment variable {settings.search.key}, which is not set; set it"


@dataclass
class TeamAtWork:
    """A team with its learning across tasks.

    Attributes:
        evolving: the team.
        section: its evolution settings.
        lineage: its versions; None where it does not evolve.
        folder: the task's folder, named after the task.
    """

    evolving: Evolving
    section: EvolutionSection
    lineage: Lineage | None
    folder: Path
    _checked: tuple[int, Usage] = (0, NOTHING_USED)

    async def after(self, body: Mapping[str, Any], result: TeamResult, *, answer: str) -> None:
        """Add a task to the history; keep a solved one as a canary; check the canaries if a check is due."""
        if self.lineage is None:
            return
        decided = self.evolving.decisions(f"task-{digest_json(dict(body))[:12]}")
        write_whole(self.folder / "evolution.json", json.dumps(decided, indent=1, ensure_ascii=False))
        right = is_right(result.answer, answer) if answer else None
        calls, usage = used_in(self.evolving.trials.bus.record)
        path = Path(self.section.canaries)
        if right and not body.get("files"):  # A task's files are not kept for later ones.
            add_canary(path, str(body["task"]), answer)
        made = [{k: one.get(k) for k in ("what", "accepted", "reason", "parts", "versions")} for one in decided]
        done = {
            "task": f"{self.folder.name}/{digest_json(dict(body))[:12]}",
            "asked": str(body["task"])[:200],
            "right": right,
            "outcome": result.outcome,
            "rounds": result.rounds,
            "attempts": self.evolving.attempted,
            "decisions": made,
            "calls": calls,
            "usage": usage.to_json(),
        }
        across = self.section.mode == "across"
        every = self.section.check_every if across else 0
        attempt = partial(self._attempt, str(done["task"]))
        await after_task(self.lineage, done, read_canaries(path), every, attempt, self._used)

    async def _attempt(self, task: str, candidate: Candidate, case: Case) -> float:
        staff = self.evolving.staff
        name = f"check-{digest_json([task, candidate.digest, case.key])[:16]}"
        result, calls, usage = await solved(read_team(candidate, staff.offered), staff, case.body, name)
        self._checked = (self._checked[0] + calls, self._checked[1] + usage)
        return float(result.ok and is_right(str(result.value["answer"]), case.answer))

    def _used(self) -> dict[str, Any]:
        calls, usage = self._checked
        return {"calls": calls, "usage": usage.to_json()}


@contextmanager
def evolving(
    settings: TeamSettings,
    made: Makeup,
    staff: Staff,
    gateway: Gateway,
    programs: SandboxedPrograms,
    folder: Path,
) -> Generator[TeamAtWork]:
    """Open the versions of an evolving team, and return the team for the task of a folder.

    Raises:
        ConfigError: if it cannot be built, or the optimizer cannot be used.
        DamagedRecordError: if the store is damaged.
    """
    section = settings.evolution
    if section.mode == "none":
        yield TeamAtWork(Evolving(read_team(made.candidate, made.offered), staff), section, None, folder)
        return
    keys = ("optimizer", "options", "targets", "attempts", "tries", "guards")
    design = EvolutionDesign(**{key: getattr(section, key) for key in keys}) if section.attempts else NO_EVOLUTION
    check_optimizer(design)
    folder.mkdir(parents=True, exist_ok=True)
    with Lineage(Path(section.store), folder.name, across=section.mode == "across") as lineage:
        team = read_team(lineage.start(made.candidate, folder), made.offered)
        canaries, optimizer = _canaries(section, folder), _optimizer(settings, gateway)
        staff = replace(staff, records=folder / "attempts")
        at_work = Evolving(team, staff, design, optimizer, programs, lineage.keep, canaries, section.seed)
        yield TeamAtWork(at_work, section, lineage, folder)


def _optimizer(settings: TeamSettings, gateway: Gateway) -> Model:
    names = (settings.evolution.model, settings.gateway.optimisation, settings.models()[PLANNER])
    return gateway.model(next(name for name in names if name))


def _canaries(section: EvolutionSection, folder: Path) -> list[Case]:
    """Return the canaries that a task's commits have to keep: those at its start, also when it is resumed."""
    own, shared = folder / "canaries.jsonl", Path(section.canaries)
    if not own.exists():
        lines = [case for case in read_canaries(shared) if section.at_commit][-section.at_commit :]
        lines_written = [json.dumps({**case.body, "answer": case.answer}, ensure_ascii=False) + "\n" for case in lines]
        write_whole(own, "".join(lines_written))
    return read_canaries(own)


@dataclass(frozen=True, slots=True)
class Equipment:
    """Parts and shared resources of a team's members; made by `equipped`.

    Attributes:
        shared: the equipment without the files of the current task; None if this one has none.
    """

    settings: TeamSettings
    gateway: Gateway
    programs: SandboxedPrograms
    corpus: Corpus
    pictures: tuple[tuple[str, bytes], ...]
    servers: Servers
    web: WebDoor
    memory: SharedMemory
    coding: CodingAgents
    shared: Equipment | None = None

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
        """Open a team in a folder; reusing the folder resumes its task.

        Args:
            folder: the task's folder.
            review: see `open_team`.
            watch: see `open_team`.
            planner: replaces the team's planner.
            answer: the right answer, where known (a solved task becomes a canary of the team's evolution).

        Raises:
            ConfigError: if a part of the team cannot be built, or the optimizer cannot be used.
            RunLockedError: if another process works in the folder.
        """
        foreign = foreign_agents(self.settings)
        settings = await described(self.settings, foreign)
        outside: Mapping[str, Handler] = {**foreign, **self._coding(folder)}
        made = makeup(settings)
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
        models = self.settings.models()
        return {
            name: self.coding.agent(name, agent, self.gateway.model(models[name]) if name in models else None, folder)
            for name, agent in self.settings.agents.items()
            if agent.launcher
        }

    def fresh(self) -> Equipment:
        """Return a copy with the initial memory, for another task that must not know this one."""
        return replace(self, memory=SharedMemory(read_memory(self.settings.team.memory)))

    async def for_task(self, files: Mapping[str, Path]) -> Equipment:
        """Return a copy for a task with files (tasks do not see each other's files).

        Args:
            files: the task's files, by name; agents search and read them along with the corpus, and see the pictures
                among them.

        Raises:
            ConfigError: if one cannot be read.
        """
        own = await Corpus.load(None, DocumentReader(self.programs), files)
        return replace(
            self.fresh(),
            corpus=self.corpus.joined(own),
            pictures=await asyncio.to_thread(pictures_of, files),
            coding=replace(self.coding, files=files),
            shared=self.shared or self,
        )

    def staff(self, made: Makeup) -> Staff:
        """Return the maker of agents: each from the team's parts at the time, with the tools it names."""
        team, model = self.settings.team, self.gateway.model(self.settings.models()[PLANNER])
        return Staff(
            partial(self._agent, made),
            model,
            made.offered,
            team.rounds,
            team.step_seconds,
            team.seconds,
            debate=_debate(self.settings),
            earlier=partial((self.shared or self).fresh()._agent, made),
        )

    def _agent(self, made: Makeup, now: TeamParts, name: str) -> SubAgent:
        models, seconds = self.settings.models(), self.settings.team.step_seconds
        section = self.settings.agents.get(name)
        return SubAgent(
            Solver(made.parts(now, name)),
            self.gateway.model(models.get(name, models[PLANNER])),
            partial(self._tools_of, name, now.design.agents),
            self.programs,
            Solving(max_turns=now.design.agents[name].turns, seconds=seconds),
            self.pictures if section is not None and section.pictures else (),
            self.web.close,
        )

    def _tools_of(self, name: str, agents: Mapping[str, AgentDesign], context: Context) -> list[TeamTool]:
        agent, section = agents[name], self.settings.agents.get(name)
        sees = section is not None and section.pictures
        tools = (*self.corpus.tools(), python_tool(self.programs))
        offered = {tool.tool.spec.name: tool for tool in tools} | writing_tools(self.programs, context)
        asked = [asking(other, agents[other].description, context) for other in agent.asks]
        named = [offered[called] for called in agent.tools or () if called in offered]
        servers = [called for called in agent.tools or () if called.partition(".")[0] in self.servers.by_name]
        foreign = [tool for called in servers for tool in self.servers.tools_of(called)]
        reaching = [tool for called in agent.tools or () for tool in self.web.tools(called, context, sees=sees)]
        return [*named, *reaching, *foreign, *self.servers.of_agent(name), *asked, *self.memory.tools(context)]


@asynccontextmanager
async def equipped(
    settings: TeamSettings, *, unsafe: bool = False, door: ModelDoor | None = None
) -> AsyncGenerator[Equipment]:
    """Open the resources of a team's members, for one task or for many, and close them afterwards.

    Args:
        settings: the team's configuration.
        unsafe: run programs with the isolation available here.
        door: serves models to coding agents (`heredity.agents.models.models_for_agent`).

    Raises:
        ConfigError: if a configured model, folder, memory or browser does not exist.
        MissingExtraError: if a package that a tool needs is not installed.
        IsolationError: if programs cannot be confined here.
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
            await Corpus.load(given, DocumentReader(programs)),
            (),
            await stack.enter_async_context(open_servers(settings, unsafe=unsafe)),
            await stack.enter_async_context(open_door(settings.web, settings.search, settings.tools(), programs)),
            SharedMemory(read_memory(settings.team.memory)),
            CodingAgents({}, door, unsafe),
        )


async def work(
    settings: TeamSettings,
    folder: Path,
    task: str,
    files: Mapping[str, Path] | None = None,
    *,
    opened: Callable[[Team, Gateway], None] = lambda _team, _gateway: None,
    unsafe: bool = False,
    door: ModelDoor | None = None,
    **how: Any,
) -> TeamResult:
    """Do one task with a team, and keep its notes for later tasks.

    Args:
        settings: the team's configuration.
        folder: the task's folder.
        task: the task.
        files: the task's files, by name.
        opened: called with the team and its gateway (before the task starts).
        unsafe: as for `equipped`, including exceptions.
        door: as for `equipped`.
        **how: as for `Equipment.team`, including exceptions.
    """
    async with equipped(settings, unsafe=unsafe, door=door) as shared:
        equipment = await shared.for_task(files or {})
        async with equipment.team(folder, **how) as team:
            opened(team, equipment.gateway)
            result = await team.run(task, sorted(files or {}), settings.team.seconds)
            write_whole(folder / "usage.json", json.dumps(equipment.gateway.meter.to_json(), indent=1))
            if settings.team.memory:
                add_to_memory(Path(settings.team.memory), team.memory.general())
            return result


def _debate(settings: TeamSettings) -> Debate | None:
    debate = settings.debate
    evolves = settings.evolution.mode != "none"
    return Debate(debate.agents, debate.judge, debate.rounds, stepwise=evolves) if debate.agents else None


def keep_files(files: Sequence[Path], folder: Path) -> dict[str, Path]:
    """Copy a task's files into its folder, where they stay unchanged.

    Raises:
        ConfigError: if a file does not exist, cannot be read as a document, or has the name of another.
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
    """Return the pictures among files, for models that see.

    Raises:
        ConfigError: if one cannot be read.
    """
    kinds = {name: PICTURES.get(path.suffix.lower()) for name, path in files.items()}
    return tuple((kind, read_bytes(files[name])) for name, kind in kinds.items() if kind)


def read_memory(path: str) -> list[Entry]:
    """Return the entries of a memory file; empty if the file does not exist.

    Raises:
        ConfigError: if a line of it is not a note.
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
                f"{path}, line {number} is not a note: {error!s:.200}; write an object with `text`"
            ) from error
    return entries


def add_to_memory(path: Path, entries: Iterable[Entry]) -> None:
    """Add the missing entries to a memory file with one write at its end, since other teams may add to it meanwhile.

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
