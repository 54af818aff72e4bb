"""`heredity trace`: show a run step by step, or export it to OpenTelemetry or as training data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from heredity.analysis.span_tree import Node

OTLP = "otlp-json"


def trace(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or of a suite with one run.", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", help="Show only these kinds, such as model,tool.")] = "",
    slowest: Annotated[int | None, typer.Option("--slowest", min=1, help="Show the N slowest.")] = None,
    rollout: Annotated[str, typer.Option("--rollout", help="Show only rollouts of this task, such as train/3.")] = "",
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="Number of levels (default for a whole run: 3).")
    ] = None,
    export: Annotated[
        str, typer.Option("--export", metavar="FORM:FILE", help="Write otlp-json, sft, rl or preference to a file.")
    ] = "",
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Minimum score of rollouts in sft.", show_default="1")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Show every span, and texts in full.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show the rounds, rollouts, model calls, tools and commits of a run, their durations and usage.

    Example: heredity trace runs/mine --kind model --slowest 10
    """
    folder = _run_of(run)
    if min_score is not None and not export.startswith("sft:"):
        raise ConfigError(f"--min-score {min_score:g} is for --export sft:FILE; leave it out")
    if export:
        typer.echo(_export(folder, export, 1.0 if min_score is None else min_score))
        return
    from heredity.analysis.span_tree import selected, span_tree, totals
    from heredity.records.span_log import NAME, read_spans

    spans, damaged = read_spans(folder / NAME)
    roots = span_tree(spans)
    kinds = tuple(part.strip() for part in kind.split(",") if part.strip())
    _check(roots, kinds, rollout)
    flat = selected(roots, kinds, rollout, slowest)
    if as_json:
        summary = {"run": folder.name, "damaged": damaged, "totals": {k: t.to_json() for k, t in totals(roots).items()}}
        typer.echo(json.dumps({**summary, "spans": [_row(node) for node in flat]}, indent=1))
        return
    from heredity.cli.trace_view import show_list, show_totals, show_tree

    if kinds or slowest is not None:
        show_list(roots, flat, full=full)
    elif rollout:
        chosen = selected(roots, ("rollout",), rollout)
        show_tree(chosen, depth, full=full, texts=True)
    else:
        show_totals(folder.name, totals(roots))
        show_tree(roots, depth or (None if full else 3), full=full, texts=full)
    if damaged:
        typer.echo(f"{damaged} lines of {folder / NAME} are damaged and left out", err=True)


def _run_of(folder: Path) -> Path:
    from heredity.experiments.results import is_run, is_suite, run_folders

    if is_run(folder):
        return folder
    runs = run_folders(folder) if is_suite(folder) else []
    if len(runs) == 1:
        return runs[0]
    if runs:
        raise ConfigError(f"{folder} is a suite of {len(runs)} runs; give one, such as {runs[0]}")
    raise ConfigError(f"{folder} does not hold a run; give a run's folder, such as runs/SUITE/runs/RUN")


def _check(roots: Sequence[Node], kinds: Sequence[str], rollout: str) -> None:
    spans = [node.span for root in roots for _, node in root.walk()]
    there = dict.fromkeys(span.kind for span in spans)
    for kind in kinds:
        if kind not in there:
            raise UnknownNameError("kind of span in this trace", kind, there)
    if rollout:
        tasks = dict.fromkeys(str(s.attributes.get("task")) for s in spans if s.kind == "rollout")
        if rollout not in tasks:
            raise UnknownNameError("task among the rollouts of this trace", rollout, tasks)


def _row(node: Node) -> dict[str, Any]:
    fields = {name: getattr(node.span, name) for name in node.span.__dataclass_fields__}
    return {**fields, "seconds": node.seconds, "self_seconds": node.self_seconds}


def _export(run: Path, export: str, min_score: float) -> str:
    from heredity.analysis.training_data import FORMS, model_of, rollouts_of, sft_rows
    from heredity.records.run_folder import write_atomic

    form, _, file = export.partition(":")
    if form not in (OTLP, *FORMS) or not file:
        raise ConfigError(f"--export {export}: expected FORM:FILE, with one of {', '.join((OTLP, *FORMS))} as FORM")
    if form == OTLP:
        return _export_spans(run, Path(file))
    rollouts, model = rollouts_of(run), model_of(run)
    rows = sft_rows(rollouts, model, min_score) if form == "sft" else FORMS[form](rollouts, model)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    write_atomic(Path(file), lines.encode("utf-8", "backslashreplace"))
    return f"{len(rows)} rows from {len(rollouts)} rollouts: {file}"


def _export_spans(run: Path, file: Path) -> str:
    from heredity.analysis.otlp import to_otlp
    from heredity.records.run_folder import write_atomic
    from heredity.records.span_log import NAME, read_spans

    spans, _ = read_spans(run / NAME)
    request = to_otlp(spans, {"heredity.run.id": run.name})
    write_atomic(file, json.dumps(request, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    return f"{len(spans)} spans: {file}"
