"""What is published verifies for a stranger and shows nothing secret; everything else is refused with its reasons."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, RunLockedError
from heredity.cli.main import app
from heredity.experiments import publish as module
from heredity.experiments.publish import RefusedPublicationError, Wanted, finds_in, publish
from heredity.experiments.verification.verify import verify
from heredity.records.lock import RunLock
from heredity.results.card import Card

from . import sample

pytestmark = pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root") / "runs" / "one"
    assert not sample.run(folder, sample.config(suite={"baselines": False}, budget={"episodes": 2})).failures
    return folder


@pytest.fixture
def copied(suite: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(suite, tmp_path / "runs" / "one"))


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the stranger's process out, which the first test has."""
    empty = Card(heredity="", figures=[], runs=[], checks=[])
    monkeypatch.setattr(module, "_strangers_card", lambda folder, wanted: empty)


def test_a_published_suite_verifies_and_has_nothing_of_this_machine(copied: Path, tmp_path: Path) -> None:
    (copied / "runs" / "CartPole-v1--best-of-n--s0" / "workspace").mkdir()
    done = CliRunner().invoke(app, ["publish", str(copied), "--to", str(tmp_path / "out"), "--sample", "2", "--json"])
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["command"] == "heredity verify out --sample 2"
    assert {check["name"] for check in told["checks"] if check["status"] == "passed"} >= {"replay", "published", "card"}
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    assert not [name for name in names if name.endswith(("lock", "spans.jsonl", "view.sqlite", "workspace"))]
    about = json.loads((tmp_path / "out" / "published.json").read_bytes())
    assert {"lock", "spans.jsonl", "workspace"} <= about["left_out"].keys()
    assert about["logs"] == []
    for file in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        assert str(tmp_path).encode() not in file.read_bytes(), file
    (tmp_path / "out" / "view.sqlite").write_bytes(b"made by a reader")
    assert not [check for check in verify(tmp_path / "out").checks if check.status == "failed"]
    (tmp_path / "out" / "report.md").write_text("We won.")
    changed = {check.name: check.reason for check in verify(tmp_path / "out").checks if check.status == "failed"}
    assert f"published was {about['digest']}" in changed["published"]


def test_a_folder_whose_check_fails_is_refused_and_nothing_is_left(copied: Path, tmp_path: Path) -> None:
    run = copied / "runs" / "CartPole-v1--best-of-n--s0"
    (run / "run.toml").write_text((run / "run.toml").read_text().replace("heldout = 3", "heldout = 4"))
    with pytest.raises(RefusedPublicationError, match=r"the check configuration of CartPole-v1--best-of-n--s0 fails"):
        publish(copied, Wanted(tmp_path / "out" / "here", sample=1))
    assert not (tmp_path / "out").exists()


def _unended(folder: Path) -> None:
    journal = folder / "runs" / "CartPole-v1--best-of-n--s0" / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))


def _sealed(folder: Path) -> None:
    (folder / "runs" / "CartPole-v1--best-of-n--s0" / "opened.json").unlink()


def _link(folder: Path) -> None:
    (folder / "table").symlink_to("/etc/passwd")


def _key(folder: Path) -> None:
    (folder / "runs" / "CartPole-v1--best-of-n--s0" / "annotations.jsonl").write_text('{"a": "sk-' + "a1" * 20 + '"}\n')


def _path(folder: Path) -> None:
    (folder / "notes.txt").write_text("see /home/someone/experiments")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_unended, "has not ended; continue it with heredity resume"),
        (_sealed, "hidden cases of CartPole-v1--best-of-n--s0 are sealed"),
        (_link, "is a link"),
        (_key, "a key or a token in runs/CartPole-v1--best-of-n--s0/annotations.jsonl"),
        (_path, r"paths of this machine in notes\.txt \(/home/someone\)"),
    ],
)
@pytest.mark.usefixtures("trusting")
def test_what_must_not_be_published_is_refused_with_the_reason(
    change: object, why: str, copied: Path, tmp_path: Path
) -> None:
    assert callable(change)
    change(copied)
    with pytest.raises(RefusedPublicationError, match=why):
        publish(copied, Wanted(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("trusting")
def test_paths_may_be_accepted_and_are_counted_keys_never(copied: Path, tmp_path: Path) -> None:
    _path(copied)
    assert publish(copied, Wanted(tmp_path / "out", ["paths"])).manifest["accepted"] == {"paths": 1}
    with pytest.raises(ConfigError, match="keys are never published"):
        publish(copied, Wanted(tmp_path / "other", ["keys"]))


@pytest.mark.usefixtures("trusting")
def test_wrong_targets_and_busy_folders_are_refused(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigError, match="exists; remove it"):
        publish(copied, Wanted(tmp_path / "out"))
    with pytest.raises(ConfigError, match="is inside"):
        publish(copied, Wanted(copied / "out"))
    with pytest.raises(ConfigError, match="neither a run nor a suite"):
        publish(tmp_path, Wanted(tmp_path / "new"))
    lock = RunLock.acquire(copied / "lock")
    try:
        with pytest.raises(RunLockedError):
            publish(copied, Wanted(tmp_path / "new"))
    finally:
        lock.release()


def test_keys_of_the_environment_and_keys_at_the_edge_of_what_is_read_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "correct-horse-battery")
    monkeypatch.setattr(module, "_CHUNK", 64)
    monkeypatch.setattr(module, "_OVERLAP", 40)
    private = module._private(tmp_path / "x")
    for text in ("x" * 55 + "correct-horse-battery", "y" * 50 + " ghp_" + "b2" * 15, "-----BEGIN PRIVATE KEY-----"):
        (tmp_path / "file").write_text(text)
        assert [find.kind for find in finds_in(tmp_path, private)] == ["keys"], text
        assert all("horse" not in find.text and "b2b2" not in find.text for find in finds_in(tmp_path, private))
    (tmp_path / "file").write_text("nothing at all, in /usr/lib and /homes")
    assert list(finds_in(tmp_path, private)) == []
