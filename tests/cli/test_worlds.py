from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from heredity._core.errors import ConfigError, DamagedRecordError, HeredityError, IsolationError, UnknownNameError
from heredity.cli.bars import columns
from heredity.kinds.world.commands.play import parse_line
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.world import World, world, world_names
from heredity.sandbox import isolation

NAME = "grid_treasure"
PLAYER = """
class Player:
    def __init__(self, instruction, actions, prompts, memories):
        pass

    def act(self, observation):
        return {"action": "call"}
"""


def _confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


def run(*words: str, typed: str = "", code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(words), input=typed)
    if isinstance(result.exception, HeredityError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code).stdout)


def test_the_list_has_a_row_for_every_world_and_counts_at_its_end() -> None:
    rows = as_json("list")
    assert {row["world"] for row in rows} == set(world_names())
    assert all(row["reward"] in ("binary", "accumulative") and row["levels"] == 15 for row in rows)
    lines = run("list").stdout.splitlines()
    assert lines[0].split()[:3] == ["number", "world", "paper"]
    binary = sum(row["reward"] == "binary" for row in rows)
    assert f"{len(rows)} worlds: {len(rows) - binary} accumulative, {binary} binary" in lines[-1]


def test_a_world_is_shown_with_what_an_agent_sees_first() -> None:
    text = run("show", NAME).stdout
    for words in ("You are in a dark maze", "- move:", "'#': wall", "--- test-01, text", "Oil for"):
        assert words in text
    shown = as_json("show", NAME, "--level", "test-10", "--skin", "inverse")
    plain = as_json("show", NAME, "--level", "test-10")
    swapped = str.maketrans("#.", ".#")
    grid, other = plain["example"].splitlines()[1:6], shown["example"].splitlines()[1:6]
    assert [line.translate(swapped) for line in grid] == other
    assert shown["legend"] == plain["legend"]


def test_what_is_seen_can_be_written_as_a_picture(tmp_path: Path) -> None:
    plain, inverse = tmp_path / "plain.png", tmp_path / "inverse.png"
    run("show", NAME, "--picture", str(plain))
    run("show", NAME, "--picture", str(inverse), "--skin", "inverse-picture")
    assert plain.read_bytes()[:4] == inverse.read_bytes()[:4] == b"\x89PNG"
    assert plain.read_bytes() != inverse.read_bytes()


def test_levels_are_listed_checked_and_written_anew(tmp_path: Path) -> None:
    listing = as_json("levels", NAME, "--check", "--write", str(tmp_path / "new"))
    assert listing["same"] is True
    assert len(listing["levels"]) == 15
    assert (tmp_path / "new" / "levels.json").read_text() == (world(NAME).folder / "levels.json").read_text()
    assert "regenerated levels are the same" in run("levels", NAME, "--check").stdout


def test_levels_that_are_not_what_their_seeds_generate_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "levels_text", lambda self: "{}\n")
    assert as_json("levels", NAME, "--check", code=1)["same"] is False


def test_levels_are_verified_in_processes_of_their_own() -> None:
    report = as_json("verify", NAME, "--seconds", "0.1", "--processes", "1")
    assert (report["worlds"], report["levels"], report["faulty"]) == (1, 15, 0)
    assert {row["level"] for row in report["rows"]} == {level.id for ls in world(NAME).shipped.values() for level in ls}
    assert all(row["solvable"] and row["reference"] == 1.0 and row["kind"] == "exact" for row in report["rows"])


def test_a_fault_is_told_and_changes_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from heredity.kinds.world import verify
    from heredity.kinds.world.contract import UpperBound

    def low(names: Any, **options: Any) -> Any:
        from dataclasses import replace

        made = world(NAME)
        level = replace(made.level("test-01"), upper_bound=UpperBound(0.5, "exact", "wrong on purpose"))
        yield verify.verify_level(made, level, seconds=0.05)

    monkeypatch.setattr(verify, "verify_worlds", low)
    text = run("verify", NAME, code=1).stdout
    assert "more than the bound of 0.5" in text
    assert "1 with faults" in text


def test_verify_wants_to_know_which_worlds() -> None:
    with pytest.raises(ConfigError, match="--all"):
        run("verify")
    with pytest.raises(UnknownNameError, match="grid_treasure"):
        run("verify", "grid_treasur")


