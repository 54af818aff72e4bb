"""`heredity code`: list, show, judge and check programming problems."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import interface
from heredity.cli.bars import columns
from heredity.cli.interface import WholeHelp

if TYPE_CHECKING:
    from heredity.kinds.code.check import Checked, Progress
    from heredity.kinds.code.judge import Judgement
    from heredity.kinds.code.ranks import Pool, Rank

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[str, typer.Option("--seed", help="Seed of the cases.")]
Language = Annotated[str, typer.Option("--language", help="Language: python3, cpp, java, go, kotlin or javascript.")]


def _problems(incomplete: str) -> list[str]:
    from heredity.kinds.code.problem import library_folder, problem_folders

    return interface.beginning(problem_folders(library_folder()), incomplete)


@app.command("list")
def list_problems(*, as_json: AsJson = False) -> None:
    """List the problems with their difficulty and tags, and the languages that can be judged on this machine.

    Example: heredity code list
    """
    from heredity.kinds.code.languages import LANGUAGES
    from heredity.kinds.code.problem import library_problems
    from heredity.kinds.code.toolchains import missing

    problems = library_problems()
    absent = {language.name: reason for language in LANGUAGES.values() if (reason := missing(language))}
    if as_json:
        rows = [{"problem": p.name, "title": p.title, "difficulty": p.difficulty, "tags": p.tags} for p in problems]
        here = [name for name in LANGUAGES if name not in absent]
        typer.echo(json.dumps({"problems": rows, "languages": here, "missing": list(absent.values())}, indent=2))
        return
    typer.echo(
        columns(["problem", "difficulty", "tags"], [[p.name, p.difficulty, ", ".join(p.tags)] for p in problems])
    )
    for reason in absent.values():
        typer.echo(f"cannot be judged here: {reason}")


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(help="Problem, or the path of its folder.", show_default=False, autocompletion=_problems),
    ],
    language: Language = "python3",
) -> None:
    """Show the solver's view of a problem: statement, examples, starter.

    Example: heredity code show branch-sums --language kotlin
    """
    from heredity.kinds.code.languages import language as language_of
    from heredity.kinds.code.problem import problem

    typer.echo(problem(name).text(language_of(language)))


@app.command("judge")
def judge_file(
    file: Annotated[Path, typer.Argument(help="A solution.", show_default=False)],
    name: Annotated[
        str,
        typer.Option(
            "--problem",
            help="Problem, or the path of its folder.",
            show_default=False,
            autocompletion=_problems,
        ),
    ],
    language: Language = "",
    seed: Seed = "0",
    *,
    as_json: AsJson = False,
) -> None:
    """Judge a solution: compile it, run it on each case in the sandbox, and print the verdict; exit code 1 unless it passes.

    Example: heredity code judge answer.py --problem branch-sums
    """
    from heredity.kinds.code.languages import LANGUAGES
    from heredity.kinds.code.languages import language as language_of
    from heredity.kinds.code.problem import problem
    from heredity.kinds.code.replies import code_judge

    guessed = language or next((one.name for one in LANGUAGES.values() if one.file.endswith(file.suffix)), file.suffix)
    chosen, asked, source = language_of(guessed), problem(name), _source(file)

    async def judged() -> Judgement:
        async with code_judge() as judge:
            return await judge.judge(asked, chosen, source, await judge.tests(asked, seed))

    judgement = asyncio.run(judged())
    typer.echo(json.dumps(judgement.to_json(), indent=2) if as_json else _explained(judgement))
    raise typer.Exit(0 if judgement.verdict == "PR" else 1)


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Problems or folders; all of the library by default.", autocompletion=_problems),
    ] = None,
    agree: Annotated[
        int, typer.Option("--agree", min=0, help="Small cases on which the two references must agree.")
    ] = 500,
    chosen_languages: Annotated[
        list[str] | None,
        typer.Option("--language", help="Solutions and harnesses in this language (repeatable); all by default."),
    ] = None,
    seed: Seed = "0",
    resume: Annotated[
        Path | None,
        typer.Option("--resume", help="File of finished checks; those without a fault are not repeated."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check problems: references agree, wrong and slow solutions are rejected, accepted ones pass, harnesses compile.

    Example: heredity code check branch-sums --language python3
    """
    from heredity.kinds.code.check import Checking, Kept, checks
    from heredity.kinds.code.languages import language as language_of
    from heredity.kinds.code.problem import library_folder, problem, problem_folders
    from heredity.kinds.code.replies import code_judge
    from heredity.kinds.code.toolchains import installed

    languages = [language_of(name) for name in chosen_languages] if chosen_languages else installed()
    chosen = [problem(name) for name in (names or problem_folders(library_folder()))]
    how, kept = Checking(seed, agree, languages), Kept(resume)
    checked: list[Checked] = []

    async def all_checked() -> None:
        async with code_judge() as judge:
            async for done in checks(judge, chosen, how, kept):
                checked.append(done.checked)
                typer.echo(_done(done, len(chosen)), err=True)

    try:
        asyncio.run(all_checked())
    except KeyboardInterrupt:
        typer.echo(f"stopped after {len(checked)} of {len(chosen)} problems", err=True)
    failed = [one.problem for one in checked if one.faults]
    judged = [language.name for language in languages]
    if as_json:
        about = {"problems": len(checked), "failed": failed, "languages": judged}
        typer.echo(json.dumps({**about, "checked": [one.to_json() for one in checked]}, indent=2))
    else:
        rows = [
            [c.problem, str(c.cases), str(c.agreed), f"{c.reference_s:.2f}", _verdicts(c), "; ".join(c.faults)]
            for c in checked
        ]
        typer.echo(columns(["problem", "cases", "agreed", "reference s", "verdicts", "faults"], rows))
        typer.echo(f"{len(checked) - len(failed)} of {len(checked)} problems are sound, judged in {', '.join(judged)}")
    raise typer.Exit(130 if len(checked) < len(chosen) else 1 if failed else 0)


