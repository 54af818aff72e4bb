from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kinds.container.folders import write_task
from typer.testing import CliRunner

from heredity import library
from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.kinds.container.check import check_task, check_tasks
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import attempt, oracle
from heredity.sandbox.containers import BubblewrapBackend, Phase
from heredity.sandbox.containers.contract import open_backend
from heredity.sandbox.containers.docker import DockerBackend, engine

OWN = Path(library.__path__[0]) / "tasks" / "containers"


def engine_or_none() -> str | None:
    try:
        return engine()
    except ConfigError:
        return None


ENGINE = engine_or_none()


async def test_a_sound_task_has_no_faults(backend: BubblewrapBackend, tmp_path: Path) -> None:
    checked = await check_task(backend, write_task(tmp_path))
    assert (checked.faults, checked.notes, checked.oracle, checked.noop) == ((), (), 1.0, 0.0)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"solve": "true\n"}, "the solution gets 0"),
        ({"solve": None}, "no solution/solve.sh"),
        ({"solve": "exit 9\n"}, "code 9"),
        ({"test": "echo 1 > /logs/verifier/reward.txt\n"}, "doing nothing gets 1"),
        ({"test": "echo nan > /logs/verifier/reward.txt\n"}, "reward_invalid"),
        ({"test": "true\n"}, "reward_missing"),
        ({"toml": "[verifier]\ntimeout_sec = 'x'\n"}, "verifier.timeout_sec"),
        ({"dockerfile": "FROM debian\nUSER me\n"}, "USER lines"),
    ],
)
async def test_a_faulty_task_is_named_with_its_fault(
    backend: BubblewrapBackend, tmp_path: Path, changed: dict[str, str | None], fault: str
) -> None:
    checked = await check_task(backend, write_task(tmp_path, **changed))  # type: ignore[arg-type]
    assert fault in " ".join(checked.faults)


async def test_success_may_begin_below_one(backend: BubblewrapBackend, tmp_path: Path) -> None:
    toml = "[metadata]\nsuccess_threshold = 0.5\n"
    test = "test -e /app/greeting.txt; echo $((1 - $?))| sed 's/1/0.6/' > /logs/verifier/reward.txt\n"
    assert (await check_task(backend, write_task(tmp_path, toml=toml, test=test))).faults == ()


async def test_unknown_keys_and_networks_are_noted(backend: BubblewrapBackend, tmp_path: Path) -> None:
    checked = await check_task(
        backend, write_task(tmp_path, toml="colour = 'red'\n", solve="sleep 60 & printf hello > greeting.txt\n")
    )
    assert checked.faults == ()
    assert [note.split()[0] for note in checked.notes] == ["unknown", "network_mode", "the"]


async def test_two_tasks_of_one_name_are_a_fault_that_names_both_places(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    same = "[task]\nname = 'own/same'\n"
    places = [write_task(tmp_path / "a", toml=same), write_task(tmp_path / "b", toml=same)]
    write_task(tmp_path / "c", toml="[task]\nname = 'own/other'\n")
    first, second, other = await check_tasks(backend, tmp_path)
    for task in (first, second):
        (fault,) = task.faults
        assert all(str(folder) in fault for folder in places)
    assert other.faults == ()


async def test_a_folder_without_tasks_is_refused(backend: BubblewrapBackend, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"task\.toml"):
        await check_tasks(backend, tmp_path)
    with pytest.raises(ConfigError, match="unknown backend of containers 'lxc'"):
        async with open_backend("lxc"):
            pass


def test_the_command_says_which_tasks_are_sound(backend: BubblewrapBackend, tmp_path: Path) -> None:
    write_task(tmp_path / "good")
    sound = CliRunner().invoke(app, ["tasks", "check", str(tmp_path), "--json"])
    assert (sound.exit_code, json.loads(sound.stdout)["faulty"]) == (0, 0)
    write_task(tmp_path / "poor", toml="[task]\nname = 'own/poor'\n", solve="true\n")
    faulty = CliRunner().invoke(app, ["tasks", "check", str(tmp_path)])
    assert faulty.exit_code == 1
    assert "1 of 2 tasks are sound" in faulty.stdout
    assert "the solution gets 0" in faulty.stdout


@pytest.mark.slow
async def test_our_own_tasks_are_sound(backend: BubblewrapBackend) -> None:
    checked = await check_tasks(backend, OWN)
    assert len(checked) >= 24
    assert {task.name: task.faults for task in checked if task.faults} == {}


@pytest.mark.parametrize("name", ["shell/tidy-names", "data/find-sessions", "programs/order-by-needs"])
async def test_one_of_our_own_tasks_of_each_domain_is_sound(backend: BubblewrapBackend, name: str) -> None:
    assert (await check_task(backend, OWN / name)).faults == ()


@pytest.mark.skipif(ENGINE is None, reason="neither Docker nor Podman answers")
async def test_a_task_runs_in_a_container(tmp_path: Path) -> None:
    assert ENGINE is not None
    backend, task = DockerBackend(ENGINE), read_task(write_task(tmp_path))
    try:
        assert (await oracle(backend, task)).verdict.reward == 1.0
        tampered = await attempt(backend, task, "sleep 60 & echo 1 > /logs/verifier/reward.txt; sleep 0.3")
        assert (tampered.verdict.status, tampered.verdict.reward) == ("ok", 0.0)
        assert tampered.discarded == ("/logs/verifier/reward.txt",)
        sandbox = backend.sandbox(task, await backend.build(task), Phase())
        await sandbox.start()
        try:
            assert (await sandbox.exec("sleep 9", timeout_s=0.5)).reason == "timeout"
        finally:
            await sandbox.stop()
    finally:
        await backend.close()


@pytest.mark.parametrize(
    ("test", "warned"),
    [
        ("cd /app; python3 work.py; [ -e work.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n", True),
        ("cd /app && python3 -c 'import work'; [ -e work.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n", True),
        ("[ -e /app/work.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n", False),
        (
            "cd /app; r=$(python3 -I work.py); rm -rf /logs/verifier/*\n"
            "[ -e work.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n",
            False,
        ),
        ("cd /app; python3 -c 'import json'; [ -e work.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n", False),
    ],
)
async def test_a_verifier_that_lets_programs_write_the_reward_is_warned_of(
    backend: BubblewrapBackend, tmp_path: Path, test: str, warned: bool
) -> None:
    checked = await check_task(backend, write_task(tmp_path, test=test, solve="echo 'print(1)' > /app/work.py\n"))
    assert bool(checked.warnings) == warned, checked


def test_an_engine_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match="neither Docker nor Podman answers"):
        engine()
