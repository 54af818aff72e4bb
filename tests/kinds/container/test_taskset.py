from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.kinds.container.folders import write_task

from heredity import library
from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.container import taskset as module
from heredity.kinds.container.format import read_task
from heredity.kinds.container.taskset import OOD, SOURCE, read_splits
from heredity.tasks import SPLITS
from heredity.tasks.registry import located_taskset, taskset, taskset_names

OWN = Path(library.__path__[0]) / "tasks" / "containers"
TEXT = """
version = "7"
ood = ["b"]
[domains.a]
train = ["one", "two", "three"]
validation = ["four"]
heldout = ["five"]
[domains.b]
train = ["six"]
heldout = ["seven"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "tasks"
    for name in ("a/one", "a/two", "a/three", "a/four", "a/five", "b/six", "b/seven"):
        write_task(made / name)
    (made / "splits.toml").write_text(TEXT)
    monkeypatch.setenv("HEREDITY_TASKS", str(made))
    return made


def test_every_domain_is_a_taskset_and_so_are_all_together(folder: Path) -> None:
    assert SOURCE.names() == ("tasks/a", "tasks/b", "tasks/all")
    tasks = taskset("tasks/a")
    assert (tasks.info.kind, tasks.info.name, tasks.info.public["tasks"]) == (
        "container",
        "tasks/a",
        {"train": 3, "validation": 1, "heldout": 1},
    )
    [task] = tasks.draw("heldout", 1, 0)
    assert (task.id, task.spec["domain"], task.spec["folder"]) == ("a/five", "a", str(folder / "a" / "five"))


def test_the_tasks_of_a_domain_out_of_distribution_are_in_no_other_split(folder: Path) -> None:
    everything = taskset("tasks/all")
    assert {task.id for task in everything.draw(OOD, 2, 1)} == {"b/six", "b/seven"}
    others = {
        task.id for split, count in zip(SPLITS, (3, 1, 1), strict=True) for task in everything.draw(split, count, 1)
    }
    assert others == {"a/one", "a/two", "a/three", "a/four", "a/five"}
    assert [task.id for task in taskset("tasks/b").draw("train", 1, 1)] == ["b/six"]
    assert {task.id for task in taskset("tasks/a").draw(OOD, 2, 1)} == {"b/six", "b/seven"}


def test_domains_can_be_joined_and_label_their_tasks(folder: Path) -> None:
    joined = taskset("tasks/a+b")
    drawn = joined.draw("train", 4, 1)
    assert {task.id for task in drawn} == {"a/one", "a/two", "a/three", "b/six"}
    assert all(task.attributes == {"domain": task.id.partition("/")[0]} for task in drawn)
    for wrong in ("tasks/a+a", "tasks/a+c", "tasks/all+a"):
        with pytest.raises(UnknownNameError):
            taskset(wrong)


def test_variants_that_an_author_names_are_a_cluster(folder: Path) -> None:
    for name in ("one", "three"):
        path = folder / "a" / name / "task.toml"
        path.write_text(path.read_text() + '[metadata]\ncluster = "ledger"\n')
    clusters = {task.id: task.cluster for task in taskset("tasks/a").draw("train", 3, 1)}
    assert clusters == {"a/one": "a: ledger", "a/two": None, "a/three": "a: ledger"}


def test_the_order_follows_the_entropy_and_a_larger_draw_extends_a_smaller_one(folder: Path) -> None:
    tasks = taskset("tasks/a")
    assert tasks.draw("train", 2, 5) == tasks.draw("train", 3, 5)[:2]
    assert [task.index for task in tasks.draw("train", 3, 5)] == [0, 1, 2]
    assert len({tuple(task.id for task in tasks.draw("train", 3, entropy)) for entropy in range(20)}) > 1


def test_the_version_changes_with_any_file_of_a_task(folder: Path) -> None:
    before = taskset("tasks/a").info.version
    assert taskset("tasks/a").info.version == before
    (folder / "a" / "one" / "tests" / "test.sh").write_text("true\n")
    assert taskset("tasks/a").info.version != before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"two"', '"one"', "more than once"),
        ('"two"', '"nine"', "no task nine"),
        ('"two", ', "", "two of .* in no split"),
        ('ood = ["b"]', 'ood = ["c"]', "unknown domain or key .*'c'"),
        ("[domains.b]", "[domains.b]\nextra = 1", "domains.b.extra"),
        ("[domains.a]", "[domains.a", "is not TOML"),
    ],
)
def test_wrong_splits_are_refused(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "splits.toml").write_text(TEXT.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read_splits(folder)


def test_what_is_not_there_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError):
        taskset("tasks/c")
    with pytest.raises(UnknownNameError):
        taskset("tasks/a").draw("test", 1, 0)
    with pytest.raises(ConfigError, match="3 tasks for train; 4"):
        taskset("tasks/a").draw("train", 4, 0)
    monkeypatch.delenv("HEREDITY_TASKS")
    monkeypatch.chdir(tmp_path)
    assert "tasks/a" in taskset_names()
    monkeypatch.setattr(module, "FOLDERS", replace(module.FOLDERS, name="heredity.nothing-offers-this"))
    monkeypatch.chdir("/")
    assert not [name for name in taskset_names() if name.startswith("tasks/")]
    with pytest.raises(ConfigError, match="HEREDITY_TASKS"):
        taskset("tasks/a")


def test_the_tasks_of_a_package_are_found_everywhere_and_a_folder_at_hand_comes_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEREDITY_TASKS")
    monkeypatch.chdir("/")
    assert SOURCE.names() == ("tasks/shell", "tasks/data", "tasks/programs", "tasks/all")
    monkeypatch.chdir(tmp_path)
    assert SOURCE.names() == ("tasks/a", "tasks/b", "tasks/all")
    monkeypatch.setenv("HEREDITY_TASKS", "heredity.library:tasks/containers")
    assert [Path(task.spec["folder"]).parents[1] for task in taskset("tasks/shell").draw("heldout", 1, 0)] == [OWN]


def test_our_own_tasks_have_three_domains_and_all_splits() -> None:
    splits = read_splits(OWN)
    assert splits.ood == ("programs",)
    assert all(sum(map(len, parts.values())) >= 8 for parts in splits.domains.values())
    for domain, parts in splits.domains.items():
        for name in (name for names in parts.values() for name in names):
            task = read_task(OWN / domain / name)
            assert (task.name, task.unknown_keys) == (f"heredity/{name}", ())
            assert task.solution_folder is not None
            assert task.environment.network.mode == "no-network"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of ten tasks of one's own, `my-tasks` of the current folder, with spaces above it."""
    made = tmp_path / "my työ" / "my-tasks"
    for number in range(10):
        write_task(made / f"task-{number}")
    monkeypatch.chdir(made.parent)
    monkeypatch.setenv("HOME", str(made.parent))
    return made