@app.command()
def ranks(
    name: Annotated[str, typer.Argument(help="Problem, or the path of its folder.", show_default=False)],
    language: Language = "python3",
    file: Annotated[Path | None, typer.Option("--file", help="Solution to rank among the stored ones.")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Measurements per solution.")] = 5,
    seed: Seed = "0",
    *,
    as_json: AsJson = False,
) -> None:
    """Measure a problem's stored solutions in time and memory, and report how stable ranks among them are; rank one of yours.

    Example: heredity code ranks branch-sums --language python3
    """
    from heredity.kinds.code.languages import language as language_of
    from heredity.kinds.code.problem import problem
    from heredity.kinds.code.ranks import Ranker
    from heredity.kinds.code.replies import code_judge

    chosen, asked = language_of(language), problem(name)

    async def ranked() -> tuple[Pool, Rank | None]:
        async with code_judge(workers=1) as judge:
            ranker, tests = Ranker(judge, repeats), await judge.tests(asked, seed)
            pool = await ranker.pool(asked, tests, chosen)
            return pool, await ranker.rank(asked, tests, chosen, _source(file)) if file else None

    pool, rank = asyncio.run(ranked())
    if as_json:
        typer.echo(json.dumps(_ranks_json(pool, rank, repeats), indent=2))
        return
    for one, usages in pool.usages.items():
        rows = [
            [path, f"{median(usage.seconds) * 1e3:.1f}", f"{median(usage.bytes) / 2**20:.1f}"]
            for path, usage in sorted(usages.items(), key=lambda item: median(item[1].seconds))
        ]
        typer.echo(columns([one, "ms", "MiB"], rows))
        for what, noise in zip(("time", "memory"), pool.noise(one), strict=True):
            typer.echo(
                f"by {what}: a place moves in {noise.moved:.0%} of repeats; a rank by {noise.typical:.1f} points at the median, by "
                f"{noise.furthest:.1f} at most"
            )
    if file:
        typer.echo(_placed(rank))
    typer.echo("Ranks are among our stored solutions, not people's.")


def _ranks_json(pool: Pool, rank: Rank | None, repeats: int) -> dict[str, Any]:
    return {
        "repeats": repeats,
        "cases": list(pool.cases),
        "solutions": {
            one: {path: asdict(usage) for path, usage in usages.items()} for one, usages in pool.usages.items()
        },
        "noise": {one: dict(zip(("time", "memory"), map(asdict, pool.noise(one)), strict=True)) for one in pool.usages},
        "rank": asdict(rank) if rank else None,
        "among": "stored solutions of the problem, not people's",
    }


def _placed(rank: Rank | None) -> str:
    if rank is None:
        return "ARB —, AMB —: there are too few stored solutions, or no reference in this language, to place it among"
    how = "Python solutions, by ratios to the reference (transferred)" if rank.transferred else "solutions"
    (low, high), (least, most) = rank.arb_range, rank.amb_range
    return (
        f"ARB {rank.arb:.1f}% (repeats {low:.1f} to {high:.1f}), AMB {rank.amb:.1f}% (repeats {least:.1f} to {most:.1f}), among "
        f"{rank.among} {how}"
    )


def _done(done: Progress, count: int) -> str:
    """Return the progress line for a checked problem."""
    from heredity.results.text import clean

    state = clean("; ".join(done.checked.faults)) or "sound"
    taken = "checked before" if done.seconds is None else f"{done.seconds:.0f} s"
    left = "" if done.left_s is None or done.number == count else f", about {max(done.left_s / 60, 1):.0f} min left"
    return f"[{done.number}/{count}] {done.checked.problem}: {state} ({taken}{left})"


def _verdicts(checked: Checked) -> str:
    counts = {
        verdict: list(checked.verdicts.values()).count(verdict) for verdict in dict.fromkeys(checked.verdicts.values())
    }
    return " ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _explained(judgement: Judgement) -> str:
    from heredity.kinds.code.judge import VERDICTS
    from heredity.results.text import clean

    lines = [
        f"{judgement.verdict.value}: {VERDICTS[judgement.verdict]}; {judgement.passed} of {judgement.cases} cases passed"
    ]
    if judgement.cpu_s:
        lines.append(
            f"slowest case {judgement.cpu_s:.2f} s of {judgement.limit_s:.2f} s, peak memory {judgement.peak_bytes / 2**20:.0f} MiB"
        )
    return "\n".join([*lines, *([clean(judgement.message)] if judgement.message else [])])


def _source(file: Path) -> str:
    from heredity._core.outside import read_text
    from heredity._core.refusals import reading

    with reading(file, "text", "give the path of a program"):
        return read_text(file)
