from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError, HostError, UnknownNameError
from heredity.agents.launchers import Launch, launcher
from heredity.agents.launchers.programs import Build, NpmProgram, PipProgram, Program, agents_folder
from heredity.agents.launchers.registry import programs

PROGRAMS = programs()
NAMES = sorted(PROGRAMS)


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path / "agents"))
    return tmp_path / "agents"


def pretend(program: Program, says: str) -> None:
    """Put a script in the place of a program."""
    path = program.folder / program.entry
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)


def words(launch: Launch) -> list[str]:
    """The words of a command, before the shell replaces anything."""
    return shlex.split(launch.command)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_program_names_the_command_that_installs_it(name: str) -> None:
    with pytest.raises(ConfigError, match=f"heredity agents install {name}"):
        launcher(name).launch("Begin.", "m")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_one_word_and_the_model_is_named_where_there_is_one(name: str) -> None:
    pretend(PROGRAMS[name], "exit 0")
    prompt = 'It\'s "quoted" $HOME `id`; rm -rf /'
    with_model, without = (launcher(name).launch(prompt, model) for model in ("gpt-5", ""))
    assert prompt in words(with_model)
    assert any(word.endswith("gpt-5") for word in words(with_model))
    assert "gpt-5" not in without.command
    assert not any("gpt-5" in value for value in without.environment.values())
    assert with_model.read_only == (PROGRAMS[name].folder,)
    assert words(with_model)[-1] == "</dev/null"


def test_codex_asks_the_broker_only_where_there_is_one() -> None:
    pretend(PROGRAMS["codex"], "exit 0")
    assert "model_provider=heredity" in launcher("codex").launch("x", "m").command
    assert "model_provider" not in launcher("codex").launch("x").command


def test_an_unknown_launcher_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="claude-code"):
        launcher("claude_code")


