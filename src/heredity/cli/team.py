"""`heredity team`: give a task to a team, go on with it, look at what was said."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heredity.cli.bars import ask_person
from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.cli.team_serve import serve
from heredity.cli.whole_help import WholeHelp
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.team.plan import Plan
    from heredity.team.team import TeamResult

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

_JSON = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout.")
_APPROVE = typer.Option(False, "--approve", help="Stop before each round, to read and edit plan.md.")
_LIVE = typer.Option(False, "--live", help="Draw the plan, who is at work, cost and time left while it goes on.")
_UNSAFE = typer.Option(False, "--unsafe", help="Run programs with the isolation that works here, rather than refuse.")


@app.command("run")
def run(
    task: str = typer.Argument(help="What the team is to do, in words."),
    team: Path = typer.Option(Path("team.toml"), "--team", help="What the team consists of."),
    more: list[Path] = typer.Argument(
        None, metavar="[FILE]...", help="Files that belong to the task.", show_default=False
    ),
    files: list[Path] = typer.Option([], "--files", help="Files that belong to the task, one or more."),
    model: str = typer.Option("", "--model", help="The model of whoever names none, in place of team.model."),
    out: Path | None = typer.Option(
        None, "--out", help="The folder to work in; by default a new one under team-runs/."
    ),
    answer: str = typer.Option(
        "", "--answer", help="The right answer, where it is known: an evolving team keeps what it solved as a canary."
    ),
    approve: bool = _APPROVE,
    live: bool = _LIVE,
    json_output: bool = _JSON,
    unsafe: bool = _UNSAFE,
) -> None:
    """Give a task to a team and wait for the answer; the plan as it stands is in plan.md, drawn in plan.svg at the end.

    Example: heredity team run "When was the old bridge built?" --files report.pdf visits.xlsx
    """
    from heredity.team.assembly import keep_files
    from heredity.team.settings import load_team
    from heredity.team.team import write_whole

    _check(approve=approve, live=live)
    if not task.strip():
        raise ConfigError("the task is empty; say what the team is to do")
    settings = load_team(team, {"model": model} if model else None)
    folder = out or Path("team-runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{_slug(task)}"
    if (folder / "task.json").exists():
        raise ConfigError(
            f"{folder} holds a task already; go on with it with `heredity team resume {folder}`, or give another --out"
        )
    folder.mkdir(parents=True, exist_ok=True)
    kept = keep_files([*files, *(more or ())], folder / "files")
    asked = {"task": task, "files": sorted(kept), "answer": answer, "settings": settings.model_dump(mode="json")}
    write_whole(folder / "task.json", json.dumps(asked, indent=1, ensure_ascii=False))
    _work(folder, approve=approve, live=live, json_output=json_output, unsafe=unsafe)


@app.command("resume")
def resume(
    folder: Path = typer.Argument(help="The folder that `team run` worked in."),
    approve: bool = _APPROVE,
    live: bool = _LIVE,
    json_output: bool = _JSON,
    unsafe: bool = _UNSAFE,
) -> None:
    """Go on with a task that was stopped; what was said and done is not said and done again.

    Example: heredity team resume team-runs/20260101-120000-when-was-the-old
    """
    _check(approve=approve, live=live)
    _work(folder, approve=approve, live=live, json_output=json_output, unsafe=unsafe)


app.command("serve")(serve)


@app.command("replay")
def replay(
    folder: Path = typer.Argument(help="The folder that `team run` worked in."), json_output: bool = _JSON
) -> None:
    """Show who said what to whom, in order, as it was recorded.

    Example: heredity team replay team-runs/20260101-120000-when-was-the-old
    """
    from heredity.records import read_journal
    from heredity.results.text import clean
    from heredity.team.events import EFFECT_DONE, MESSAGE

    events = read_journal(folder / "journal.jsonl")
    if json_output:
        typer.echo(json.dumps([event.to_json() for event in events], ensure_ascii=False))
        return
    start = events[0].at if events else 0.0
    for event in events:
        message = MESSAGE.of(event)
        effect = EFFECT_DONE.of(event)
        if message is not None:
            depth = "  " * re.sub(r"[!?]$", "", message.get("id", "")).count(".")
            what = _line_of(message)
            typer.echo(clean(f"{event.at - start:8.2f} s  {depth}{what}"))
        elif effect is not None:
            typer.echo(
                clean(
                    f"{event.at - start:8.2f} s  {'  ' * effect['id'].count('.')}  · {effect['id'].rpartition('#')[2]}"
                )
            )


def _check(*, approve: bool, live: bool) -> None:
    if approve and live:
        raise ConfigError("--live draws over what --approve asks; give one of them, or use `heredity team serve`")


def _work(folder: Path, *, approve: bool, live: bool, json_output: bool, unsafe: bool) -> None:
    from heredity.results.text import clean
    from heredity.server.agent_models import models_for_agent
    from heredity.team.assembly import work
    from heredity.team.bus import NOBODYS
    from heredity.team.settings import asked_of

    asked = asked_of(folder)
    watch = _Progress(quiet=json_output)

    async def review(plan: Plan) -> Plan:
        return await asyncio.to_thread(_edited, plan, folder)

    files = {name: folder / "files" / name for name in asked.files}
    how: dict[str, Any] = {"review": review if approve else None, "watch": watch, "unsafe": unsafe}
    how |= {"answer": asked.answer, "door": models_for_agent}
    with contextlib.ExitStack() as stack:
        if live:
            from heredity.cli.team_live import TeamLive

            drawn = stack.enter_context(TeamLive(asked.settings.team.seconds))
            how |= {"watch": drawn.planned, "opened": drawn.opened}
        try:
            result = run_interruptibly(work(asked.settings, folder, asked.task, files, **how))
        except (InterruptedRunError, *NOBODYS):
            typer.echo(f"go on with: heredity team resume {folder}", err=True)
            raise
    _draw(folder)
    if json_output:
        typer.echo(json.dumps(_as_json(result, folder), ensure_ascii=False))
    else:
        typer.echo(
            clean(result.answer) if result.outcome == "ok" else f"no answer ({result.outcome}): {clean(result.error)}"
        )
        typer.echo(f"plan: {folder / 'plan.md'}; all that was said: heredity team replay {folder}", err=True)
    if result.outcome != "ok":
        raise typer.Exit(1)


def _draw(folder: Path) -> None:
    """Draw the plan, and when its steps were under way, into the folder of a task."""
    from heredity.team.team import write_whole
    from heredity.team.view import View
    from heredity.view.team.charts import flow, standalone, timeline

    view = View.of(folder)
    if plan := view.plan_of(folder):
        write_whole(folder / "plan.svg", standalone(flow(plan)))
    write_whole(folder / "timeline.svg", standalone(timeline(list(view.spans.values()), time.time())))


def _as_json(result: TeamResult, folder: Path) -> dict[str, Any]:
    usage: Any = json.loads((folder / "usage.json").read_text(encoding="utf-8"))
    made = folder / "evolution.json"
    return {
        "outcome": result.outcome,
        "answer": result.answer,
        "error": result.error,
        "rounds": result.rounds,
        "seconds": round(result.seconds, 3),
        "usage": usage,
        "folder": str(folder),
        **({"evolution": json.loads(made.read_text(encoding="utf-8"))} if made.exists() else {}),
    }


def _edited(plan: Plan, folder: Path) -> Plan:
    """Let a person edit plan.md, until it can be carried out."""
    from heredity.team.plan import read_plan

    path = folder / "plan.md"
    while True:
        ask_person(f"Read and edit {path}, then press Enter")
        try:
            return plan.edited(read_plan(path))
        except ConfigError as error:
            typer.echo(str(error), err=True)


class _Progress:
    """Says on stderr when a step starts or ends, and how many are left."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._states: dict[str, str] = {}

    def __call__(self, plan: Plan) -> None:
        from heredity.results.text import clean

        changed = [step for step in plan.steps if self._states.get(step.id) != step.state]
        self._states |= {step.id: step.state for step in plan.steps}
        over = sum(step.state in ("done", "failed", "skipped") for step in plan.steps)
        for step in changed:
            if not self._quiet and step.state != "pending":
                outcome = " ".join((step.result or step.task).split())[:100]
                line = f"round {len(plan.rounds)}, {over}/{len(plan.steps)} over: {step.id} ({step.agent}) {step.state}: {outcome}"
                typer.echo(clean(line), err=True)


def _line_of(message: Any) -> str:
    body = message.get("body", {})
    text = message.get("error") or body.get("value") or body.get("task") or body.get("text") or body
    if isinstance(text, dict):
        text = text.get("answer", text)
    flat = " ".join(str(text).split())
    to = ", ".join(message["to"]) or "all"
    outcome = f" {message['outcome']}" if message.get("outcome") else ""
    return f"{message['sender']} → {to} [{message['kind']}{outcome}] {flat[:160]}{'…' if len(flat) > 160 else ''}"


def _slug(task: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", task.lower())[:5]) or "task"
