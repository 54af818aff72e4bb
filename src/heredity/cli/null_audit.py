"""`heredity null-audit`: what others' published results allow one to conclude."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def null_audit(
    files: list[Path] = typer.Argument(
        help="Per-item results (CSV, TSV, JSONL, Parquet), long or wide; several files are joined."
    ),
    model: str | None = typer.Option(None, "--model", help="Column of models."),
    item: str | None = typer.Option(None, "--item", help="Column of items."),
    seed: str | None = typer.Option(None, "--seed", help="Column of seeds or repetitions."),
    group: str | None = typer.Option(None, "--group", help="Column of clusters: items that were drawn together."),
    score: str | None = typer.Option(
        None, "--score", help="Column of scores; without one, every column of numbers is a model."
    ),
    answer: str | None = typer.Option(
        None, "--answer", help="Column of answers, compared with the reference without a score."
    ),
    reference: str | None = typer.Option(None, "--reference", help="Column of reference answers."),
    choices: int | None = typer.Option(None, "--choices", min=2, help="Number of answers to choose from."),
    lower: bool = typer.Option(False, "--lower", help="Lower scores are better."),
    ranks: bool | None = typer.Option(
        None,
        "--ranks/--scores",
        help="Compare ranks of models on each item.",
        show_default="if items have units of their own",
    ),
    out: Path | None = typer.Option(None, "--out", help="File for a page with a plot, such as audit.html."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Audit a benchmark's published per-item results: intervals, rankings, detectable differences, policies that solve nothing.

    Columns are recognised by their names. Says which pairs of models are resolved, how many items or seeds the others
    need, what constant, random and empty answers score, and what looks contaminated.

    Example: heredity null-audit results.csv --group document --out audit.html
    """
    from heredity.analysis.null_audit import Asked, audit, read_results
    from heredity.pages.report import html
    from heredity.pages.report.null_audit_page import null_audit_page
    from heredity.pages.report.terminal import render
    from heredity.records.run_folder import write_atomic

    given = {
        "model": model,
        "item": item,
        "seed": seed,
        "group": group,
        "score": score,
        "answer": answer,
        "reference": reference,
    }
    asked = Asked({role: name for role, name in given.items() if name is not None}, lower, ranks, choices)
    result = audit(read_results(files, asked), asked)
    page = null_audit_page(result)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out, html.render(page).encode())
    if json_output:
        typer.echo(json.dumps(result.model_dump(mode="json"), ensure_ascii=False))
        return
    from rich.console import Console

    Console().print(render(page))
    if out is not None:
        typer.echo(f"page: {out}")
