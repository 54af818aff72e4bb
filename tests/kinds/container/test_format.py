from __future__ import annotations

from pathlib import Path

import pytest
from tests.kinds.container.folders import TOML, write_task

from heredity import library
from heredity._core.errors import ConfigError
from heredity.kinds.container.format import read_task
from heredity.sandbox.containers.task import Artifact, NetworkPolicy

WHOLE = """
schema_version = "1.4"
source = "somewhere"
artifacts = ["/app/out"]
[task]
name = "acme/sort"
version = "2.0"
description = "Sorting"
keywords = ["files"]
authors = [{name = "A. Author"}]
[metadata]
difficulty = "easy"
[verifier]
timeout_sec = 30.5
env = {MODE = "strict"}
user = "root"
[agent]
timeout_sec = 60
user = 0
[environment]
build_timeout_sec = 90
docker_image = "debian:stable"
cpus = 1.5
memory_mb = 512
storage_mb = 64
gpus = 0
network_mode = "allowlist"
allowed_hosts = ["example.org"]
workdir = "/srv"
env = {LANG = "C"}
mcp_servers = [{name = "tools", url = "http://tools/sse"}]
skills_dir = "/skills"
[environment.healthcheck]
command = "true"
retries = 5
[solution]
env = {HINT = "1"}
"""


def test_every_section_is_read(tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path, toml=WHOLE))
    assert (task.name, task.version, task.keywords, task.metadata["difficulty"]) == (
        "acme/sort", "2.0", ("files",), "easy",
    )  # fmt: skip
    assert (task.verifier.timeout_s, task.verifier.env, task.verifier.user) == (30.5, {"MODE": "strict"}, "root")
    assert (task.agent.timeout_s, task.agent.user) == (60, "0")
    machine = task.environment
    assert (machine.build_timeout_s, machine.cpus, machine.memory_mb, machine.storage_mb, machine.gpus) == (
        90,
        1.5,
        512,
        64,
        0,
    )
    assert machine.network == NetworkPolicy("allowlist", ("example.org",))
    assert (machine.workdir, machine.env, machine.skills_dir) == ("/srv", {"LANG": "C"}, "/skills")
    assert machine.mcp_servers[0]["name"] == "tools"
    assert machine.healthcheck is not None
    assert (machine.healthcheck.command, machine.healthcheck.retries) == ("true", 5)
    assert (task.solution_env, task.artifacts, task.unknown_keys) == ({"HINT": "1"}, (Artifact("/app/out"),), ())
    assert task.solution_folder == tmp_path / "solution"


def test_what_is_left_out_has_the_formats_defaults(tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path / "bare", toml="", solve=None))
    assert (task.name, task.schema_version, task.solution_folder) == ("bare", "1.4", None)
    assert (task.verifier.timeout_s, task.agent.timeout_s, task.environment.network.mode) == (600, None, "public")


def test_the_older_spelling_is_read(tmp_path: Path) -> None:
    text = 'version = "1.0"\n[environment]\nmemory = "2G"\nstorage = "512M"\nallow_internet = false\n'
    task = read_task(write_task(tmp_path, toml=text))
    assert (task.schema_version, task.environment.memory_mb, task.environment.storage_mb) == ("1.0", 2048, 512)
    assert (task.environment.network.mode, task.unknown_keys) == ("no-network", ())


def test_unknown_keys_are_tolerated_and_listed(tmp_path: Path) -> None:
    text = "colour = 1\n[verifier]\ntimeout = 3\n[environment.healthcheck]\ncommand = 'true'\nloud = true\n"
    task = read_task(write_task(tmp_path, toml=text))
    assert set(task.unknown_keys) == {"colour", "verifier.timeout", "environment.healthcheck.loud"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('schema_version = "9"', "schema_version"),
        ("version = 1", "version"),
        ('[task]\nname = "no-slash"', "task.name"),
        ('[task]\nname = "a/b"\nkeywords = "x"', "task.keywords"),
        ("[verifier]\ntimeout_sec = -1", "verifier.timeout_sec"),
        ("[verifier]\ntimeout_sec = nan", "verifier.timeout_sec"),
        ("[verifier]\nenv = {A = 1}", "verifier.env"),
        ("[agent]\ntimeout_sec = true", "agent.timeout_sec"),
        ("[agent]\nuser = 1.5", "agent.user"),
        ("agent = 3", "agent"),
        ("[environment]\nmemory_mb = '2G'", "environment.memory_mb"),
        ("[environment]\nmemory = '2 bananas'", "environment.memory"),
        ("[environment]\nnetwork_mode = 'open'", "environment.network_mode"),
        ("[environment]\nallowed_hosts = ['a']", "environment.allowed_hosts"),
        ("[environment]\nallow_internet = 'no'", "environment.allow_internet"),
        ("[environment.healthcheck]\nretries = 1", "environment.healthcheck.command"),
        ("steps = 3", "steps"),
        ("[[steps]]\nname = '../up'", "steps[0].name"),
    ],
)  # fmt: skip
def test_a_wrong_value_names_the_file_the_key_and_the_remedy(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_task(write_task(tmp_path, toml=text))
    message = str(caught.value)
    assert str(tmp_path / "task.toml") in message
    assert f": {key} is " in message
    assert "expected" in message
    assert "correct it" in message


@pytest.mark.parametrize("name", ["task.toml", "instruction.md", "tests/test.sh", "environment/Dockerfile"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_task(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=Path(name).name):
        read_task(folder)


def test_steps_have_instructions_and_inherit_bounds(tmp_path: Path) -> None:
    text = TOML + (
        "[[steps]]\nname = 'one'\nmin_reward = 0.5\n"
        "[[steps]]\nname = 'two'\nmin_reward = {reward = 1}\n[steps.verifier]\ntimeout_sec = 5\n"
    )
    files = {"steps/one/instruction.md": "First.", "steps/two/instruction.md": "Second."}
    task = read_task(write_task(tmp_path, toml=text, files=files))
    one, two = task.steps
    assert (one.instruction, one.min_reward, one.verifier.timeout_s, one.agent.timeout_s) == ("First.", 0.5, 20, 20)
    assert (two.instruction, two.min_reward, two.verifier.timeout_s) == ("Second.", {"reward": 1}, 5)
    assert (task.instruction, task.step_rewards) == ("First.", "mean")


def test_the_digest_changes_with_any_file(tmp_path: Path) -> None:
    folder = write_task(tmp_path)
    before = read_task(folder).digest
    assert read_task(folder).digest == before
    (folder / "tests" / "expected.txt").write_text("1")
    assert read_task(folder).digest != before


def test_the_programs_that_reward_are_one_and_the_same_in_every_task() -> None:
    # A task of the Harbor format holds all that it needs, so what they have in common is there once for each.
    folders = Path(library.__path__[0]) / "tasks" / "containers"
    files = sorted(folders.glob("*/*/tests/reward.py"))
    assert len(files) >= 8
    assert len({path.read_bytes() for path in files}) == 1, "change all of them alike"
