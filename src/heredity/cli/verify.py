"""`heredity verify`: check the claims of a published run or suite without trusting its owner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from heredity.experiments.verification.anchors import Statement
    from heredity.results.card import Card, Check


def verify(
    folder: Path = typer.Argument(help="Folder of a run or a suite, as published."),
    replay: bool = typer.Option(False, "--replay", help="Rerun candidates on the opened cases, in the sandbox."),
    sample: int | None = typer.Option(
        None, "--sample", min=1, help="With --replay: number of rollouts of each run (all)."
    ),
    anchor: list[str] = typer.Option(None, "--anchor", help="git:REPO@COMMIT or tsr:FILE; repeat for more."),
    authority: Path | None = typer.Option(None, "--ca", help="Certificates (PEM) to check a token's signer with."),
    card: Path | None = typer.Option(None, "--card", help="File for the card with all checks."),
    statement: str = typer.Option(
        "", "--print", metavar="commitment|head", help="Print the statement to anchor, and check nothing."
    ),
    json_output: bool = typer.Option(False, "--json", help="Print the card as JSON and nothing else on stdout."),
) -> None:
    """Check the claims of a run or a suite: its journal, opened cases, blobs, scores and figures.

    Example: heredity verify runs/demo-20260101-120000 --replay --sample 20
    """
    from heredity._core.errors import ConfigError
    from heredity.experiments.verification import anchors
    from heredity.experiments.verification.cards import save_card
    from heredity.experiments.verification.verify import Asked, cards_of
    from heredity.experiments.verification.verify import verify as verified

    if statement:
        if statement not in tuple(anchors.Statement):
            raise ConfigError(f"--print {statement!r}: expected commitment, at the start, or head, at the end")
        kind: Statement = anchors.Statement(statement)
        typer.echo(anchors.statement(kind, cards_of(folder)), nl=False)
        return
    asked = Asked(replay or sample is not None, sample, tuple(map(anchors.Anchor.parse, anchor or ())), authority)
    made = verified(folder, asked, lambda name: typer.echo(f"checking {name}", err=True))
    if card is not None:
        save_card(card, made)
    if json_output:
        typer.echo(json.dumps(made.model_dump(mode="json")))
    else:
        _show(made)
    if any(check.status == "failed" for check in made.checks):
        raise typer.Exit(1)


def _show(card: Card) -> None:
    from rich.console import Console

    from heredity.pages.report.fitted import FittedTable

    console, rows = Console(), list[list[str]]()
    alike: dict[tuple[str, str, str], list[Check]] = {}
    for check in card.checks:
        # Passed checks are grouped over all runs, failed ones by reason.
        alike.setdefault((check.name, check.status, "" if check.status == "passed" else check.reason), []).append(check)
    for (name, status, reason), checks in alike.items():
        runs = [check.run for check in checks if check.run]
        of = runs[0] if len(runs) == 1 else f"{len(runs)} runs" if runs else ""
        rows.append([name, status, of, reason or (checks[0].reason if len(checks) == 1 else "")])
    console.print(FittedTable.plain(("check", "", "of", "found"), rows, left=4))
    statuses = ("passed", "failed", "not checked")
    console.print(", ".join(f"{sum(c.status == status for c in card.checks)} {status}" for status in statuses))
