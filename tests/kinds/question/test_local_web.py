"""Varnholm: its questions are found to have the answers that they are said to have, by reading; its server gives nothing else."""

from __future__ import annotations

import http.client
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.library.localweb.questions import practice, questions
from heredity.library.localweb.server import serving
from heredity.library.localweb.site import pages
from heredity.library.localweb.steps import LocalQuestion
from heredity.library.localweb.taskset import SITE
from heredity.library.localweb.town import Town, make_town
from heredity.library.models.town_worker import _filled
from heredity.tasks.registry import taskset
from heredity.team.tools import documents

GUEST = Path(documents.__file__).parent / "guest"
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def texts() -> Iterator[Mapping[int, Mapping[str, str]]]:
    """What an agent reads of each page and document of two towns; read here and not in the sandbox, since they are ours."""
    for package in ("pypdf", "openpyxl"):
        pytest.importorskip(package, reason="needs the extra documents")
    sys.path.insert(0, str(GUEST))
    import formats  # type: ignore[import-not-found]

    def text(name: str, data: bytes) -> str:
        ending = Path(name).suffix
        if ending in documents.PLAIN:
            return data.decode()
        return documents.Document.of(formats.READERS[ending](data)).text

    yield {seed: {name: text(name, data) for name, data in pages(make_town(seed)).items()} for seed in SEEDS}
    sys.path.remove(str(GUEST))


def found(question: LocalQuestion, town: Mapping[str, str]) -> str:
    """Follow the steps of a question that needs no browser; what a pattern finds is one thing."""
    values: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for step in question.steps:
        # What one step has found under a name is not what another has.
        own = {k: v for before in step.after for k, v in values.get(before, {}).items()}
        for call in step.calls:
            arguments = {name: _filled(value, own) for name, value in call["with"].items()}
            result = str(eval(arguments["code"])) if call["tool"] == "python" else town[_path(arguments["path"])]
            for name, pattern in call["find"].items():
                matched = re.findall(pattern, result)
                if not name.endswith("*"):
                    assert len({m.strip() for m in matched}) == 1, f"{question.id}: {name} is {matched}"
                own[name] = matched if name.endswith("*") else matched[0].strip()
        values[question.steps.index(step)] = last = own
    return str(last[question.last])


def _path(path: str) -> str:
    return path if "/" in path else f"archive/{path}"


def test_there_are_sixty_questions_in_three_levels_on_a_site_of_sixty_pages_or_more() -> None:
    town = make_town()
    asked = questions(town)
    assert Counter(q.level for q in asked) == {1: 24, 2: 24, 3: 12}
    assert len({q.text for q in (*asked, *practice(town))}) == 70
    assert all(len(q.calls) >= 4 and len(q.kinds) >= 2 for q in asked if q.level == 3)
    assert all(len(q.calls) >= 2 for q in asked if q.level == 2)
    assert sum(name.endswith(".html") for name in pages(town)) >= 60
    assert sum("browse" in q.kinds for q in asked) >= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_steps_find_the_answers_of_any_town(seed: int, texts: Mapping[int, Mapping[str, str]]) -> None:
    town = make_town(seed)
    for question in (*questions(town), *practice(town)):
        if "browse" not in question.kinds:
            assert found(question, texts[seed]) == question.answer, question.id


def test_steps_know_nothing_of_the_answers() -> None:
    ours, others = (questions(make_town(seed)) for seed in SEEDS)
    assert [(q.text, q.steps) for q in ours] == [(q.text, q.steps) for q in others]
    assert sum(a.answer != b.answer for a, b in zip(ours, others, strict=True)) > 50


def facts(town: Town, question: LocalQuestion) -> list[str]:
    """Return what the parts of the site that are made by scripts say, of which the question asks one thing."""
    calls = [call for step in question.steps for call in step.calls if call["tool"].startswith("browser_")]
    chosen = [call["with"].get("option", "") for call in calls]
    name = re.search(r'cell "(.+?)"', str(calls[-1]["find"]))
    if name:
        return [e.donor for e in town.exhibits if e.name == name[1]]
    if "ferry" in question.text:
        return [times[0] for way, times in town.ferry.items() if way in chosen]
    if "staff" in question.text:
        return [str(c.staff) for c in town.companies if c.name in question.text]
    best = str(max(range(1990, 1995), key=lambda year: town.visits[year]))
    year, month = (best if chosen[1] == "{result}" else chosen[1]), chosen[2]
    return [str(mm) for (y, m), mm in town.rain.items() if (str(y), m) == (year, month)]


