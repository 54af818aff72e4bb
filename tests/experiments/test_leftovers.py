"""What killed processes leave: nothing in the folder for temporary files, no process, once a later one has ended."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heredity._core.engine_folder import EngineFolder
from heredity.sandbox import bubblewrap_root

from . import sample

KILLS = 20
CONTAINERS = """
[run]
protocol = "harness-evolution"
tasksets = ["tasks/shell"]
[evolver]
method = "ace"
initial = "heredity.library:harnesses/worker"
[budget]
train_cases = 2
[schedule]
batch_size = 1
[views]
validation = 1
heldout = 1
replay = 1
[gateway]
execution = "offline/shell-worker"
optimisation = "offline/harness-writer"
[suite]
baselines = false
"""


def belonging(root: Path) -> list[str]:
    """Return the processes whose command or variables name a folder."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(root) in told:
            found.append(process.name)
    return found


def test_a_folder_that_was_never_locked_is_swept_when_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, new = tmp_path / "heredity-new-old", tmp_path / "heredity-new-new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (0, 0))
    with EngineFolder() as own:
        assert sorted(tmp_path.iterdir()) == sorted((own, new))
    assert list(tmp_path.iterdir()) == [new]


@pytest.mark.slow
@pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")
@pytest.mark.parametrize("what", ["policies", "containers"])
def test_nothing_is_left_after_twenty_kills(what: str, tmp_path: Path) -> None:
    if what == "containers" and bubblewrap_root.available() is not None:
        pytest.skip(f"bubblewrap: {bubblewrap_root.available()}")
    scratch, path = tmp_path / "tmp", tmp_path / "suite.toml"
    scratch.mkdir()
    path = sample.write_suite(tmp_path) if what == "policies" else path
    if what == "containers":
        path.write_text(CONTAINERS)
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(sample.SOURCE)}
    command = [sys.executable, "-m", "heredity", "run", str(path), "--out", str(tmp_path / "runs" / "one")]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)

    draw = random.Random(what)
    for _ in range(KILLS):
        process = start()
        try:
            process.communicate(timeout=draw.uniform(0.3, 6.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    last = start()
    assert last.wait(timeout=900) == 0, last.communicate()[1].decode()
    until = time.monotonic() + 10
    while belonging(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    assert belonging(tmp_path) == []
    assert list(scratch.iterdir()) == []
    assert not [entry for entry in tmp_path.rglob("*") if entry.is_socket()]


MADE_BY_HAND = ("mkdtemp(prefix=", "mkstemp(", "TemporaryDirectory(", "NamedTemporaryFile(")


def test_temporary_folders_are_engine_folders_which_are_swept() -> None:
    """A temporary file outlives a kill unless it is in an engine folder, which the next process sweeps."""
    found: list[str] = []
    for path in sorted((sample.SOURCE / "heredity").rglob("*.py")):
        if "agents" in path.parts or path.name in ("engine_folder.py", "process_groups.py"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if any(call in line for call in MADE_BY_HAND) and "dir=" not in line:
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert found == []


def test_what_a_killed_process_measured_with_is_swept(tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    code = (
        "import os, signal\n"
        "from heredity._core.engine_folder import EngineFolder\n"
        "from heredity.kinds.program.kind import _written\n"
        "_written(EngineFolder().path, {'program.py': b'A = 1'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(sample.SOURCE)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert [path.name for path in scratch.glob("*/*/program.py")] == ["program.py"]
    later = "from heredity._core.engine_folder import EngineFolder\nEngineFolder().remove()\n"
    subprocess.run([sys.executable, "-c", later], env=environment, check=True)
    assert list(scratch.iterdir()) == []
