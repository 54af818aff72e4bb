from __future__ import annotations

import copy
import csv
import io
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from heredity.analysis.run_metrics import run_metrics
from heredity.analysis.suite_metrics import suite_metrics
from pages import Page

from heredity.protocols.post_training.analysis import ROUTES
from heredity.reports import posttraining_suite, write_reports
from heredity.reports.html import run_page, suite_page
from heredity.reports.markdown import run_markdown, suite_markdown
from heredity.reports.posttraining_charts import Spent, spent_plot
from heredity.reports.posttraining_csv import results_csv
from heredity.reports.posttraining_summary import FIELDS, summary_jsonl, summary_markdown

sys.path.append(str(Path(__file__).parents[1] / "analysis" / "posttraining"))
from posttraining_journals import Act, PostTrainingJournal, Told

ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00"
ACTS = (
    Act(0.5, "torch_sft", note="three epochs"),
    Act(refused="model.safetensors is a link; copy the file"),
    Act("base"),
    Act(0.8, "torch_grpo"),
    Act(crash="out of memory", skill=0.5),
)


def run(told: Told) -> dict[str, Any]:
    journal = PostTrainingJournal(told)
    return run_metrics(journal.lines, journal.load, journal.blob)


@cache
def _one() -> dict[str, Any]:
    return run(Told(ACTS, mode="sft-only", tasks=100, repeats=2, tokens=True))


def one() -> dict[str, Any]:
    return copy.deepcopy(_one())


@cache
def _runs() -> tuple[dict[str, Any], ...]:
    told: list[Told] = []
    for seed in (0, 1):
        told += [
            Told(ACTS, "trainer", seed, mode="sft-only", tasks=60),
            Told(ACTS[:1], "trainer", seed, tasks=60, tokens=True),
            Told(ACTS[:1], "trainer", seed, "game", "L3", tasks=60, base=0.6),
            Told((Act("base"),), "copy", seed, tasks=60),
        ]
    return tuple(map(run, told))


def words(markup: str) -> str:
    return " ".join(Page(markup).text.split())


def ids(markup: str) -> list[str | None]:
    return [attributes["id"] for _, attributes in Page(markup).tags if "id" in attributes]


def test_a_page_opens_with_the_heldout_gain_and_the_route() -> None:
    found = one()
    gain = found["posttraining"]["heldout"]["gain"]
    page = words(run_page(found))
    assert f"Held-out gain+{gain['difference']:.3f}" in page
    assert f"On held-out items it is +{gain['difference']:.3f} [" in page
    assert "a gain beyond noise" in page
    assert "RouteSFT+RL" in page
    assert "mode sft-only was not kept" in page


def test_every_iteration_has_a_row() -> None:
    page = Page(run_page(one()))
    rows = [row for row in page.rows if len(row) == 9 and row[0].strip().isdigit()]
    assert [row[5].strip() for row in rows] == ["SFT-only", "SFT-only", "copy", "SFT+RL", "SFT+RL"]
    assert rows[1][7].startswith("refused: candidate")
    assert "model.safetensors is a link" in rows[1][7]
    assert rows[4][7].startswith("failed: load_error")


def test_evidence_is_shown_with_its_line() -> None:
    page = Page(run_page(one()))
    row = next(row for row in page.rows if len(row) == 4 and row[0] == "GRPO" and "backward" in row[2])
    assert re.fullmatch(r"torch_grpo\.py:\d+", row[1])


def test_the_sections_of_a_page_are_those_that_its_navigation_names() -> None:
    for metrics in (one(), run(Told((), finished=False)), run(Told((), exit_code=1))):
        markup = run_page(metrics)
        assert re.findall(r'<a href="#(\w+)">', markup.split("</nav>")[0].split("<nav")[1]) == ids(markup)


def test_what_is_not_known_is_a_dash() -> None:
    page = Page(run_page(run(Told((), finished=False))))
    assert page.row("Valid submissions")[1] == "–"
    assert page.row("Graded view")[1:4] == ["–", "–", "–"]
    assert "nothing has been submitted" in page.text.lower()


def test_a_run_that_graded_nothing_ends_with_the_base_model() -> None:
    found = run(Told((Act("base"),), tasks=40))
    assert "so the run ends with the base model, which it submitted 1 time" in words(run_page(found))
    assert found["gain"]["difference"] == 0.0
    assert found["heldout"]["mean"] == found["reference"]["heldout_mean"]


def test_pages_of_broken_metrics_are_made_all_the_same() -> None:
    for broken in (
        {},
        {"iterations": [{}]},
        {"iterations": None, "revisions": [{"evidence": 3}], "scaling": {"time": [[1]]}},
    ):
        found = {**one(), "posttraining": {"mode": None, **broken}}
        Page(run_page(found))
        run_markdown(found)
        summary_markdown(found)


def test_what_an_agent_wrote_is_escaped() -> None:
    found = one()
    training = found["posttraining"]
    for row in training["iterations"]:
        row.update(
            tried=ATTACK, because=ATTACK, note=ATTACK, problem=ATTACK, changed=[ATTACK], settings={ATTACK: ATTACK}
        )
        row["excerpt"] = {"file": ATTACK, "line": 1, "text": ATTACK}
    for revision in training["revisions"]:
        revision.update(unreadable=[ATTACK], files={ATTACK: 1})
        revision["evidence"] = [{"component": ATTACK, "file": ATTACK, "line": 1, "text": ATTACK, "why": ATTACK}]
    training["audit"]["findings"] = [{"grade": ATTACK, "what": ATTACK, "file": ATTACK, "text": ATTACK, "revision": 1}]
    markup = run_page(found)
    assert Page(markup).count("script") == Page(markup).count("img") == 0
    assert "\x00" not in markup
    for text in (run_markdown(found), summary_markdown(found)):
        assert "<script" not in re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)


