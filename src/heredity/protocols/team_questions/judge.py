"""How a team is judged on tasks: it works on each in a folder of its own; the answer is checked, and the record looked through.

What the members work with is opened once: one browser with a context for each step, one sandbox, one corpus. Memory is each
task's own. A team that evolves across questions works on them one after the other, after those that it practises on.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity.errors import ConfigError, HostError, OutageError, ProviderError
from heredity.gateway import Model
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.ids import digest_json
from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.judging.views import ViewScores, clusters_of
from heredity.outside import read_text
from heredity.protocols.team_questions.events import (
    TEAM_ANSWERED,
    TEAM_PRACTISED,
    TeamAnswered,
    TeamEvolved,
    TeamPractised,
)
from heredity.protocols.team_questions.shown import BROWSE, Evolution, shown
from heredity.records.events import EVOLVER_FAILED, JUDGING_SCORED, JUDGING_SELECTED, JudgingScored
from heredity.server.agent_models import models_for_agent
from heredity.tasks import Task
from heredity.tasks.questions import present, verify
from heredity.tasks.questions.sites import Site
from heredity.team.assembly import Equipment, equipped
from heredity.team.evolution.checks import checks_after
from heredity.team.evolution.evolving import UNUSABLE
from heredity.team.evolution.trials import is_right
from heredity.team.settings import TeamSettings
from heredity.team.team import TeamResult, write_whole

PRACTICE = "practice"
"""The view of train questions that a team which evolves across questions works on first."""

_MISSING = "missing"
_DECIDED = ("what", "round", "step", "accepted", "reason", "parts", "versions")


@dataclass(frozen=True, slots=True)
class TeamBench:
    """What is judged, and where.

    Attributes:
        settings: the team.
        folder: where the folders of its tasks are.
        site: what the questions are about, which is served meanwhile; None for none.
        no_browser: why there is none; empty if there is.
        concurrent: how many tasks at once.
        evolves: ids of questions whose record has to show evolution.
        unsafe: run programs with the isolation that works here.
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
        """How the team evolves."""
        return self.settings.evolution.mode

    def evolving(self, name: str) -> TeamSettings:
        """Return the team for a question: its versions are those of the run, or of the question where it evolves within it."""
        folder = self.folder.parent / "evolution" if self.mode == "across" else self.folder / name
        kept = {"store": str(folder / "team-versions.db"), "canaries": str(folder / "earlier.jsonl")}
        return self.settings.model_copy(update={"evolution": self.settings.evolution.model_copy(update=kept)})


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None, *, team: TeamBench) -> Verdict:
    """Have a team answer the hidden questions and finish the run's journal; what is recorded is not asked again.

    Args:
        bench: what the judge works with.
        evolved: the session, of which nothing is used.
        reference: nothing: a team is compared with no other here.
        team: the team.

    Raises:
        HostError: if not one question could be tried; judging continues when the run is resumed.
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
    scores = _scores([bench.recorded(TEAM_ANSWERED, task=task.id) for task in view.tasks])
    data: JudgingScored = {
        "view": view.name,
        "candidate": digest,
        "submit_id": None,
        **scores.to_json(),
        **clusters_of(view.tasks),
    }
    await bench.journal_once(JUDGING_SCORED.line(data))
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
    """Say that nothing of what the optimizer replied could be used, in any task; `""` if something was, or nothing was asked."""
    decisions = [decision for evolved in evolutions if evolved is not None for decision in evolved["decisions"]]
    failed = [decision for decision in decisions if decision["what"] == UNUSABLE]
    if not failed or any(decision["accepted"] is not None for decision in decisions):
        return ""
    return f"the optimizer was asked to mend {len(failed)} failures, and nothing of it could be used: {failed[-1]['reason']}"


def _recorded(bench: Bench, task: Task) -> bool:
    answered = bench.recorded(TEAM_ANSWERED, task=task.id)
    return answered is not None and answered["status"] != _MISSING


def _scores(answered: Sequence[TeamAnswered | None]) -> ViewScores:
    rows = [row for row in answered if row is not None]
    missing = [row["why"] for row in rows if row["status"] == _MISSING]
    return ViewScores(
        scores=tuple(math.nan if row["status"] == _MISSING else float(row["correct"]) for row in rows),
        lengths=tuple(row["hops"] for row in rows),
        statuses=tuple(row["status"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
        usage=sum((Usage(**row["usage"]) for row in rows if row["usage"]), NOTHING_USED),
        why=missing[0] if missing else "",
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """Where a team works: what its members share, the site's address, and each task's files by name."""

    team: TeamBench
    equipment: Equipment
    address: str
    files: Mapping[str, Mapping[str, Path]]

    def judge(self) -> Model | None:
        """Return the model that judges answers, where one is named."""
        name = self.team.settings.gateway.judge
        return self.equipment.gateway.model(name) if name else None

    async def work(self, task: Task, name: str, folder: Path, answer: str = "") -> TeamResult:
        """Let the team work on a task, or go on with it."""
        settings = self.equipment.settings.model_copy(update={"evolution": self.team.evolving(name).evolution})
        equipment = replace(await self.equipment.for_task(self.files[task.id]), settings=settings)
        prompt = present(task.spec).prompt + (f"\n\nThe site is at http://{self.address}." if self.address else "")
        async with equipment.team(folder, answer=answer) as opened:
            return await opened.run(prompt, sorted(self.files[task.id]), settings.team.seconds)


@asynccontextmanager
async def _opened(team: TeamBench, tasks: Sequence[Task]) -> AsyncGenerator[_Room]:
    """Serve the site, and open what the team works with."""
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
        files = {task.id: _files(task, corpus) for task in tasks}
        for task_id, own in files.items():
            for path in own.values():
                if not path.is_file():
                    raise ConfigError(
                        f"{task_id} comes with {path}, which is not there; put it where the taskset says, then resume the run"
                    )
        equipment = await stack.enter_async_context(equipped(settings, unsafe=team.unsafe, door=models_for_agent))
        yield _Room(team, equipment, address, files)


def _served(stack: AsyncExitStack, site: Site, path: Path) -> str:
    """Serve a site where it was served before: its address is part of what teams were asked, and are asked again.

    Raises:
        ConfigError: if something else is there now.
    """
    earlier = json.loads(read_text(path))["address"] if path.exists() else ""
    try:
        address = stack.enter_context(site.serving(int(earlier.rpartition(":")[2]) if earlier else 0))
    except ConfigError as error:
        raise ConfigError(
            f"this run's site was served at {earlier}, where teams that go on look for it, and something else is there now: end "
            "what uses that port, then resume the run"
        ) from error
    write_whole(path, json.dumps({"address": address}))
    return address


def _keep_canaries(team: TeamBench) -> None:
    """Begin with the canaries that the team has already; those that it gains are the run's own."""
    own, given = Path(team.evolving("").evolution.canaries), Path(team.settings.evolution.canaries)
    own.parent.mkdir(exist_ok=True)
    if not own.exists():
        write_whole(own, read_text(given) if given.exists() else "")


