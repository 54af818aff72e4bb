"""Malformed files: what is read of them is bounded, and what is wrong is said."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from heredity.outside import json_value, read_bytes, read_text, toml_table, yaml_value

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


@pytest.mark.parametrize(
    "make",
    [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path.name), lambda path: None],
    ids=["folder", "pipe", "device", "loop", "nothing"],
)  # fmt: skip
def test_what_is_no_plain_file_is_neither_waited_for_nor_left_open(make: Callable[[Path], Any], tmp_path: Path) -> None:
    make(tmp_path / "x")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=r"directory|plain file|symbolic links"):
        read_bytes(tmp_path / "x")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\r\nb\rc")
    assert read_text(tmp_path / "x") == "a\nb\nc"
    with pytest.raises(OSError, match="it has more than 3 bytes"):
        read_bytes(tmp_path / "x", 3)
    with pytest.raises(OSError, match="the path is none"):
        read_bytes(Path("a\0b"))


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        *((json_value, text) for text in ("NaN", "1e999", '"\\ud800"', "[" * 100_000, "[" * 200 + "]" * 200, "9" * 5000)),
        *((toml_table, text) for text in ("a = [", "a = " + "[" * 5000, "a" + ".a" * 300 + " = 1", "a = 1" + "0" * 5000)),
        *((yaml_value, text) for text in (BOMB, "a: &a [*a]", "[" * 50_000, "{" * 900, "a: *b", "!!timestamp x", "!!int ''")),
        *((yaml_value, text) for text in ("? [a]\n: b", "a: 2026-99-99", "!!python/object:os.system x", "!!bool x")),
        (yaml_value, 'a: "\\ud800"'),
    ],
)  # fmt: skip
def test_what_a_parser_cannot_bear_is_a_value_error(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse(text)


def test_aliases_that_do_not_multiply_stay() -> None:
    assert yaml_value("a: &a {b: 1}\nc: {<<: *a, d: *a}") == {"a": {"b": 1}, "c": {"b": 1, "d": {"b": 1}}}


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("fuzz_loaders", BENCHMARKS / "fuzz_loaders.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_malformed_inputs_of_every_loader_are_refused_by_name_or_taken(
    fuzzer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HEREDITY_DATA", "HEREDITY_GPQA"):
        monkeypatch.setenv(name, "")  # what loaders set is set back
    outcomes: Counter[str] = Counter()
    for loader in fuzzer.LOADERS:
        loader.prepare()
        for number in range(6):
            draw = random.Random(f"fast {loader.name} {number}")
            folder = tmp_path / f"{loader.name} {number}" / loader.folder
            folder.mkdir(parents=True)
            result = fuzzer.attempt(loader, folder, draw)
            outcomes[result["outcome"]] += 1
            assert result["outcome"] in ("refused", "accepted"), f"{loader.name}: {result}"
            assert result["leaked"] <= 0, loader.name
    assert outcomes["refused"] > outcomes["accepted"]
