"""The judge of teams on tasks: a team works on each task in a separate folder; its answer is checked and its record examined.

Shared resources are opened once: one browser with a context per step, one sandbox, one corpus. Memory is per task. A team that
evolves across questions works on them one after the other, after its practice questions.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from heredity._core.errors import ConfigError, HostError, OutageError, ProviderError
from heredity._core.ids import digest_json
from heredity._core.outside import read_bytes, read_text
from heredity.agents.models import models_for_agent
from heredity.engine.questions import present, verify
from heredity.engine.questions.pools import Site
from heredity.models import Model, Reply
from heredity.models.contract import NOTHING_USED, Usage
from heredity.records import read_journal
from heredity.records.events import (
    EVOLVER_FAILED,
    JUDGING_SCORED,
    JUDGING_SELECTED,
    EventKind,
    JudgingScored,
    UsageData,
    by_name,
)
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.session.views import ViewScores, clusters_of
from heredity.tasks import Task
from heredity.team.assembly import Equipment, equipped
from heredity.team.evolution.evolving import UNUSABLE
from heredity.team.evolution.lineage import checks_after
from heredity.team.evolution.trials import TRIAL, is_right
from heredity.team.participant import Kind
from heredity.team.record import EFFECT_DONE, MESSAGE
from heredity.team.settings import TeamSettings
from heredity.team.team import PLANNER, TeamResult, write_whole
from heredity.team.tools.documents import PICTURES


class TeamEvolved(TypedDict):
    """A team's evolution in one task, from its record and its history.

    `decisions` lists the recorded decisions (`what`, `accepted`, `reason`, `parts`, `versions`, `step`): `commits` of them were
    committed, `refusals` were not; `attempts` counts attempts. `checks` are those made after the task: the number of `canaries`,
    how many were `solved`, and the versions that later tasks return to (`rolled_back`, null for none). `usage` covers proposals,
    attempts and checks.
    """

    mode: str
    commits: int
    refusals: int
    rollbacks: int
    attempts: int
    decisions: Sequence[Mapping[str, Any]]
    checks: Sequence[Mapping[str, Any]]
    calls: int
    usage: UsageData


class TeamPractised(TypedDict):
    """The result of a practice question: an evolving team works on train questions first and learns whether it was right."""

    task: str
    id: str
    status: str
    right: bool
    evolution: TeamEvolved
    folder: str


class TeamAnswered(TypedDict):
    """The result of a question, and the findings in the team's record.

    `status` is `ok`, the way the team ended without an answer, `unscored` for an answer whose reference is not
    published, or `missing` if the question could not be tried, for the reason `why`. `confidence` (0 to 1) is the one
    stated with the answer, where the benchmark asks for it. `hops` counts tool calls, `tools` lists their kinds,
    `agents` those that got steps; `lacking` lists required findings that are absent. `place` numbers questions in
    order, from 1. `evolution` is null if the team does not evolve. `folder` is the folder of the team's record,
    relative to the run's.
    """

    task: str
    id: str
    level: int
    status: str
    why: str
    answer: str
    expected: str
    correct: bool
    confidence: float | None
    rounds: int
    steps: int
    hops: int
    tools: Sequence[str]
    agents: Sequence[str]
    lacking: Sequence[str]
    model_calls: int
    usage: UsageData | None
    tokens: int | None
    cost_usd: float | None
    seconds: float
    place: int
    cluster: str
    evolution: TeamEvolved | None
    folder: str


TEAM_PRACTISED = EventKind("team.practised", TeamPractised)
TEAM_ANSWERED = EventKind("team.answered", TeamAnswered)

EVENTS = by_name(TEAM_ANSWERED, TEAM_PRACTISED)


BROWSE = "browse"
_KINDS = {"search": "read"}
_TYPES = sorted(set(PICTURES.values()))
_NO_TOOLS = frozenset({"program", "keep", "remember", "recall", "decision", "contract"})
_PROPOSING = "evolution-"


@dataclass(frozen=True, slots=True)
class Evolution:
    """The evolution found in a team's record.

    Attributes:
        decisions: outcomes of failures and proposals (in order).
        attempts: number of attempts at failed steps, at other steps, and at earlier tasks.
        calls: model calls for proposals and in attempts; `usage`: their usage.
    """

    decisions: Sequence[Mapping[str, Any]] = ()
    attempts: int = 0
    calls: int = 0
    usage: Usage = NOTHING_USED

    @property
    def commits(self) -> int:
        """Number of committed edits."""
        return sum(one.get("accepted") is True for one in self.decisions)

    @property
    def refusals(self) -> int:
        """Number of refused edits."""
        return sum(one.get("accepted") is False for one in self.decisions)


@dataclass(frozen=True, slots=True)
class Shown:
    """The findings in a team's journal.

    Attributes:
        agents: the agents that got steps.
        tools: the kinds of called tools (all browser actions are one kind).
        hops: number of completed tool calls.
        steps: number of assigned steps.
        model_calls: model calls in the task itself; `usage`: their usage.
        evolution: the work on improving the team.
    """

    agents: tuple[str, ...]
    tools: tuple[str, ...]
    hops: int
    steps: int
    model_calls: int
    usage: Usage
    evolution: Evolution = field(default_factory=Evolution)

    def lacking(self, wanted: Mapping[str, Any]) -> list[str]:
        """Return the required findings (`hops`, `tools`, `agents`) that the record lacks."""
        hops = int(wanted.get("hops", 0))
        return [
            *([f"{self.hops} of {hops} hops"] if self.hops < hops else []),
            *(f"no {tool}" for tool in wanted.get("tools", ()) if tool not in self.tools),
            *(f"no step of {agent}" for agent in wanted.get("agents", ()) if agent not in self.agents),
        ]


def read_record(folder: Path) -> Shown:
    """Read the journal of a team that has ended.

    Raises:
        RecordError: if it cannot be read.
    """
    agents: list[str] = []
    tools: list[str] = []
    replies: list[Reply] = []
    evolving = _Evolving()
    for event in read_journal(folder / "journal.jsonl"):
        message, effect = MESSAGE.of(event), EFFECT_DONE.of(event)
        if message is not None and not evolving.takes_message(message):
            agents += _agents_of(message)
        if effect is not None and not evolving.takes_effect(effect["id"], effect["value"]):
            what = effect["id"].rpartition("#")[2]
            if what.startswith("model-"):
                replies.append(Reply.from_json(effect["value"]))
            elif kind := _kind(what):
                tools.append(kind)
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    return Shown(_distinct(agents), _distinct(tools), len(tools), len(agents), len(replies), usage, evolving.evolution)


class _Evolving:
    """Collects the parts of a record that belong to evolution: proposals, decisions, and trials with everything in them."""

    def __init__(self) -> None:
        self._trials: dict[str, int] = {}
        self._decisions: list[Mapping[str, Any]] = []
        self._calls = 0
        self._usage = NOTHING_USED

    @property
    def evolution(self) -> Evolution:
        """The collected evolution."""
        return Evolution(tuple(self._decisions), len(self._trials), self._calls, self._usage)

    def takes_message(self, message: Mapping[str, Any]) -> bool:
        """Take a message that is a trial or part of one; for a separately tried earlier task, take the usage in its result."""
        name = str(message["id"]).rstrip("!?")
        if message.get("kind") == TRIAL:
            self._trials[name] = 0
        trial = self._trial(name)
        value = message.get("body", {}).get("value") if message.get("kind") == Kind.RESULT else None
        if trial == name and isinstance(value, Mapping) and not self._trials[name] and value.get("calls"):
            self._add(int(value["calls"]), Usage(**value["usage"]))
        return trial is not None

    def takes_effect(self, effect: str, value: Any) -> bool:
        """Take an effect that belongs to evolution."""
        owner, _, what = effect.rpartition("#")
        trial = self._trial(owner)
        if what.startswith("decision-"):
            self._decisions.append(value)
        elif (what.startswith(_PROPOSING) and "-model-" in what) or (trial and what.startswith("model-")):
            self._add(1, Reply.from_json(value).usage)
            if trial:
                self._trials[trial] += 1
        return trial is not None or what.startswith((_PROPOSING, "decision-"))

    def _add(self, calls: int, usage: Usage) -> None:
        self._calls += calls
        self._usage += usage

    def _trial(self, name: str) -> str | None:
        return next((trial for trial in self._trials if name == trial or name.startswith(f"{trial}.")), None)


def _agents_of(message: Mapping[str, Any]) -> list[str]:
    if message.get("kind") != Kind.TASK:
        return []
    return [name for name in message.get("to", ()) if name != PLANNER]


def _kind(what: str) -> str:
    name = what.partition("-")[0]
    if name in _NO_TOOLS or name.startswith("review"):
        return ""
    return BROWSE if name.startswith("browser_") else _KINDS.get(name, name)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


PRACTICE = "practice"
"""Name of the view of practice questions, which a team evolving across questions works on first."""

MISSING = "missing"
UNSCORED = "unscored"
"""Status of an answer whose reference is not published."""
_DECIDED = ("what", "round", "step", "accepted", "reason", "parts", "versions")


@dataclass(frozen=True, slots=True)
class TeamBench:
    """A team to judge, and its folders.

    Attributes:
        settings: the team.
        folder: the parent folder of its tasks.
        site: the site that the questions are about, served while judging; None for none.
        no_browser: why no browser is available; empty if one is.
        concurrent: number of tasks at once.
        evolves: ids of questions whose record must show evolution.
        unsafe: run programs with the isolation available on this machine.
    """

    settings: TeamSettings
    folder: Path
    site: Site | None
    no_browser: str
    concurrent: int
    evolves: frozenset[str]
    unsafe: bool

    @property
    def mode(self) -> str:
        """The mode of evolution."""
        return self.settings.evolution.mode

    def evolving(self, name: str) -> TeamSettings:
        """Return the team for a question, with the run's versions, or the question's if it evolves within it."""
        folder = self.folder.parent / "evolution" if self.mode == "across" else self.folder / name
        kept = {"store": str(folder / "team-versions.db"), "canaries": str(folder / "earlier.jsonl")}
        return self.settings.model_copy(update={"evolution": self.settings.evolution.model_copy(update=kept)})


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None, *, team: TeamBench) -> Verdict:
    """Have a team answer the hidden questions and finish the run's journal; recorded questions are not asked again.

    Args:
        bench: the judge's inputs.
        evolved: the closed session; unused.
        reference: unused: a team has no baseline here.
        team: the team.

    Raises:
        HostError: if no question could be tried; resume the run to continue judging.
        RecordError: if the disk is full or fails.
    """
    digest = digest_json(team.settings.model_dump(mode="json", exclude={"gateway"}))
    reason = "the team as it stands"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": None, "candidate": digest, "reason": reason}))
    view = bench.view("heldout")
    practice = bench.views[PRACTICE].tasks if PRACTICE in bench.views else ()
    left = [task for task in view.tasks if not _recorded(bench, task)]
    if left:
        async with _opened(team, [*practice, *left]) as room:
            await _practise(
                bench, [task for task in practice if not bench.recorded(TEAM_PRACTISED, task=task.id)], room
            )
            places = asyncio.Semaphore(team.concurrent)

            async def ask(task: Task) -> None:
                async with places:
                    answered = await _answered(task, view.tasks.index(task) + 1, room)
                    await bench.records.commit([TEAM_ANSWERED.line(answered)])

            async with asyncio.TaskGroup() as group:
                for task in left:
                    group.create_task(ask(task))
    answered = [row for task in view.tasks if (row := bench.recorded(TEAM_ANSWERED, task=task.id)) is not None]
    scores = _scores(answered)
    data: JudgingScored = {
        "view": view.name,
        "candidate": digest,
        "submit_id": None,
        **scores.to_json(),
        **clusters_of(view.tasks),
    }
    await bench.journal_once(JUDGING_SCORED.line(data))
    if not all(row["status"] == UNSCORED for row in answered):
        require(scores, "questions")
    why = _unusable([row["evolution"] for row in _worked_on(bench, [*practice, *view.tasks])])
    if why:
        await bench.journal_once(EVOLVER_FAILED.line({"message": why, "traceback": ""}))
    status = "failed" if why else evolved.status
    await conclude(bench, status)
    return Verdict(status, None, digest, reason, {}, scores)


def _worked_on(bench: Bench, tasks: Sequence[Task]) -> Iterator[TeamAnswered | TeamPractised]:
    for task in tasks:
        row = bench.recorded(TEAM_ANSWERED, task=task.id) or bench.recorded(TEAM_PRACTISED, task=task.id)
        if row is not None:
            yield row


def _unusable(evolutions: Iterable[TeamEvolved | None]) -> str:
    """Return an error if no reply of the optimizer was usable in any task; `""` if one was, or none was requested."""
    decisions = [decision for evolved in evolutions if evolved is not None for decision in evolved["decisions"]]
    failed = [decision for decision in decisions if decision["what"] == UNUSABLE]
    if not failed or any(decision["accepted"] is not None for decision in decisions):
        return ""
    return f"the optimizer was asked to fix {len(failed)} failures, but no reply was usable: {failed[-1]['reason']}"


def _recorded(bench: Bench, task: Task) -> bool:
    answered = bench.recorded(TEAM_ANSWERED, task=task.id)
    return answered is not None and (bench.final or answered["status"] != MISSING)


def _scores(rows: Sequence[TeamAnswered]) -> ViewScores:
    missing = [row["why"] for row in rows if row["status"] == MISSING]
    return ViewScores(
        scores=tuple(math.nan if row["status"] in (MISSING, UNSCORED) else float(row["correct"]) for row in rows),
        lengths=tuple(row["hops"] for row in rows),
        statuses=tuple(row["status"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
        usage=sum((Usage(**row["usage"]) for row in rows if row["usage"]), NOTHING_USED),
        why=missing[0] if missing else "",
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """A team's workplace: shared resources, the site's address, and each task's files by name."""

    team: TeamBench
    equipment: Equipment
    address: str
    files: Mapping[str, Mapping[str, Path]]

    def judge(self) -> Model | None:
        """Return the model that judges answers, if one is configured."""
        name = self.team.settings.gateway.judge
        return self.equipment.gateway.model(name) if name else None

    async def work(self, task: Task, name: str, folder: Path, answer: str = "") -> TeamResult:
        """Have the team start or resume a task."""
        settings = self.equipment.settings.model_copy(update={"evolution": self.team.evolving(name).evolution})
        equipment = replace(await self.equipment.for_task(self.files[task.id]), settings=settings)
        prompt = present(task.spec).prompt + (f"\n\nThe site is at http://{self.address}." if self.address else "")
        async with equipment.team(folder, answer=answer) as opened:
            return await opened.run(prompt, sorted(self.files[task.id]), settings.team.seconds)


