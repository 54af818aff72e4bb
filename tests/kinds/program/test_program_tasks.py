"""Program tasks: what a folder says, what is refused, and which seeds are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.program import taskset as task
from heredity.kinds.program.taskset import SOURCE, files_below, read_program_task
from heredity.tasks.registry import located_taskset, taskset

VERIFY = "def verify(answer):\n    return answer\n"


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    texts = {"task.toml": 'title = "One"\n', "program.py": "def solve():\n    return 1.0\n", "scorer.py": VERIFY}
    for name, text in {**texts, **{key.replace("_", ".", 1): value for key, value in files.items()}}.items():
        (folder / name).write_text(text)
    return folder


def test_a_folder_says_how_its_scorer_measures(tmp_path: Path) -> None:
    task = read_program_task(written(tmp_path / "a"))
    assert (task.form, task.seeded, task.declared.minimise) == ("verify", False, False)
    evaluated = read_program_task(written(tmp_path / "b", scorer_py="def evaluate(program_path):\n    return {}\n"))
    assert (evaluated.form, evaluated.seeded) == ("evaluate", False)
    assert read_program_task(written(tmp_path / "c", scorer_py="def evaluate(path, seed):\n    return {}\n")).seeded
    assert read_program_task(written(tmp_path / "d", program_py="def solve(seed):\n    return seed\n")).seeded


def test_a_program_is_no_part_of_what_scores_it(tmp_path: Path) -> None:
    one = read_program_task(written(tmp_path / "a"))
    other = read_program_task(written(tmp_path / "b", program_py="def solve():\n    return 2.0\n"))
    assert one.digest == other.digest
    assert one.digest != read_program_task(written(tmp_path / "c", scorer_py=VERIFY + "\n")).digest


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"task_toml": "title = 3\n"}, "title"),
        ({"task_toml": 'title = "x"\ncolour = 1\n'}, "colour"),
        ({"task_toml": 'title = "x"\nfailure_score = nan\n'}, "failure_score"),
        ({"task_toml": 'title = "x"\nscorer = "../scorer.py"\n'}, "scorer"),
        ({"task_toml": 'title = "x"\nscorer = "other.py"\n'}, "no such file"),
        ({"task_toml": 'title = "x"\nanswer = "answer.py"\n'}, "no such file"),
        (
            {
                "task_toml": 'title = "x"\nanswer = "program.py"\n',
                "scorer_py": "def evaluate(program_path):\n    return {}\n",
            },
            "no verify(answer)",
        ),
        ({"scorer_py": "def score():\n    pass\n"}, "verify(answer)"),
        ({"scorer_py": "def verify(:\n"}, "not valid Python"),
        ({"program_py": "x = 1\n"}, "solve()"),
        ({"scorer_py": "(" * 100_000}, "not valid Python"),
    ],
)
def test_a_wrong_folder_is_refused_with_what_is_wrong(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_program_task(written(tmp_path / "a", **files))
    assert said in str(refused.value)


def test_a_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "a")
    (folder / "data.bin").write_bytes(bytes(9 << 20))
    with pytest.raises(ConfigError, match=r"at most .* MiB"):
        read_program_task(folder)


def test_a_whole_disk_is_no_folder_of_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "all").symlink_to("/")
    with pytest.raises(ConfigError, match=r"name a smaller folder|name another folder"):
        files_below(tmp_path / "all")
    (tmp_path / "one" / ".git").mkdir(parents=True)
    (tmp_path / "one" / ".git" / "config").touch()
    (tmp_path / "one" / "b.py").touch()
    assert files_below(tmp_path / "one") == [tmp_path / "one" / "b.py"]
    monkeypatch.setattr(task, "MOST_FILES", 0)
    with pytest.raises(ConfigError, match="more than 0 files"):
        files_below(tmp_path / "one")


def test_seeds_of_splits_are_disjoint_and_more_extend_fewer(tmp_path: Path) -> None:
    drawn = taskset(f"program/{written(tmp_path / 'a', program_py='def solve(seed): return seed')}")
    seeds = {split: [t.spec["seed"] for t in drawn.draw(split, 50, 7)] for split in ("train", "validation", "heldout")}
    assert len({seed for of in seeds.values() for seed in of}) == 150
    assert [t.spec["seed"] for t in drawn.draw("train", 5, 7)] == seeds["train"][:5]
    assert [t.spec["seed"] for t in drawn.draw("train", 5, 8)] != seeds["train"][:5]


def test_names_and_paths(tmp_path: Path) -> None:
    written(tmp_path / "a")
    assert located_taskset("program/./a", tmp_path) == f"program/{tmp_path / 'a'}"
    assert located_taskset("program/circle-packing-26", tmp_path) == "program/circle-packing-26"
    with pytest.raises(UnknownNameError, match="circle-packing-26"):
        taskset("program/circle-packing")


@pytest.mark.parametrize("name", SOURCE.names())
def test_every_task_of_the_library_says_what_is_known(name: str) -> None:
    info = taskset(name).info
    assert info.public["best_known"] is not None
    assert info.public["best_known_source"]
    assert "`solve(" in str(info.public["statement"])
    assert info.public["judged"] == "apart from the program"