def test_markdown_has_gains_iterations_failures_and_the_audit() -> None:
    text = run_markdown(one())
    for title in (
        "## Gains over the base model",
        "## Iterations",
        "## Process",
        "## Failures",
        "## Audit of mode sft-only: broken",
    ):
        assert title in text
    assert "selected on validation" not in text


def test_the_summary_has_a_section_and_a_line_for_each_iteration() -> None:
    found = one()
    text, lines = summary_markdown(found), summary_jsonl(found).splitlines()
    assert len(re.findall(r"^## Iteration \d", text, re.MULTILINE)) == len(lines) == 5
    rows = [json.loads(line) for line in lines]
    assert all(tuple(row) == FIELDS for row in rows)
    assert [row["failure_type"] for row in rows[1:3]] == ["refused: candidate", "copy of the base model"]
    assert "- Train type: SFT+RL" in text
    assert "- Problem: out of memory" in text
    assert "loss_of(model, batch).backward()" in text


def test_a_summary_is_written_beside_the_report_of_post_training_alone(tmp_path: Path) -> None:
    write_reports(tmp_path, one())
    assert (tmp_path / "reports" / "summary.jsonl").read_text() == summary_jsonl(one())
    other = tmp_path / "other"
    other.mkdir()
    write_reports(other, {**one(), "posttraining": None, "protocol": "policy-evolution"})
    assert not (other / "reports").exists()


def suite() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    runs = copy.deepcopy(list(_runs()))
    return suite_metrics(runs), runs


def test_a_suite_shows_agents_by_task_with_success_and_failures() -> None:
    metrics, runs = suite()
    markup = suite_page(metrics, runs, {})
    page = Page(markup)
    row = page.row("trainer (mode=sft-only)")
    assert row[1] == "2"
    assert row[6].startswith("2 of 2")
    assert "mode broken in 2 of 2" in row[0]
    assert re.findall(r'<a href="#(\w+)">', markup.split("</nav>")[0].split("<nav")[1]) == ids(markup)
    assert {"agents", "heatmap", "scaling", "repeated", "routes", "leaderboard"} <= set(ids(markup))
    assert not {"curves", "phases", "edits", "code", "traces", "commits"} & set(ids(markup))


def test_the_best_and_the_worst_mode_are_marked() -> None:
    metrics, runs = suite()
    row = next(r for r in Page(suite_page(metrics, runs, {})).rows if r[0].startswith("arithmetic") and len(r) == 3)
    assert "▽" in row[1]
    assert "★" in row[2]


def test_a_suite_alone_and_an_unfinished_one_have_pages() -> None:
    metrics, _ = suite()
    Page(suite_page(metrics, [], {}))
    unfinished = [run(Told((), finished=False))]
    Page(suite_page(suite_metrics(unfinished), unfinished, {}))


def test_the_markdown_of_a_suite_has_pass_at_k_and_modes() -> None:
    text = suite_markdown(*suite())
    assert "## Improvement over the base model" in text
    assert "k=1: +" in text
    assert "## Modes by tasks" in text


def test_routes_are_shown_in_the_order_of_the_analysis() -> None:
    assert posttraining_suite.ROUTES == ROUTES


@pytest.mark.parametrize(
    "lines", [[], [Spent("a", "c0", ())], [Spent("a", "c0", ((0.0, 0.0, 0.0, 0.0), (5.0, 0.2, 0.1, 0.3)))]]
)
def test_scaling_is_drawn_from_nothing_to_much(lines: list[Spent]) -> None:
    markup = spent_plot("scaling", lines, "minutes")
    assert ("nothing graded yet" in markup) == (not any(line.points for line in lines))


def test_a_suite_has_a_line_for_each_run_in_results_csv(tmp_path: Path) -> None:
    runs = list(_runs())
    rows = list(csv.DictReader(io.StringIO(results_csv(runs))))
    assert [row["run_id"] for row in rows] == sorted(run["run_id"] for run in runs)
    by_id = {run["run_id"]: run["posttraining"] for run in runs}
    for row in rows:
        gained = (by_id[row["run_id"]]["best"] or {}).get("gain")
        assert row["improvement"] == ("" if gained is None else str(round(100 * gained["difference"], 4)))
    write_reports(tmp_path, suite_metrics(runs), runs)
    assert (tmp_path / "results.csv").read_text() == results_csv(runs)


def test_a_page_says_what_code_is_not_known_and_why_an_agent_was_ended() -> None:
    journal = PostTrainingJournal(Told(ACTS, tasks=60))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "code.revised" and line["data"]["revision"] == 2:
            line["data"] |= {"blob": None, "files": [], "reason": f"no room {ATTACK}", "full": True}
        if line["kind"] == "agent.ended":
            line["data"] |= {"reason": "memory_limit", "memory_bytes": 300 << 20, "disk_bytes": 5 << 20}
    metrics = run_metrics(lines, journal.load, journal.blob)
    page = run_page(metrics)
    assert "What this code was is not known: no room &lt;script&gt;" in page
    assert "some of its code is not known" in page
    assert "The agent was ended because it held more memory than it may. What it had submitted counts." in page
    told = run_markdown(metrics)
    assert "300 MiB" in told
    assert "memory limit" in told
    summary_markdown(metrics)
    results_csv([metrics])
