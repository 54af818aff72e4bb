from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from rich.console import Console
from tests.page_reader import Page
from tests.pages.report.sample_commits import FIRST, MIX, SECOND, THIRD, commit_run, commit_suite
from tests.pages.report.sample_metrics import nothing, results, run_metrics, suite_results_of

from heredity.pages.report import html, markdown, page_of, terminal
from heredity.protocols.agent_learning.results import WORDS as LEARNING
from heredity.protocols.policy_evolution.protocol import REPORT as POLICY_REPORT
from heredity.protocols.resource_evolution.protocol import REPORT
from heredity.protocols.shared.commit_report import WORDS, committed_line, weighed
from heredity.results.report import POLICIES
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

OTHER_WORDS = re.compile(
    r"random|polic(?:y|ies)|episodes?\b|environments?\b|\breturns?\b|validation|synthesis|parametric", re.I
)
ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00\x1b[31m"


def run_page(run: dict[str, Any]) -> str:
    return html.render(page_of(results(run), [], REPORT))


def suite_of(runs: list[dict[str, Any]]) -> SuiteResults:
    return suite_results_of(runs, "starting point")


def suite_page(runs: list[dict[str, Any]], links: dict[str, str] | None = None) -> str:
    return html.render(page_of(suite_of(runs), [results(run) for run in runs], REPORT), links)


def shown(results: RunResults | SuiteResults) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(terminal.render(page_of(results, [], REPORT)))
    return captured.get()


def pages() -> dict[str, str]:
    runs = commit_suite()
    suite = suite_of(runs)
    members = [results(run) for run in runs]
    markup = {"run": run_page(runs[0]), "suite": suite_page(runs), "alone": html.render(page_of(suite, [], REPORT))}
    texts = {name: re.sub(r"heredity \w+ .*", "", Page(page).text) for name, page in markup.items()}
    return texts | {
        "run.md": markdown.render(page_of(members[0], [], REPORT)),
        "suite.md": markdown.render(page_of(suite, members, REPORT)),
        "run console": shown(members[0]),
        "suite console": shown(suite),
    }


@pytest.mark.parametrize("name", ["run", "suite", "alone", "run.md", "suite.md", "run console", "suite console"])
def test_no_page_has_the_words_of_policies(name: str) -> None:
    said = pages()[name]
    assert OTHER_WORDS.findall(said) == []
    assert re.search(r"accuracy", said)
    assert "starting point" in said


def test_words_are_the_protocols_and_name_another_reference_where_results_do() -> None:
    assert WORDS.against("initial") == WORDS.against("starting point") == WORDS.against(None) == WORDS
    assert (WORDS.score, WORDS.reference) == ("accuracy", "starting point")
    assert (LEARNING.score, LEARNING.taskset) == ("score", "environment")
    assert POLICIES.against("hand-written").mark == "hand-written"


def test_a_run_tells_its_accuracy_before_and_after_with_the_gain() -> None:
    page = Page(run_page(commit_run()))
    text = " ".join(page.text.split())
    assert (
        "so the paired difference is +0.62 [0.30, 0.90]: a gain beyond noise, for this candidate on new cases." in text
    )
    assert "Held-out accuracy" in text
    assert "▲ better" in text


def test_decisions_are_listed_with_their_evidence_and_drawn_filled_or_hollow() -> None:
    markup = run_page(commit_run())
    page = Page(markup)
    rows = [[cell.strip() for cell in row] for row in page.rows]
    assert ["1", "refused", "20", "0.100", "−0.100[−0.200, 0.000]", "10"] in [row[:6] for row in rows]
    assert ["2", "accepted", "40", "0.700", "+0.500[0.400, 0.600]", "10"] in [row[:6] for row in rows]
    drawn = [a["class"] for tag, a in page.tags if tag == "circle" and "c" in (a.get("class") or "")]
    assert drawn.count("circle c2") == drawn.count("ring c6") - 2 * 4 == 2, "in two widths; 4 submissions are rings too"
    decisions = weighed(results(commit_run()))
    assert [w.decision.candidate for w in decisions if w.decision.accepted] == [FIRST, THIRD]
    assert [w.decision.candidate for w in decisions if w.decision.baseline] == [SECOND, THIRD]
    assert committed_line(results(commit_run())) == ((10.0, 0.2), (40.0, pytest.approx(0.7)))


def test_what_changed_is_shown_as_it_is() -> None:
    page = Page(run_page(commit_run()))
    assert "+Count the <b>legs</b>." in page.text
    assert "changed, +1 −1 lines" in page.text
    assert [a["class"] for tag, a in page.tags if tag == "span" and a.get("class") in ("add", "del", "at")] == [
        "at",
        "del",
        "add",
    ]
    assert "heredity resources log prompt/system --store resources.sqlite" in page.text
    assert "    +Count the <b>legs</b>." in markdown.render(page_of(results(commit_run()), [], REPORT))


def test_what_is_not_known_of_usage_is_called_unknown() -> None:
    page = Page(run_page(commit_run()))
    assert [cell.strip() for cell in page.row("the method")][1:] == ["1.23k", "0", "56", "unknown"]
    assert [cell.strip() for cell in page.row("rollouts at train tasks")][-1] == "$0.0042"
    assert "2 calls of the method failed" in page.text
    runs = commit_suite()
    runs[0]["model_usage"]["judging"]["cost_usd"] = None
    for run in runs:
        run["model_usage"]["method"]["cost_usd"] = 1.0
    rows = [row for row in Page(suite_page(runs)).rows if len(row) == 10 and "2.47k" in row[1]]
    assert [[row[0].strip(), row[-1].strip()] for row in rows] == [["reflection", "unknown"], ["grpo", "$2.02"]]


def test_a_suite_compares_before_and_after_run_by_run() -> None:
    runs = commit_suite()
    page = Page(suite_page(runs, {runs[0]["run_id"]: "runs/x/report.html"}))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    general = ["best", "leaderboard", "profiles", "scores", "comparisons"]
    assert ids == [*general, "gains", "commits", "usage", "budget", "problems", "runs", "reproduce"]
    rows = [row for row in page.rows if "+0.625[0.300, 0.900]" in [cell.strip() for cell in row]]
    assert [row[:4] for row in rows] == [["reflection", "0", "0.125", "0.750"], ["reflection", "1", "0.125", "0.750"]]
    assert page.row("reflection")[1].startswith("1.000")


def test_a_mix_has_a_short_name_and_its_full_one_as_a_title() -> None:
    runs = commit_suite()
    page = Page(suite_page(runs))
    assert "gcd + lcm + 2 more" in page.text
    assert MIX in {attributes.get("title") for _, attributes in page.tags}


def test_a_run_that_committed_nothing_more_says_so() -> None:
    run = commit_run()
    run |= {"decisions": run["decisions"][:2], "changes": []}
    text = " ".join(Page(run_page(run)).text.split())
    assert "It is the initial one: nothing else was committed." in text
    assert "Nothing: the run ends with its initial candidate." in text


def test_a_run_of_which_nothing_is_known_has_a_page() -> None:
    page = page_of(nothing("resource-evolution"), [], REPORT)
    assert "No commits yet." in Page(html.render(page)).text
    assert "No model was asked." in Page(html.render(page)).text
    assert "No commits yet." in markdown.render(page)


def test_what_evolvers_write_is_shown_but_never_runs() -> None:
    bad = copy.deepcopy(commit_run())
    bad["submissions"][0]["note"] = bad["decisions"][0]["reason"] = bad["changes"][0]["diff"] = ATTACK
    bad["changes"][0]["part"] = f"prompt/{ATTACK}"
    bad["taskset"] = f"questions/{ATTACK}"
    for markup in (run_page(bad), suite_page([bad])):
        page = Page(markup)
        assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
        assert not any("onerror" in attributes for _, attributes in page.tags)
        assert "<script>alert('x')" in page.text
        assert "\x00" not in markup
        assert "\x1b" not in markup


def test_a_policy_keeps_its_words() -> None:
    run = results(run_metrics("gymnasium/CartPole-v1", "parametric", 0))
    text = Page(html.render(page_of(run, [], POLICY_REPORT))).text
    assert "Random policy" in text
    assert "Episodes used" in text
    assert "Model usage" not in text
