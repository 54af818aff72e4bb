"""Groups of the kernel that bound a sandbox's processes: where they cannot be made, and what is left of them."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from heredity.sandbox import process_groups
from heredity.sandbox.process_groups import bounded, unavailable

needs_groups = pytest.mark.skipif(
    os.geteuid() != 0 or unavailable() is not None, reason="control groups are root's, where it may make them"
)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user needs none")
def test_where_no_group_can_be_made_it_is_said_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As with the first version of control groups without their pids: a folder in memory that root may write.
    monkeypatch.setattr(process_groups, "_candidates", lambda: [tmp_path, tmp_path / "none"])
    process_groups._parent.cache_clear()
    try:
        assert "run as another user" in str(unavailable())
        assert bounded(5) == []
    finally:
        process_groups._parent.cache_clear()
    assert list(tmp_path.iterdir()) == []


@needs_groups
def test_a_group_holds_its_bound_and_is_removed_once_it_is_old() -> None:
    command = bounded(4)
    group = Path(command[3])
    many = "for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait"
    ended = subprocess.run([*command, "/bin/sh", "-c", many], capture_output=True, text=True, check=False)
    assert "fork" in ended.stderr.lower()
    while (group / "cgroup.procs").read_text():
        time.sleep(0.01)
    assert group.exists()
    os.utime(group, (0, 0))
    bounded(4)
    assert not group.exists()


@needs_groups
def test_no_program_of_the_candidates_runs_before_it_is_confined(tmp_path: Path) -> None:
    # A sandbox's PATH begins with /workspace/bin, which may exist outside as well, and the shell runs outside.
    mark = tmp_path / "ran"
    for name in ("mkdir", "echo", "sh", "true", "bwrap"):
        (tmp_path / name).write_text(f"#!/bin/sh\n: > {mark}\n")
        (tmp_path / name).chmod(0o755)
    subprocess.run([*bounded(4), "/bin/true"], env={"PATH": str(tmp_path)}, cwd=tmp_path, check=True)
    assert not mark.exists()
