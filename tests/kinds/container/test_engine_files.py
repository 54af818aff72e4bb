"""Files into and out of an engine's container, with a stand-in that behaves as the engine's documentation says."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.kinds.container.folders import write_task

from heredity._core.errors import CandidateError
from heredity.kinds.container.format import read_task
from heredity.sandbox import bubblewrap_root
from heredity.sandbox.containers import archives
from heredity.sandbox.containers.archives import unpacked
from heredity.sandbox.containers.contract import ContainerLimits, Image, Phase
from heredity.sandbox.containers.docker import DockerSandbox

REASON = bubblewrap_root.available()
ENGINE = Path(__file__).with_name("engine_stand_in.py")
needs_bubblewrap = pytest.mark.skipif(REASON is not None, reason=f"the stand-in needs bubblewrap: {REASON}")


@pytest_asyncio.fixture
async def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DockerSandbox]:
    engine = tmp_path / "docker"
    engine.write_text(f'#!/bin/sh\nexec {sys.executable} {ENGINE} "$@"\n')
    engine.chmod(0o755)
    monkeypatch.setenv("ENGINE_STAND_IN", str(tmp_path / "engine"))
    task = read_task(write_task(tmp_path / "task"))
    opened = DockerSandbox(str(engine), task, Image("image", {}, "/"), Phase(verifying=True), ContainerLimits())
    await opened.start()
    yield opened
    await opened.stop()


@needs_bubblewrap
async def test_what_a_verifier_leaves_in_memory_is_fetched(sandbox: DockerSandbox, tmp_path: Path) -> None:
    done = await sandbox.exec(
        "echo 1 > /logs/verifier/reward.txt && mkdir -p /app/deep && echo a > '/app/deep/a b.txt'"
    )
    assert done.code == 0, done.stderr
    await sandbox.download("/logs/verifier/reward.txt", tmp_path / "reward.txt")
    assert (tmp_path / "reward.txt").read_text() == "1\n"
    await sandbox.exec("ln -s /etc/passwd /app/link; mkfifo /app/pipe; ln -s /etc /app/deep/up")
    await sandbox.download("/app", tmp_path / "app")
    assert sorted(str(p.relative_to(tmp_path / "app")) for p in (tmp_path / "app").rglob("*")) == [
        "deep",
        "deep/a b.txt",
    ]
    for missing in ("/app/link", "/app/pipe", "/nowhere"):
        with pytest.raises(CandidateError, match="is neither a file nor a folder"):
            await sandbox.download(missing, tmp_path / "x")


@needs_bubblewrap
async def test_tests_are_put_where_a_verifier_finds_them_though_that_is_in_memory(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    (tmp_path / "tests" / "inner").mkdir(parents=True)
    (tmp_path / "tests" / "test.sh").write_text("cat /tests/inner/a")
    (tmp_path / "tests" / "inner" / "a").write_text("found")
    await sandbox.upload(tmp_path / "tests", "/tests")
    assert (await sandbox.exec("bash /tests/test.sh")).stdout == "found"
    await sandbox.upload(tmp_path / "tests" / "test.sh", "/opt/new/run.sh", mode=0o750)
    assert (await sandbox.exec("stat -c '%a %u' /opt/new/run.sh")).stdout == f"750 {os.getuid()}\n"


@needs_bubblewrap
async def test_more_than_the_bound_is_not_fetched(
    sandbox: DockerSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.sandbox.containers.docker.MOST_BYTES", 20_000)
    await sandbox.exec("mkdir /app; head -c 100000 /dev/zero > /app/large")
    with pytest.raises(CandidateError, match="cannot be fetched"):
        await sandbox.download("/app/large", tmp_path / "large")


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    file.seek(0)
    return file


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out"])
def test_an_archive_that_names_a_place_outside_puts_nothing_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="leads out of it"):
        unpacked(archive((tarfile.TarInfo(name), b"x")), tmp_path / "in", "it", folder=True)
    assert not (tmp_path / "out").exists()
    assert not Path("/etc/out").exists()


def test_files_are_unpacked_as_they_were_by_any_python_3_11(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tarfile.TarFile, "extractall")  # which takes a filter from 3.11.4 on
    folder, script = tarfile.TarInfo("./a"), tarfile.TarInfo("a/b/run.sh")
    folder.type, script.mode, script.mtime = tarfile.DIRTYPE, 0o4777, 1_000_000_000
    unpacked(archive((folder, b""), (script, b"true")), tmp_path / "in", "it", folder=True)
    about = (tmp_path / "in/a/b/run.sh").stat()
    assert (about.st_mode & 0o7777, about.st_mtime, about.st_size) == (0o755, 1_000_000_000, 4)
    for members in ([("a", b"x"), ("a/b", b"y")], [("a/b", b"y"), ("a", b"x")]):
        with pytest.raises(CandidateError, match="it cannot be fetched"):
            unpacked(
                archive(*((tarfile.TarInfo(n), d) for n, d in members)), tmp_path / members[0][0][-1], "it", folder=True
            )


def test_what_is_no_archive_or_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CandidateError, match="it cannot be fetched"):
        unpacked(io.BytesIO(os.urandom(2000)), tmp_path / "a", "it", folder=True)
    with pytest.raises(CandidateError, match="it is neither a file nor a folder"):
        unpacked(archive(), tmp_path / "a", "it", folder=False)
    monkeypatch.setattr(archives, "MOST_BYTES", 3)
    with pytest.raises(CandidateError, match="it has more than 3 bytes"):
        unpacked(archive((tarfile.TarInfo("a"), b"four")), tmp_path / "a", "it", folder=True)


@needs_bubblewrap
async def test_links_to_the_verifiers_files_are_removed_before_a_container_is_kept(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    left = (
        "mkdir -p /app/deep && cd /app && ln -s /tests/expected.txt out && ln -s ../../proc/self/root/tests deep/up && "
        "ln -s out chain && ln -s /dev/stdin in && mkfifo pipe && ln -s /dev/null none && ln -s deep near && "
        "ln -s /usr/bin/env env && echo 1 > 'a b'"
    )
    assert (await sandbox.exec(left)).code == 0
    settled = await sandbox.settle()
    assert set(settled.discarded) == {"/app/out", "/app/deep/up", "/app/chain", "/app/in", "/app/pipe"}
    app = tmp_path / "engine" / sandbox._name / "root" / "app"  # pyright: ignore[reportPrivateUsage]
    assert sorted(path.name for path in app.iterdir()) == ["a b", "deep", "env", "near", "none"]


@needs_bubblewrap
async def test_a_second_name_of_a_file_is_fetched_too(sandbox: DockerSandbox, tmp_path: Path) -> None:
    assert (await sandbox.exec("mkdir -p /app && cd /app && echo a > one && ln one two && ln two three")).code == 0
    await sandbox.download("/app", tmp_path / "app")
    assert {path.name: path.read_text() for path in (tmp_path / "app").iterdir()} == dict.fromkeys(
        ("one", "two", "three"), "a\n"
    )
