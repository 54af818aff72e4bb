from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from heredity._core import plugins
from heredity._core.built_in import BUILT_IN
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import Group
from heredity.methods.registry import METHODS

NUMBERS = Group[int]("tests.numbers", "number", "a whole number", lambda found: isinstance(found, int))
ONE = 1
WORD = "one"


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch):
    offered: list[EntryPoint] = []
    monkeypatch.setattr(plugins, "_installed", lambda: {NUMBERS.name: offered})
    plugins._entries.cache_clear()
    yield offered
    plugins._entries.cache_clear()


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, NUMBERS.name)


def test_names_are_sorted_and_nothing_is_imported_for_them(entries: list[EntryPoint]) -> None:
    entries += [entry("two", "no_such_module:X"), entry("one", f"{__name__}:ONE")]
    assert NUMBERS.names() == ("one", "two")
    assert "two" in NUMBERS
    assert "three" not in NUMBERS
    assert NUMBERS.load("one") == 1


def test_an_unknown_name_suggests_the_nearest(entries: list[EntryPoint]) -> None:
    entries.append(entry("one", f"{__name__}:ONE"))
    with pytest.raises(UnknownNameError, match="did you mean one"):
        NUMBERS.load("onee")


@pytest.mark.parametrize("value", ["no_such_module:ONE", f"{__name__}:ABSENT"])
def test_what_cannot_be_imported_says_its_name_and_where_it_is(entries: list[EntryPoint], value: str) -> None:
    entries.append(entry("one", value))
    with pytest.raises(ConfigError, match=rf"number 'one' \({value}, group tests.numbers\) failed to load"):
        NUMBERS.load("one")


def test_a_package_that_exits_while_it_is_imported_does_not_end_the_host(
    entries: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving_package.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    entries.append(entry("one", "leaving_package:ONE"))
    with pytest.raises(ConfigError, match=r"failed to load: SystemExit\(0\); repair or uninstall its package"):
        NUMBERS.load("one")


def test_what_does_not_conform_is_told_what_to_give(entries: list[EntryPoint]) -> None:
    entries.append(entry("one", f"{__name__}:WORD"))
    with pytest.raises(ConfigError, match="is 'one'; give a whole number"):
        NUMBERS.load("one")


def test_two_packages_may_not_offer_one_name(entries: list[EntryPoint]) -> None:
    entries += [entry("one", f"{__name__}:ONE"), entry("one", "other:ONE")]
    with pytest.raises(ConfigError, match="two packages offer 'one'"):
        NUMBERS.names()


def test_what_another_package_offered_is_on_record_with_its_version_and_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "acme-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n")
    (info / "RECORD").write_text("acme.py,sha256=abc,3\n")
    (info / "entry_points.txt").write_text(f"[{NUMBERS.name}]\nacme = {__name__}:ONE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    caches = plugins._installed, plugins._entries
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(plugins, "_loaded", {})
    try:
        assert NUMBERS.load("acme") == 1
        (origin,) = plugins.loaded()
    finally:
        for cache in caches:
            cache.cache_clear()
    assert (origin.name, origin.distribution, origin.version) == ("acme", "acme", "1.2")
    assert len(origin.digest) == 64


@pytest.mark.parametrize("group", BUILT_IN)
def test_every_built_in_part_loads(group: str) -> None:
    for name, value in BUILT_IN[group].items():
        EntryPoint(name, value, group).load()


def test_entries_of_an_older_installation_of_ours_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "heredity-0.0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: heredity\nVersion: 0.0.1\n")
    (info / "entry_points.txt").write_text("[heredity.methods]\nace = heredity.gone:Ace\nolder = heredity.gone:Older\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    caches = plugins._installed, plugins._entries
    for cache in caches:
        cache.cache_clear()
    try:
        assert METHODS.names() == tuple(sorted(BUILT_IN["heredity.methods"]))
        assert METHODS.load("ace").name == "ace"
    finally:
        for cache in caches:
            cache.cache_clear()