def test_a_world_is_played_from_a_pipe_until_it_ends() -> None:
    way = [action.params["direction"] for action in world(NAME).levels.solve(world(NAME).level("test-01").data)]
    text = run("play", NAME, typed="".join(f"move {direction}\n" for direction in way)).stdout
    assert "You have found the treasure." in text
    assert "reward 1, in all 1" in text
    assert (
        text.splitlines()[-1]
        == f"test-01: the end, {len(way)} of 30 steps, reward 1 of at most 1 (exact bound): 100.0%"
    )


def test_what_cannot_be_read_costs_nothing_and_what_is_refused_costs_a_step() -> None:
    text = run("play", NAME, typed='help\n{"act\nmove 1 2\n\nmove direction=up\nquit\ncall\n').stdout
    assert text.count("- move: Take one step") == 2
    assert text.count("nothing was done") == 2
    assert "expected one of north" in text
    assert "left before the end, 1 of 30 steps" in text


def test_a_generated_level_can_be_played_in_another_skin() -> None:
    text = run("play", NAME, "--seed", "3", "--difficulty", "2", "--skin", "inverse-picture", typed="call\n").stdout
    assert "▀" in text
    assert "The echo comes from" in text
    assert "seed-3-2: left before the end" in text
    with pytest.raises(ConfigError, match="one of them"):
        run("play", NAME, "--seed", "3", "--level", "test-01")


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("move direction=north", {"action": "move", "params": {"direction": "north"}}),
        ("move north", {"action": "move", "params": {"direction": "north"}}),
        ("call", {"action": "call", "params": {}}),
        ('{"action": "call"}', {"action": "call"}),
        ("fly far=2", {"action": "fly", "params": {"far": "2"}}),
    ],
)
def test_a_line_is_read_as_an_action(line: str, action: dict[str, Any]) -> None:
    assert parse_line(line, world(NAME).description.actions) == action


def test_numbers_are_read_where_a_parameter_is_one() -> None:
    from heredity.kinds.world.description import ActionDescription, Parameter

    kinds = {"n": Parameter(type="integer", low=0, high=9), "x": Parameter(type="number", low=0, high=1)}
    described = {"set": ActionDescription(description="", params=kinds)}
    assert parse_line("set n=3 x=0.5", described)["params"] == {"n": 3, "x": 0.5}
    assert parse_line("set n=many x=1", described)["params"] == {"n": "many", "x": 1}
    with pytest.raises(ValueError, match="key=value"):
        parse_line("set 3", described)


def test_an_agent_is_tabulated_by_group_and_world_and_known_episodes_are_not_played_again(tmp_path: Path) -> None:
    given = ("bench", "--agent", "reference", "--worlds", NAME, "--runs", "2", "--levels", "2", "--out", str(tmp_path))
    table = as_json(*given)
    assert table["groups"]["binary"]["mean"] == table["groups"]["average"]["mean"] == 1.0
    assert table["groups"]["accumulative"] == {"mean": None, "interval": None, "worlds": 0}
    assert (table["episodes"], table["runs"], table["std"], table["missing"]) == (4, 2, 0.0, 0)
    kept = (tmp_path / "episodes.jsonl").read_text()
    assert len(kept.splitlines()) == 4
    (tmp_path / "episodes.jsonl").write_text(kept.replace('"score": 1.0', '"score": 0.25')[:-9])
    again = as_json(*given)
    assert again["groups"]["average"]["mean"] == pytest.approx((0.25 * 3 + 1.0) / 4)
    assert "std over 2 runs" in run(*given).stdout
    (tmp_path / "episodes.jsonl").write_text("not an episode\n")
    with pytest.raises(DamagedRecordError, match=r"episodes\.jsonl, line 1 is not an episode"):
        run(*given)


def test_a_scripted_model_plays(tmp_path: Path) -> None:
    script = tmp_path / "model.toml"
    script.write_text('[[rule]]\nreply = \'<action>{"action": "call"}</action>\'\n')
    table = as_json("bench", "--model", f"scripted/{script}", "--worlds", NAME, "--runs", "1", "--levels", "1")
    assert table["groups"]["average"]["mean"] == 0.0
    assert table["steps"] == 30
    assert table["std"] is None


