"""Malformed files: what is read of them is bounded, and what is wrong is said."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, DamagedRecordError, HeredityError, RecordError
from heredity._core.ids import digest_bytes
from heredity._core.outside import json_value, read_bytes, read_text, toml_table, yaml_value
from heredity._core.refusals import reading
from heredity.cli.main import app
from heredity.experiments.config import cells, load
from heredity.kinds.container.verification import _read_rewards
from heredity.kinds.policy.environments.making import import_modules
from heredity.kinds.question.taskset import _value
from heredity.models.local import tool_calls
from heredity.models.reply_store import ReplyStore
from heredity.models.scripted import _value as placeholder
from heredity.resources import Store
from heredity.session import HiddenCases
from heredity.session.bench import JudgementStore

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
    with pytest.raises(OSError, match="the path is invalid"):
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


def test_malformed_inputs_of_every_loader_are_taken_or_refused_with_place_value_and_remedy(
    fuzzer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HEREDITY_DATA", "HEREDITY_GPQA", "DEEPSEARCHQA_DATA", "DEEPSEARCHQA_CORPUS"):
        monkeypatch.setenv(name, "")  # what loaders set is set back
    monkeypatch.setenv(fuzzer.RUN, str(tmp_path))
    outcomes: Counter[str] = Counter()
    for loader in fuzzer.ALL:
        loader.prepare()
        for number in range(3):
            draw = random.Random(f"fast {loader.name} {number}")
            folder = tmp_path / f"{loader.name} {number}" / loader.folder
            folder.mkdir(parents=True)
            result = fuzzer.attempt(loader, folder, draw)
            outcomes[result["outcome"]] += 1
            assert result["outcome"] in ("refused", "accepted"), f"{loader.name}: {result}"
            assert result["leaked"] <= 0, loader.name
            assert result["lacks"] == [], f"{loader.name}: {result}"
    assert outcomes["refused"] > outcomes["accepted"]


PLAN = b'{"seed": "x", "train": 4, "batch_size": 2, "epochs": 1, "batches": [], "digest": ""}'
ODD = b"tags = ['a']\n[signature]\nname = 'f'\nparameters = {a = 3}\n"


@pytest.mark.parametrize(
    ("loader", "change", "said"),
    [
        ("world in rules", {"levels.json": b"{}"}, "has no levels of test and validation; expected some of each"),
        ("world in rules", {"levels.json": b'{"test": [{"id": 3}]}'}, r"test\.0\.id = 3: expected a valid .* regenerate"),
        ("world in rules", {"levels.json": b"["}, "levels.json is not JSON: .*; regenerate or restore it"),
        ("actions", {"actions.jsonl": b"[" * 5000}, "line 1 is not JSON: .*; give one action a line"),
        ("alfworld game", {"traj_data.json": b"[1]"}, "traj_data.json is no JSON object; fetch the games anew"),
        ("alfworld game", {"game.tw-pddl": b"{}"}, "game.tw-pddl: pddl_problem is None; expected a text"),
        ("alpaca", {"alpaca_eval/alpaca_eval.json": b'[{"instruction": "\\ud800", "output": ""}]'}, "is not what AlpacaEval"),
        ("models of broker", {"models.toml": b"gateway = 3"}, r"models.toml: \[gateway\]"),
        ("batch plan", {"plan.json": PLAN}, r"plan\.json is not a saved plan .* use a file"),
        ("code problem abacus-root", {"problem.toml": b"a = ["}, r"problem\.toml is not TOML: .*; correct it there"),
        ("code problem abacus-root", {"problem.toml": ODD}, r"signature\.parameters\.a: type '3' is unknown; give"),
        ("code problem abacus-root", {"statement.md": b"\xff"}, r"statement\.md is not UTF-8 text"),
        ("team memory", {"kept.jsonl": b"\xff"}, r"kept\.jsonl is not UTF-8 text"),
        ("team history", {"kept.jsonl": b"[1]"}, r"line 1 is not a JSON object: '\[1\]'; correct the line"),
        ("smith folder", {"data/train.jsonl": b'{"question": " ", "answer": 1}\n'}, r"question = ' '; expected a text"),
        ("kept checks", {"checks.jsonl": b"[]\n"}, r"checks.jsonl, line 1 is not a check .*: \[\] is not an object; name another"),
        ("kept checks", {"checks.jsonl": b'{"key": "a", "checked": {"problem": 3}}\n'}, r"line 1: problem = 3: expected a valid"),
        ("kept checks", {"checks.jsonl": b"\xff\n"}, r"checks\.jsonl is not UTF-8 text: .*; name another file"),
        ("kept episodes", {"episodes.jsonl": b'{"key": "a", "score": "x"}\n'}, r"line 1: world is missing; .*; delete the line"),
        ("kept episodes", {"episodes.jsonl": b"[" * 9999 + b"\n"}, r"line 1 is not an episode: it is nested too deeply; delete"),
        ("composed worlds", {"composed.jsonl": b"\xff"}, r"composed\.jsonl is not UTF-8 text: .*; remove it"),
        ("themes that were asked for", {"themes.jsonl": b"\xff"}, r"themes\.jsonl is not UTF-8 text: .*; delete it"),
        ("shared cases", {"sealed/one/suites.json": b'{"ended": 3}'}, r"suites\.json: ended = 3: .* dictionary; restore"),
        ("task of a team", {"task.json": b"["}, r"task\.json is not JSON: .*; restore it, or give the task anew"),
        ("task of a team", {"task.json": b'{"task": "x", "files": ["../a"], "settings": {}}'}, "'../a' is not a file name"),
        ("task that is served", {"task.json": b"[" * 9999}, "holds no readable task .it is nested too deeply.; move it"),
        ("plan.md", {"plan.md": b"## Steps\n\xff"}, r"plan\.md is not UTF-8 text: .*; put a plan there"),
    ],
)  # fmt: skip
def test_what_a_campaign_has_found_is_refused_with_field_value_and_remedy(
    loader: str,
    change: dict[str, bytes],
    said: str,
    fuzzer: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEREDITY_DATA", "")
    chosen = next(entry for entry in fuzzer.ALL if entry.name == loader)
    folder = tmp_path / chosen.folder
    folder.mkdir()
    chosen.lay_out(folder)
    for name, data in change.items():
        (folder / name).write_bytes(data)
    with pytest.raises(HeredityError, match=said):
        chosen.load(folder)


def in_loader(fuzzer: ModuleType, name: str, folder: Path, changed: dict[str, bytes]) -> Any:
    """Return what a loader makes of its files, some of them changed."""
    chosen = next(entry for entry in fuzzer.ALL if entry.name == name)
    folder.mkdir(exist_ok=True)
    chosen.lay_out(folder)
    for file, data in changed.items():
        (folder / file).write_bytes(data)
    return chosen.load(folder)


def test_what_a_run_keeps_for_itself_and_cannot_read_is_made_again(fuzzer: ModuleType, tmp_path: Path) -> None:
    odd = b'3\n[]\n{"world": 3}\n{"key": "a", "text": []}\n' + b"[" * 9999 + b"\n"
    assert in_loader(fuzzer, "composed worlds", tmp_path, {"composed.jsonl": odd}) == []
    assert in_loader(fuzzer, "themes that were asked for", tmp_path, {"themes.jsonl": odd}) == (0, "- another")
    assert in_loader(fuzzer, "kept audit", tmp_path, {"1_World.json": b"[" * 9999}) is None


@pytest.mark.parametrize(("loader", "file"), [("GAIA", "a.txt"), ("documents", "note.md")])
def test_links_in_a_circle_are_refused_and_no_crash(
    loader: str, file: str, fuzzer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEREDITY_GAIA", "")
    in_loader(fuzzer, loader, tmp_path, {})
    (tmp_path / file).unlink()
    (tmp_path / file).symlink_to(file)
    with suppress(HeredityError):
        next(entry for entry in fuzzer.ALL if entry.name == loader).load(tmp_path)


def test_a_reply_in_a_cache_that_is_none_is_damage(fuzzer: ModuleType, tmp_path: Path) -> None:
    in_loader(fuzzer, "reply cache", tmp_path, {})
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as database, database:
        for data in (b"[" * 9999, b"3", b'{"text": 3}'):
            database.execute("UPDATE replies SET reply = ?, checksum = ?", (data, digest_bytes(data)))
            database.commit()
            with pytest.raises(DamagedRecordError, match=r"the entry k is not a reply: .*; move the file away"):
                ReplyStore(tmp_path / "replies.sqlite").get("k")


def test_a_damaged_cache_of_replies_is_said_to_be_damaged(fuzzer: ModuleType, tmp_path: Path) -> None:
    in_loader(fuzzer, "reply cache", tmp_path, {})
    path = tmp_path / "replies.sqlite"
    # SQLite quotes the schema that it cannot read, which is no text.
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE T\xedBLE"))
    with pytest.raises(
        DamagedRecordError, match=r"the cache .* is damaged: .*; nothing was changed in it; move it away"
    ):
        ReplyStore(path).get("k")
    path.unlink()
    os.mkfifo(path)
    for opened in (lambda: ReplyStore(path).get("k"), lambda: Store(path)):
        with pytest.raises(RecordError, match=r"is not a plain file; |is empty"):
            opened()


def test_a_deep_value_in_what_models_and_tools_say_is_a_text() -> None:
    deep = "[" * 9999
    assert tool_calls(f"<tool_call>{deep}</tool_call>", 1)[1] == ()
    assert _value(deep) == deep
    with pytest.raises(LookupError, match="is not in the tool's result"):
        placeholder("results.0.a", {}, [deep])


def test_an_environment_of_a_file_that_has_gone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = ModuleType("harbour_of_nobody")
    gone.__spec__ = importlib.util.spec_from_file_location(gone.__name__, tmp_path / "old" / "harbour_of_nobody.py")
    monkeypatch.setitem(sys.modules, gone.__name__, gone)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "harbour_of_nobody.py").write_text("")
    with pytest.raises(ConfigError, match=r"has the name of another module .*; rename it"):
        import_modules([f"{tmp_path}/harbour_of_nobody.py"], env_id="Harbour-v0")


def test_a_program_to_judge_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xff")
    ran = CliRunner().invoke(app, ["code", "judge", str(tmp_path / "a.py"), "--problem", "branch-sums"])
    assert "a.py is not UTF-8 text" in str(ran.exception)


def test_a_pipe_in_the_place_of_levels_is_not_waited_for(fuzzer: ModuleType, tmp_path: Path) -> None:
    chosen = next(entry for entry in fuzzer.ALL if entry.name == "world in rules")
    (folder := tmp_path / chosen.folder).mkdir()
    chosen.lay_out(folder)
    (folder / "levels.json").unlink()
    os.mkfifo(folder / "levels.json")
    with pytest.raises(ConfigError, match=r"levels\.json cannot be read: it is not a plain file"):
        chosen.load(folder)


def test_judgements_that_are_none_are_made_again(tmp_path: Path) -> None:
    path, cases = tmp_path / "judgements.jsonl", HiddenCases.create(tmp_path)
    lines = ["3", "[]", '{"key": []}', '{"key": "a", "data": 3}', '{"key": "b", "data": {"scores": "x"}}', "[" * 9999]
    path.write_text("\n".join([*lines, json.dumps({"key": "c", "data": {"scores": [0.5, None]}})]))
    store = JudgementStore(path, cases)

    async def fresh() -> dict[str, list[float]]:
        return {"scores": [1.0]}

    async def recalled(key: str) -> bool:
        return (await store.once(key, fresh))[1]

    assert [asyncio.run(recalled(key)) for key in ("a", "b", "c")] == [False, False, True]


def test_a_reward_beyond_every_float_is_no_reward(tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_text(json.dumps({"reward": 10**400}))
    assert _read_rewards(tmp_path / "reward.json")[0] == "reward_invalid"


def test_what_is_no_store_is_closed_again(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(DamagedRecordError, match="is damaged"):
            Store(tmp_path / "a.db")
    assert len(os.listdir("/proc/self/fd")) == before
    (tmp_path / "b.db").symlink_to("nowhere")
    with pytest.raises(RecordError, match="is a link to nothing; remove it, or name a file"):
        Store(tmp_path / "b.db")


def test_a_key_of_many_parts_never_comes_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr("heredity._core.outside.tomllib.loads", lambda text: parsed.append(text) or {})
    part_lists = (["a"] * 20_000, ['"a"'] * 102, ["a", "'b'"] * 60)
    for parts in part_lists:
        for text in (f"{'.'.join(parts)} = 1", f"[{' . '.join(parts)}]", f"x = 1\ny = {{{'.'.join(parts)} = 1}}"):
            with pytest.raises(ValueError, match=r"line [12] has a key of more than 100 parts"):
                toml_table(text)
    with pytest.raises(ValueError, match="shorten it to 2000000"):
        toml_table("#" * 2_000_001)
    assert parsed == []
    toml_table('a = "…" # ' + "1, 2. " * 200 + "." * 500)
    assert len(parsed) == 1


def test_yaml_has_a_limit_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity._core.outside.MAX_YAML_NODES", 500)
    yaml_value("[" + "1," * 499 + "]")
    with pytest.raises(ValueError, match="more than 500 values"):
        yaml_value("[" + "1," * 500 + "]")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("tasksets = [" + '"gymnasium/CartPole-v1", ' * 1001 + "]", "run.tasksets = .*at most 1000 items"),
        ('tasksets = ["a"]\nseeds = 10000\n[matrix]\n"budget.x" = [1, 2, 3]', "make 30000 runs; .*at most 20000: give fewer"),
    ],
)  # fmt: skip
def test_a_suite_that_asks_for_far_too_much_is_refused_before_its_runs_are_made(
    change: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.experiments.config._variant", lambda config, choice: pytest.fail("a run was made"))
    (tmp_path / "suite.toml").write_text(f'[run]\nprotocol = "policy-evolution"\n{change}\n')
    with pytest.raises(ConfigError, match=said):
        cells(load(tmp_path / "suite.toml"))


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("world.yaml: meta.paper: Input should be a valid tuple", ["value", "remedy"]),
        ("it is wrong", ["field", "value", "remedy"]),
        ("world.yaml: meta.paper = 3: expected a valid tuple", []),
        ("budget.seeds = 'x\u202ey'; give another", ["plain"]),
        ("budget.seeds = " + "9" * 2000 + "; give another", ["plain"]),
        ("line 3 is not JSON", ["remedy"]),
    ],
)
def test_what_a_refusal_lacks_is_seen(fuzzer: ModuleType, message: str, lacks: list[str]) -> None:
    assert fuzzer.lacking(message, ["world.yaml"]) == lacks


def test_an_error_shows_what_nobody_would_see() -> None:
    assert str(ConfigError("a\u202eb\x1b[0m\x00\ud800\nc")) == "a\\u202eb\\x1b[0m\\x00\\ud800\nc"


class _Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    level: int = 0
    kinds: dict[str, _Inner] = {}


class _Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: _Inner
    names: list[str]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"names": []}, "inner is missing; add it"),
        ({"names": [], "inner": {"lvel": 1}}, "unknown key inner.lvel; did you mean level?"),
        ({"names": [], "inner": {"kinds": {"a": {"zzz": 1}}}}, "unknown key inner.kinds.a.zzz; known keys: kinds, level"),
        ({"names": "x" * 500, "inner": {}}, f"names = '{'x' * 78}…: expected a valid list"),
        ({"names": [], "inner": {"level": [10**5000]}}, "inner.level = a list that is too large to show: "),
        (3, "it = 3: expected a valid dictionary"),
    ],
)  # fmt: skip
def test_a_schema_is_explained_with_field_value_and_the_nearest_key(value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught, reading("a.toml", "TOML", "correct it", model=_Outer):
        _Outer.model_validate(value)
    assert str(caught.value).startswith(f"a.toml: {said}")
    assert str(caught.value).endswith("; correct it")
