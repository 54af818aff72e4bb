"""Themes: files of them, their names, and the tasksets that they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.world.themes import LONGEST, name_themes, read_themes, write_themes
from heredity.tasks.registry import expand, located_taskset, taskset


def test_a_line_is_a_theme_and_is_named_by_its_words(tmp_path: Path) -> None:
    file = tmp_path / "themes.txt"
    file.write_text(
        "# what we want\nA keeper of the lighthouse trades oil.\n\nA keeper of the lighthouse sleeps.\n12 monkeys!\n"
    )
    themes = read_themes(file)
    assert list(themes) == ["keeper_lighthouse_trades", "keeper_lighthouse_sleeps", "monkeys"]
    assert themes["monkeys"].theme == "12 monkeys!"


def test_themes_of_the_same_words_have_names_of_their_own() -> None:
    assert list(name_themes(["A maze", "a maze", "the maze!"], taken=["maze_2"])) == ["maze", "maze_3", "maze_4"]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "themes.toml"
    themes = name_themes(['A maze with "quotes"\nand two lines.', "Über alles: ein Garten"])
    file.write_text(write_themes(themes))
    assert read_themes(file) == themes


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "", "has no themes"),
        ("a.txt", "# nothing\n\n", "has no themes"),
        ("a.toml", "[maze]\ntheme = 7\n", "maze: theme = 7"),
        ("a.toml", "[maze]\n", "maze: theme is missing"),
        ("a.toml", '[maze]\ntheme = "..."\n', "describes the world's subject"),
        ("a.toml", '[maze]\ntheme = "a maze"\nsauce = "given"\n', "maze: unknown key sauce"),
        ("a.toml", '[maze]\ntheme = "a maze"\nsource = "stolen"\n', "maze: source = 'stolen'"),
        ("a.toml", '["../maze"]\ntheme = "a maze"\n', "is not a valid theme name"),
        ("a.toml", "maze = 3\n", "maze"),
        ("a.toml", '[maze]\ntheme = "a \\u0000 maze"\n', "control characters"),
        ("a.toml", f'[maze]\ntheme = "{"a" * (LONGEST + 1)}"\n', "characters; give at most"),
        ("a.toml", "[maze\n", "is not TOML"),
        ("a.txt", "!!!\n", "describes the world's subject"),
    ],
)
def test_a_malformed_theme_is_refused_by_its_name(tmp_path: Path, name: str, text: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_themes(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            read_themes(path)
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_themes(tmp_path / "bytes.txt")


def test_a_theme_is_a_taskset_with_hidden_seeds(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[maze]\ntheme = "A maze"\n[farm]\ntheme = "A farm"\n')
    name = located_taskset("themes/mine.toml", tmp_path)
    assert expand([name]) == [f"{name}#maze", f"{name}#farm"]
    made = taskset(f"{name}#maze")
    assert (made.info.kind, made.info.public["theme"]) == ("world-build", "A maze")
    first, again, other = made.draw("heldout", 2, 5), made.draw("heldout", 3, 5), made.draw("heldout", 2, 6)
    assert first == again[:2]
    seeds = [task.spec["seed"] for task in (*again, *other, *made.draw("train", 1, 5))]
    assert len(set(seeds)) == len(seeds)
    assert not any(str(seed) in str(made.info) for seed in seeds)
    with pytest.raises(UnknownNameError, match="maze"):
        taskset(f"{name}#mase")


def test_the_library_has_thirty_themes() -> None:
    names = expand(["themes/offline"])
    assert len(names) == 30
    assert len({taskset(name).info.version for name in names}) == 30
    with pytest.raises(UnknownNameError, match="offline"):
        expand(["themes/ofline"])
