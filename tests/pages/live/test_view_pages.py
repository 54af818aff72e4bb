"""Every page that is linked from anywhere, without a browser; what they say; what hostile words come to."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import time
import zipfile
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.pages.live.conftest import BASE, Site, columns, program, site_of, trajectory, write_run

from heredity.bench.run_folders import write_suite
from heredity.engine.trajectory import encode_many
from heredity.pages.live.index import Index
from heredity.records import RunFolder

SMALL = "/s/small/r/grpo--s0"


async def text_of(site: Site, path: str) -> str:
    answer = await site.get(path)
    assert answer.status_code == 200, (path, answer.text[-500:])
    return answer.text


def links(page: str) -> set[str]:
    return {html.unescape(link).removeprefix(BASE) for link in re.findall(r'href="(/[^"#]*)', page)}


async def test_every_page_that_is_linked_is_there(site: Site) -> None:
    todo, seen = ["/"], set[str]()
    while todo:
        path = todo.pop()
        kind = re.sub(r"/(c|o|e|event|call|span|media)/[^?]*", r"/\1/X", path.split("?")[0])
        if kind in seen:
            continue
        seen.add(kind)
        answer = await site.get(path)
        assert answer.status_code == 200, path
        if answer.headers["content-type"].startswith("text/html"):
            for words in ("<script>document", "\u202e", "\u0007"):
                assert words not in answer.text, path
            todo += links(answer.text)
    pages = ("lineage", "rollouts", "o/X", "c/X", "call/X", "span/X", "event/X", "trace")
    assert {"/s/small", SMALL, *(f"{SMALL}/{page}" for page in pages)} <= seen


async def test_a_rollout_shows_what_was_recorded_of_it(site: Site) -> None:
    page = await text_of(site, f"{SMALL}/e/1")
    numbers = sorted(int(n) for n in set(re.findall(r"/o/(\d+)", page)))
    game, talk, world, failed = [await text_of(site, f"{SMALL}/o/{n}") for n in numbers]
    assert 'type="range" min="0" max="2"' in game
    assert "Observation" in game
    assert "$ echo $((6*7))" in talk
    assert "&lt;answer&gt;42&lt;/answer&gt;" in talk
    assert "A cave.\n#..@\n####" in world
    assert "Traceback: line 1" in failed
    assert "\\u202eevil" in failed
    picture = await site.get(f"{SMALL}/media/{numbers[0]}/0")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    for number in (3, 4, 99):
        assert (await site.get(f"{SMALL}/media/{numbers[0]}/{number}")).status_code == 404


async def test_commits_and_refusals_come_with_their_evidence(site: Site) -> None:
    page = await text_of(site, f"{SMALL}/lineage")
    assert page.count('class="node ') == 3
    assert page.count('class="edge"') == 3
    assert "node refused" in page
    assert "node selected" in page
    assert "+0.25" in page
    assert "1, 3" in page
    assert "because" in page


async def test_any_two_candidates_can_be_compared(site: Site) -> None:
    page = await text_of(site, f"{SMALL}/candidates")
    digests = re.findall(r"/c/([0-9a-f]{64})", page)
    shown = await text_of(site, f"{SMALL}/diff?a={digests[0]}&b={digests[2]}")
    assert '<span class="del">-    gain = 0' in shown
    assert '<span class="add">+    gain = 2' in shown
    assert (await site.get(f"{SMALL}/diff?a={digests[0]}&b=ffff")).status_code == 404


async def test_a_model_call_says_prompt_answer_tokens_cost_and_cache(site: Site) -> None:
    call = next(link for link in links(await text_of(site, f"{SMALL}/calls")) if "/call/" in link)
    page = await text_of(site, call)
    for words in ("Improve.", "A rule.", "$0.002", "temperature", "cache"):
        assert words in page, words


async def test_a_list_answers_any_window_in_any_order(site: Site) -> None:
    base = "/s/many/r/run-0/rollouts"
    first = await site.get(f"{base}?rows=1&offset=200")
    assert first.headers["x-total"] == "300"
    assert first.text.count("<tr ") == 100
    assert 'aria-rowindex="202"' in first.text
    best = re.findall(r'<td class="n">([−\d.]+)</td>', (await site.get(f"{base}?rows=1&sort=-Score")).text)[::2]
    values = [float(v.replace("−", "-")) for v in best]
    assert values == sorted(values, reverse=True)
    assert (await site.get(f"{base}?rows=1&offset=-5&sort=nonsense;DROP")).status_code == 200
    assert (await site.get(f"{base}?rows=1&q=100%25_")).headers["x-total"] == "0"
    assert (await site.get(f"{base}?rows=1&is=ok")).headers["x-total"] == "300"


async def test_search_finds_runs_candidates_rollouts_and_lines(site: Site) -> None:
    await text_of(site, "/s/small")
    assert "grpo--s1" in await text_of(site, "/search?q=grpo--s")
    assert "/c/" in await text_of(site, "/search?q=step%202")
    assert "/o/" in await text_of(site, "/search?q=boom")
    assert "No matches in the indexed records" in await text_of(site, "/search?q=%25%25nothing")


async def test_runs_and_suites_stand_side_by_side(site: Site) -> None:
    page = await text_of(site, "/s/small/compare?a=grpo--s0&b=grpo--s1")
    assert "limits.act_s" in page
    assert "10.0" in page
    assert "11.0" in page
    assert "same hidden cases" in page
    assert "Runs of the same name" in await text_of(site, "/compare?a=small&b=many")


async def test_exports_hold_everything(site: Site) -> None:
    rows = list(csv.DictReader(io.StringIO((await site.get("/s/many/r/run-0/export/rollouts.csv")).text)))
    assert len(rows) == 300
    assert rows[0]["submission"] == "1"
    digest = re.findall(r"/c/([0-9a-f]{64})", await text_of(site, f"{SMALL}/candidates"))[0]
    archive = zipfile.ZipFile(io.BytesIO((await site.get(f"{SMALL}/export/candidate.zip?c={digest}")).content))
    assert archive.namelist() == ["agent/policy.py"]
    assert (await site.get(f"{SMALL}/export/journal.jsonl")).content == (
        site.folder / "small/runs/grpo--s0/journal.jsonl"
    ).read_bytes()


async def test_a_run_that_stands_alone_and_one_of_a_suite_open_as_well(suites: Path, tmp_path: Path) -> None:
    alone = write_run(tmp_path, "alone")
    alone = alone.rename(tmp_path / "alone")
    (tmp_path / "runs").rmdir()
    async with site_of(alone) as site:
        assert (await site.get("/")).headers["location"] == f"{BASE}/s/alone"
        assert "12 of 40" in await text_of(site, "/s/alone")
        assert "Trace" in await text_of(site, "/s/alone/r/alone/trace")
    async with site_of(suites / "small" / "runs" / "grpo--s0") as site:
        assert (await site.get("/")).headers["location"] == f"{BASE}/s/small"


@pytest.mark.slow
async def test_lines_of_fifty_megabytes_are_shown_cut(tmp_path: Path) -> None:
    run = write_run(tmp_path / "s", "r--s0")
    with RunFolder.open(run) as opened:
        opened.journal.append("evolver.failed", {"message": "<b>" * 16_000_000, "traceback": ""})
    async with site_of(tmp_path / "s") as site:
        for path in ("/s/s", "/s/s/r/r--s0", "/s/s/r/r--s0/journal?sort=-Bytes", "/s/s/r/r--s0/event/17"):
            for _ in range(200):
                page = await text_of(site, path)
                if "Building the index" not in page:
                    break
            assert len(page) < 1_500_000
            assert "<b><b>" not in page
        assert "bytes in total" in page


@pytest.mark.slow
async def test_outputs_of_fifty_megabytes_are_shown_cut_wherever_they_stand(tmp_path: Path) -> None:
    huge = "<b>\u202e" * 10_000_000
    run = write_run(tmp_path / "s", "r--s0")
    (run / "logs").mkdir()
    (run / "logs" / "agent.log").write_text(f"step 1: loss 2.0\n{huge}\nstep 2: loss 1.0\n")
    with (run / "spans.jsonl").open("a") as file:
        span = {
            "name": "huge",
            "kind": "tool",
            "span_id": "c",
            "parent_id": "a",
            "start_ns": 10**18,
            "end_ns": 10**18 + 9,
        }
        file.write(json.dumps({**span, "attributes": {"output": huge}}) + "\n")
    message = [{"role": "assistant", "content": huge, "tool_calls": [["1", "shell", json.dumps({"command": huge})]]}]
    talk = trajectory({**columns(["a", huge], [huge], 1), "messages": message}, 1, stdout=huge)
    world = trajectory(columns([huge, "done"], ["go"], 1), 1, stdout=huge)
    made = program(huge)
    with RunFolder.open(run) as opened:
        blob = opened.blobs.put(made.to_bytes())
        opened.journal.append("candidate", {"digest": made.digest, "blob": blob, "parents": [], "note": huge})
        admitted = {"submit_id": 9, "candidate": made.digest, "charge": 2, "tasks": [0, 1]}
        opened.journal.append("submission.admitted", admitted)
        failure = {"category": "act_error", "message": huge, "traceback": huge, "step_index": 0}
        outcomes = [{"task": i, "score": 0.0, "length": 1, "status": "act_error", "failure": failure} for i in range(2)]
        done = {"submit_id": 9, "candidate": made.digest, "status": "ok", "failure": None, "seconds": 1.0}
        opened.journal.append(
            "submission.completed", {**done, "outcomes": outcomes, "blob": opened.blobs.put(encode_many([talk, world]))}
        )
    async with site_of(tmp_path / "s") as site:
        while "Building the index" in await text_of(site, "/s/s"):
            pass
        rows = await text_of(site, "/s/s/r/r--s0/rollouts?q=%3Cb%3E")
        paths = sorted(link for link in links(rows) if "/o/" in link)
        assert len(paths) == 2
        span = next(link for link in links(await text_of(site, "/s/s/r/r--s0/spans?q=huge")) if "/span/" in link)
        for path in ("/s/s", "/s/s/r/r--s0", "/s/s/r/r--s0/lineage", f"/s/s/r/r--s0/c/{made.digest}", span, *paths):
            page = await text_of(site, path)
            assert len(page) < 3_000_000, path
            assert "<b>" not in page, path
            assert "\u202e" not in page, path
        assert "Loss, from agent.log" not in await text_of(site, "/s/s/r/r--s0"), "one of its steps lies too far back"


async def test_a_trajectory_that_is_damaged_or_forged_is_said_to_be(tmp_path: Path) -> None:
    run = write_run(tmp_path / "s", "r--s0")
    for blob in (run / "blobs").glob("*/*"):
        blob.write_bytes(b"\x93forged")
    async with site_of(tmp_path / "s") as site:
        assert "does not match its digest" in await text_of(site, "/s/s/r/r--s0/o/1")
        assert "damaged" in await text_of(
            site, (next(k for k in links(await text_of(site, "/s/s/r/r--s0/candidates")) if "/c/" in k))
        )


async def test_a_folder_without_an_index_shows_how_far_it_is_read_and_how_long_that_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(tmp_path / "s", 3000)
    reading = Event()
    step = Index._step

    def slow(index: Index, *arguments: Any) -> bool:
        reading.wait(60)
        return step(index, *arguments)

    monkeypatch.setattr(Index, "_step", slow)
    async with site_of(tmp_path / "s") as site:
        for path in ("/s/s", "/s/s/r/run-3/rollouts"):
            page = await text_of(site, path)
            assert ": 0% of 0.3 MB of records" in page
            assert 'role="progressbar"' in page or "<progress" in page
            assert 'data-follow="' in page
        reading.set()
        while "Building the index" in (page := await text_of(site, "/s/s")):
            pass
        assert "Index built in" in page
        assert "3,000" in page or "3000" in page
    async with site_of(tmp_path / "s") as site:
        assert "Index built in" not in await text_of(site, "/s/s")


def old_suites(folder: Path) -> None:
    """Write suites that ended, stopped and never began, two hours ago; of one the report was made again since."""
    for name, runs, ended in (("whole", 2, 2), ("cut", 2, 1), ("crashed", 0, 0)):
        (folder / name).mkdir()
        (folder / name / "suite.toml").write_text("[run]\nname = 'x'\n")
        for i in range(runs):
            write_run(folder / name, f"a--s{i}")
            if i < ended:
                (folder / name / "runs" / f"a--s{i}" / "metrics.json").write_text("{}")
    for file in folder.rglob("*"):
        if file.name in ("journal.jsonl", "suite.toml"):
            os.utime(file, (time.time() - 7200, time.time() - 7200))
    (folder / "whole" / "report.html").write_text("rebuilt just now")


async def test_a_folder_says_when_runs_last_recorded_anything_and_which_suites_stopped(tmp_path: Path) -> None:
    old_suites(tmp_path)
    async with site_of(tmp_path) as site:
        page = await text_of(site, "/")
    rows = {match[1]: match[0] for match in re.findall(r"(<tr.*?/s/(whole|cut|crashed).*?</tr>)", page, re.S)}
    assert all("2.0 h ago" in row for row in rows.values()), "reports and indexes are no records"
    assert "ended" in rows["whole"]
    assert "stopped" not in rows["whole"]
    assert "before all runs ended" in rows["cut"]
    assert "1 of 2" in rows["cut"]
    assert "before any run started" in rows["crashed"]
    assert "at rest" not in page.replace("\u00a0", " ")
