from __future__ import annotations

import copy
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pages import Page

from heredity.analysis.run_metrics import run_metrics
from heredity.analysis.suite_metrics import suite_metrics
from heredity.reports.harness_charts import Path as Line
from heredity.reports.harness_charts import over_batches, replay_grid, scatter
from heredity.reports.harness_pages import collapse_lines, in_order, view_name
from heredity.reports.harness_suite import short
from heredity.reports.html import run_page, suite_page
from heredity.reports.markdown import run_markdown, suite_markdown

sys.path.append(str(Path(__file__).parents[1] / "analysis" / "harness"))
from journals import HarnessJournal, Told

REASON = "middleware/guard.py: after_model gave <None>, and a Reply was expected"
ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00"


def run(told: Told) -> dict[str, Any]:
    journal = HarnessJournal(told)
    return run_metrics(journal.lines, journal.load)


@cache
def _runs() -> tuple[dict[str, Any], ...]:
    told: list[Told] = []
    for seed in (0, 1):
        told += [
            Told("ace", seed),
            Told("ace", seed, (0.3, 0.4, 0.5), batch_size=10),
            Told("ahe", seed, broken=(3,)),
            Told("ahe", seed, gate=True, refusals={3: REASON}, models=("other/model",)),
        ]
    return tuple(map(run, told))


def runs() -> list[dict[str, Any]]:
    return copy.deepcopy(list(_runs()))


def words(markup: str) -> str:
    return " ".join(Page(markup).text.split())


def ids(markup: str) -> list[str | None]:
    return [attributes["id"] for _, attributes in Page(markup).tags if "id" in attributes]


def test_a_run_has_its_snapshots_on_every_view() -> None:
    found = runs()[3]
    page = Page(run_page(found))
    level = found["harness"]["views"]["id"]["snapshots"]["A_T"]
    row = page.row("A_T")
    assert [cell.split("[")[0] for cell in row[1:]] == [
        f"{found['harness']['views'][view]['snapshots']['A_T']['perf']['macro']:.3f}"
        for view in ("update_validation", "id", "ood", "replay")
    ]
    assert f"SR {level['sr']['macro']:.2f} · clean {level['execution_success']['macro']:.2f} · n 16" in row[2]
    assert "15 not trained yet" in page.row("E_1")[4]


def test_the_sections_of_a_run_are_those_that_its_navigation_names() -> None:
    for metrics in (runs()[3], runs()[0], run(Told(finished=False))):
        markup = run_page(metrics)
        linked = re.findall(r'<a href="#(\w+)"', markup)
        assert linked == ids(markup)
    assert {"views", "curves", "gains", "replay", "updates", "cost", "models", "commits"} <= set(
        ids(run_page(runs()[3]))
    )
    assert "models" not in ids(run_page(runs()[0]))


def test_a_collapse_is_said_at_the_top_and_in_markdown() -> None:
    broken, sound = runs()[2], runs()[3]
    assert "Collapse at E_3: nothing that A_0 solved is solved on" in words(run_page(broken))
    assert "It works again at the end. What most attempts there end with: hook_error" in words(run_page(broken))
    assert "- Collapse at E\\_3" in run_markdown(broken)
    assert "Collapse at" not in words(run_page(sound))


def test_neighbours_that_collapse_alike_are_told_in_one_line_and_chance_is_named() -> None:
    def fallen(snapshot: str, lost: int, *, every: bool = True) -> dict[str, Any]:
        views = [{"view": "id", "lost": lost}, {"view": "ood", "lost": 5}][: 2 if every else 1]
        return {"snapshot": snapshot, "views": views, "every": every, "recovered": not every, "reason": None}

    said = collapse_lines({"collapses": [fallen("E_1", 1), fallen("A_T", 2), fallen("A_T", 1, every=False)]})
    assert said == [
        "Collapse at E_1 and A_T: nothing that A_0 solved is solved on ID (2 tasks) and OOD (5 tasks), "
        "every view that it could fall on. It does not recover.",
        "Collapse at A_T: nothing that A_0 solved is solved on ID (1 task), "
        "not on every view, so that it may be chance. It works again at the end.",
    ]


def test_the_gate_says_why_it_refused() -> None:
    page = Page(run_page(runs()[3]))
    assert [cell.strip() for cell in page.row("middleware/guard.py")] == [REASON, "1", "3"]
    assert "on, 2 canaries: 1 of 4 harnesses refused" in " ".join(page.text.split())
    assert "gave &lt;None&gt;" in run_markdown(runs()[3])


def test_what_is_not_known_of_cost_is_a_dash() -> None:
    page = Page(run_page(run(Told(costs=False))))
    assert [cell.strip() for cell in page.row("train batches")] == ["train batches", "20", *"–" * 4]
    assert page.row("updates")[2:] == ["3.92k", "–", "–", "–"]
    known = Page(run_page(run(Told())))
    assert known.row("train batches")[2:] == ["24k", "60", "40 s", "$0.04"]


