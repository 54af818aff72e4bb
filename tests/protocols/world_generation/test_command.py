"""`heredity worlds generate`: themes given, proposed and reviewed; worlds admitted, or why not; gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.protocols.world_generation.making import Answering, QuickRunner
from typer.testing import CliRunner, Result

from heredity._core.errors import ConfigError, HeredityError
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.themes import Theme, read_themes
from heredity.models import Usage
from heredity.protocols.world_generation import commands as worlds_generate
from heredity.protocols.world_generation.author import Preparation, Review, with_review
from heredity.tasks.registry import taskset

MODEL = ("--model", "offline/world-author")
MINER = "A miner gathers crystals in a cave past a bear."


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("heredity.kinds.world.building.BuildRunner", QuickRunner)
    monkeypatch.chdir(tmp_path)


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, HeredityError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run("generate", *words, "--json", code=code).stdout)


def test_themes_become_a_library_and_others_are_told_why_not() -> None:
    told = as_json(MINER, "Zeitgeist", *MODEL, "--out", "runs/mine", code=1)
    assert (told["admitted"], told["of"]) == (1, 2)
    rows = {row["world"]: row for row in told["worlds"]}
    assert rows["zeitgeist"]["first_failed"] == "build"
    assert rows["miner_gathers_crystals"]["tokens"] > 1000
    listed = json.loads(run("list", "--library", "runs/mine/library", "--json").stdout)
    assert [row["world"] for row in listed] == ["miner_gathers_crystals"]
    assert taskset(listed[0]["taskset"]).draw("heldout", 2, 0)
    again = as_json("--out", "runs/mine", code=1)
    assert again["worlds"] == told["worlds"], "what has ended is not run again"
    with pytest.raises(ConfigError, match="already holds a suite"):
        run("generate", MINER, *MODEL, "--out", "runs/mine")


@pytest.mark.slow
def test_proposed_themes_are_new_and_reviewed_ones_are_precise(tmp_path: Path) -> None:
    as_json(MINER, "--propose", "2", "--review", *MODEL, "--out", "runs/more")
    themes = read_themes(tmp_path / "runs" / "more" / "themes.toml")
    assert [(theme.source, theme.reviewed) for theme in themes.values()] == [
        ("given", "model"),
        *[("proposed", "model")] * 2,
    ]
    assert all("What it is made of" in theme.theme for theme in themes.values())
    report = (tmp_path / "runs" / "more" / "report.md").read_text()
    assert "proposed, reviewed by a model" in report


def test_nothing_that_cannot_run_leaves_a_folder(tmp_path: Path) -> None:
    for words, said in (
        ((), "no themes; pass some"),
        ((MINER,), "the author needs a model"),
        (("--propose", "1"), "pass --model"),
        (("!!!", *MODEL), "describes the world's subject"),
        (("--themes", "nothing.txt", *MODEL), "cannot be read"),
        ((MINER, "--model", "offline/wrld-author"), "world-author"),
        ((MINER, "--author", "./no-such-agent"), "start.sh"),
    ):
        with pytest.raises((ConfigError, AssertionError), match=said):
            run("generate", *words, "--out", "runs/none")
        assert not (tmp_path / "runs" / "none").exists(), words


def test_no_admitted_world_is_exit_code_1() -> None:
    assert "REJECTED at build" in run("generate", "Zeitgeist", *MODEL, "--out", "runs/none", code=1).output


async def test_what_a_model_said_of_themes_is_not_asked_again(tmp_path: Path) -> None:
    model = Answering("- A maze\n- a maze\n- !!!\n2. A farm", "- A maze!\n* A port", "nothing")
    first = Preparation(model, tmp_path / "themes.jsonl")
    themes = await first.proposed(3, [], taken=["farm"])
    assert [(name, theme.theme) for name, theme in themes.items()] == [
        ("maze", "A maze"),
        ("farm_2", "A farm"),
        ("port", "A port"),
    ]
    with (tmp_path / "themes.jsonl").open("a") as file:
        file.write('\n{"key": "torn')
    again = Preparation(Answering("never asked"), tmp_path / "themes.jsonl")
    assert await again.proposed(3, [], taken=["farm"]) == themes
    assert again.used == first.used == Usage(20, 10, 0, 0.02)


async def test_a_model_without_ideas_is_given_up(tmp_path: Path) -> None:
    model = Answering("I have none.")
    with pytest.raises(ConfigError, match="proposed only 0 new themes of 2"):
        await Preparation(model, tmp_path / "themes.jsonl").proposed(2, [])
    assert len(model.asked) == 4


@pytest.mark.parametrize(
    ("typed", "text"),
    [(["t"], "a precise maze"), (["k"], "a maze"), (["what", "a", "my maze"], "my maze")],
)
def test_a_person_decides_on_a_review(typed: list[str], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typer, "prompt", lambda *given, **more: typed.pop(0))
    theme = Theme(theme="a maze", source="proposed")
    decided = worlds_generate._decided("maze", theme, Review("Vague.", "a precise maze"))
    made = with_review(theme, *decided)
    assert (made.theme, made.reviewed, made.source, typed) == (text, "person", "proposed", [])


def test_a_review_that_says_nothing_leaves_the_theme() -> None:
    theme = Theme(theme="a maze")
    assert with_review(theme, " ", "model") == theme
