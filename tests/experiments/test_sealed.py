"""Hidden cases stay sealed until no run that is judged on them is open, whichever suite it is of."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from heredity.experiments.sealed import OPENED, SealedCases, adopt_cases, sealed_folder
from heredity.experiments.verification.verify import verify
from heredity.session.cases import HiddenCases, Opening

from . import sample


def opening(cases: Mapping[str, Any]) -> Opening:
    return Opening("c" * 64, "5" * 64, "d" * 64, cases)


class Suites:
    """Suites whose runs are judged as a test says, without running any."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, name: str) -> Path:
        return self.root / "runs" / name

    def begin(self, name: str, other: str | None = None) -> bool:
        (self.folder(name) / "runs" / "r").mkdir(parents=True, exist_ok=True)
        if other:
            adopt_cases(self.folder(name), self.folder(other))
        HiddenCases.create(sealed_folder(self.folder(name)))
        return SealedCases(self.folder(name)).begin()

    def end(self, name: str) -> list[str]:
        sealed = SealedCases(self.folder(name))
        sealed.keep("r", opening({"of": name}), {})
        return [Path(path).name for path in sealed.end()]

    def opened(self) -> set[str]:
        return {path.parents[2].name for path in (self.root / "runs").glob(f"*/runs/*/{OPENED}")}


@pytest.fixture
def suites(tmp_path: Path) -> Suites:
    return Suites(tmp_path)


def test_a_suite_publishes_its_own_cases_when_it_ends(suites: Suites) -> None:
    assert suites.begin("one") is False
    assert suites.opened() == set()
    assert suites.end("one") == []
    assert suites.opened() == {"one"}
    published = json.loads((suites.folder("one") / "runs" / "r" / OPENED).read_bytes())
    assert published["cases"] == {"of": "one"}
    secret = HiddenCases.open(sealed_folder(suites.folder("one")))
    assert published["entropy"] == f"{secret.entropy:064x}", "anyone can draw the cases again"
    assert secret.salt.hex() not in json.dumps(published)


def test_what_is_kept_before_is_readable_by_its_owner_only(suites: Suites) -> None:
    suites.begin("one")
    sealed = SealedCases(suites.folder("one"))
    sealed.keep("r", opening({}), {})
    folders = [sealed.path, sealed.path / "opened"]
    assert {stat.S_IMODE(folder.stat().st_mode) & 0o077 for folder in folders} == {0}


@pytest.mark.parametrize("first", ["one", "two", "three"])
def test_suites_that_share_cases_wait_for_each_other(suites: Suites, first: str) -> None:
    suites.begin("one")
    suites.begin("two", "one")
    suites.begin("three", "two")
    waiting = {"one", "two", "three"} - {first}
    assert set(suites.end(first)) == waiting
    assert suites.opened() == set()
    for name in sorted(waiting):
        assert suites.opened() == set(), "an evolver of the others could have read them"
        suites.end(name)
    assert suites.opened() == {"one", "two", "three"}


def test_who_begins_after_they_were_published_knows(suites: Suites) -> None:
    suites.begin("one")
    suites.end("one")
    assert suites.begin("two", "one") is True
    assert suites.begin("three", "two") is True
    assert set(suites.end("two")) == {"three"}


def test_a_suite_that_was_removed_holds_nobody_back(suites: Suites) -> None:
    suites.begin("one")
    suites.begin("two", "one")
    assert suites.end("two") == ["one"]
    shutil.rmtree(suites.folder("one"))
    shutil.rmtree(sealed_folder(suites.folder("one")))
    assert suites.end("two") == []
    assert suites.opened() == {"two"}


def test_what_was_published_stays_known_when_the_suite_that_had_it_first_is_removed(suites: Suites) -> None:
    suites.begin("one")
    suites.end("one")
    suites.folder("two").mkdir(parents=True)
    adopt_cases(suites.folder("two"), suites.folder("one"))
    shutil.rmtree(sealed_folder(suites.folder("one")))
    assert suites.begin("two") is True


def test_suites_that_were_moved_together_still_know_each_other(suites: Suites, tmp_path: Path) -> None:
    suites.begin("one")
    suites.begin("two", "one")
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("runs", "sealed"):
        (tmp_path / name).rename(moved / name)
    assert Suites(moved).end("two") == ["one"]


@pytest.mark.slow
@pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")
def test_a_suite_on_published_cases_says_so_and_one_that_did_not_end_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from heredity._core.errors import HostError
    from heredity.experiments import suite as module

    one, two, three = (tmp_path / "runs" / name for name in ("one", "two", "three"))
    chosen = sample.config(budget={"episodes": 2}, views={"validation": 1, "heldout": 1})
    sample.run(one, chosen)
    adopt_cases(two, one)
    result = sample.run(two, chosen)
    assert result.notes == {}
    (run,) = (two / "runs").iterdir()
    assert "had been published before" in next(c.reason for c in verify(run).checks if c.name == "secrecy")

    real = module.run_evolution

    async def broken(*arguments: Any, **options: Any) -> Any:
        raise HostError("the lights went out")

    monkeypatch.setattr(module, "run_evolution", broken)
    assert sample.run(three, chosen).failures
    monkeypatch.setattr(module, "run_evolution", real)
    assert not list(three.rglob(OPENED))
    sample.run(three)
    (run,) = (three / "runs").iterdir()
    assert {c.status for c in verify(run).checks if c.name == "commitment"} == {"passed"}