@asynccontextmanager
async def _opened(team: TeamBench, tasks: Sequence[Task]) -> AsyncGenerator[_Room]:
    """Serve the site and open the shared resources."""
    async with AsyncExitStack() as stack:
        settings, address = team.settings, ""
        corpus = team.folder.parent / "site"
        if team.site is not None:
            await asyncio.to_thread(team.site.write, corpus)
            (corpus / "questions.jsonl").unlink(missing_ok=True)
            address = _served(stack, team.site, team.folder.parent / "site.json")
            web = settings.web.model_copy(update={"allow": (*settings.web.allow, address)})
            corpus_settings = settings.corpus.model_copy(update={"folder": settings.corpus.folder or str(corpus)})
            settings = settings.model_copy(update={"web": web, "corpus": corpus_settings})
        if team.no_browser:
            settings = without_browser(settings)
        if team.mode == "across":
            _keep_canaries(team)
        files = {task.id: _files(task, corpus, team.folder.parent / "pictures") for task in tasks}
        for task_id, own in files.items():
            for path in own.values():
                if not path.is_file():
                    raise ConfigError(
                        f"{task_id} needs the file {path}, which does not exist; put it there and resume the run"
                    )
        equipment = await stack.enter_async_context(equipped(settings, unsafe=team.unsafe, door=models_for_agent))
        yield _Room(team, equipment, address, files)


