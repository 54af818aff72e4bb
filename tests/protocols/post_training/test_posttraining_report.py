from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from pathlib import Path

import pytest
from tests.page_reader import Page
from tests.protocols.post_training.posttraining_journals import Act, PostTrainingJournal, Told, results

from heredity.analysis.contract import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_results import suite_results
from heredity.pages.report import html, markdown, write_reports
from heredity.pages.report import html as drawing
from heredity.pages.report.run_page import run_page as run_shown
from heredity.pages.report.suite_page import suite_page as suite_shown
from heredity.protocols.post_training.protocol import METRICS, REPORT
from heredity.protocols.post_training.results import Evidence, Excerpt, Finding, Grade
from heredity.protocols.post_training.run_sections import FIELDS, results_csv, spent_lines
from heredity.results.charts import Series
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00"
ACTS = (
    Act(0.5, "torch_sft", note="three epochs"),
    Act(refused="model.safetensors is a link; copy the file"),
    Act("base"),
    Act(0.8, "torch_grpo"),
    Act(crash="out of memory", skill=0.5),
)


@cache
def one() -> RunResults:
    return results(Told(ACTS, mode="sft-only", tasks=100, repeats=2, tokens=True))


def run_page(run: RunResults) -> str:
    return html.render(run_shown(run, REPORT))


def run_markdown(run: RunResults) -> str:
    return markdown.render(run_shown(run, REPORT))


def suite_page(suite: SuiteResults, runs: list[RunResults]) -> str:
    return html.render(suite_shown(suite, runs, REPORT))


def summary(folder: Path, run: RunResults, name: str) -> str:
    write_reports(folder, run, [], REPORT)
    return (folder / "reports" / name).read_text()


@cache
def _runs() -> tuple[RunResults, ...]:
    scenarios: list[Told] = []
    for seed in (0, 1):
        scenarios += [
            Told(ACTS, "trainer", seed, mode="sft-only", tasks=60),
            Told(ACTS[:1], "trainer", seed, tasks=60, tokens=True),
            Told(ACTS[:1], "trainer", seed, "game", "L3", tasks=60, base=0.6),
            Told((Act("base"),), "copy", seed, tasks=60),
        ]
    return tuple(map(results, scenarios))


def words(markup: str) -> str:
    return " ".join(Page(markup).text.split())


def ids(markup: str) -> list[str | None]:
    return [attributes["id"] for _, attributes in Page(markup).tags if "id" in attributes]


def test_a_page_opens_with_the_heldout_gain_and_the_route() -> None:
    run = one()
    gain = run.part.heldout.gain
    page = words(run_page(run))
    assert f"Held-out gain+{gain.difference:.3f}" in page
    assert f"On held-out items it is +{gain.difference:.3f} [" in page
    assert "a gain beyond noise" in page
    assert "RouteSFT+RL" in page
    assert "broke mode sft-only" in page


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
    for metrics in (one(), results(Told((), finished=False)), results(Told((), exit_code=1))):
        markup = run_page(metrics)
        assert re.findall(r'<a href="#(\w+)">', markup.split("</nav>")[0].split("<nav")[1]) == ids(markup)


def test_what_is_not_known_is_a_dash() -> None:
    page = Page(run_page(results(Told((), finished=False))))
    assert page.row("Valid submissions")[1] == "–"
    assert page.row("Graded view")[1:4] == ["–", "–", "–"]
    assert "no submissions yet" in page.text.lower()


def test_a_run_that_graded_nothing_ends_with_the_base_model() -> None:
    run = results(Told((Act("base"),), tasks=40))
    assert "so the run ends with the base model, which it submitted 1 time" in words(run_page(run))
    assert run.gain.difference == 0.0
    assert run.heldout.mean == run.reference.heldout_mean


