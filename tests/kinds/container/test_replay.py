from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.kinds.container.folders import TOML, write_task

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import attempt
from heredity.sandbox.containers import BubblewrapBackend, ContainerSandbox, Phase
from heredity.sandbox.containers.task import ContainerTask


async def test_a_dockerfile_is_replayed(backend: BubblewrapBackend, tmp_path: Path) -> None:
    dockerfile = (
        "FROM python:3.12-slim\nARG WORD=hey\nENV GREETING=$WORD LEVEL=1\nWORKDIR /srv/work\nCOPY data/ data\n"
        "COPY data/a.txt ../\nCOPY --chmod=700 *.sh /opt/tools/\nRUN cat data/*.txt > all && echo $GREETING >> all\n"
    )
    files = {
        "environment/data/a.txt": "A\n",
        "environment/data/b.txt": "B\n",
        "environment/run.sh": "#!/bin/sh\necho ran\n",
    }
    task = read_task(write_task(tmp_path, dockerfile=dockerfile, files=files))
    seen: list[str] = []

    async def agent(sandbox: ContainerSandbox, _task: ContainerTask) -> None:
        seen.append((await sandbox.exec("pwd; cat all; ls /srv; /opt/tools/run.sh; echo $GREETING$LEVEL")).stdout)

    await attempt(backend, task, agent)
    assert seen == ["/srv/work\nA\nB\nhey\na.txt\nwork\nran\nhey1\n"]


async def test_an_environment_is_built_once(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path, dockerfile="FROM debian\nRUN date +%N > /stamp\n"))
    one, two = await asyncio.gather(backend.build(task), backend.build(task))
    assert one.name == two.name
    (tmp_path / "tests" / "more").write_text("")
    assert (await backend.build(read_task(tmp_path))).name != one.name


@pytest.mark.parametrize(
    ("dockerfile", "reason"),
    [
        ("FROM debian\n\nRUN echo broken; exit 4\n", r"Dockerfile:3: .*code 4.*broken"),
        ("FROM debian\nRUN apt-get install -y nothing\n", r"Dockerfile:2: .*without a network"),
        ("FROM debian\nCOPY missing /app/\n", r"Dockerfile:2: nothing in .* matches 'missing'"),
        ("FROM ghcr.io/acme/special:1\n", r"ghcr.io/acme/special:1, whose content is not on this machine"),
        ("FROM debian\nUSER me\n", r"Dockerfile:2: USER lines"),
        ("FROM debian\nRUN head -c 64M /dev/zero > /big\n", r"Dockerfile:2: "),
    ],
)
async def test_what_cannot_be_replayed_is_refused_with_the_reason(
    backend: BubblewrapBackend, tmp_path: Path, dockerfile: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        await backend.build(read_task(write_task(tmp_path, dockerfile=dockerfile)))


@pytest.mark.parametrize(
    ("toml", "files", "reason"),
    [
        ("[environment]\ngpus = 1\n", {}, "GPUs"),
        ("[environment]\ndocker_image = 'x'\n", {}, "prebuilt image x"),
        ("[agent]\nuser = 'nobody'\n", {}, "another user"),
        ("[environment]\nmcp_servers = [{name = 'a'}]\n", {}, "servers of tools"),
        ("[environment.healthcheck]\ncommand = 'true'\n", {}, "health check"),
        ("[[steps]]\nname = 'a'\n", {"steps/a/instruction.md": "x"}, "several steps"),
        ("", {"environment/docker-compose.yaml": "x"}, "compose"),
        ("", {"environment/.dockerignore": "x"}, "dockerignore"),
    ],
)  # fmt: skip
async def test_a_task_that_needs_more_than_a_dockerfile_is_refused(
    backend: BubblewrapBackend, tmp_path: Path, toml: str, files: dict[str, str], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        await backend.build(read_task(write_task(tmp_path, toml=toml, files=files)))


async def test_a_link_that_leads_out_of_the_environment_is_not_copied(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    folder = write_task(tmp_path / "task", dockerfile="FROM debian\nCOPY link /app/\n")
    (tmp_path / "outside").write_text("secret")
    (folder / "environment" / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(ConfigError, match="leads out"):
        await backend.build(read_task(folder))


async def test_files_go_in_and_out_and_links_stay_inside(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path / "task"))
    sandbox = backend.sandbox(task, await backend.build(task), Phase())
    await sandbox.start()
    try:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "a.bin").write_bytes(bytes(range(256)) * 4096)
        await sandbox.upload(tmp_path / "in", "/data")
        await sandbox.upload(tmp_path / "in" / "a.bin", "/data/b.bin", mode=0o600)
        await sandbox.exec("cd /data; mkdir -p sub; cp a.bin sub/c.bin; ln -s /etc/passwd link; mkfifo pipe")
        await sandbox.download("/data", tmp_path / "out")
        paths = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*")}
        assert paths == {"a.bin", "b.bin", "sub", "sub/c.bin"}
        assert (tmp_path / "out" / "sub" / "c.bin").read_bytes() == (tmp_path / "in" / "a.bin").read_bytes()
        await sandbox.download("/data/b.bin", tmp_path / "one")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "in" / "a.bin").read_bytes()
    finally:
        await sandbox.stop()
    with pytest.raises(HostError, match="not running"):
        await sandbox.exec("true")


async def test_a_command_says_its_beginning_and_its_end(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path, toml=TOML))
    rollout = await attempt(backend, task, "echo begin; seq 200000; echo end; echo oops >&2; exit 7")
    assert rollout.agent is not None
    assert (rollout.agent.code, rollout.agent.reason, rollout.agent.stderr) == (7, "exited", "oops\n")
    assert rollout.agent.stdout.startswith("begin\n1\n")
    assert rollout.agent.stdout.endswith("\nend\n")
    assert "bytes left out]" in rollout.agent.stdout
    assert len(rollout.agent.stdout) < 300_000


async def test_nothing_of_the_host_is_seen(
    backend: BubblewrapBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_SECRET", "1")
    task = read_task(write_task(tmp_path))
    looks = (
        f"ls {tmp_path}; env | grep HOST_SECRET; python3 -c 'import heredity'; python3 -c 'import numpy'; cat /proc/1/mem; "
        "cat /proc/1/environ; unshare -U true; mount -t tmpfs x /mnt; echo 1 > /proc/sys/vm/drop_caches; "
        "python3 -c \"import socket; socket.create_connection(('1.1.1.1', 53), 1)\"; wc -l < /etc/passwd"
    )
    rollout = await attempt(backend, task, looks)
    assert rollout.agent is not None
    assert rollout.agent.stdout == "2\n"
    assert rollout.agent.stderr.count("ModuleNotFoundError") == 2


async def test_a_second_name_of_a_file_is_fetched_too(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path))
    sandbox = backend.sandbox(task, await backend.build(task), Phase())
    await sandbox.start()
    try:
        await sandbox.exec("mkdir /data; echo a > /data/one; ln /data/one /data/two")
        await sandbox.download("/data", tmp_path / "out")
    finally:
        await sandbox.stop()
    assert (tmp_path / "out" / "two").read_text() == "a\n"
