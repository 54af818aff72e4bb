"""`heredity team`: give a task to a team, resume it, and read its messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.cli.bars import activity, ask_person
from heredity.cli.interface import WholeHelp
from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.models.gateway import Gateway
from heredity.results.text import clean, duration
from heredity.team.planning import Plan
from heredity.team.team import Team
from heredity.team.view import View

if TYPE_CHECKING:
    from heredity.team.planning import Plan
    from heredity.team.serving.office import Office
    from heredity.team.settings import TeamSettings
    from heredity.team.team import TeamResult

_STYLES = {"done": "green", "failed": "red", "running": "yellow", "pending": "dim", "skipped": "dim"}
_SAID = 8
_LEAST_TASK = 12
"""Minimum width of the column of tasks, in characters."""


class TeamLive:
    """Picture of a task, redrawn four times a second until the block ends.

    Args:
        seconds: time limit of the task.
        console: the console to draw on (default: stderr).
    """

    def __init__(self, seconds: float, console: Console | None = None) -> None:
        self._seconds = seconds
        self._view, self._plan = View(), Plan("")
        self._console = console or Console(stderr=True)
        self._live = RichLive(get_renderable=self.picture, console=self._console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def opened(self, team: Team, _: Gateway) -> None:
        """Follow a team at work."""
        record = team.bus.record
        record.follow(lambda: self._view.take(record.events))
        self._view.take(record.events)

    def planned(self, plan: Plan) -> None:
        """Take the current plan."""
        self._plan = plan

    def picture(self) -> RenderableType:
        """Return the picture."""
        view, now = self._view, time.time()
        used = now - (view.started or now)
        cost = "cost unknown" if view.used.cost_usd is None else f"${view.used.cost_usd:.4f}"
        left = duration(max(0.0, self._seconds - used))
        head = f"round {len(self._plan.rounds)}, {view.calls} model calls, {cost}, {used:.0f} s, {left} of budget left"
        times = {span.step: (span.end or now) - span.start for span in view.spans.values()}
        table = Table(box=None, pad_edge=False, header_style="dim")
        rows = [
            (
                *(Text(step.id), Text(clean(step.agent)), Text(step.state, style=_STYLES[step.state])),
                Text(duration(times[step.id]) if step.id in times else ""),
                Text(" ".join(clean(step.task).split())),
            )
            for step in self._plan.steps
        ]
        heads = ("step", "agent", "state", "time", "task")
        widths = [max([len(head), *(len(row[i].plain) for row in rows)]) for i, head in enumerate(heads)]
        # On a narrow screen tasks are dropped first, then agents' names are cut; states and times stay whole.
        room = self._console.width - sum(widths[:4]) - 2 * 4
        shown = 5 if room >= _LEAST_TASK else 4
        widths[4] = room
        widths[1] = max(len("agent"), min(widths[1], widths[1] + room + 2)) if shown == 4 else widths[1]
        for name, size in zip(heads[:shown], widths, strict=False):
            table.add_column(name, overflow="ellipsis", no_wrap=True, width=size)
        for row in rows:
            table.add_row(*row[:shown])
        recent = [
            f"{message.sender} {'→ ' + message.to if message.to else ''} [{message.kind}] {message.text}"
            for message in view.since(0)
        ]
        lines = [Text(clean(line), style="dim", no_wrap=True, overflow="ellipsis") for line in recent[-_SAID:]]
        return Group(Text(head, style="bold"), table, *lines)


PORT = 8766


def serve(
    team: Annotated[Path, typer.Option("--team", help="Description of the team (TOML).")] = Path("team.toml"),
    folder: Annotated[Path, typer.Option("--folder", help="Folder of tasks; unfinished ones are resumed.")] = Path(
        "team-tasks"
    ),
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    token: Annotated[
        str,
        typer.Option(
            "--token", envvar="HEREDITY_TOKEN", help="Token that requests must carry.", show_default="a new one"
        ),
    ] = "",
    mcp: Annotated[
        Literal["stdio", "http", "off"],
        typer.Option("--mcp", help="MCP transport for its tools: stdin and stdout only, /mcp, or none."),
    ] = "http",
    a2a: Annotated[bool, typer.Option("--a2a/--no-a2a", help="Serve A2A at /a2a, with agent cards.")] = True,
    at_once: Annotated[int, typer.Option("--at-once", help="Number of concurrent tasks.", min=1)] = 4,
    model: Annotated[str, typer.Option("--model", help="Default model.")] = "",
    *,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run programs with the isolation available here.")] = False,
) -> None:
    """Serve a team: tasks over HTTP with a page, as a language model, over MCP and A2A. Tasks survive restarts.

    Example: heredity team serve --team office/team.toml
    """
    from heredity.team.serving.office import Office
    from heredity.team.settings import load_team

    office = Office(
        _present(load_team(team, {"model": model} if model else None)), folder, at_once=at_once, unsafe=unsafe
    )
    try:
        with activity():
            run_interruptibly(_serve(office, port=port, token=token, mcp=mcp, a2a=a2a))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


async def _serve(office: Office, *, port: int, token: str, mcp: str, a2a: bool) -> None:
    if mcp == "stdio":
        from heredity.team.serving.serving import serve_team_stdio

        async with office:
            await serve_team_stdio(office)
        return
    from heredity.pages.live.pages.team import page_routes
    from heredity.team.serving.serving import serve_team

    async with office, serve_team(office, port=port, token=token, mcp=mcp == "http", a2a=a2a, more=page_routes) as door:
        typer.echo(f"page: {door.page}")
        typer.echo(f"tasks: {door.url}/tasks, as a model: {door.url}/v1")
        if mcp == "http":
            typer.echo(f"MCP: {door.url}/mcp")
        if a2a:
            typer.echo(f"A2A: {door.url}/a2a")
        typer.echo(f"token: {door.token}")
        waiting = sum(not run.over for run in office.runs.values())
        if waiting:
            typer.echo(f"resuming {waiting} unfinished tasks", err=True)
        await asyncio.Event().wait()


app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

_JSON = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout.")
_APPROVE = typer.Option(False, "--approve", help="Stop before each round to read and edit plan.md.")
_LIVE = typer.Option(False, "--live", help="Show the plan, active agents, cost and time left.")
_UNSAFE = typer.Option(False, "--unsafe", help="Run programs with the isolation available here instead of refusing.")


@app.command("run")
def run(
    task: str = typer.Argument(help="Task for the team, in words."),
    team: Path = typer.Option(Path("team.toml"), "--team", help="Description of the team (TOML)."),
    more: list[Path] = typer.Argument(None, metavar="[FILE]...", help="Files of the task.", show_default=False),
    files: list[Path] = typer.Option([], "--files", help="Files of the task, one or more."),
    model: str = typer.Option("", "--model", help="Default model, instead of team.model."),
    out: Path | None = typer.Option(None, "--out", help="Folder to work in (default: a new one under team-runs/)."),
    answer: str = typer.Option(
        "", "--answer", help="Correct answer, if known: an evolving team keeps solved tasks as canaries."
    ),
    approve: bool = _APPROVE,
    live: bool = _LIVE,
    json_output: bool = _JSON,
    unsafe: bool = _UNSAFE,
) -> None:
    """Give a task to a team and wait for the answer. plan.md has the current plan; plan.svg is drawn at the end.

    Example: heredity team run "When was the old bridge built?" --files report.pdf visits.xlsx
    """
    from heredity.team.assembly import keep_files
    from heredity.team.settings import load_team
    from heredity.team.team import write_whole

    _check(approve=approve, live=live)
    if not task.strip():
        raise ConfigError("the task is empty; describe what the team should do")
    settings = _present(load_team(team, {"model": model} if model else None))
    folder = out or Path("team-runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{_slug(task)}"
    if (folder / "task.json").exists():
        raise ConfigError(
            f"{folder} already holds a task; resume it with `heredity team resume {folder}`, or give another --out"
        )
    before = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        kept = keep_files([*files, *(more or ())], folder / "files")
        asked = {"task": task, "files": sorted(kept), "answer": answer, "settings": settings.model_dump(mode="json")}
        write_whole(folder / "task.json", json.dumps(asked, indent=1, ensure_ascii=False))
        _work(folder, approve=approve, live=live, json_output=json_output, unsafe=unsafe)
    except (ConfigError, MissingExtraError):
        # What was refused before anything began can be given again under the same name.
        if not (folder / "journal.jsonl").exists():
            _remove_begun(folder, whole=not before)
        raise


@app.command("resume")
def resume(
    folder: Path = typer.Argument(help="Folder that `team run` worked in."),
    approve: bool = _APPROVE,
    live: bool = _LIVE,
    json_output: bool = _JSON,
    unsafe: bool = _UNSAFE,
) -> None:
    """Resume a task that was stopped; recorded messages and actions are not repeated.

    Example: heredity team resume team-runs/20260101-120000-when-was-the-old
    """
    _check(approve=approve, live=live)
    _work(folder, approve=approve, live=live, json_output=json_output, unsafe=unsafe)


app.command("serve")(serve)


@app.command("replay")
def replay(folder: Path = typer.Argument(help="Folder that `team run` worked in."), json_output: bool = _JSON) -> None:
    """Show the recorded messages in order, with sender and recipient.

    Example: heredity team replay team-runs/20260101-120000-when-was-the-old
    """
    from heredity.records import read_journal
    from heredity.results.text import clean
    from heredity.team.record import EFFECT_DONE, MESSAGE

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


def _present(settings: TeamSettings) -> TeamSettings:
    """Leave out the optional agents that cannot work here, and say so."""
    from heredity.team.assembly import present

    here, lacking = present(settings)
    for name, lacks in lacking.items():
        typer.echo(f"left out: {name}: {lacks}", err=True)
    return here


def _remove_begun(folder: Path, *, whole: bool) -> None:
    """Remove what `team run` wrote before the team started; the whole folder, if it made it."""
    if whole:
        shutil.rmtree(folder, ignore_errors=True)
        return
    (folder / "task.json").unlink(missing_ok=True)
    shutil.rmtree(folder / "files", ignore_errors=True)


def _check(*, approve: bool, live: bool) -> None:
    if approve and live:
        raise ConfigError("--live hides the questions of --approve; give one of them, or use `heredity team serve`")


def _work(folder: Path, *, approve: bool, live: bool, json_output: bool, unsafe: bool) -> None:
    from heredity.agents.models import models_for_agent
    from heredity.results.text import clean
    from heredity.team.assembly import work
    from heredity.team.bus import NOBODYS
    from heredity.team.settings import read_task

    asked = read_task(folder)
    watch = _Progress(quiet=json_output)

    async def review(plan: Plan) -> Plan:
        return await asyncio.to_thread(_edit_plan, plan, folder)

    files = {name: folder / "files" / name for name in asked.files}
    how: dict[str, Any] = {"review": review if approve else None, "watch": watch, "unsafe": unsafe}
    how |= {"answer": asked.answer, "door": models_for_agent}
    with contextlib.ExitStack() as stack:
        if live:
            drawn = stack.enter_context(TeamLive(asked.settings.team.seconds))
            how |= {"watch": drawn.planned, "opened": drawn.opened}
        try:
            result = run_interruptibly(work(asked.settings, folder, asked.task, files, **how))
        except (InterruptedRunError, *NOBODYS):
            typer.echo(f"resume with: heredity team resume {folder}", err=True)
            raise
    _draw(folder)
    if json_output:
        typer.echo(json.dumps(_as_json(result, folder), ensure_ascii=False))
    else:
        typer.echo(
            clean(result.answer) if result.outcome == "ok" else f"no answer ({result.outcome}): {clean(result.error)}"
        )
        typer.echo(f"plan: {folder / 'plan.md'}; all messages: heredity team replay {folder}", err=True)
    if result.outcome != "ok":
        raise typer.Exit(1)


def _draw(folder: Path) -> None:
    """Draw the plan and the timeline of its steps into a task's folder."""
    from heredity.pages.live.pages.team import flow, standalone, timeline
    from heredity.team.team import write_whole
    from heredity.team.view import View

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


def _edit_plan(plan: Plan, folder: Path) -> Plan:
    """Let a person edit plan.md until it is valid."""
    from heredity.team.planning import read_plan

    path = folder / "plan.md"
    while True:
        ask_person(f"Read and edit {path}, then press Enter")
        try:
            return plan.edited(read_plan(path))
        except ConfigError as error:
            typer.echo(str(error), err=True)


class _Progress:
    """Prints to stderr when a step starts or ends, with the number of steps left."""

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
                line = f"round {len(plan.rounds)}, {over}/{len(plan.steps)} done: {step.id} ({step.agent}) {step.state}: {outcome}"
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
