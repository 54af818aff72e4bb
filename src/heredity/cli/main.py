"""`heredity`: the command line. Errors are one line on stderr and an exit code that is not 0."""

from __future__ import annotations

import io
import itertools
import os
import re
import sys
from contextlib import nullcontext

import typer

from heredity import __version__
from heredity.cli import agents, bench, code, env, resources, sites, suites, tasks, team, workspace, worlds
from heredity.cli.annotate import annotate
from heredity.cli.bars import heartbeat
from heredity.cli.broker import broker
from heredity.cli.doctor import doctor
from heredity.cli.evaluate import evaluate
from heredity.cli.evolve import evolve
from heredity.cli.init import init
from heredity.cli.json_only import asks_for_json, reserved_stdout
from heredity.cli.plan import plan
from heredity.cli.runs import compare, demo, report, resume, run
from heredity.cli.schema import schema
from heredity.cli.signals import InterruptedRunError
from heredity.cli.trace import trace
from heredity.cli.verify import verify
from heredity.cli.view import view
from heredity.cli.whole_help import WholeHelp
from heredity.errors import CandidateError, HeredityError, clean

_UNDECODED = re.compile(r"[^\s\"']{0,200}[\udc80-\udcff][^\s\"']{0,200}")
"""Around a byte of a file's name that is not UTF-8, as Python decodes it."""

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
app.command()(plan)
app.command()(evolve)
app.command()(evaluate)
app.command()(verify)
app.command()(view)
app.command()(annotate)
app.command()(trace)
app.command()(doctor)
app.command()(schema)
app.command()(broker)
app.command()(workspace.submit)
app.command()(workspace.finish)
app.add_typer(suites.app, name="suites", help="Suites that are installed: list, show; `heredity run NAME` runs one.")
app.add_typer(env.app, name="env", help="Environments: list, check, play.")
app.add_typer(tasks.app, name="tasks", help="Tasksets: list, show.")
app.add_typer(
    resources.app, name="resources", help="Versions of prompts, agents, tools, environments, memories, models."
)
app.add_typer(agents.app, name="agents", help="Coding agents: list, install, check.")
app.add_typer(code.app, name="code", help="Programming problems: list, show, judge, check.")
app.add_typer(worlds.app, name="worlds", help="Worlds: list, show, play, levels, verify, bench, audit.")
app.add_typer(sites.app, name="sites", help="Small webs that questions are about: list, serve, write.")
app.add_typer(team.app, name="team", help="Teams of agents: run, resume, replay.")
app.add_typer(bench.app, name="bench", help="Benchmarks of the hot paths, each as a ratio to a baseline.")


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:  # pyright: ignore[reportUnusedFunction]
    if version:
        typer.echo(f"heredity {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code, which is not 0 where its output could not be written."""
    code: str | int | None = 0
    try:
        _main()
    except SystemExit as ended:
        code = ended.code
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python flushes once more, and says so
        if not code:
            typer.echo(f"heredity: the output cannot be written: {error.strerror}", err=True)
            code = EXIT_USAGE
    sys.exit(code)


def _main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")  # a file's name need not be text
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
    """Return what went wrong; None for what is no error of the user or the machine, but of the program.

    It is one line, unless it holds the traceback of a user's own program.
    """
    if isinstance(error, BaseExceptionGroup):
        lines = [explanation(inner) for inner in _leaves(error)]  # pyright: ignore[reportUnknownArgumentType]
        messages = dict.fromkeys(line for line in lines if line is not None)
        return None if None in lines else "; ".join(messages)
    if isinstance(error, CandidateError):
        # The author of a program needs its traceback, lines and all.
        return str(error)
    if isinstance(error, HeredityError):
        return " ".join(str(error).splitlines())
    if isinstance(error, UnicodeEncodeError) and (path := _UNDECODED.search(error.object)):
        return f"the name {clean(path[0])} is not UTF-8, and records hold UTF-8 alone; rename it, or work elsewhere"
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return None


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for error in group.exceptions
        for leaf in (_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])  # pyright: ignore[reportUnknownArgumentType]
    ]