def _served(stack: AsyncExitStack, site: Site, path: Path) -> str:
    """Serve a site at its earlier address, which is part of the questions and of their repeats on resume.

    Raises:
        ConfigError: if another process uses that address.
    """
    earlier = json.loads(read_text(path))["address"] if path.exists() else ""
    try:
        address = stack.enter_context(site.serving(int(earlier.rpartition(":")[2]) if earlier else 0))
    except ConfigError as error:
        raise ConfigError(
            f"this run's site must be served at {earlier}, but another process uses that port; stop "
            "that process and resume the run"
        ) from error
    write_whole(path, json.dumps({"address": address}))
    return address


def _keep_canaries(team: TeamBench) -> None:
    """Start with the team's existing canaries; those it gains belong to the run."""
    own, given = Path(team.evolving("").evolution.canaries), Path(team.settings.evolution.canaries)
    own.parent.mkdir(exist_ok=True)
    if not own.exists():
        write_whole(own, read_text(given) if given.exists() else "")


async def _practise(bench: Bench, tasks: Sequence[Task], room: _Room) -> None:
    """Let a team work on train questions one by one, and tell it which answers were right."""
    for task in tasks:
        name = f"practice-{task_name(task)}"
        folder = room.team.folder / name
        try:
            result = await room.work(task, name, folder, str(task.spec.get("answer", "")))
        except (ProviderError, HostError) as error:
            raise HostError(f"{name} could not be worked on: {error}; resume the run") from error
        record = await asyncio.to_thread(read_record, folder)
        practised: TeamPractised = {
            "task": task.id,
            "id": name,
            "status": str(result.outcome),
            "right": is_right(result.answer, str(task.spec.get("answer", ""))),
            "evolution": await asyncio.to_thread(_evolved, record.evolution, room.team, name),
            "folder": f"teams/{name}",
        }
        await bench.records.commit([TEAM_PRACTISED.line(practised)])