def attacked(run: RunResults) -> RunResults:
    """Return a run whose agent wrote markup wherever it could."""
    excerpt = Excerpt(file=ATTACK, line=1, text=ATTACK)
    said = {"tried": ATTACK, "because": ATTACK, "note": ATTACK, "problem": ATTACK, "changed": [ATTACK]}
    said |= {"settings": {ATTACK: ATTACK}, "excerpt": excerpt}
    shows = [Evidence(component=ATTACK, file=ATTACK, line=1, text=ATTACK, why=ATTACK)]
    code = {"unreadable": [ATTACK], "files": {ATTACK: 1}, "evidence": shows}
    finding = Finding(grade=Grade.LOOK, what=ATTACK, file=ATTACK, text=ATTACK, revision=1)
    part = run.part.model_copy(
        update={
            "iterations": [row.model_copy(update=said) for row in run.part.iterations],
            "revisions": [revision.model_copy(update=code) for revision in run.part.revisions],
            "audit": run.part.audit.model_copy(update={"findings": [finding]}),
        }
    )
    return run.model_copy(update={"part": part})


def test_what_an_agent_wrote_is_escaped(tmp_path: Path) -> None:
    run = attacked(one())
    markup = run_page(run)
    assert Page(markup).count("script") == Page(markup).count("img") == 0
    assert "\x00" not in markup
    for text in (run_markdown(run), summary(tmp_path, run, "summary.md")):
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


def test_the_summary_has_a_section_and_a_line_for_each_iteration(tmp_path: Path) -> None:
    text = summary(tmp_path, one(), "summary.md")
    lines = (tmp_path / "reports" / "summary.jsonl").read_text().splitlines()
    assert len(re.findall(r"^## Iteration \d", text, re.MULTILINE)) == len(lines) == 5
    rows = [json.loads(line) for line in lines]
    assert all(tuple(row) == FIELDS for row in rows)
    assert [row["failure_type"] for row in rows[1:3]] == ["refused: candidate", "copy of the base model"]
    assert "- Train type: SFT+RL" in text
    assert "- Problem: out of memory" in text
    assert "loss_of(model, batch).backward()" in text


def test_a_summary_says_that_nothing_was_submitted(tmp_path: Path) -> None:
    assert "No submissions yet" in summary(tmp_path, results(Told((), finished=False)), "summary.md")


def suite() -> tuple[SuiteResults, list[RunResults]]:
    runs = list(_runs())
    return suite_results(runs, lambda _: METRICS), runs


def test_a_suite_shows_agents_by_task_with_success_and_failures() -> None:
    metrics, runs = suite()
    markup = suite_page(metrics, runs)
    page = Page(markup)
    row = page.row("trainer (mode=sft-only)")
    assert row[1] == "2"
    assert row[4].startswith("2 of 2")
    assert "mode broken in 2 of 2" in row[0]
    assert re.findall(r'<a href="#(\w+)">', markup.split("</nav>")[0].split("<nav")[1]) == ids(markup)
    assert {"agents", "heatmap", "scaling", "repeated", "routes", "leaderboard"} <= set(ids(markup))
    assert not {"curves", "phases", "edits", "code", "traces", "commits"} & set(ids(markup))


def test_the_best_and_the_worst_mode_are_marked() -> None:
    metrics, runs = suite()
    row = next(r for r in Page(suite_page(metrics, runs)).rows if r[0].startswith("arithmetic") and len(r) == 3)
    assert "▽" in row[1]
    assert "★" in row[2]


def test_a_suite_alone_and_an_unfinished_one_have_pages() -> None:
    metrics, _ = suite()
    Page(suite_page(metrics, []))
    unfinished = [results(Told((), finished=False))]
    Page(suite_page(suite_results(unfinished, lambda _: METRICS), unfinished))


def test_the_markdown_of_a_suite_has_pass_at_k_and_modes() -> None:
    text = markdown.render(suite_shown(*suite(), REPORT))
    assert "## Improvement over the base model" in text
    assert "k=1: +" in text
    assert "## Modes by tasks" in text


@pytest.mark.parametrize("points", [(), ((0.0, 0.0), (5.0, 0.2))])
def test_scaling_is_drawn_from_nothing_to_much(points: tuple[tuple[float, float], ...]) -> None:
    markup = drawing.draw(spent_lines("scaling", "minutes", [Series("a", 0, points, steps=True)]))
    assert ("nothing graded yet" in markup) == (not points)