async def _practise(bench: Bench, tasks: Sequence[Task], room: _Room) -> None:
    """Let a team work on train questions, one after the other, and tell it which it answered right."""
    for task in tasks:
        name = f"practice-{_name(task)}"
        folder = room.team.folder / name
        try:
            result = await room.work(task, name, folder, str(task.spec.get("answer", "")))
        except (ProviderError, HostError) as error:
            raise HostError(f"{name} could not be worked on: {error}; resume the run") from error
        record = await asyncio.to_thread(shown, folder)
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
    """Return what the record of a question had to show of evolution and does not."""
    if evolved is None or not wanted:
        return []
    kinds = ["commits", "refusals", *(["rollbacks"] if evolved["mode"] == "across" else [])]
    return [f"no {kind.removesuffix('s')}" for kind in kinds if not evolved[kind]]


def without_browser(settings: TeamSettings) -> TeamSettings:
    """Return a team whose agents have no browser; who has nothing else is left out."""
    agents = {
        name: agent.model_copy(update={"tools": tuple(tool for tool in agent.tools if tool != BROWSE)})
        for name, agent in settings.agents.items()
        if agent.tools != (BROWSE,)
    }
    return settings.model_copy(update={"agents": agents})


def _files(task: Task, corpus: Path) -> dict[str, Path]:
    named = _metadata(task).get("files", ())
    return {Path(str(name)).name: corpus / str(name) for name in named}


def _metadata(task: Task) -> Mapping[str, Any]:
    return task.spec.get("metadata") or {}


def _name(task: Task) -> str:
    return re.sub(r"[^\w.-]", "-", str(_metadata(task).get("id") or task.id))


async def _answered(task: Task, position: int, room: _Room) -> TeamAnswered:
    """Have a question answered, and say what the record shows; what is nobody's fault leaves it missing."""
    about, name, team = _metadata(task), _name(task), room.team
    wanted: Mapping[str, Any] = about.get("shows") or {}
    data: TeamAnswered = {
        "task": task.id, "id": name, "level": int(about.get("level", 0)), "status": _MISSING, "why": "", "answer": "",
        "expected": str(task.spec.get("answer", "")), "correct": False, "rounds": 0, "steps": 0, "hops": 0, "tools": [],
        "agents": [], "lacking": [], "model_calls": 0, "usage": None, "tokens": None, "cost_usd": None,
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
    record = await asyncio.to_thread(shown, team.folder / name)
    evolves = team.mode != "none"
    evolved = await asyncio.to_thread(_evolved, record.evolution, team, name) if evolves else None
    return {
        **data,
        "status": str(result.outcome),
        "why": result.error[:500],
        "answer": checked.extracted if checked else "",
        "correct": bool(checked and checked.correct),
        "rounds": result.rounds,
        "steps": record.steps,
        "hops": record.hops,
        "tools": record.tools,
        "agents": record.agents,
        "lacking": [*record.lacking(wanted), *_not_evolved(evolved, wanted=name in team.evolves)],
        "model_calls": record.model_calls,
        "usage": record.usage.to_json(),
        "tokens": record.usage.tokens,
        "cost_usd": record.usage.cost_usd,
        "seconds": round(result.seconds, 3),
        "evolution": evolved,
    }
