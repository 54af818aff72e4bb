"""Tests of the builder of bubblewrap sandboxes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heredity.sandbox.bubblewrap_root import Root, available, seccomp_program, try_command

pytestmark = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")


def test_devices_are_mounted_before_their_folder_becomes_read_only() -> None:
    root = Root(9, {"/dev/shm": 1, "/tmp": 2}, devices=(Path("/dev/null"),))
    command = root.command(["true"], folder="/tmp")
    closed = command.index("/dev", command.index("--remount-ro"))
    assert command.index("--dev-bind") < closed
    assert command.index("/dev/shm") < closed


def test_the_root_is_read_only_unless_it_has_a_size() -> None:
    assert _ends(Root(9, {}).command(["true"], folder="/")) == ["--remount-ro", "/", "--chdir", "/", "--", "true"]
    writable = Root(9, {}, root_bytes=5).command(["true"], folder="/")
    assert _ends(writable)[:2] != ["--remount-ro", "/"]
    assert writable[writable.index("--size") :][:4] == ["--size", "5", "--tmpfs", "/"]


def test_only_measured_programs_and_browsers_keep_signals_and_namespaces() -> None:
    usual = set(Root(9, {}).command(["true"], folder="/"))
    assert usual - set(Root(9, {}, first=False).command(["true"], folder="/")) == {"--as-pid-1"}
    assert usual - set(Root(9, {}, nests=True).command(["true"], folder="/")) == {"--disable-userns"}


def test_a_program_sees_what_is_shown_and_shared_and_its_own_variables(tmp_path: Path) -> None:
    (tmp_path / "shown").write_text("shown")
    (tmp_path / "shared").mkdir()
    with (tmp_path / "filter").open("w+b") as rules, (tmp_path / "text").open("w+b") as text:
        for file, content in ((rules, seccomp_program()), (text, b"of a descriptor")):
            file.write(content)
            file.seek(0)
        root = Root(rules.fileno(), {"/tmp": 1 << 16})
        root.show(tmp_path / "shown", "/data/shown")
        root.show("/nothing", optional=True)
        root.share(tmp_path / "shared", "/data/shared")
        root.add_file(text.fileno(), "/data/text")
        script = 'cat /data/shown /data/text; echo "$A"; echo kept > /data/shared/file; echo x > /data/shown'
        command = root.command(["/bin/sh", "-c", script], folder="/tmp", variables={"A": "b"})
        ended = subprocess.run(
            command, check=False, capture_output=True, text=True, pass_fds=(rules.fileno(), text.fileno())
        )
    assert ended.stdout == "shownof a descriptorb\n"
    assert "Read-only file system" in ended.stderr
    assert (tmp_path / "shared" / "file").read_text() == "kept\n"
    assert (tmp_path / "shown").read_text() == "shown"


def test_user_namespaces_nest_only_on_request() -> None:
    inner = ["unshare", "--user", "true"]
    assert try_command(inner).returncode != 0
    assert try_command(["true"], nests=True).returncode == 0


def _ends(command: list[str]) -> list[str]:
    return command[-6:]