def test_a_suite_has_a_line_for_each_run_in_results_csv(tmp_path: Path) -> None:
    runs = list(_runs())
    rows = list(csv.DictReader(io.StringIO(results_csv(runs).content)))
    assert [row["run_id"] for row in rows] == sorted(run.run_id for run in runs)
    by_id = {run.run_id: run.part for run in runs}
    for row in rows:
        best = by_id[row["run_id"]].best
        assert row["improvement"] == (str(round(100 * best.gain.difference, 4)) if best else "")
    write_reports(tmp_path, *suite(), REPORT)
    assert (tmp_path / "results.csv").read_text() == results_csv(runs).content


def test_a_page_says_what_code_is_not_known_and_why_an_agent_was_ended() -> None:
    journal = PostTrainingJournal(Told(ACTS, tasks=60))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "code.revised" and line["data"]["revision"] == 2:
            line["data"] |= {"blob": None, "files": [], "reason": f"no room {ATTACK}", "full": True}
        if line["kind"] == "agent.ended":
            line["data"] |= {"reason": "memory_limit", "memory_bytes": 300 << 20, "disk_bytes": 5 << 20}
    metrics = run_results(RunEvidence(lines, journal.load, journal.blob), METRICS)
    page = run_page(metrics)
    assert "The code is unknown: no room &lt;script&gt;" in page
    assert "some of its code is unknown" in page
    assert "The agent was ended because it exceeded its memory limit. Its submissions count." in page
    text = run_markdown(metrics)
    assert "300 MiB" in text
    assert "memory limit" in text
    results_csv([metrics])


def test_hidden_items_in_the_agents_files_stand_at_the_head_and_in_the_labels() -> None:
    journal = PostTrainingJournal(Told((Act(0.8, "torch_sft"),), tasks=100, more={"labels": ["generated"]}))
    said = {"at_s": 1.0, "sizes": {"graded": 100, "heldout": 100}, "texts": 3, "bytes": 5, "unread": 1}
    views = {"graded": [], "heldout": list(range(60))}
    met = {"kind": "texts.met", "data": {**said, "views": views, "files": ["code/own.jsonl"]}}
    lines = [*journal.lines, met]
    run = run_results(RunEvidence(lines, journal.load, journal.blob), METRICS)
    part = run.part
    assert part.labels == ["generated", "held-out items met in the agent's files: 60 of 100"]
    assert part.texts.clean.pairs == 40
    assert part.heldout.gain.pairs == 100
    shown = run_markdown(run)
    assert "The agent's files held 60 of 100 held-out items (code/own.jsonl)." in shown
    assert "Over the held-out items that they did not hold, the gain is" in shown


def test_a_run_in_which_nobody_looked_says_so() -> None:
    assert one().part.texts is None
    assert "files were not searched for hidden items" in run_page(one())


def test_a_run_that_submits_the_base_model_gains_exactly_nothing_and_leaves_no_cell_empty() -> None:
    text = run_markdown(results(Told((Act("base"),), agent="copy")))
    facts = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in text.splitlines() if row.startswith("|")}
    assert facts["Held-out gain"] == facts["Graded gain"] == "0.000 (within noise)"
    assert facts["Held-out score"] == "0.400 (base model 0.400)"
    assert "so the run ends with the base model, which it submitted 1 time." in text
    assert "the unchanged base model was submitted 1 time, and 0 requests refused or failed" in text


def test_the_best_of_agents_that_all_lose_is_said_not_to_be_above_the_base_model() -> None:
    runs = [results(Told((Act(0.2, "torch_sft"),), agent="sft", seed=seed)) for seed in (0, 1)]
    text = markdown.render(suite_shown(suite_results(runs, lambda _: METRICS), runs, REPORT))
    assert "sft (not above the base model)" in text
    assert "sft, not above the base model" in text
    assert "of the base model, so nothing is gained." in text
    assert "No evolver ranks above the base model" in text
