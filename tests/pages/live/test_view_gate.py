"""Who may look: nobody without the token, no other origin, no other name of this host, nothing outside of the folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.pages.live.conftest import BASE, TOKEN, Site, site_of, write_run

from heredity._core.errors import ConfigError
from heredity.cli.runs import leading_to
from heredity.pages.live.actions import Actions
from heredity.pages.live.app import ViewApp, serve_view
from heredity.pages.live.index import open_index
from heredity.pages.live.place import Place

PYTHON = Path("/usr/bin/python3")
OTHER = """
import http.client
for path in {files}:
    try:
        open(path).read()
        print("read")
    except OSError as error:
        print(type(error).__name__)
for method, path in [("GET", "/"), ("GET", "/s/s"), ("GET", "/live"), ("POST", "/s/s/stop"), ("GET", "/static/view.js")]:
    connection = http.client.HTTPConnection("127.0.0.1", {port}, timeout=120)
    connection.request(method, path)
    print(connection.getresponse().status)
"""
"""What another user may try: the files of the viewer, and its addresses without the token."""

PAGES = (
    "/",
    "/s/small",
    "/static/view.js",
    "/live",
    "/s/small/live",
    "/search",
    "/s/small/r/grpo--s0/export/journal.jsonl",
)


@pytest.mark.parametrize("path", PAGES)
async def test_nothing_is_answered_without_the_token(site: Site, path: str) -> None:
    for first in ("", f"/{TOKEN[:-1]}", f"/{TOKEN}x", f"/{TOKEN.upper()}", "/static", "/%00"):
        answer = await site.client.get(first + path)
        assert answer.status_code == 404, first
        assert "small" not in answer.text
    assert "set-cookie" not in (await site.get("/")).headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost.evil:8767", "[::1]:8767"])
async def test_another_name_of_the_host_is_refused(site: Site, host: str) -> None:
    assert (await site.get("/", host=host)).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8768", "https://127.0.0.1:8767", "http://localhost"]
)
async def test_another_origin_is_refused(site: Site, origin: str) -> None:
    assert (await site.get("/", origin=origin)).status_code == 403
    answer = await site.client.post(f"{BASE}/s/small/stop", headers={"origin": origin})
    assert answer.status_code == 403


async def test_a_form_of_another_site_is_refused_even_without_an_origin(site: Site) -> None:
    answer = await site.client.post(f"{BASE}/s/small/stop", headers={"sec-fetch-site": "same-site"})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/s/%2e%2e",
        "/s/..%2f..%2fetc",
        "/s/small/r/%2e%2e",
        "/s/small/r/..%2f..%2f..%2fetc%2fpasswd/export/journal.jsonl",
        "/static/..%2fapp.py",
        "/static/../app.py",
        "/s/small/r/grpo--s0/export/run.toml",
        "/s/small/r/grpo--s0/export/..%2f..%2fsuite.toml",
        "/s/small/r/grpo--s0/o/1e3",
        "/s/small/r/grpo--s0/o/99999999999999999999",
        "/s/small/r/grpo--s0/c/%2e%2e",
        "/s/small/r/grpo--s0/media/1/..",
        "/s/%00",
        "/s/small/r/%ff",
    ],
)
async def test_no_address_leads_out_of_the_folder(site: Site, path: str) -> None:
    answer = await site.get(path)
    assert answer.status_code == 404, answer.text
    assert "root:" not in answer.text
    assert "tasksets" not in answer.text


async def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "s", "r--s0")
    secret = tmp_path / "secret"
    secret.write_text("what another user keeps")
    (run / "metrics.json").symlink_to(secret)
    (run / "report.html").symlink_to(secret)
    (tmp_path / "runs" / "linked").symlink_to(tmp_path)
    async with site_of(tmp_path / "runs") as site:
        for path in (
            "/",
            "/s/s/r/r--s0/export/metrics.json",
            "/s/s/r/r--s0/export/report.html",
            "/s/s/r/r--s0/report",
            "/s/linked",
        ):
            assert "another user keeps" not in (await site.get(path)).text


async def test_pages_run_and_load_nothing_of_elsewhere(site: Site) -> None:
    headers = (await site.get("/s/small")).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


async def test_a_view_that_only_looks_starts_and_stops_nothing(site: Site) -> None:
    for path in ("/start", "/s/small/stop", "/s/small/resume"):
        answer = await site.client.post(BASE + path, data={"suite": "demo"})
        assert answer.status_code == 409, path
        assert "--read-only" in answer.text, path
    assert "<button>Start</button>" not in (await site.get("/")).text


@pytest.mark.parametrize(
    ("suite", "overrides"),
    [("--help", ""), ("demo", "--agent=evil"), ("demo", "no-setting"), ("", ""), ("-x.toml", "")],
)
def test_what_is_no_setting_never_reaches_a_command_line(tmp_path: Path, suite: str, overrides: str) -> None:
    actions = Actions(tmp_path)
    with pytest.raises(ConfigError):
        actions.start(suite, overrides)
    assert actions.started == []


async def test_a_token_that_can_be_guessed_is_refused() -> None:
    for token in ("short", "spaces in a long token", "x" * 129):
        with pytest.raises(ConfigError, match="the token has"):
            async with serve_view(None, token=token):  # pyright: ignore[reportArgumentType]
                pass


def test_the_token_is_on_no_command_line_of_a_browser(tmp_path: Path) -> None:
    path = leading_to(f"http://127.0.0.1:1/{TOKEN}/", tmp_path)
    assert TOKEN not in path.as_uri()
    assert f"url=http://127.0.0.1:1/{TOKEN}/" in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(
    os.geteuid() != 0 or not PYTHON.exists(), reason="needs root and a Python that another user may start"
)
async def test_another_user_of_the_machine_sees_nothing(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "s", "r--s0")
    app = ViewApp(Place.of(tmp_path / "runs"), Actions(tmp_path / "runs"), {})
    with open_index(tmp_path / "runs" / "s") as index:
        index.update()
    async with serve_view(app, token=TOKEN) as address:
        lead = leading_to(address, tmp_path)
        port = address.split(":")[2].split("/")[0]
        script = OTHER.format(files=[str(index.path), str(lead)], port=port)
        process = await asyncio.create_subprocess_exec(
            PYTHON,
            "-I",
            "-c",
            script,
            stdout=asyncio.subprocess.PIPE,
            user=65534,
            group=65534,
            extra_groups=[],
            cwd="/",
        )
        output, _ = await process.communicate()
    assert output.decode().split() == ["PermissionError", "PermissionError", "404", "404", "404", "404", "404"]
