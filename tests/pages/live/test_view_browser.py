"""The pages in a real browser: each of them, live, by keyboard, on a phone, in the dark; what acts; lists of 100,000 rows."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pages.live import browsing
from tests.pages.live.browsing import PHONE, WIDE, Seen, looking, served
from tests.pages.live.conftest import write_run
from tests.pages.live.test_view_records import write_team, write_training

from heredity._core.errors import IsolationError
from heredity.bench import run_folders as bench
from heredity.pages.live.index import Index, open_index
from heredity.records import RunFolder
from heredity.records.lock import RunLock
from heredity.sandbox.isolation import resolve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing() or "-")]

RUN = "/s/small/r/grpo--s0"
SUITE = """
[run]
protocol = "policy-evolution"
name = "live"
tasksets = ["gymnasium/CartPole-v1"]
[evolver]
method = "best-of-n"
[budget]
episodes = 400
[views]
validation = 2
heldout = 2
[engine]
workers = 1
"""


STARTS = (
    "/",
    "/s/small",
    RUN,
    f"{RUN}/e/1",
    "/s/records/r/team--s0/tasks",
    "/s/records/r/sft--s0",
    "/s/many/r/run-0/rollouts",
    "/search?q=grpo",
    "/compare?a=small&b=many",
    "/s/small/compare?a=grpo--s0&b=grpo--s1",
)


def isolated() -> bool:
    """Whether policies can be confined on this machine."""
    try:
        resolve(unsafe=False)
    except IsolationError:
        return False
    return True


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with browsing.chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three suites: with everything that a run can record, with other records, and with many rollouts."""
    folder = tmp_path_factory.mktemp("browser") / "runs"
    for seed in (0, 1):
        write_run(folder / "small", f"grpo--s{seed}", seed=seed)
    (folder / "small" / "suite.toml").write_text('[run]\nprotocol = "resource-evolution"\ntasksets = ["questions/x"]\n')
    write_team(folder / "records")
    write_training(folder / "records")
    bench.write_suite(folder / "many", 3000)
    return folder


@pytest.fixture(scope="module")
def root(place: Path) -> Generator[str]:
    with served(place, {"demo": "The demonstration"}, acting=True) as address:
        yield address


@pytest.fixture
def seen(browser: Browser, root: str) -> Generator[Seen]:
    with looking(browser, root) as opened:
        yield opened


def pages(seen: Seen) -> list[str]:
    """Return the addresses of one page of each kind, by following links from the runs that have most to show."""
    todo, kinds, paths = [*STARTS], set[str](), list[str]()
    while todo:
        path = todo.pop(0)
        kind = re.sub(r"/(c|e|event|call|span|t)/[^?]*", r"/\1/X", path.partition("?")[0])
        kind = re.sub(r"^/s/[^/]+(/r/[^/]+)?", lambda match: "/s/X/r/X" if match[1] else "/s/X", kind)
        # The rollouts of one submission are of four kinds.
        if number := re.search(r"/o/(\d+)", kind):
            kind = path if path.startswith(RUN) and int(number[1]) <= 4 else "/o/X"
        if (kind in kinds and path not in STARTS) or path in paths or re.search("/(export|static|media)/", kind):
            continue
        kinds.add(kind)
        paths.append(path)
        links = seen.go(path).eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
        base = "/" + seen.root.rpartition("/")[2]
        todo += [link.removeprefix(base).partition("#")[0] for link in links if link.startswith(f"{base}/")]
    return paths


def test_no_page_has_a_serious_fault_on_a_wide_screen_in_light_or_on_a_phone_in_the_dark(
    browser: Browser, root: str
) -> None:
    with looking(browser, root) as wide, looking(browser, root, PHONE, "dark") as phone:
        seen = pages(wide)
        wide.go(f"{RUN}/candidates")
        names = "links => links.map(link => link.getAttribute('href').split('/').pop())"
        digests = list(dict.fromkeys(wide.page.eval_on_selector_all("main a[href*='/c/']", names)))
        addresses = [*seen, f"{RUN}/diff?a={digests[0]}&b={digests[2]}", f"{RUN}/nowhere"]
        faults: dict[str, list[str]] = {}
        for path in addresses:
            for where in (wide, phone):
                where.go(path)
                found = where.faults()
                found += [f"wider than the screen by {where.overflow()} pixels"] if where.overflow() > 0 else []
                if found:
                    faults[f"{path} at {where.page.viewport_size}"] = found
        assert faults == {}
        kinds = {path.partition("?")[0].rpartition("/")[0].rpartition("/")[2] for path in addresses}
        assert {"c", "e", "o", "event", "call", "span", "t"} <= kinds
        assert {f"{RUN}/{page}" for page in ("lineage", "diff", "trace", "report", "journal", "spans", "calls")} <= {
            path.partition("?")[0] for path in addresses
        }


