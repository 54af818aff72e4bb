"""`heredity run | resume | report | compare`, as a user meets them: one clear line, an exit code, nothing lost."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.experiments.sample import config as small
from tests.experiments.sample import facts, heredity, isolated, run, write_suite

from heredity.bench.stores import first_difference
from heredity.cli import main as module
from heredity.experiments import suite as suites
from heredity.kinds.policy.environments import registry

needs_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line in this process; returns its exit code, stdout and stderr."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["heredity", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as exit_:
            module.main()
        code = exit_.value.code
        captured = capsys.readouterr()
        return (code if isinstance(code, int) else int(code is not None)), captured.out, captured.err

    return call


def one_line(err: str) -> bool:
    return err.startswith("heredity: ") and err.count("\n") == 1 and "Traceback" not in err


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not isolated():
        pytest.skip("policies cannot be confined on this machine")
    folder = tmp_path_factory.mktemp("runs") / "runs" / "one"
    run(folder, small(run={"seeds": 2}, suite={"baselines": False}))
    return folder


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("budget.episods=3", "did you mean episodes"),
        ('run.tasksets=["gymnasium/CartPol-v1"]', "did you mean"),
        ("evolver.method=best-of-m", "did you mean best-of-n"),
        ("evolver.options.sigm=3", "has no option 'sigm'"),
        ("budget.episodes=many", "budget.episodes = 'many'"),
        ("nonsense", "write key=value"),
        ("suite.baselines=['sequentiel']", "did you mean sequential"),
        ('run.tasksets=["no.such.module:Env-v0"]', "no.such.module"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_run(cli: Cli, tmp_path: Path, override: str, message: str) -> None:
    code, out, err = cli("run", write_suite(tmp_path), override, "--out", tmp_path / "runs" / "one")
    assert code == 2
    assert out == ""
    assert one_line(err), err
    assert message in err
    assert not (tmp_path / "runs" / "one" / "runs").exists()


def test_a_half_written_configuration_is_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "half.toml").write_text('[run]\ntasksets = ["gymnasium/CartPole-v1"')
    code, _, err = cli("run", tmp_path / "half.toml", "--out", tmp_path / "one")
    assert (code, one_line(err)) == (2, True)
    assert "is not valid TOML" in err
    assert not (tmp_path / "one").exists()


def test_a_missing_configuration_is_one_line(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli("run", tmp_path / "none.toml")
    assert (code, one_line(err)) == (2, True)
    assert "none.toml; give the path of a TOML file" in err


def test_a_missing_extra_is_one_line_that_says_what_to_install(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = registry.importlib.util.find_spec
    monkeypatch.setattr(
        registry.importlib.util, "find_spec", lambda name, *rest: None if name == "Box2D" else find_spec(name, *rest)
    )
    suite = write_suite(tmp_path)
    code, _, err = cli("run", suite, 'run.tasksets=["gymnasium/BipedalWalker-v3"]', "--out", tmp_path / "one")
    assert (code, one_line(err)) == (2, True)
    assert "pip install 'heredity[box2d]'" in err


@pytest.mark.parametrize("command", ["resume", "report"])
def test_a_folder_that_is_none_is_one_line(cli: Cli, tmp_path: Path, command: str) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        code, _, err = cli(command, folder)
        assert (code, one_line(err)) == (2, True)
        assert str(folder) in err


def test_a_folder_in_use_is_one_line(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    suites.open_suite(folder, small())
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(1, flush=True); input()",
            str(folder / "lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        other.stdout.readline()
        code, _, err = cli("resume", folder)
        other.communicate(b"\n")
    assert (code, one_line(err)) == (2, True)
    assert "is in use by process" in err
    assert "heredity resume" not in err


def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    target = tmp_path / "locked"
    target.mkdir(mode=0o555)
    options = {}
    if os.geteuid() == 0:
        # Root is let through by its capabilities, not by its name.
        options = {"preexec_fn": _drop_override}
    result = heredity("run", suite, "--out", target / "one", **options)
    assert result.returncode == 2
    assert one_line(result.stderr), result.stderr
    assert "Permission denied" in result.stderr


def _drop_override() -> None:
    """Take from root the capability to write where it may not, in this process and what it executes."""
    cap_dac_override, pr_capbset_drop = 1, 24
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_dac_override, 0, 0, 0)


@needs_sandbox
def test_json_is_all_that_is_printed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    code, out, err = cli("run", write_suite(tmp_path), "--out", folder, "--json")
    first = json.loads(out)
    assert (code, err) == (0, "")
    assert first["folder"] == str(folder)
    assert (first["failures"], first["evolver_failures"], first["finished"]) == ({}, {}, 1)
    code, out, err = cli("resume", folder, "--json", "--jobs", "2")
    assert (code, err) == (0, "")
    assert json.loads(out) == first
    code, out, _ = cli("report", folder, "--json")
    assert code == 0
    assert json.loads(out) == json.loads((folder / "metrics.json").read_bytes())


@needs_sandbox
def test_progress_is_a_line_for_each_run_and_the_end_names_the_report(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    suite = write_suite(tmp_path, run="seeds = 2")
    code, out, err = cli("run", suite, "suite.baselines=false", "--jobs", "1", "--out", folder)
    assert code == 0
    lines = err.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "[1/2] CartPole-v1--best-of-n--s0",
        "[2/2] CartPole-v1--best-of-n--s1",
    ]
    assert all("held-out" in line for line in lines)
    assert "Leaderboard" in out
    assert out.rstrip().endswith(f"report: {folder / 'report.html'}")


def test_reports_are_made_again_byte_for_byte(cli: Cli, finished: Path) -> None:
    names = ("metrics.json", "report.html", "report.md")
    before = {name: (finished / name).read_bytes() for name in names}
    (finished / "metrics.json").unlink()
    for _ in range(2):
        code, out, _ = cli("report", finished)
        assert code == 0
        assert f"report: {finished / 'report.html'}" in out
        assert {name: (finished / name).read_bytes() for name in names} == before


def test_a_damaged_run_is_named_and_the_rest_reported(cli: Cli, finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "damaged"
    shutil.copytree(finished, folder)
    shutil.copytree(finished.parent.parent / "sealed" / "one", tmp_path / "sealed" / "damaged")
    journal = folder / "runs" / "CartPole-v1--best-of-n--s1" / "journal.jsonl"
    journal.write_bytes(b"?" + journal.read_bytes()[1:])
    code, out, err = cli("report", folder)
    assert code == 1
    assert "Leaderboard" in out
    assert "CartPole-v1--best-of-n--s1 left out: " in err
    assert "damaged in line 1" in err
    code, out, err = cli("resume", folder, "--json")
    assert code == 1
    assert list(json.loads(out)["failures"]) == ["CartPole-v1--best-of-n--s1"]
    assert json.loads(out)["finished"] == 1
    assert "Traceback" not in err
    code, _, err = cli("report", journal.parent)
    assert (code, one_line(err)) == (2, True)


def test_suites_are_compared_when_they_share_their_cases(cli: Cli, finished: Path, tmp_path: Path) -> None:
    arguments = ("run", write_suite(tmp_path, evolver='method = "sequential"'), "--json")
    shared, own = tmp_path / "runs" / "shared", tmp_path / "runs" / "own"
    assert cli(*arguments, "--out", shared, "--cases", finished)[0] == 0
    assert cli(*arguments, "--out", own)[0] == 0
    code, out, err = cli("compare", finished, shared, "--json", "--out", tmp_path / "compared")
    assert (code, err) == (0, "")
    assert set(json.loads(out)["evolvers"]) == {"best-of-n", "sequential"}
    assert json.loads((tmp_path / "compared" / "metrics.json").read_bytes()) == json.loads(out)
    assert (tmp_path / "compared" / "report.html").is_file()
    code, out, err = cli("compare", finished, own)
    assert (code, out, one_line(err)) == (2, "", True)
    assert "nothing can be paired" in err


@needs_sandbox
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """Files may not grow beyond a few kilobytes, as on a full disk; without the limit the suite ends as if nothing had been."""
    suite = write_suite(tmp_path, episodes=20, evolver='method = "parametric"')
    calm, folder = tmp_path / "calm" / "runs" / "one", tmp_path / "full" / "runs" / "one"
    assert heredity("run", suite, "--out", calm, "--json").returncode == 0
    shutil.copytree(tmp_path / "calm" / "sealed", tmp_path / "full" / "sealed")
    size = (calm / "runs" / "CartPole-v1--parametric--s0" / "journal.jsonl").stat().st_size // 2

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    full = heredity("run", suite, "--out", folder, "--json", preexec_fn=limit)
    assert full.returncode in (1, 2)
    assert "Traceback" not in full.stderr
    assert f"heredity resume {folder}" in full.stderr
    assert "File too large" in full.stderr
    again = heredity("resume", folder, "--json")
    assert again.returncode == 0, again.stderr
    assert facts(folder) == facts(calm), first_difference(facts(calm), facts(folder))


@pytest.mark.slow
@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_small_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, episodes=20, evolver='method = "parametric"')
    calm, disk = tmp_path / "calm" / "runs" / "one", tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=False, capture_output=True
    ).returncode:
        pytest.skip("this machine does not let root mount")
    try:
        assert heredity("run", suite, "--out", calm, "--json").returncode == 0
        shutil.copytree(tmp_path / "calm" / "sealed", disk / "sealed")
        ballast, folder = disk / "ballast", disk / "runs" / "one"
        ballast.write_bytes(bytes((4 << 20) - (120 << 10)))
        full = heredity("run", suite, "--out", folder, "--json")
        assert full.returncode in (1, 2)
        assert "No space left on device" in full.stderr
        assert "Traceback" not in full.stderr
        ballast.unlink()
        again = heredity("run", suite, "--out", folder, "--json")
        assert again.returncode == 0, again.stderr
        assert facts(folder) == facts(calm), first_difference(facts(calm), facts(folder))
    finally:
        subprocess.run(["umount", disk], check=True)


def test_errors_inside_groups_are_one_line_and_bugs_keep_their_traceback() -> None:
    from heredity._core.errors import HostError, RecordError

    group = ExceptionGroup("x", [RecordError("a"), ExceptionGroup("y", [HostError("b\nc"), RecordError("a")])])
    assert module.explanation(group) == "a; b c"
    assert module.explanation(OSError(28, "No space left on device", "/x")) == "No space left on device: /x"
    assert module.explanation(ExceptionGroup("x", [RecordError("a"), KeyError("bug")])) is None
    assert module.explanation(KeyError("bug")) is None


def test_a_bug_shows_its_traceback(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("bug")

    monkeypatch.setattr("heredity._api.open_suite", broken)
    with pytest.raises(KeyError, match="bug"):
        cli("run", write_suite(tmp_path), "--out", tmp_path / "one")


def test_the_version_is_printed(cli: Cli) -> None:
    code, out, _ = cli("--version")
    assert (code, out.split()[0]) == (0, "heredity")


@pytest.mark.parametrize("arguments", [[], ["run"], ["nonsense"], ["run", "x.toml", "--jobs", "0"]])
def test_wrong_usage_is_explained(cli: Cli, arguments: list[str]) -> None:
    code, out, err = cli(*arguments)
    assert code == 2
    assert "Usage" in out + err


def test_a_port_in_use_is_one_line() -> None:
    from heredity._core.errors import ConfigError
    from heredity._core.http import serve

    async def try_it(port: int) -> None:
        async with serve(None, port=port):
            pass

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError) as caught:
        asyncio.run(try_it(taken.getsockname()[1]))
    assert "choose another" in (module.explanation(caught.value) or "")