def test_programs_are_kept_in_the_users_cache_unless_a_folder_is_named(
    agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agents_folder() == agents
    monkeypatch.delenv("HEREDITY_AGENTS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert agents_folder() == Path("/cache/heredity/agents")


def test_a_check_starts_the_program_and_reads_its_version() -> None:
    program = PROGRAMS["codex"]
    assert "not installed" in (program.problem() or "")
    pretend(program, "echo codex-cli 0.169.0")
    assert program.problem() is None


@pytest.mark.parametrize(("says", "problem"), [("echo 0.1.0", "not 0.169.0"), ("echo broken >&2; exit 3", "broken")])
def test_a_check_finds_another_version_and_a_broken_program(says: str, problem: str) -> None:
    pretend(PROGRAMS["codex"], says)
    assert problem in (PROGRAMS["codex"].problem() or "")


class Copied(PipProgram):
    """A program that is installed without a network."""

    def fill(self, folder: Path) -> None:
        (folder / "bin").mkdir()
        (folder / "bin" / "python").write_text("#!/bin/sh\n")
        if "broken" in self.requirements:
            raise HostError("the registry cannot be reached")


def test_a_program_is_installed_whole_or_not_at_all(agents: Path) -> None:
    with pytest.raises(HostError, match="registry"):
        Copied("tool", "1", ("broken",), "tool").install()
    assert list(agents.iterdir()) == []
    assert Copied("tool", "1", (), "tool").install() == agents / "tool-1"
    assert [path.name for path in agents.iterdir()] == ["tool-1"]
    # Installed already: nothing is asked of any registry.
    assert Copied("tool", "1", ("broken",), "tool").install() == agents / "tool-1"


def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    for name in ("npm", "node"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def tool(**changes: str) -> NpmProgram:
    build = Build("@maker/tool", "2.0.0-x", "sha512-abc", "tool")
    return NpmProgram("tool", "2.0.0", {"x86_64": build, "aarch64": build, **changes})  # type: ignore[arg-type]


def test_npm_is_told_the_digest_of_what_it_is_to_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(
        tmp_path,
        monkeypatch,
        'while [ "$1" != --prefix ]; do shift; done; cd "$2"; mkdir -p node_modules/@maker/tool; '
        "cp package-lock.json node_modules/@maker/tool/tool",
    )
    lock = (tool().install() / "node_modules" / "@maker" / "tool" / "tool").read_text()
    assert '"integrity": "sha512-abc"' in lock
    assert "https://registry.npmjs.org/@maker/tool/-/tool-2.0.0-x.tgz" in lock


def test_what_npm_complains_of_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(tmp_path, monkeypatch, "echo EINTEGRITY >&2; exit 1")
    with pytest.raises(HostError, match="npm ended with 1: EINTEGRITY"):
        tool().install()


def test_without_npm_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"Node\.js"):
        tool().install()


def test_a_machine_without_a_build_is_told_which_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ConfigError, match="x86_64, aarch64"):
        tool().install()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my-agent"
    made.mkdir()
    (made / "start.sh").write_text("exit 0\n")
    return made


def variables(folder: Path, config: str) -> Mapping[str, str]:
    (folder / "config.yaml").write_text(config)
    return launcher(str(folder)).launch("Begin.", "m").environment


def test_a_folder_is_told_its_prompt_its_model_and_its_variables(folder: Path) -> None:
    environment = variables(folder, "name: mine\nenv_vars: {TURNS: 40, FAST: true, STYLE: bold}\n")
    assert environment == {
        "HEREDITY_PROMPT": "Begin.",
        "HEREDITY_MODEL": "m",
        "TURNS": "40",
        "FAST": "true",
        "STYLE": "bold",
    }
    assert launcher(str(folder)).name == "my-agent"
    assert launcher(str(folder)).launch("x").read_only == (folder,)


@pytest.mark.parametrize(
    "config", ["env_vars: [A]", "env_vars: {A: [1]}", "env_vars: {1: a}", "- a", "a: [", "a: b: c"]
)
def test_a_wrong_config_of_a_folder_is_refused(folder: Path, config: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.yaml"):
        variables(folder, config)


def test_a_folder_without_a_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no start\.sh"):
        launcher(f"{tmp_path}/").launch("x")


def test_what_is_no_launcher_is_refused(offer: Offer) -> None:
    offer("heredity.launchers", "x", "heredity.agents.launchers.codex:PROGRAM")
    with pytest.raises(ConfigError, match="give an object with `launch`"):
        launcher("x")


RECORDING = """printf '%s\\n' "$@" > "$HEREDITY_WORKSPACE/arguments"
"""


@pytest.mark.parametrize(
    ("name", "kept", "flags"),
    [
        ("claude-code", ".claude/projects/-workspace/one.jsonl", ["--continue"]),
        ("codex", ".codex/sessions/2026/01/02/rollout-one.jsonl", ["resume", "--last"]),
        ("gemini-cli", ".gemini/tmp/workspace/chats/session-one.jsonl", ["--resume", "latest"]),
        ("mini-swe-agent", "mini.traj.json", []),
        ("opencode", ".local/share/opencode/opencode.db", ["--continue"]),
        ("qwen-code", ".qwen/projects/-workspace/chats/one.jsonl", ["--continue"]),
    ],
)
def test_an_agent_goes_on_with_its_own_conversation_where_it_kept_one(
    name: str, kept: str, flags: list[str], tmp_path: Path
) -> None:
    pretend(PROGRAMS[name], RECORDING)
    again, prompt = launcher(name).launch("First.", "m").again, "First.\n\nWhat $remains; is `this`"
    environment = {"PATH": os.defpath, "HEREDITY_WORKSPACE": str(tmp_path), "HEREDITY_PROMPT": prompt}

    def started() -> str:
        subprocess.run(["/bin/sh", "-c", again], env=environment, check=True, cwd=tmp_path)
        return (tmp_path / "arguments").read_text()

    (tmp_path / ".home").mkdir()
    anew = started()
    assert prompt in anew
    assert not any(flag in anew.splitlines() for flag in flags)
    (tmp_path / ".home" / kept).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".home" / kept).touch()
    resumed = started()
    assert prompt in resumed
    assert all(flag in resumed.splitlines() for flag in flags)
    environment["HEREDITY_ANEW"] = "1"
    assert started() == anew


def test_behind_a_broker_nothing_is_offered_that_only_its_vendor_can_run() -> None:
    pretend(PROGRAMS["claude-code"], RECORDING)
    assert "--disallowed-tools=WebSearch" in launcher("claude-code").launch("First.", "m").command
    assert "disallowed" not in launcher("claude-code").launch("First.").command
