"""`heredity trace`: show a run step by step, or export it to OpenTelemetry or as training data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.spans import Span
from heredity.analysis.otlp import Node, Total, problem_of, usage_of
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.pages.report.fitted import FittedTable
from heredity.results.text import DASH, amount, clean, duration, number, shorten

if TYPE_CHECKING:
    from heredity.analysis.otlp import Node

_Line = tuple[int, Text]
"""A level, from 0, and its text."""

_ALIKE = 8
"""Number of spans of one name shown inside another span, unless all are requested."""
_TEXT_CHARS, _FACT_CHARS = 400, 80
_STYLES = {
    "model": "cyan",
    "tool": "yellow",
    "operator": "magenta",
    "commit": "green",
    "rollout": "bold",
    "run": "bold",
}
_OBJECTS = {"model": "model", "tool": "tool", "rollout": "task", "run": "run"}
"""Attribute that describes a span of each kind, shown next to its name."""
_TEXTS = ("input", "arguments", "output", "text", "value", "extracted")
_TOLD_APART = (
    "usage",
    "tool_calls",
    "answered_by",
    "error",
    "failed",
    "failure",
    "message",
    "suite",
    "taskset",
    "place",
)
_UNTOLD = {*_TEXTS, *_OBJECTS.values(), *_TOLD_APART}
_USUAL = {
    "cache": "off",
    "finish": "stop",
    "rollouts": 1,
    "status": "ok",
    "purpose": "execution",
    "failure_source": "none",
}


def show_totals(name: str, totals: Mapping[str, Total]) -> None:
    """Print the totals of each kind of span."""
    rows: list[list[str]] = []
    for kind, total in totals.items():
        times = (duration(total.seconds), duration(total.self_seconds))
        rows.append([kind, str(total.count), str(total.problems or ""), *times, *_format_usage(total.usage)])
    console = Console()
    console.print(Text(clean(name), style="bold"), soft_wrap=True)
    heads = ("kind", "count", "failed", "time", "own time", "tokens in", "out", "cost")
    console.print(FittedTable.plain(heads, rows))
    console.print(Text("Times are sums: parallel spans count in full.\n", style="dim"))


def show_tree(roots: Sequence[Node], depth: int | None, *, full: bool, texts: bool) -> None:
    """Print spans as a tree.

    Args:
        roots: the topmost spans.
        depth: number of levels; None for all.
        full: show every span, and texts in full.
        texts: show inputs and outputs.
    """
    lines = [line for root in roots for line in _lines(root, 0, depth, full=full, texts=texts)]
    console = Console()
    if not console.is_terminal:
        _show_plain(console, lines)
        return
    tops: list[Tree] = []
    above: list[Tree] = []
    for level, words in lines:
        del above[level:]
        if above:
            above.append(above[-1].add(words))
        else:
            above.append(Tree(words, guide_style="dim"))
            tops.append(above[0])
    for top in tops:
        console.print(top)


def show_list(roots: Sequence[Node], nodes: Sequence[Node], *, full: bool) -> None:
    """Print spans as a list, each with the time since the start of the trace and the beginning of its texts."""
    start = roots[0].span.start_ns if roots else 0
    lines: list[_Line] = []
    for node in nodes:
        since = Text(f"{(node.span.start_ns - start) / 1e9:9.3f} s  ", style="dim")
        lines.append((0, since + _title(node)))
        lines += [(6, words) for words in _texts(node.span, None if full else _FACT_CHARS * 2)]
    _show_plain(Console(), lines)


def _show_plain(console: Console, lines: Sequence[_Line]) -> None:
    for level, words in lines:
        for line in words.split("\n"):
            console.print(Text("  " * level) + line, soft_wrap=True)


def _lines(node: Node, level: int, depth: int | None, *, full: bool, texts: bool) -> Iterator[_Line]:
    yield level, _title(node)
    if texts:
        yield from ((level + 1, words) for words in _texts(node.span, None if full else _TEXT_CHARS))
    if depth is not None and level + 1 >= depth:
        return
    shown: Counter[str] = Counter()
    for child in node.children:
        name = child.span.name
        shown[name] += 1
        if full or shown[name] <= _ALIKE or problem_of(child.span):
            yield from _lines(child, level + 1, depth, full=full, texts=texts)
    for name, count in shown.items():
        if not full and count > _ALIKE:
            hidden = sum(not problem_of(c.span) for c in [c for c in node.children if c.span.name == name][_ALIKE:])
            if hidden:
                yield level + 1, Text(f"… {hidden} more of {name!r}", style="dim")


def _title(node: Node) -> Text:
    span = node.span
    about = clean(span.attributes.get(_OBJECTS.get(span.kind, ""), ""))
    name = span.name if not about else about if span.kind in ("run", "model") else f"{span.name} {about}"
    title = Text().append(clean(name), style=_STYLES.get(span.kind, ""))
    title.append(f"  {_time(node.seconds)}", style="dim" if span.kind != "run" else "")
    if node.children and node.self_seconds >= 0.5 * node.seconds > 0.001:
        title.append(f" (own {_time(node.self_seconds)})", style="dim")
    facts = [_fact(key, value) for key, value in span.attributes.items() if _is_told(key, value)]
    if span.kind == "model":
        facts = [*_model_facts(span), *facts]
    if facts:
        title.append("  " + ", ".join(facts))
    if problem := problem_of(span):
        title.append(f"  {shorten(' '.join(clean(problem).split()), 200)}", style="bold red")
    return title


def _model_facts(span: Span) -> list[str]:
    used = usage_of(span)
    counted = used.input_tokens is not None or used.output_tokens is not None
    facts = [f"{amount(used.input_tokens)} → {amount(used.output_tokens)} tokens"] if counted else []
    if used.cost_usd:
        facts.append(f"${used.cost_usd:.4g}")
    calls = span.attributes.get("tool_calls")
    return facts + ([f"calls {', '.join(clean(call[0]) for call in calls)}"] if calls else [])


def _is_told(key: str, value: Any) -> bool:
    return key not in _UNTOLD and value not in (None, "", _USUAL.get(key))


def _fact(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return key if value else f"not {key}"
    return _words(value) if key == "reason" else f"{key} {_words(value)}"


def _words(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return f"[{', '.join(_words(element) for element in value[:8])}{', …' if len(value) > 8 else ''}]"
    words = " ".join(clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    digest = len(words) == 64 and not words.strip("0123456789abcdef")
    return words[:10] if digest else shorten(words, _FACT_CHARS)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 0.00995 else duration(seconds)


def _texts(span: Span, limit: int | None) -> Iterator[Text]:
    """Yield the inputs and outputs of a span; short one-line texts share a line."""
    for key in _TEXTS:
        value = span.attributes.get(key)
        if value in (None, "", {}, []):
            continue
        words = clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).strip()
        if limit is not None:
            words = shorten(" ".join(words.split()) if limit < _TEXT_CHARS else words, limit)
        text = Text(f"{key}: ", style="dim")
        indented = words.replace("\n", "\n  ")
        yield text.append(f"\n  {indented}" if "\n" in words else words, style="not dim")


def _format_usage(usage: Usage) -> list[str]:
    if usage == NOTHING_USED:
        return ["", "", ""]
    cost = DASH if usage.cost_usd is None else f"${usage.cost_usd:.4g}"
    return [amount(usage.input_tokens), amount(usage.output_tokens), cost]


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
    from heredity.analysis.otlp import selected, span_tree, totals
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
