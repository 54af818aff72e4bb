"""`heredity`: the command line. An error is one line on stderr and a non-zero exit code."""

from __future__ import annotations

import io
import itertools
import os
import re
import sys
from contextlib import nullcontext

import typer

from heredity import __version__
from heredity._core.errors import CandidateError, HeredityError, clean
from heredity.cli import agents, bench, catalogue, resources, team
from heredity.cli import agents as workspace
from heredity.cli.bars import heartbeat
from heredity.cli.broker import broker
from heredity.cli.catalogue import schema
from heredity.cli.doctor import doctor
from heredity.cli.export import export
from heredity.cli.init import init
from heredity.cli.interface import WholeHelp, asks_for_json, reserved_stdout
from heredity.cli.log import log
from heredity.cli.null_audit import null_audit
from heredity.cli.publish import publish
from heredity.cli.runs import compare, demo, plan, report, resume, run, verify, view
from heredity.cli.signals import InterruptedRunError
from heredity.cli.trace import trace
from heredity.kinds.checkpoint.commands import audit
from heredity.kinds.code import commands as code
from heredity.kinds.container.commands import check
from heredity.kinds.policy.commands import env
from heredity.kinds.program.commands.evolve import evolve
from heredity.kinds.world.commands import worlds
from heredity.protocols.harness_evolution.commands import annotate, evaluate
from heredity.protocols.team_questions.commands import submission
from heredity.protocols.world_generation.commands import generate

_UNDECODED = re.compile(r"[^\s\"']{0,200}[\udc80-\udcff][^\s\"']{0,200}")
"""Surrogates with which Python decodes bytes of a file name that are not UTF-8."""

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
_QUIET = {"--quiet", "-q", "--json"}

app = typer.Typer(
    cls=WholeHelp,
    name="heredity",
    help="A laboratory for agents that improve themselves.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(init)
app.command()(run)
app.command()(resume)
app.command()(report)
app.command()(compare)
app.command()(export)
app.command()(plan)
app.command()(evolve)
app.command()(evaluate)
app.command()(verify)
app.command()(log)
app.command()(publish)
app.command()(null_audit)
app.command()(view)
app.command()(annotate)
app.command()(trace)
app.command()(doctor)
app.command()(schema)
app.command()(broker)
app.command()(workspace.submit)
app.command()(workspace.finish)
app.add_typer(catalogue.suites_app, name="suites", help="Installed suites: list, show; `heredity run NAME` runs one.")
app.add_typer(catalogue.methods_app, name="methods", help="Methods, which are built-in evolvers: list, show.")
app.add_typer(env.app, name="env", help="Environments: list, check, play.")
catalogue.tasks_app.command()(check)
catalogue.tasks_app.command()(audit)
app.add_typer(catalogue.tasks_app, name="tasks", help="Tasksets: list, show.")
app.add_typer(
    resources.app, name="resources", help="Versions of prompts, agents, tools, environments, memories, models."
)
app.add_typer(agents.app, name="agents", help="Coding agents: list, install, check.")
app.add_typer(code.app, name="code", help="Programming problems: list, show, judge, check.")
worlds.app.command()(generate)
app.add_typer(worlds.app, name="worlds", help="Worlds: list, show, play, levels, verify, bench, audit.")
app.add_typer(catalogue.sites_app, name="sites", help="Small websites for web questions: list, serve, write.")
team.app.command()(submission)
app.add_typer(team.app, name="team", help="Teams of agents: run, resume, replay, submission.")
app.add_typer(bench.app, name="bench", help="Benchmarks of the hot paths, each as a ratio to a baseline.")


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:  # pyright: ignore[reportUnusedFunction]
    if version:
        typer.echo(f"heredity {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code, or with another non-zero one if the output cannot be written."""
    code: str | int | None = 0
    try:
        _main()
    except SystemExit as ended:
        code = ended.code
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # otherwise Python flushes again and reports the error
        if not code:
            typer.echo(f"heredity: the output cannot be written: {error.strerror}", err=True)
            code = EXIT_USAGE
    sys.exit(code)


def _main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")  # file names need not be valid UTF-8
    arguments = sys.argv[1:]
    name = " ".join(["heredity", *itertools.takewhile(lambda word: word.isidentifier(), arguments[:2])])
    try:
        with (
            reserved_stdout() if asks_for_json(arguments) else nullcontext(),
            heartbeat(name, quiet=not _QUIET.isdisjoint(arguments)),
        ):
            app(standalone_mode=True)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except InterruptedRunError as error:
        typer.echo(f"heredity: {error}", err=True)
        sys.exit(error.code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except (HeredityError, OSError, ExceptionGroup, UnicodeEncodeError) as error:
        line = explanation(error)
        if line is None:
            raise
        typer.echo(f"heredity: {line}", err=True)
        sys.exit(EXIT_USAGE)


def explanation(error: BaseException) -> str | None:
    """Return the error message of a user's or the machine's error; None for a bug in Heredity.

    The message is one line, unless it holds the traceback of a user's program.
    """
    if isinstance(error, BaseExceptionGroup):
        lines = [explanation(inner) for inner in _leaves(error)]  # pyright: ignore[reportUnknownArgumentType]
        messages = dict.fromkeys(line for line in lines if line is not None)
        return None if None in lines else "; ".join(messages)
    if isinstance(error, CandidateError):
        # The author of a program needs the whole traceback.
        return str(error)
    if isinstance(error, HeredityError):
        return " ".join(str(error).splitlines())
    if isinstance(error, UnicodeEncodeError) and (path := _UNDECODED.search(error.object)):
        return f"the name {clean(path[0])} is not UTF-8, which records require; rename it, or use another folder"
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return None


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for error in group.exceptions
        for leaf in (_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])  # pyright: ignore[reportUnknownArgumentType]
    ]
