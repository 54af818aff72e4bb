"""Programs in a language model's place: pages of every form say so first and rank nothing; real models are ranked."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console
from tests.pages.report.sample_commits import commit_run

from heredity.analysis.mechanisms import stand_ins
from heredity.analysis.run_record import read_run
from heredity.analysis.suite_results import suite_results
from heredity.pages.report import html, markdown, page_of, terminal
from heredity.pages.report.sections import plain
from heredity.protocols.resource_evolution.protocol import REPORT
from heredity.results.page import Cell, Facts, Page, Section, Value, Verdict, of_rows
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

JUDGED = ("better", "worse", "within noise", "cannot tell yet")


def runs(**changed: Any) -> list[RunResults]:
    entries = [(e, s, a) for e, a in (("reflection", 0.75), ("grpo", 0.5)) for s in range(7)]
    return [RunResults.model_validate(commit_run(*entry) | changed) for entry in entries]


def shown(page: Page) -> dict[str, str]:
    written = io.StringIO()
    Console(width=400, file=written).print(terminal.render(page))
    body = html.render(page).split("<body>")[1]
    return {"html": body, "markdown": markdown.render(page), "terminal": written.getvalue()}


def texts(suite: SuiteResults, own: list[RunResults]) -> dict[str, str]:
    return shown(page_of(suite, own, REPORT))


def test_a_suite_on_offline_models_ranks_nothing_in_any_form() -> None:
    own = runs(stand_ins=["offline/rule-follower", "offline/rule-inducer"])
    suite = suite_results(own)
    said = "offline/rule-follower and offline/rule-inducer are programs in a language model's place"
    for form, text in texts(suite, own).items():
        flat = text.replace("&#39;", "'")
        assert said in flat, form
        assert "submissions" not in flat[: flat.index(said)], "it is said before any table"
        assert not [word for word in JUDGED if word in text], form
        assert "rank score" not in text.lower(), form
        assert "[0.30" not in text, form
        assert "Pairwise comparisons" not in text, form


def test_metrics_of_a_suite_on_offline_models_have_no_ranks_intervals_and_verdicts() -> None:
    suite = suite_results(runs(stand_ins=["offline/rule-follower"]))
    assert (suite.ranked, suite.comparisons.suite, suite.comparisons.tasksets) == (False, [], [])
    assert "offline/rule-follower is a program" in suite.unranked_because
    assert {(e.rank_score, e.iqm, e.iqm_ci, e.wins) for e in suite.leaderboard} == {(None, None, None, 0)}
    assert {(c.ci, c.rank, c.normalised) for t in suite.tasksets for c in t.cells} == {(None, None, None)}
    assert [e.evolver for e in suite.leaderboard] == ["reflection", "grpo", suite.reference], "as configured"
    assert "verdict" not in json.dumps(suite.model_dump(mode="json"))


def test_the_same_suite_on_a_real_model_is_ranked() -> None:
    suite = suite_results(runs())
    assert (suite.ranked, suite.unranked_because) == (True, None)
    assert suite.comparisons.suite
    assert all(e.rank_score is not None for e in suite.leaderboard)


def test_programs_that_were_given_and_never_evolved_are_not_ranked() -> None:
    first = commit_run()["decisions"][:1]
    assert suite_results(runs(decisions=first, model_usage=None)).ranked is False
    assert suite_results(runs(decisions=first)).ranked is True, "a model was asked"
    assert suite_results(runs(model_usage=None)).ranked is True, "something evolved"


def test_a_run_on_an_offline_model_says_so_first_and_has_no_interval() -> None:
    run = RunResults.model_validate(commit_run() | {"stand_ins": ["offline/rule-follower"]})
    page = page_of(run, [], REPORT)
    assert page.summary[0].text.startswith("offline/rule-follower is a program, not a language model")
    assert not [
        sign for sign in ("▲", "▼") if f"{sign} better" in html.render(page) or f"{sign} worse" in html.render(page)
    ]
    assert "a gain beyond noise" not in html.render(page)
    assert "[0.30" not in markdown.render(page)


def started(**data: Any) -> dict[str, Any]:
    return {"kind": "run.started", "data": {"run_id": "x", "evolver": {}, **data}}


def completed(**usage: int) -> list[dict[str, Any]]:
    admitted = {"submit_id": 1, "candidate": "c", "tasks": [0], "charge": 1, "at_s": 0.0}
    done = {"submit_id": 1, "outcomes": [], "status": "ok", **({"usage": usage} if usage else {})}
    return [{"kind": "submission.admitted", "data": admitted}, {"kind": "submission.completed", "data": done}]


ASKED = completed(input_tokens=9, output_tokens=9)
CALLED = {"kind": "model.called", "data": {"model": "scripted/x"}}


@pytest.mark.parametrize(
    ("events", "models"),
    [
        ([started(execution="offline/rule-follower"), *ASKED], ["offline/rule-follower"]),
        ([started(execution="local/smollm2"), *ASKED], []),
        ([started(execution="openai/gpt-5"), *ASKED, CALLED], ["scripted/x"]),
        ([started(execution="offline/rule-follower"), *completed()], []),
        ([started(execution="offline/rule-follower"), *completed(input_tokens=0, output_tokens=0)], []),
        ([started(execution="fast", routes={"fast": ["openai/gpt-5", "replay/x.jsonl"]}), *ASKED], ["replay/x.jsonl"]),
        ([started(evolver={"kind": "agent", "model": "scripted/agent"})], ["scripted/agent"]),
        ([started(), *completed()], []),
    ],
    ids=["execution", "local", "optimiser", "not asked", "no tokens", "route", "agent", "no model"],
)
def test_what_a_run_used_is_read_from_its_record(events: list[dict[str, Any]], models: list[str]) -> None:
    assert stand_ins(read_run(events)) == models


def test_a_verdict_that_is_no_tests_stays_on_a_page_that_ranks_nothing() -> None:
    def columns(*verdicts: Value | Cell) -> list[str]:
        table = of_rows(("name", "verdict", "found"), [(f"row {i}", v, 1) for i, v in enumerate(verdicts)])
        page = Page("p", (), Facts(()), (Section("s", "S", (table,)),))
        return [column.name for column in plain(page, "mechanisms").sections[0].parts[0].columns]

    assert columns(Cell("admitted", tone="good"), "rejected") == ["name", "verdict", "found"]
    assert columns(Verdict("accepted", "good")) == ["name", "verdict", "found"], "a rule, not a test"
    assert columns(Verdict("within noise"), None) == columns(None, Verdict(None)) == ["name", "found"]
