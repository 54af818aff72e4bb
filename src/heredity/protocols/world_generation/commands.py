"""`heredity worlds generate`: worlds from themes, written by a model or a coding agent and judged by gates."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError, HeredityError
from heredity.cli.bars import ask_person
from heredity.configuration.config import Config
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult
from heredity.kinds.world.themes import PREFIX
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.protocols.world_generation.judge import LIBRARY
from heredity.protocols.world_generation.metrics import runs_of

if TYPE_CHECKING:
    from heredity.experiments.suite import SuiteResult
    from heredity.kinds.world.themes import Theme
    from heredity.protocols.world_generation.author import Preparation, Review

PROTOCOL = "world-generation"
THEMES, REPLIES = "themes.toml", "themes.jsonl"
"""Files in a suite's folder: its themes, and the model's replies about them."""


def ordered(
    folder: Path,
    *,
    model: str,
    author: str = "",
    builds: int | None = None,
    cost_usd: float | None = None,
    parallel: int,
) -> Config:
    """Return the configuration of a suite whose themes are in its folder.

    Args:
        folder: the suite's folder, with its file of themes.
        model: the author's model; empty for an author with a separate account.
        author: a launcher's name or its folder; built-in by default.
        builds: maximum builds per theme.
        cost_usd: maximum cost per theme, in US dollars.
        parallel: runs at the same time.

    Raises:
        ConfigError: if the author needs a model and none is set, or a name is unknown.
    """
    built_in = author in ("", WorldAuthor.name)
    if built_in and not model:
        raise ConfigError(
            "the author needs a model; add --model, such as openai/gpt-5, or offline/world-author to try it"
        )
    evolver = {"method": WorldAuthor.name} if built_in else {"launcher": author, **({"model": model} if model else {})}
    budget = {key: value for key, value in (("builds", builds), ("cost_usd", cost_usd)) if value is not None}
    return resolve(
        {
            "run": {"protocol": PROTOCOL, "tasksets": [f"{PREFIX}{folder.absolute() / THEMES}"], "name": folder.name},
            "evolver": evolver,
            "budget": budget,
            "engine": {"parallel_runs": parallel},
            **({"gateway": {"optimisation": model}} if built_in else {}),
        }
    )


def outcome(result: SuiteResult) -> list[Mapping[str, Any]]:
    """Return the outcome of each theme, as JSON values; `found` lists the gates that rejected a world, and why."""
    rows: list[Mapping[str, Any]] = []
    for run, part in runs_of(result.runs):
        findings = [finding for gate in part.gates for finding in gate.findings]
        rows.append(
            {
                **part.model_dump(
                    mode="json", include={"world", "theme", "source", "reviewed", "admitted", "first_failed"}
                ),
                "run": run.run_id,
                "builds": len(part.builds),
                "found": [f"{one.gate}: {one.kind}: {one.message}" for one in findings],
                "tokens": part.tokens,
                "cost_usd": part.cost_usd,
                "folder": str(result.folder / LIBRARY / part.world) if part.admitted else None,
            }
        )
    return rows


def generate(
    themes: Annotated[
        list[str] | None,
        typer.Argument(help="Themes, each a text such as 'A keeper trades oil'.", metavar="[THEMES]..."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--themes", help="File of themes: one per line, or TOML.", metavar="FILE")
    ] = None,
    propose: Annotated[
        int, typer.Option("--propose", min=0, max=1000, help="Number of themes for the model to propose.")
    ] = 0,
    model: Annotated[str, typer.Option("--model", help="Model of the author, such as openai/gpt-5.")] = "",
    author: Annotated[
        str,
        typer.Option("--author", help="Author: claude-code, codex or a folder with start.sh (default: built-in)."),
    ] = "",
    review: Annotated[
        bool, typer.Option("--review", help="Let the model make themes precise first; asks at a terminal.")
    ] = False,
    builds: Annotated[
        int | None, typer.Option("--builds", min=1, help="Maximum builds per theme (default 40).")
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", min=0.0, help="Maximum cost per theme, in US dollars.")
    ] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Number of themes at the same time.")] = 3,
    folder: Annotated[Path, typer.Option("--folder", help="Folder of suites.")] = Path("runs"),
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the suite; an existing one is resumed.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON to stdout.")] = False,
) -> None:
    """Make worlds from themes. Gates admit each to a library, or the output lists the gates it failed and the reasons.

    If interrupted, repeat the command with the same --out, or use `heredity resume`. The exit code is 1 if no world is admitted.

    Example: heredity worlds generate "A keeper trades oil with ships whose prices drift" --model offline/world-author
    """
    from heredity._api import Work, checked
    from heredity.cli.runs import explained
    from heredity.experiments.suite import CONFIG_NAME, forget_unbegun, open_suite

    suite = out or _unused(folder)
    fresh = not suite.exists()
    try:
        with explained(json_output=as_json):
            if (suite / CONFIG_NAME).exists():
                if themes or file or propose:
                    raise ConfigError(
                        f"{suite} already holds a suite; omit the themes to resume it, or choose another --out"
                    )
                config = open_suite(suite)
            else:
                _write_themes(_themes(themes or [], file, propose, model, suite, review=review, ask=not as_json), suite)
                config = ordered(suite, model=model, author=author, builds=builds, cost_usd=cost, parallel=parallel)
                checked(config, suite, progress=not as_json)
                config = open_suite(suite, config)
            result = Work(suite, config, not as_json, lambda result: result).wait()
    except (HeredityError, typer.Exit):
        # Keep replies that were paid for: repeating the command reuses them.
        if fresh and not (suite / REPLIES).exists():
            forget_unbegun(suite)
        raise
    _tell(result, as_json=as_json)


def _unused(folder: Path) -> Path:
    stem, number = f"worlds-{time.strftime('%Y%m%d-%H%M%S')}", 1
    while (path := folder / (stem if number == 1 else f"{stem}-{number}")).exists():
        number += 1
    return path


def _write_themes(themes: Mapping[str, Theme], suite: Path) -> None:
    from heredity.kinds.world.themes import write_themes

    suite.mkdir(parents=True, exist_ok=True)
    (suite / THEMES).write_text(write_themes(themes), encoding="utf-8")


def _themes(
    texts: Sequence[str], file: Path | None, propose: int, model: str, suite: Path, *, review: bool, ask: bool
) -> Mapping[str, Theme]:
    from heredity.kinds.world.themes import name_themes, read_themes

    given = read_themes(file) if file is not None else {}
    given |= name_themes(texts, "the command line", given)
    if not given and not propose:
        raise ConfigError("no themes; pass some, or a file with --themes, or use --propose")
    if not (propose or review):
        return given
    if not model:
        raise ConfigError("--propose and --review need a model; pass --model")
    return _themes_of(given, propose, model, suite, review=review, ask=ask)


def _themes_of(
    given: dict[str, Theme], propose: int, model: str, suite: Path, *, review: bool, ask: bool
) -> Mapping[str, Theme]:
    """Return the themes, with those the model proposes, made precise by the model and possibly a person."""
    from heredity.cli.signals import run_interruptibly
    from heredity.kinds.world.world import descriptions
    from heredity.models.gateway import Gateway
    from heredity.models.settings import GatewaySettings
    from heredity.protocols.world_generation.author import Preparation, with_review

    others = [f"{one.meta.title}: {one.meta.summary}" for one in descriptions().values()]

    suite.mkdir(parents=True, exist_ok=True)

    async def prepared() -> tuple[dict[str, Theme], dict[str, Review], Preparation]:
        gateway = Gateway(GatewaySettings(optimisation=model))
        try:
            preparation = Preparation(gateway.model("optimisation"), suite / REPLIES)
            themes = dict(given)
            if propose:
                taken = [*(theme.theme for theme in given.values()), *others]
                themes |= await preparation.proposed(propose, taken, taken=given)
            reviews = (
                {name: await preparation.reviewed(name, theme) for name, theme in themes.items()} if review else {}
            )
            return themes, reviews, preparation
        finally:
            await gateway.close()

    themes, reviews, _ = run_interruptibly(prepared())
    for name, made in reviews.items():
        person = ask and sys.stdin.isatty() and sys.stdout.isatty()
        text, by = _decided(name, themes[name], made) if person else (made.theme, "model")
        themes[name] = with_review(themes[name], text, by)
    return themes


def _decided(name: str, theme: Theme, review: Review) -> tuple[str, str]:
    """Return the theme that a person chooses after reading a review, and who made it precise."""
    typer.echo(f"\n{name}: {theme.theme}\n\n{review.text}\n")
    answer = ""
    while answer not in ("t", "a", "k"):
        answer = ask_person("[t]ake the precise theme, write [a]nother, [k]eep yours", "t").strip().lower()[:1]
    if answer == "a":
        return ask_person("the theme", review.theme or theme.theme), "person"
    return (theme.theme, "person") if answer == "k" else (review.theme, "person")


def _tell(result: SuiteResult, *, as_json: bool) -> None:
    from heredity.cli.bars import columns
    from heredity.cli.runs import say_problems
    from heredity.results import text

    rows = outcome(result)
    admitted = [row for row in rows if row["admitted"]]
    if as_json:
        paths = {"folder": str(result.folder), "report": str(result.folder / "report.html")}
        problems = {"failures": result.failures, "evolver_failures": result.evolver_failures}
        typer.echo(
            json.dumps({**paths, "admitted": len(admitted), "of": len(rows), **problems, "worlds": rows}, indent=1)
        )
    else:
        heads = ("world", "verdict", "builds", "tokens", "cost")
        cells = [
            [row["world"], _verdict(row), str(row["builds"]), text.tokens(row["tokens"]), text.dollars(row["cost_usd"])]
            for row in rows
        ]
        typer.echo(columns(heads, cells))
        for row in rows:
            for finding in row["found"][:3]:
                typer.echo(f"{row['world']}: {finding}")
        typer.echo(f"{len(admitted)} of {len(rows)} worlds admitted; report: {result.folder / 'report.html'}")
        if admitted:
            typer.echo(f"play one with: heredity worlds play {_path_of(admitted[0]['folder'])}")
        say_problems(result)
    if not admitted or result.failures or result.evolver_failures:
        raise typer.Exit(1)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["admitted"] is None:
        return "not judged"
    return "admitted" if row["admitted"] else f"REJECTED at {row['first_failed']}"


def _path_of(folder: str) -> str:
    return folder if "/" in folder and folder[0] in "./" else f"./{folder}"
