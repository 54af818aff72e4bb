"""How a team is judged on tasks: it works on each in a folder of its own; the answer is checked, and the record looked through.

What the members work with is opened once: one browser with a context for each step, one sandbox, one corpus. Memory is each
task's own.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.errors import HostError, ProviderError
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.ids import digest_json
from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.judging.views import ViewScores, clusters_of
from heredity.protocols.team_questions.events import TEAM_ANSWERED, TeamAnswered
from heredity.protocols.team_questions.shown import BROWSE, shown
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED, JudgingScored
from heredity.tasks import Task
from heredity.tasks.questions import present, verify
from heredity.tasks.questions.sites import Site
from heredity.team.assembly import Equipment, equipped
from heredity.team.settings import TeamSettings

_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class TeamBench:
    """What is judged, and where.

    Attributes:
        settings: the team.
        folder: where the folders of its tasks are.
        site: what the questions are about, which is served meanwhile; None for none.
        no_browser: why there is none; empty if there is.
        concurrent: how many tasks at once.
        unsafe: run programs with the isolation that works here.
    """

    settings: TeamSettings
    folder: Path
    site: Site | None
    no_browser: str
    concurrent: int
    unsafe: bool


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
    left = [task for task in view.tasks if not _recorded(bench, task)]
    if left:
        async with _opened(team, left) as (equipment, address, files):
            places = asyncio.Semaphore(team.concurrent)

            async def ask(task: Task) -> None:
                async with places:
                    answered = await _answered(task, team, equipment, address, files)
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
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, None, digest, reason, {}, scores)


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


@asynccontextmanager
async def _opened(
    team: TeamBench, tasks: Sequence[Task]
) -> AsyncGenerator[tuple[Equipment, str, Mapping[str, Mapping[str, Path]]]]:
    """Serve the site, and open what the team works with; give its address, and each task's files by name."""
    async with AsyncExitStack() as stack:
        settings, address = team.settings, ""
        corpus = team.folder.parent / "site"
        if team.site is not None:
            await asyncio.to_thread(team.site.write, corpus)
            (corpus / "questions.jsonl").unlink(missing_ok=True)
            address = stack.enter_context(team.site.serving())
            web = settings.web.model_copy(update={"allow": (*settings.web.allow, address)})
            found = settings.corpus.model_copy(update={"folder": settings.corpus.folder or str(corpus)})
            settings = settings.model_copy(update={"web": web, "corpus": found})
        if team.no_browser:
            settings = without_browser(settings)
        files = {task.id: _files(task, corpus) for task in tasks}
        given = {name: path for own in files.values() for name, path in own.items()}
        yield await stack.enter_async_context(equipped(settings, given, unsafe=team.unsafe)), address, files


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


async def _answered(
    task: Task, team: TeamBench, equipment: Equipment, address: str, files: Mapping[str, Mapping[str, Path]]
) -> TeamAnswered:
    """Have a question answered, and say what the record shows; what is nobody's fault leaves it missing."""
    about, name = _metadata(task), re.sub(r"[^\w.-]", "-", str(_metadata(task).get("id") or task.id))
    wanted: Mapping[str, Any] = about.get("shows") or {}
    data: TeamAnswered = {
        "task": task.id, "id": name, "level": int(about.get("level", 0)), "status": _MISSING, "why": "", "answer": "",
        "expected": str(task.spec.get("answer", "")), "correct": False, "rounds": 0, "steps": 0, "hops": 0, "tools": [],
        "agents": [], "lacking": [], "model_calls": 0, "usage": None, "tokens": None, "cost_usd": None,
        "seconds": 0.0, "folder": f"teams/{name}",
    }  # fmt: skip
    if team.no_browser and BROWSE in wanted.get("tools", ()):
        return {**data, "why": f"it needs a browser, and {team.no_browser}"}
    said = present(task.spec).prompt + (f"\n\nThe site is at http://{address}." if address else "")
    try:
        async with equipment.fresh().team(team.folder / name) as opened:
            result = await opened.run(said, sorted(files[task.id]), team.settings.team.seconds)
        checked = await verify(task.spec, result.answer) if result.outcome == "ok" else None
    except (ProviderError, HostError) as error:
        return {**data, "why": str(error)[:500]}
    record = await asyncio.to_thread(shown, team.folder / name)
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
        "lacking": record.lacking(wanted),
        "model_calls": record.model_calls,
        "usage": record.usage.to_json(),
        "tokens": record.usage.tokens,
        "cost_usd": record.usage.cost_usd,
        "seconds": round(result.seconds, 3),
    }