def _evolved(shown: Evolution, team: TeamBench, name: str) -> TeamEvolved:
    checks = checks_after(Path(team.evolving(name).evolution.store), name) if team.mode == "across" else []
    usage = sum((Usage(**check["usage"]) for check in checks), shown.usage)
    return {
        "mode": team.mode,
        "commits": shown.commits,
        "refusals": shown.refusals,
        "rollbacks": sum("rolled_back" in check for check in checks),
        "attempts": shown.attempts,
        "decisions": [{key: one.get(key) for key in _DECIDED} for one in shown.decisions],
        "checks": [
            {"canaries": c["canaries"], "solved": len(c["solved"]), "rolled_back": c.get("rolled_back")} for c in checks
        ],
        "calls": shown.calls + sum(int(check["calls"]) for check in checks),
        "usage": usage.to_json(),
    }


def _not_evolved(evolved: TeamEvolved | None, *, wanted: bool) -> list[str]:
    """Return the required evolution that a question's record lacks."""
    if evolved is None or not wanted:
        return []
    kinds = ["commits", "refusals", *(["rollbacks"] if evolved["mode"] == "across" else [])]
    return [f"no {kind.removesuffix('s')}" for kind in kinds if not evolved[kind]]


def without_browser(settings: TeamSettings) -> TeamSettings:
    """Return a team without agents that need a browser, and without agents that then have no tools."""
    agents = {
        name: agent.model_copy(update={"tools": tuple(tool for tool in agent.tools if tool != BROWSE)})
        for name, agent in settings.agents.items()
        if agent.tools != (BROWSE,)
    }
    return settings.model_copy(update={"agents": agents})