def test_what_only_a_browser_shows_is_one_thing_and_the_answer() -> None:
    town = make_town()
    people = {person.name: person.born for person in town.people}
    asked = [q for q in questions(town) if "browse" in q.kinds]
    for question in asked:
        (fact,) = facts(town, question)
        bridge = next((b for b in town.bridges if b.name in question.text), None)
        assert question.answer == (str(bridge.opened - people[fact]) if bridge else fact), question.id
    museum = pages(town)["museum.html"].decode()
    assert not any(exhibit.donor in museum for exhibit in town.exhibits), (
        "what a script shows is not in the page's text"
    )


def test_names_that_questions_are_about_are_names_of_one_thing() -> None:
    for seed in SEEDS:
        town = make_town(seed)
        for things in (
            town.people,
            town.bridges,
            town.ships,
            town.companies,
            town.districts,
            town.exhibits,
            town.projects,
        ):
            assert len({thing.name for thing in things}) == len(things)
        assert len(set(town.visits.values())) == len(town.visits)


def test_links_lead_to_pages() -> None:
    site = pages(make_town())
    for name, data in site.items():
        if name.endswith(".html"):
            for target in re.findall(r'href="/([^"]*)"', data.decode()):
                assert target in site, f"{name} links to {target}"


def asked_of(address: str, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, body.encode() if body else None, headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode("utf-8", "replace")


def test_the_server_gives_what_the_site_has_and_nothing_else() -> None:
    with serving(make_town()) as address:
        assert address.startswith("127.0.0.1:")
        assert asked_of(address, "GET", "/bridges/")[0] == 200
        for path in (
            "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "//etc/passwd",
            "/archive/../town.py",
            "/%00",
            "/none",
        ):
            assert asked_of(address, "GET", path)[0] == 404, path
        assert "3 pages for Aurora" in asked_of(address, "GET", "/search.html?q=Aurora")[1]
        assert "<script>x" not in asked_of(address, "GET", "/search.html?q=%3Cscript%3Ex")[1]
        month = make_town().rain[1991, "March"]
        form = "year=1991&month=March"
        assert f"{month} millimetres" in asked_of(address, "POST", "/weather.html", f"{form}&token=42")[1]
        assert "not sent by this page" in asked_of(address, "POST", "/weather.html", form)[1]
        assert "Nothing was measured" in asked_of(address, "POST", "/weather.html", "year=²&month=x&token=42")[1]
        assert asked_of(address, "POST", "/weather.html", "x" * 20_000)[0] == 404
        with (
            pytest.raises(ConfigError, match="give another --port"),
            serving(make_town(), int(address.rpartition(":")[2])),
        ):
            pass


def test_the_taskset_has_options_and_a_file_form(tmp_path: Path) -> None:
    assert taskset("questions/local-web?level=3").info.public["train_tasks"] == 10
    drawn = taskset("questions/local-web?ids=1-12,3-01").draw("heldout", 2, 7)
    assert {task.spec["metadata"]["id"] for task in drawn} == {"1-12", "3-01"}
    for wrong, said in (
        ("levels=1", "no option 'levels'"),
        ("level=4", "expected 1, 2 or 3"),
        ("ids=9-99", "no such question"),
    ):
        with pytest.raises(ConfigError, match=said):
            taskset(f"questions/local-web?{wrong}").draw("heldout", 1, 0)
    SITE.write(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    assert Counter(row["split"] for row in rows) == {"heldout": 60, "train": 10}
    assert all((tmp_path / file).is_file() for row in rows for file in row["files"])
    assert len(taskset(f"questions/file:{tmp_path / 'questions.jsonl'}").draw("heldout", 60, 0)) == 60