def test_a_page_changes_by_itself_while_a_run_goes_on(browser: Browser, tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "live", "a--s0", finished=False)
    lock = tmp_path / "runs" / "live" / "lock"
    with served(tmp_path / "runs") as address, looking(browser, address) as seen:
        page = seen.go("/s/live")
        page.locator("#runs").wait_for()
        page.evaluate("window.kept = 'not loaded again'")
        assert page.locator("#head").get_by_text("12", exact=True).count() == 1
        held = RunLock.acquire(lock)
        with RunFolder.open(run) as opened:
            opened.journal.append(
                "submission.admitted", {"submit_id": 4, "candidate": "c" * 64, "charge": 1, "tasks": [0]}
            )
            outcome = {"task": 0, "score": 9.5, "length": 1, "status": "ok", "failure": None}
            done = {"submit_id": 4, "candidate": "c" * 64, "status": "ok", "outcomes": [outcome], "blob": None}
            opened.journal.append("submission.completed", {**done, "failure": None, "seconds": 0.1})
            page.locator("#head").get_by_text("13", exact=True).wait_for()
            page.locator("#runs").get_by_text("13 of 40").wait_for()
            page.locator("#head").get_by_text("at work").wait_for()
        held.release()
        page.locator("#head").get_by_text("none", exact=True).wait_for()
        assert page.evaluate("window.kept") == "not loaded again"