def _files(task: Task, corpus: Path, pictures: Path) -> dict[str, Path]:
    """Return a question's files by name: those it names, and the pictures in it (written to a separate folder).

    Raises:
        ConfigError: if a picture is of a type that models do not see.
        RecordError: if a picture cannot be written.
    """
    files = {Path(str(name)).name: corpus / str(name) for name in _metadata(task).get("files", ())}
    there = {read_bytes(path) for path in files.values() if path.suffix.lower() in PICTURES and path.is_file()}
    for number, (kind, data) in enumerate(present(task.spec).images, 1):
        if data in there:
            continue
        ending = next((ending for ending, known in PICTURES.items() if known == kind), "")
        if not ending:
            raise ConfigError(f"{task.id} has a picture of the type {kind}; convert it to {', '.join(_TYPES)}")
        name = f"picture-{number}{ending}"
        if name in files:
            raise ConfigError(f"{task.id} has a picture and a file {name}; rename the file")
        files[name] = pictures / task_name(task) / name
        write_whole(files[name], data)
    return files


def _metadata(task: Task) -> Mapping[str, Any]:
    return task.spec.get("metadata") or {}


def task_name(task: Task) -> str:
    """Return the name of a question: its id in the benchmark, as the name of a folder."""
    metadata = _metadata(task)
    return re.sub(r"[^\w.-]", "-", str(metadata.get("id") or metadata.get("task_id") or task.id))


