from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, RecordError, RunLockedError
from heredity.records import RunFolder, config_digest, load_config, read_journal
from heredity.records.lock import RunLock

_SRC = str(Path(__file__).parents[2] / "src")
_HOLDER = """
import sys, time
from pathlib import Path
from heredity.records import RunFolder
folder = RunFolder.open(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_writer_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": _SRC}) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunLockedError, match=rf"process {holder.pid}\b"):
            RunFolder.open(tmp_path / "run")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    RunFolder.open(tmp_path / "run").close()


def test_two_writers_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run"), pytest.raises(RunLockedError, match=str(os.getpid())):
        RunFolder.open(tmp_path / "run")
    RunFolder.open(tmp_path / "run").close()


_PARENT = """
import os, sys, time
from pathlib import Path
from heredity.records.lock import RunLock
lock = RunLock.acquire(Path(sys.argv[1]))
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(60)
os._exit(0)
"""


def test_a_forked_child_that_outlives_its_parent_does_not_keep_the_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": _SRC}) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        try:
            RunLock.acquire(tmp_path / "lock").release()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_configuration_survives_being_saved_and_loaded(tmp_path: Path) -> None:
    config = {
        "run": {"seed": 3, "taskset": "fake/ü", "none": None},
        "budget": {"episodes": 128, "seconds": 1.5},
        "l": [1, 2],
    }
    with RunFolder.open(tmp_path / "run") as folder:
        folder.save_config(config)
        loaded = folder.load_config()
    assert loaded == {"run": {"seed": 3, "taskset": "fake/ü"}, "budget": {"episodes": 128, "seconds": 1.5}, "l": [1, 2]}
    assert config_digest(loaded) == config_digest(config)


def test_a_value_that_toml_does_not_have_is_refused(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run") as folder, pytest.raises(ConfigError, match="TOML"):
        folder.save_config({"a": object()})


def test_a_half_written_or_missing_configuration_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"run\.toml cannot be read"):
        load_config(tmp_path)
    (tmp_path / "run.toml").write_text("[run\nseed")
    with pytest.raises(RecordError, match="not TOML"):
        load_config(tmp_path)


def test_an_atomic_write_replaces_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run") as folder:
        folder.write_atomic("metrics.json", b"old")
        folder.write_atomic("metrics.json", b"new")
    assert (tmp_path / "run" / "metrics.json").read_bytes() == b"new"
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["journal.jsonl", "lock", "metrics.json"]


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be created"):
        RunFolder.open(tmp_path / "file" / "run")


def test_a_path_may_be_given_as_a_text(tmp_path: Path) -> None:
    with RunFolder.open(f"{tmp_path}/run") as folder:
        folder.save_config({"run": {"seeds": 1}})
        folder.journal.append("heartbeat", {"clock_s": 1.5})
    assert load_config(f"{tmp_path}/run") == {"run": {"seeds": 1}}
    assert [event.kind for event in read_journal(f"{tmp_path}/run/journal.jsonl")] == ["heartbeat"]