def test_a_replay_grid_has_a_letter_for_each_snapshot() -> None:
    markup = replay_grid("grid", [("a", "SFE.u")], ["A_0", "E_1", "E_2", "E_3", "A_T"])
    assert re.findall(r'class="outcome (\w+)"', markup) == ["solved", "failed", "errored", "gone", "later"]
    assert re.findall(r">([SFE.u])</text>", markup) == ["S", "F", "E", ".", "u"]
    assert "a at E_2: failed with an error" in markup
    many = replay_grid("grid", [("a", "S" * 100)], [f"E_{i}" for i in range(100)])
    assert "</text></g>" not in many, "letters need room"
    assert many.count("<rect") == 100


def test_a_run_of_many_tasks_shows_those_that_changed() -> None:
    found = runs()[0]
    grid = found["harness"]["replay"]["replay"]["grid"]
    grid["tasks"] = [f"t{i}" for i in range(400)]
    grid["sources"] = ["one"] * 400
    grid["cells"] = ["FFFFF"] * 399 + ["FFFFS"]
    page = Page(run_page(found))
    assert "160 more tasks are in metrics.json" in page.text
    assert "t399 at A_T: solved" in page.text


def test_pictures_without_points_say_so() -> None:
    assert "nothing judged yet" in over_batches("x", [Line("a", "c0", ())], "score")
    thin = over_batches("x", [Line("", "c0", ((0, 0.1), (1, 0.2))), Line("a", "c0", ((0, 0.1), (1, 0.2)))], "score")
    assert thin.count('class="line c0 thin"') == 1
    assert thin.index("thin") < thin.index('class="line c0"'), "runs lie below their mean"
    assert scatter("x", [("a", "c0", 10.0, 0.5), ("a", "c0", 12.0, 0.1)], "tokens", "gain").count("<title>a: ") == 2


def test_a_suite_puts_methods_side_by_side() -> None:
    found = runs()
    suite = suite_metrics(found)
    markup = suite_page(suite, found, {})
    page = Page(markup)
    assert ids(markup)[:6] == ["methods", "validation", "gate", "sweeps", "spent", "models"]
    assert re.findall(r'<a href="#(\w+)"', markup.split("</nav>")[0]) == ids(markup)
    method = next(m for m in suite["harness"]["methods"] if m["evolver"] == "ahe (gate=off)")
    row = page.row("ahe (gate=off)")
    mean = next(m["mean"] for m in method["measures"] if (m["measure"], m["of"]) == ("IDG", "final"))
    assert row[3].startswith(f"{mean:+.3f}".replace("-", "−"))
    assert "16 tasks" in row[3]
    assert "▼ 2 in 2 of 2 runs" in row[-1]
    assert 'class="line c0 thin"' in markup


def test_a_suite_whose_runs_are_not_at_hand_has_its_tables() -> None:
    suite = suite_metrics(runs())
    page = suite_page(suite, [], {})
    assert "The runs are not at hand." in words(page)
    assert "ace (batch_size=10)" in words(page)


def test_suites_without_harnesses_have_no_such_sections() -> None:
    found = runs()
    for each in found:
        each["harness"] = None
    markup = suite_page(suite_metrics(found), found, {})
    assert "methods" not in ids(markup)
    assert "Gains over" not in suite_markdown(suite_metrics(found), found)


def test_markdown_has_the_tables() -> None:
    text = run_markdown(runs()[3])
    assert "## Perf of snapshots" in text
    assert "## Why the contract gate refused" in text
    suite = suite_markdown(suite_metrics(runs()), runs())
    assert "## Gains over A_0 of the final snapshot" in suite
    assert "## With and without the contract gate" in suite


@pytest.mark.parametrize(
    "broken", [{"views": None}, {"curves": 3}, {"replay": {"replay": {}}}, {"points": [{}], "plan": {}}]
)
def test_damaged_fields_do_not_break_a_page(broken: dict[str, Any]) -> None:
    found = runs()[3]
    found["harness"] |= broken
    markup = run_page(found)
    assert not re.search(
        r"\b(nan|None|null)\b", re.sub(r"<style>.*?</style>|gave &lt;None&gt;", "", markup, flags=re.DOTALL)
    )
    run_markdown(found)


def test_what_evolvers_write_is_shown_but_never_runs() -> None:
    found = runs()
    harness = found[3]["harness"]
    harness["gate"]["reasons"][0]["reason"] = harness["points"][1]["changed"][0]["file"] = ATTACK
    harness["replay"]["replay"]["grid"]["tasks"][0] = harness["plan"]["sources"][0] = ATTACK
    harness["cross_model"] = {ATTACK: harness["cross_model"]["other/model"]}
    for markup in (run_page(found[3]), suite_page(suite_metrics(found), found, {})):
        page = Page(markup)
        assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
        assert not any("onerror" in attributes for _, attributes in page.tags)
        assert "\x00" not in markup


def test_views_are_named_and_ordered_as_they_are_shown() -> None:
    views = ["zebra", "replay", "ood:tasks/shell", "id", "update_validation", "canary", "train", "id under m"]
    assert [view_name(view) for view in in_order(views)] == [
        "train batches", "canaries", "update-validation", "ID", "OOD shell", "replay", "zebra", "ID under m",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "shown"),
    [("ace", "ace"), ("ace (batch_size=5, gate=on)", "ace 5, gate on"), ("own (v2)", "own (v2)"), ("a (x=)", "a x")],
)
def test_names_are_short_in_pictures(label: str, shown: str) -> None:
    assert short(label) == shown
