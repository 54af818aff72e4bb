"""Comparison of two runs or two suites, and search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from heredity.pages.live.drawing import Block, Shown, View
from heredity.pages.live.pages.here import Run, Suite
from heredity.pages.live.pages.run import results_of
from heredity.results.charts import Lines, Reference, Series
from heredity.results.page import Cell, Fact, Facts, Number, Row, Table, Text, Value, columns_of
from heredity.results.suite import Entry, SuiteResults
from heredity.results.text import short_task

_MOST = 50


def _duration(run: Run) -> Number:
    return Number(run.facts["last"] - run.facts["started"] if "last" in run.facts else None, form="duration")


_FIGURES: Sequence[tuple[str, Callable[[Run], Value]]] = (
    ("State", lambda run: run.state),
    ("Taskset", lambda run: run.facts.get("taskset")),
    ("Evolver", lambda run: run.facts.get("evolver")),
    ("Seed", lambda run: run.facts.get("seed")),
    ("Budget used", lambda run: run.facts.get("charged")),
    ("Submissions", lambda run: run.facts.get("submissions")),
    ("Rollouts", lambda run: run.facts.get("rollouts")),
    ("Commits", lambda run: run.facts.get("commits")),
    ("Best on train tasks", lambda run: Number(run.facts.get("best"))),
    ("Held-out", lambda run: Number(run.facts.get("heldout"))),
    ("Tokens of rollouts", lambda run: Number(run.facts.get("tokens"), form="tokens")),
    ("Time", _duration),
    ("Selected", lambda run: run.candidate(run.facts.get("selected", ""))),
)


def compare_runs(first: Run, second: Run) -> View:
    """Return the page of two runs: figures, curves and differences."""
    rows = tuple(Row((name, of(first), of(second))) for name, of in _FIGURES)
    head = columns_of("Figure", f"{first.suite.name} / {first.name}", f"{second.suite.name} / {second.name}")
    same = first.facts.get("commitment") and first.facts.get("commitment") == second.facts.get("commitment")
    note = Text(
        "Both were judged on the same hidden cases: their held-out scores are paired, and `heredity compare` tests the difference."
        if same
        else "They were judged on different hidden cases, or none: held-out scores are not paired, so a difference proves nothing."
    )
    links = Facts((Fact("First", first.link(first.name)), Fact("Second", second.link(second.name))))
    blocks = [
        Block("figures", "Figures", [note, Table(head, rows)]),
        Block("curves", "Scores", [_curves(first, second)]),
        Block("settings", "Settings that differ", [_differences(first, second)]),
        Block("runs", "Runs", [links]),
    ]
    return View("Two runs", blocks, first.suite.crumbs, follow=first.suite.follow)


def _curves(first: Run, second: Run) -> Lines:
    return Lines(
        "Best so far on train tasks",
        "submission",
        "score",
        (Series("first", 0, _best(first), steps=True), Series("second", 1, _best(second), steps=True)),
        (),
        Reference(first.facts["heldout"], "held-out of the first") if "heldout" in first.facts else None,
        whole=True,
        wide=True,
    )


def _differences(first: Run, second: Run) -> Table:
    rows: list[Row] = []
    for group in ("conditions", "packages"):
        one, other = first.facts.get(group, {}), second.facts.get(group, {})
        rows += [
            Row((key, one.get(key), other.get(key))) for key in sorted({*one, *other}) if one.get(key) != other.get(key)
        ]
    return Table(
        columns_of("Setting", "First", "Second", left=3), tuple(rows), "", "Their settings and packages are the same."
    )


def _best(run: Run) -> tuple[tuple[float, float], ...]:
    rows = run.suite.index.rows(
        "SELECT number, mean FROM evaluations WHERE run = ? AND number IS NOT NULL AND mean IS NOT NULL ORDER BY number",
        (run.id,),
    )
    best: list[tuple[float, float]] = []
    for row in rows:
        if not best or row["mean"] > best[-1][1]:
            best.append((float(row["number"]), row["mean"]))
    return (*best, (float(rows[-1]["number"]), best[-1][1])) if best and rows else ()


def compare_suites(first: Suite, second: Suite) -> View:
    """Return the page of two suites: their leaderboards, and their runs of the same name."""
    sides = [_side(first), _side(second)]
    others = {run.name: run for run in second.runs()}
    shared = [(run, others[run.name]) for run in first.runs() if run.name in others]
    rows: list[Row] = []
    for a, b in shared[:500]:
        comparable = "heldout" in a.facts and "heldout" in b.facts
        change = b.facts["heldout"] - a.facts["heldout"] if comparable else None
        rows.append(
            Row(
                (
                    a.link(a.name),
                    Number(a.facts.get("heldout")),
                    Number(b.facts.get("heldout")),
                    Number(change, form="signed"),
                    b.link("second"),
                )
            )
        )
    table = Table(
        columns_of("Run", first.name, second.name, "Difference", "Page", left=("Run", "Page")),
        tuple(rows),
        "Held-out means of runs of the same name; a difference of single runs proves nothing",
        "No runs have the same name.",
    )
    blocks = [Block(f"side-{i}", name, parts) for i, (name, parts) in enumerate(sides)]
    return View(
        "Two suites", [*blocks, Block("shared", "Runs of the same name", [table])], [*first.crumbs, *second.crumbs]
    )


def _side(suite: Suite) -> tuple[str, list[Shown]]:
    runs = suite.runs()
    ended = sum(run.state in ("finished", "failed") for run in runs)
    tasksets = ", ".join(dict.fromkeys(short_task(str(run.facts.get("taskset") or "")) for run in runs))
    facts = Facts(
        (
            Fact("Runs ended", f"{ended} of {len(runs)} started"),
            Fact("Tasksets", tasksets[:300] or None),
            Fact("Rollouts", sum(run.facts.get("rollouts", 0) for run in runs)),
        )
    )
    results = results_of(suite.index.folder, SuiteResults)
    if results is None:
        return suite.name, [facts, Text("No results yet.")]
    rows = tuple(
        Row(
            (_entrant(entry), entry.rank, Number(entry.rank_score), Number(entry.iqm)),
            "reference" if entry.reference else "",
        )
        for entry in results.leaderboard
    )
    return suite.name, [
        facts,
        Table(
            columns_of("Evolver", "Rank", "Rank score", "Normalised (IQM)"),
            rows,
            "Leaderboard" if results.ranked else "No ranking",
        ),
    ]


def _entrant(entry: Entry) -> Cell:
    notes = (f"{entry.failed} of {entry.runs} runs failed",) if entry.failed else ()
    return Cell(entry.evolver, notes, "bad" if entry.failed else None)


def search_view(suites: Sequence[Suite], text: str) -> View:
    """Return the matches in the indexes of suites: runs, candidates, rollouts, model calls, lines of journals."""
    if not text.strip():
        return View(
            "Search",
            [
                Block(
                    "found",
                    "",
                    [Text("Type a run's name, the start of a digest, a task, words of a note, a reason or a message.")],
                )
            ],
        )
    pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    blocks: list[Block] = []
    for number, suite in enumerate(suites):
        rows = [Row(tuple(cells)) for query, made in _QUERIES for cells in _matching_rows(suite, query, made, pattern)]
        if rows:
            columns = columns_of("What", "Run", "Where", "Text", left=4)
            blocks.append(
                Block(
                    f"found-{number}",
                    suite.name,
                    [
                        Table(
                            columns,
                            tuple(rows[:24]),
                            f"{len(rows)} found" + (f", at most {_MOST} of each kind" if len(rows) >= _MOST else ""),
                        ),
                        *([Table(columns, tuple(rows[24:]), "More", folded=True)] if len(rows) > 24 else []),
                    ],
                )
            )
    return View(f"Search: {text}", blocks or [Block("found", "", [Text("No matches in the indexed records.")])])


def _matching_rows(
    suite: Suite, query: str, made: Callable[[Run, Any], list[Value | Cell]], pattern: str
) -> list[list[Value | Cell]]:
    runs = {run.id: run for run in suite.runs()}
    values = (pattern,) * query.count("?")
    return [
        made(runs[row["run"]], row) for row in suite.index.rows(f"{query} LIMIT {_MOST}", values) if row["run"] in runs
    ]


_QUERIES: tuple[tuple[str, Callable[[Run, Any], list[Value | Cell]]], ...] = (
    (
        "SELECT id AS run, name FROM runs WHERE name LIKE ? ESCAPE '\\'",
        lambda run, _: ["run", run.link(run.name), None, None],
    ),
    (
        "SELECT run, digest, number, note FROM candidates WHERE digest LIKE ? ESCAPE '\\' OR note LIKE ? ESCAPE '\\'",
        lambda run, row: [
            "candidate",
            run.link(run.name),
            run.link(f"{row['number']} {row['digest'][:8]}", "c", row["digest"]),
            row["note"],
        ],
    ),
    (
        "SELECT run, id, task, message, status FROM rollouts WHERE message LIKE ? ESCAPE '\\' OR task LIKE ? ESCAPE '\\'",
        lambda run, row: [
            "rollout",
            run.link(run.name),
            run.link(row["task"] or "rollout", "o", row["id"]),
            row["message"] or row["status"],
        ],
    ),
    (
        "SELECT run, seq, purpose, model, error FROM calls WHERE purpose || ' ' || model || ' ' || error LIKE ? ESCAPE '\\'",
        lambda run, row: [
            "model call",
            run.link(run.name),
            run.link(str(row["seq"]), "call", row["seq"]),
            f"{row['purpose']} {row['model']} {row['error']}",
        ],
    ),
    (
        "SELECT run, seq, kind, brief FROM events WHERE kind LIKE ? ESCAPE '\\' OR brief LIKE ? ESCAPE '\\'",
        lambda run, row: [
            "line",
            run.link(run.name),
            run.link(f"{row['seq']} {row['kind']}", "event", row["seq"]),
            row["brief"],
        ],
    ),
)