@pytest.mark.parametrize(
    "spelling", ["tasks/./my-tasks", "tasks/my-tasks/", "tasks/~/my-tasks", "tasks/{}", "tasks/./../my työ/my-tasks"]
)
def test_a_folder_of_ones_own_is_a_taskset_however_it_is_spelled(own: Path, spelling: str) -> None:
    name = spelling.format(own)
    tasks = taskset(name)
    assert tasks.info.public == {"domains": ["my-tasks"], "tasks": {"train": 5, "validation": 2, "heldout": 3}}
    drawn = {task.id for split, count in zip(SPLITS, (5, 2, 3), strict=True) for task in tasks.draw(split, count, 1)}
    assert drawn == {f"my-tasks/task-{number}" for number in range(10)}
    assert located_taskset(name, own.parent) == f"tasks/{own}"


def test_how_many_of_ones_own_tasks_train_can_be_said(own: Path) -> None:
    assert taskset("tasks/./my-tasks?train=1").info.public["tasks"] == {"train": 1, "heldout": 9}
    assert taskset("tasks/./my-tasks?train=4&validation=6").info.public["tasks"] == {"train": 4, "validation": 6}
    assert taskset("tasks/./my-tasks/task-3").info.public["tasks"] == {"heldout": 1}
    assert located_taskset("tasks/./my-tasks?train=1", own.parent) == f"tasks/{own}?train=1"
    for number in range(9, 0, -1):
        (own / f"task-{number}" / "task.toml").unlink()
        counts = taskset("tasks/./my-tasks").info.public["tasks"]
        assert counts["heldout"] >= 1, counts
        assert counts.get("train", 0) == min(round(number / 2), number - 1)
    for number in range(1, 10):
        write_task(own / f"task-{number}")
    before = {task.id for task in taskset("tasks/./my-tasks").draw("train", 5, 0)}
    assert {task.id for task in taskset("tasks/./my-tasks").draw("train", 5, 7)} == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tasks/my-tasks", "for the folder my-tasks here, write tasks/./my-tasks"),
        ("./my-tasks", r"is a path, not the name of a taskset; say what it holds: tasks/\./my-tasks"),
        ("tasks/./my-task", "my-task is not a folder; give one that holds task folders"),
        ("tasks/.", "holds no folder with a task.toml"),
        ("tasks/./my-tasks?train=11", "has 10 tasks; 11 for train and 0 for validation are asked for"),
        ("tasks/./my-tasks?train=-1", "train is '-1'; give how many tasks"),
        ("tasks/./my-tasks?whole=true", "unknown option 'whole'; known: train, validation"),
    ],
)
def test_what_is_wrong_with_the_name_of_a_folder_is_said(own: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        taskset(name).draw("train", 1, 0)


def test_the_splits_of_ones_own_folder_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEREDITY_TASKS")
    assert {task.id for task in taskset(f"tasks/{folder}").draw(OOD, 2, 1)} == {"b/six", "b/seven"}
    with pytest.raises(ConfigError, match="says which tasks are for what; leave out"):
        taskset(f"tasks/{folder}?train=1")