def test_what_was_played_is_kept_with_what_could_not_be_read(tmp_path: Path) -> None:
    script, out = tmp_path / "model.toml", tmp_path / "out"
    script.write_text("[[rule]]\nreply = 'I would rather not.'\n")
    given = (
        "bench",
        "--model",
        f"scripted/{script}",
        "--worlds",
        NAME,
        "--runs",
        "1",
        "--levels",
        "1",
        "--out",
        str(out),
    )
    result = run(*given)
    row = json.loads((out / "episodes.jsonl").read_text())
    assert row["unread"] == len(row["actions"]) == row["steps"] > 0
    assert f"{row['unread']} replies had no readable action" in result.stdout
    assert "I would rather not." in (out / "transcripts.jsonl").read_text()


@pytest.mark.parametrize(("kind", "code"), [("connection", 2), ("request", 1)])
def test_a_bench_whose_model_does_not_answer_fails(kind: str, code: int, tmp_path: Path) -> None:
    script, config = tmp_path / "model.toml", tmp_path / "gateway.toml"
    script.write_text(f"[[rule]]\nreply = {{error = '{kind}'}}\n")
    config.write_text("[gateway]\nattempts = 1\n")
    given = ("--model", f"scripted/{script}", "--worlds", NAME, "--runs", "1", "--levels", "1", "--config", str(config))
    done = subprocess.run(
        [sys.executable, "-m", "heredity", "worlds", "bench", *given, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "raises this error on purpose" in done.stderr
    if code == 1:
        table = json.loads(done.stdout)
        assert (table["missing"], table["episodes"], table["groups"]["average"]["mean"]) == (1, 0, None)
        assert "1 episodes could not be played" in done.stderr


@pytest.mark.skipif(not _confined(), reason="programs cannot be confined on this machine")
def test_a_folder_with_a_program_plays(tmp_path: Path) -> None:
    (tmp_path / "agent" / "player").mkdir(parents=True)
    (tmp_path / "agent" / "player" / "agent.py").write_text(PLAYER)
    table = as_json("bench", "--agent", str(tmp_path), "--worlds", NAME, "--runs", "1", "--levels", "2")
    assert (table["groups"]["average"]["mean"], table["episodes"], table["cost_usd"]) == (0.0, 2, 0.0)


@pytest.mark.skipif(not _confined(), reason="programs cannot be confined on this machine")
def test_a_program_that_raises_is_said_to_have_failed(tmp_path: Path) -> None:
    folder, out = tmp_path / "agent" / "player", tmp_path / "out"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(
        PLAYER.split("def act")[0] + "def act(self, observation):\n        raise ValueError('no idea')\n"
    )
    result = run("bench", "--agent", str(tmp_path), "--worlds", NAME, "--runs", "1", "--levels", "1", "--out", str(out))
    assert "1 act_error" in result.stdout
    assert "no idea" in json.loads((out / "episodes.jsonl").read_text())["failure"]


def test_a_bench_without_a_player_or_with_a_wrong_one_says_what_to_give() -> None:
    with pytest.raises(ConfigError, match="--model NAME, --agent NAME"):
        run("bench")
    with pytest.raises(UnknownNameError, match="search"):
        run("bench", "--agent", "serch", "--worlds", NAME)
    with pytest.raises(UnknownNameError, match=NAME):
        run("bench", "--agent", "random", "--worlds", "grid_tresure")


def test_columns_put_words_to_the_left_and_numbers_to_the_right() -> None:
    assert columns(("name", "n"), [["a", "5"], ["bcdef", "10"]]).splitlines() == ["name    n", "a       5", "bcdef  10"]


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("autoenv", "env_main.py"),
        ("gymnasium", "src/world_valley_farm_gymnasium/loaded.py"),
        ("verifiers", "src/world_valley_farm_verifiers/loaded.py"),
    ],
)
def test_a_world_is_exported_in_each_format(form: str, file: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = as_json("export", "valley_farm", str(out), "--format", form)
    written = [path for path in out.rglob("*") if path.is_file()]
    assert (out / file).is_file()
    assert summary["files"] == len(written)
    assert summary["bytes"] == sum(path.stat().st_size for path in written)
    with pytest.raises(ConfigError, match="does not exist yet"):
        run("export", "valley_farm", str(out))


def test_what_cannot_be_exported_is_refused_with_what_can(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean autoenv"):
        run("export", NAME, str(tmp_path / "out"), "--format", "autonv")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "env_main.py").write_text("")
    with pytest.raises(ConfigError, match="a folder in rules alone"):
        run("export", str(tmp_path / "code"), str(tmp_path / "out"))