def test_the_page_of_a_folder_without_an_index_becomes_that_of_the_suite(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write_suite(tmp_path / "runs" / "many", 1000)
    reading, step = threading.Event(), Index._step

    def slow(index: Index, *arguments: Any) -> bool:
        reading.wait(60)
        return step(index, *arguments)

    monkeypatch.setattr(Index, "_step", slow)
    with served(tmp_path / "runs") as address, looking(browser, address) as seen:
        page = seen.go("/s/many")
        page.get_by_role("heading", name="Reading many").wait_for()
        assert page.get_by_role("progressbar").count() == 1
        reading.set()
        page.get_by_role("heading", name="many", exact=True).wait_for()
        page.get_by_text("Index built in").wait_for()
        assert page.get_by_role("progressbar").count() == 0


def test_the_lineage_leads_to_candidates_and_the_difference_of_any_two(seen: Seen) -> None:
    page = seen.go(f"{RUN}/lineage")
    assert page.locator(".graph .node").count() == 3
    assert page.locator(".graph .edge").count() == 3
    assert page.locator(".node.refused").count() == 1
    assert "because" in page.locator("#decisions").inner_text()
    page.get_by_role("button", name="Show the difference").click()
    page.locator("pre .del").first.wait_for()
    assert (
        "-    gain = 0" in page.locator("pre .del").all_inner_texts()[-1]
        or "gain = 0" in page.locator("pre").first.inner_text()
    )
    page.go_back()
    page.locator(".graph a").nth(1).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Candidate 2").wait_for()
    assert "class Policy" in page.locator("#source").inner_text()
    assert "\\u202e" in page.locator("#source").inner_text()


def test_a_trajectory_of_each_kind_is_shown_as_what_it_is(seen: Seen) -> None:
    page = seen.go(f"{RUN}/e/1")
    links = page.locator("#rollouts tbody a[href*='/o/']").evaluate_all("links => links.map(a => a.href)")
    game, talk, world, failed = [link.removeprefix(seen.root) for link in dict.fromkeys(links)]
    seen.go(game)
    picture = page.locator(".frames img")
    before = picture.get_attribute("src")
    slider = page.locator(".frames input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert picture.get_attribute("src") != before
    page.wait_for_function("document.querySelector('.frames img').naturalWidth == 32")
    assert page.locator("#curves svg.plot:visible").count() == 3
    seen.go(talk)
    assert page.locator(".turn").count() == 5
    assert "$ echo $((6*7))" in page.locator("pre.shell").inner_text()
    assert "<answer>42</answer>" in page.locator(".turn.assistant").last.inner_text()
    seen.go(world)
    assert "#..@" in page.locator("pre.scene").first.inner_text()
    seen.go(failed)
    assert "Traceback: line 1" in page.locator("#failure").inner_text()
    assert "\\u202eevil" in page.locator("#failure").inner_text()
    seen.go("/s/records/r/team--s0/tasks")
    page.get_by_role("link", name="mill", exact=True).click()
    page.locator("#plan svg .step").first.wait_for()
    assert page.locator("#plan svg .step").count() == 2
    assert page.locator("#steps svg .bar").count() == 1
    assert "http://127.0.0.1:9/mill" in page.locator("#sources").inner_text()
    assert "browser_open-0" in page.locator("#tools").inner_text()
    seen.go("/s/records/r/sft--s0")
    assert page.locator("#training svg.plot:visible").count() == 1


def test_transcripts_of_model_calls_and_a_timeline_of_the_trace(seen: Seen) -> None:
    page = seen.go(f"{RUN}/calls")
    page.locator("main tbody a[href*='/call/']").first.click()
    page.locator("#asked .turn").wait_for()
    assert "Improve." in page.locator("#asked").inner_text()
    assert "A rule." in page.locator("#answer").inner_text()
    assert "$0.002" in page.locator("#head").inner_text()
    seen.go(f"{RUN}/trace")
    assert page.locator(".span").count() == 2
    page.get_by_role("link", name="Closer").click()
    page.wait_for_url("**/trace?**")
    page.locator("a:has(.span.model)").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=re.compile("^Span model")).wait_for()
    assert page.get_by_role("link", name="run", exact=True).count() >= 1


def test_two_suites_and_two_runs_are_compared_from_forms(seen: Seen) -> None:
    page = seen.go("/")
    page.get_by_label("First").select_option("small")
    page.get_by_label("Second").select_option("many")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Two suites").wait_for()
    seen.go("/s/small")
    page.get_by_label("Second").select_option("grpo--s1")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Two runs").wait_for()
    assert "limits.act_s" in page.locator("#settings").inner_text()


def test_everything_can_be_reached_by_keyboard(seen: Seen) -> None:
    page = seen.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    page.keyboard.type("boom")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Search: boom").wait_for()
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") != "" != first
    page.keyboard.press("k")
    seen.go(f"{RUN}/candidates")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Candidate 1").wait_for()
    page.keyboard.press("u")
    page.get_by_role("heading", name="Candidates").wait_for()
    page.keyboard.press("u")
    page.wait_for_url(f"**{RUN}")


def test_lists_are_searched_sorted_and_narrowed(seen: Seen) -> None:
    page = seen.go("/s/many/r/run-0/rollouts")
    page.get_by_role("link", name="Score").click()
    page.wait_for_url("**sort=**")
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Score")
    seen.go(f"{RUN}/rollouts")
    page.get_by_label("Contains").fill("boom")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**q=boom**")
    assert page.locator("main tbody tr:not(.gap)").count() == 3


def test_a_page_is_dark_where_the_system_is(browser: Browser, root: str) -> None:
    colour = "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    with looking(browser, root, WIDE, "dark") as dark, looking(browser, root) as bright:
        assert sum(dark.go("/").evaluate(colour)) < 200
        assert sum(bright.go("/").evaluate(colour)) > 600


def test_a_list_of_a_hundred_thousand_rollouts_is_scrolled(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "RUNS", 1)
    bench.write_suite(tmp_path / "runs" / "many", 100_000)
    with open_index(tmp_path / "runs" / "many") as index:
        index.update()
    with served(tmp_path / "runs") as address, looking(browser, address) as seen:
        page = seen.go("/s/many/r/run-0/rollouts")
        box = page.locator(".list")
        for share in (0.5, 0.123, 0.99):
            first = int(share * 100_000)
            box.evaluate("(box, row) => { box.scrollTop = row * 37; }", first)
            page.locator(f"tr[aria-rowindex='{first + 2}']").wait_for()
            assert page.locator(".list tr").count() < 400
            shown = box.bounding_box()
            row = page.locator(f"tr[aria-rowindex='{first + 2}']").bounding_box()
            assert shown
            assert row
            assert shown["y"] - 40 <= row["y"] <= shown["y"] + 80
        page.keyboard.press("Tab")
        box.focus()
        page.keyboard.press("End")
        page.locator("tr[aria-rowindex='100001']").wait_for()


@pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")
def test_a_suite_is_started_watched_stopped_and_resumed_from_the_page(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "live.toml").write_text(SUITE)
    with served(folder, {"demo": "The demonstration"}, acting=True) as address, looking(browser, address) as seen:
        page = seen.go("/")
        page.get_by_label("or a TOML file").fill(str(tmp_path / "live.toml"))
        page.get_by_label("Settings").fill("budget.episodes=300")
        page.get_by_role("button", name="Start").click()
        link = page.locator("#suites tbody a").first
        link.wait_for()
        link.click()
        page.get_by_role("button", name="Stop").wait_for()
        page.locator("#runs").get_by_text("evolving").wait_for()
        page.locator("#runs").get_by_text(re.compile(r"[1-9]\d* of 300")).wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").wait_for()
        page.locator("#runs").get_by_text("stopped").wait_for()
        page.get_by_role("button", name="Resume").click()
        page.locator("#runs").get_by_text("finished").wait_for(timeout=5 * browsing.PATIENCE_MS)
        page.get_by_role("link", name="Report").click()
        page.locator(".report").wait_for()