async def _answered(task: Task, position: int, room: _Room) -> TeamAnswered:
    """Have a question answered and return the findings; failures not caused by the team leave it missing."""
    about, name, team = _metadata(task), task_name(task), room.team
    wanted: Mapping[str, Any] = about.get("shows") or {}
    data: TeamAnswered = {
        "task": task.id, "id": name, "level": int(about.get("level", 0)), "status": MISSING, "why": "", "answer": "",
        "expected": str(task.spec.get("answer", "")), "correct": False, "confidence": None, "rounds": 0, "steps": 0,
        "hops": 0, "tools": [], "agents": [], "lacking": [], "model_calls": 0, "usage": None, "tokens": None, "cost_usd": None,
        "seconds": 0.0, "place": position, "cluster": task.cluster or "", "evolution": None, "folder": f"teams/{name}",
    }  # fmt: skip
    if team.no_browser and BROWSE in wanted.get("tools", ()):
        return {**data, "why": f"it needs a browser, and {team.no_browser}"}
    try:
        result = await room.work(task, name, team.folder / name)
        checked = await verify(task.spec, result.answer, judge=room.judge()) if result.outcome == "ok" else None
    except (ProviderError, HostError) as error:
        if isinstance(error, OutageError) or (isinstance(error, ProviderError) and error.outage):
            raise OutageError(str(error)) from error
        return {**data, "why": str(error)[:500]}
    record = await asyncio.to_thread(read_record, team.folder / name)
    evolves = team.mode != "none"
    evolved = await asyncio.to_thread(_evolved, record.evolution, team, name) if evolves else None
    pictured = any(Path(file).suffix.lower() in PICTURES for file in room.files[task.id])
    seen = any(agent.pictures or agent.launcher for agent in team.settings.agents.values())
    return {
        **data,
        "status": UNSCORED if checked and math.isnan(checked.score) else str(result.outcome),
        "why": result.error[:500],
        "answer": checked.extracted if checked else "",
        "correct": bool(checked and checked.correct),
        "confidence": checked.details.get("confidence") if checked else None,
        "rounds": result.rounds,
        "steps": record.steps,
        "hops": record.hops,
        "tools": record.tools,
        "agents": record.agents,
        "lacking": [
            *record.lacking(wanted),
            *_not_evolved(evolved, wanted=name in team.evolves),
            *(["no agent with pictures=true"] if pictured and not seen else []),
        ],
        "model_calls": record.model_calls,
        "usage": record.usage.to_json(),
        "tokens": record.usage.tokens,
        "cost_usd": record.usage.cost_usd,
        "seconds": round(result.seconds, 3),
        "evolution": evolved,
    }
