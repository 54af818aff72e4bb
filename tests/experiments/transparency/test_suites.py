"""Suites write their starts and ends to the user's logs, whatever happens, and a stranger counts and dates them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.experiments import sample
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.configuration.user import GitLogSettings
from heredity.experiments.transparency.logs import GitLog
from heredity.experiments.transparency.statements import read_receipts, statements_of
from heredity.experiments.verification.logs import Given
from heredity.experiments.verification.verify import Asked, verify
from heredity.results.card import Card

from . import services

pytestmark = [
    pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here"),
    pytest.mark.skipif(shutil.which("git") is None or shutil.which("openssl") is None, reason="git or openssl missing"),
]

CHOSEN = sample.config(run={"seeds": 2}, suite={"baselines": False}, budget={"episodes": 2})


class World:
    """A suite that was logged in a repository, by a timestamp service and by Rekor, and what a stranger has of them."""

    def __init__(self, root: Path, authority: services.Authority, rekor: services.Rekor, addresses: list[str]) -> None:
        self.root, self.authority, self.rekor, self.addresses = root, authority, rekor, addresses
        self.suite, self.repository = root / "runs" / "one", root / "results"
        (root / "rekor.pem").write_bytes(rekor.public)

    @property
    def trust(self) -> list[Path]:
        return [self.authority.root, self.root / "rekor.pem"]

    def settings(self, *kinds: str) -> Path:
        texts = {
            "git": f'kind = "git"\nrepository = "{self.repository}"',
            "timestamp": f'kind = "timestamp"\nurl = "{self.addresses[0]}"\ncertificates = "{self.authority.root}"',
            "rekor": f'kind = "rekor"\nurl = "{self.addresses[1]}"\npublic_key = "rekor.pem"',
        }
        file = self.root / f"{'-'.join(kinds)}.toml"
        file.write_text("".join(f"[[log]]\n{texts[kind]}\n" for kind in kinds))
        return file


def git(repository: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    command = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("root")
    git(root, "init", "-q", "results")
    authority, rekor = services.Authority(root / "authority"), services.Rekor()
    with (
        services.serving(authority.answer) as tsa,
        services.serving(rekor.answer) as log,
        pytest.MonkeyPatch.context() as patch,
    ):
        made = World(root, authority, rekor, [tsa, log])
        patch.setenv("HEREDITY_CONFIG", str(made.settings("git", "timestamp", "rekor")))
        assert not sample.run(made.suite, CHOSEN).failures
        yield made


@pytest.fixture
def copied(world: World, tmp_path: Path) -> World:
    """The same folder and repository, to be changed."""
    made = World(tmp_path, world.authority, world.rekor, world.addresses)
    shutil.copytree(world.suite, made.suite)
    shutil.copytree(world.repository, made.repository)
    return made


def found(card: Card, *names: str) -> list[tuple[str, str]]:
    return [
        (check.status.value, check.reason) for check in card.checks if check.name in (names or ("anchor", "starts"))
    ]


def checked(world: World, *, log: bool = True, trust: bool = True, more: tuple[str, ...] = ()) -> Card:
    logs = [str(world.repository), *more] if log else []
    return verify(world.suite, Asked(logs=Given(logs, world.trust if trust else ())))


def test_a_suite_that_was_logged_passes_with_dates_from_every_log(world: World) -> None:
    card = checked(world, more=(world.addresses[1],))
    assert {status for status, _ in found(card)} == {"passed"}, found(card)
    reasons = " ".join(reason for _, reason in found(card))
    for text in ("results/heredity-log.jsonl has the start and the end of 2 runs", *world.addresses, "UTC"):
        assert text in reasons
    assert "all 4 entries of this owner's key" in reasons
    assert all(check.status != "failed" for check in card.checks)
    assert "all starts and ends" in (world.suite / "report.md").read_text()


def test_without_log_and_trust_nothing_is_taken_for_proven(world: World) -> None:
    assert {status for status, _ in found(checked(world, log=False, trust=False))} == {"not checked"}


def test_a_suite_that_was_never_logged_says_so(world: World, tmp_path: Path) -> None:
    suite = Path(shutil.copytree(world.suite, tmp_path / "runs" / "one"))
    for receipts in suite.glob("runs/*/logged.jsonl"):
        receipts.unlink()
    assert found(verify(suite))[0][1].startswith("no log has the start and the end of this")


def _log(world: World) -> GitLog:
    return GitLog(GitLogSettings(kind="git", repository=str(world.repository)))


def test_nine_of_ten_starts_that_are_not_in_the_folder_are_counted(copied: World) -> None:
    for run in sorted((copied.suite / "runs").iterdir()):
        for statement in statements_of(run):
            for number in range(9):
                other = replace(statement, suite=f"other{number}", commitment=f"{number}" * 64, at=statement.at)
                if statement.event == "start" or number < 4:
                    _log(copied).append(other)
    (status, reason) = found(checked(copied, trust=False), "starts")[0]
    assert status == "failed"
    assert "this suite was started 10 times, and 9 are not in this folder" in reason
    assert "runs of 4 of those ended" in reason


def test_a_rerun_under_the_same_name_is_counted(copied: World) -> None:
    first = statements_of(sorted((copied.suite / "runs").iterdir())[0])[0]
    _log(copied).append(replace(first, commitment="f" * 64))
    assert "started 2 times, and 1 is not in this folder (one;" in found(checked(copied, trust=False), "starts")[0][1]


def test_a_seed_that_was_dropped_is_named_whatever_the_folder_says(copied: World) -> None:
    from heredity.experiments.results import rebuild_suite

    shutil.rmtree(sorted((copied.suite / "runs").iterdir())[1])
    text = (copied.suite / "suite.toml").read_text()
    (copied.suite / "suite.toml").write_text(text.replace("seeds = 2", "seeds = 1"))
    rebuild_suite(copied.suite)
    card = checked(copied, trust=False)
    assert [check.name for check in card.checks if check.status == "failed"] == ["starts"]
    assert "1 run of this suite was started and left out: CartPole-v1--best-of-n--s1" in found(card, "starts")[0][1]


def test_a_run_that_stands_for_itself_counts_its_own_starts_alone(copied: World) -> None:
    run = sorted((copied.suite / "runs").iterdir())[0]
    given = Asked(logs=Given([str(copied.repository)]))
    assert found(verify(run, given), "starts")[0][0] == "passed", "the suite's other run is not missing from a run"
    _log(copied).append(replace(statements_of(run)[0], suite="again", commitment="f" * 64))
    assert "this run was started 2 times, and 1 is not" in found(verify(run, given), "starts")[0][1]


def test_other_starts_that_the_owner_declares_are_no_failure_and_are_named(copied: World) -> None:
    first = statements_of(sorted((copied.suite / "runs").iterdir())[0])[0]
    _log(copied).append(replace(first, suite="trial", commitment="f" * 64))
    (copied.suite / "published.json").write_text(
        json.dumps({"digest": "", "other_starts": {"trial": "a crashed machine"}})
    )
    (status, reason) = found(checked(copied, trust=False), "starts")[0]
    assert status == "passed"
    assert "declares 1 other start: trial" in reason


def _rewrite(repository: Path, keep: int) -> None:
    """Make a repository with the same file without some of its lines, chained and committed anew."""
    from heredity.experiments.transparency.statements import parse_log

    statements = [one for _, one, _ in parse_log((repository / "heredity-log.jsonl").read_bytes())]
    shutil.rmtree(repository)
    git(repository.parent, "init", "-q", repository.name)
    log = GitLog(GitLogSettings(kind="git", repository=str(repository)))
    for statement in statements[keep:]:
        log.append(statement)


def test_a_log_whose_history_was_rewritten_is_found_by_the_receipts(copied: World) -> None:
    first = statements_of(sorted((copied.suite / "runs").iterdir())[0])[0]
    rewritten = replace(first, suite="hidden", commitment="f" * 64)
    shutil.rmtree(copied.repository)
    git(copied.root, "init", "-q", "results")
    for statement in (rewritten, *(s for run in sorted((copied.suite / "runs").iterdir()) for s in statements_of(run))):
        _log(copied).append(statement)
    for receipts in copied.suite.glob("runs/*/logged.jsonl"):
        receipts.unlink()
    from heredity.experiments.transparency.statements import add_receipt

    for run in sorted((copied.suite / "runs").iterdir()):
        for statement in statements_of(run):
            add_receipt(run, _log(copied).append(statement))
    assert "started 2 times" in found(checked(copied, trust=False), "starts")[0][1]
    _rewrite(copied.repository, 1)
    card = checked(copied, trust=False)
    (status, reason) = found(card, "anchor")[0]
    assert status == "failed"
    assert "was rewritten: it no longer has the line" in reason
    assert found(card, "starts")[0][0] == "passed", "the count alone would have been deceived"


def test_a_line_that_was_changed_in_place_breaks_the_chain_and_the_history(copied: World) -> None:
    path = copied.repository / "heredity-log.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0].replace('"suite":"one"', '"suite":"two"'), *lines[1:]]))
    git(copied.repository, "commit", "-qam", "x")
    (status, reason) = found(checked(copied, trust=False), "anchor")[0]
    assert status == "failed"
    assert "1 commit removed or changed lines" in reason
    assert "does not follow line 1" in reason


def test_programs_that_the_repository_of_a_log_configures_are_not_run(copied: World, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    evil.chmod(0o755)
    (copied.repository / ".git" / "info").mkdir(exist_ok=True)
    (copied.repository / ".git" / "info" / "attributes").write_text("*.jsonl diff=evil filter=evil\n")
    for key in ("core.fsmonitor", "diff.evil.textconv", "diff.evil.command", "diff.external", "gpg.program", "core.pager",
                "filter.evil.smudge", "filter.evil.clean"):  # fmt: skip
        git(copied.repository, "config", key, str(evil))
    git(copied.repository, "config", "log.showSignature", "true")
    assert found(checked(copied, trust=False), "anchor")[0][0] == "passed"
    assert not (tmp_path / "ran").exists()


def test_records_that_were_changed_after_they_were_logged_are_found(copied: World) -> None:
    from tests.experiments.test_verification import chained, events

    run = sorted((copied.suite / "runs").iterdir())[0]
    lines = events(run)
    lines[-2]["at"] += 0.5
    chained(run, lines)
    card = checked(copied)
    assert f"another end of {run.name}: the records were changed" in found(card, "anchor")[0][1]
    assert {status for status, _ in found(card, "anchor")} == {"failed"}


def test_a_start_after_the_first_hidden_evaluation_and_an_end_before_the_last_event_are_found(copied: World) -> None:
    """The owner logs a run that he made earlier, and one whose end he logs before it has happened."""
    from tests.experiments.test_verification import chained, events

    for run, shift in zip(sorted((copied.suite / "runs").iterdir()), (-1000.0, 1000.0), strict=True):
        lines = events(run)
        for line in lines:
            line["at"] += shift
        chained(run, lines)
        (run / "logged.jsonl").unlink()
        for statement in statements_of(run):
            _log(copied).append(statement)
    reason = found(checked(copied, trust=False), "anchor")[0][1]
    assert "after its first evaluation on hidden cases" in reason
    assert "before its last event" in reason


@pytest.mark.slow
def test_a_service_that_fails_delays_nothing_is_said_and_made_good(
    copied: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "runs" / "late"
    monkeypatch.setenv("HEREDITY_CONFIG", str(copied.settings("git", "timestamp")))
    copied.authority.broken = True
    try:
        result = sample.run(suite, CHOSEN)
    finally:
        copied.authority.broken = False
    assert not result.failures
    (note,) = [why for name, why in result.notes.items() if name.startswith("log ")]
    assert "is not logged" in note
    assert "status 503" in note
    assert "heredity log FOLDER" in note
    assert copied.addresses[0] not in (suite / "report.md").read_text()
    done = sample.heredity("log", suite, "--json", env={"HEREDITY_CONFIG": os.environ["HEREDITY_CONFIG"]})
    assert done.returncode == 0, done.stderr
    assert [row["new"] for row in json.loads(done.stdout)["runs"]] == [2, 2]
    assert "all starts and ends" in (suite / "report.md").read_text()
    assert all(check.status != "failed" for check in verify(suite, Asked(logs=Given((), copied.trust))).checks)


@pytest.mark.slow
def test_kill_9_between_a_run_and_its_log_loses_nothing(
    copied: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = sample.write_suite(tmp_path, episodes=2), tmp_path / "runs" / "killed"
    environment = {**os.environ, "PYTHONPATH": str(sample.SOURCE)}
    started: list[subprocess.Popen[bytes]] = []

    def kill(path: str, body: bytes) -> services.Answer:
        if len(asked) in (0, 2):
            os.kill(started[-1].pid, signal.SIGKILL)
        asked.append(path)
        return copied.authority.answer(path, body)

    asked: list[str] = []
    with services.serving(kill) as url:
        settings = copied.settings("git", "timestamp").read_text().replace(copied.addresses[0], url)
        (tmp_path / "config.toml").write_text(settings)
        environment["HEREDITY_CONFIG"] = str(tmp_path / "config.toml")
        for command in (("run", file, "--out", out, "-q"), ("resume", out, "-q"), ("resume", out, "-q")):
            started.append(
                subprocess.Popen(
                    sample.command(*command), env=environment, stdout=subprocess.DEVNULL, start_new_session=True
                )
            )
            started[-1].wait(timeout=120)
    assert [process.returncode for process in started] == [-signal.SIGKILL, -signal.SIGKILL, 0]
    (run,) = (out / "runs").iterdir()
    assert [(r.kind, json.loads(r.line)["event"]) for r in read_receipts(run)].count(("git", "start")) == 1
    card = verify(out, Asked(logs=Given([str(copied.repository)], copied.trust)))
    assert not [check for check in card.checks if check.status == "failed" and check.name != "starts"]


def test_the_command_shows_logs_and_writes_what_they_lack(copied: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def command(*arguments: str) -> tuple[int, dict[str, Any]]:
        done = CliRunner().invoke(app, ["log", *arguments, "--json"])
        return done.exit_code, json.loads(done.stdout)

    monkeypatch.setenv("HEREDITY_CONFIG", str(copied.settings("git")))
    assert command()[1]["logs"] == ["git results/heredity-log.jsonl"]
    for receipts in copied.suite.glob("runs/*/logged.jsonl"):
        receipts.unlink()
    code, told = command(str(copied.suite))
    assert (code, [run["new"] for run in told["runs"]]) == (0, [2, 2])
    assert len((copied.repository / "heredity-log.jsonl").read_text().splitlines()) == 4, "they were there already"
    assert command(str(copied.suite))[1]["runs"][0]["new"] == 0
    (copied.repository / "heredity-log.jsonl").write_text("x")
    for receipts in copied.suite.glob("runs/*/logged.jsonl"):
        receipts.unlink()
    code, told = command(str(copied.suite))
    assert code == 1
    assert "changed by hand" in told["runs"][0]["problems"]["git results/heredity-log.jsonl"]
    monkeypatch.setenv("HEREDITY_CONFIG", "")
    assert "no log is configured" in CliRunner().invoke(app, ["log"]).stdout


def test_wrong_settings_are_an_error_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text(f'[[log]]\nkind = "git"\nrepository = "{tmp_path}/nowhere"\n')
    monkeypatch.setenv("HEREDITY_CONFIG", str(tmp_path / "config.toml"))
    with pytest.raises(ConfigError, match="git init"):
        sample.run(tmp_path / "runs" / "x", CHOSEN)
    assert not (tmp_path / "runs" / "x" / "runs").exists()
    done = CliRunner().invoke(app, ["run", str(sample.write_suite(tmp_path)), "--dry-run", "--json"])
    assert done.exit_code == 2
    assert [
        line for line in json.loads(done.stdout)["missing"] if "logs of starts and ends" in line and "git init" in line
    ]


@pytest.mark.parametrize("text", ["nowhere", "folder", "file"])
def test_a_log_that_is_none_is_a_wrong_argument(text: str, world: World, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x\n")
    given = Asked(logs=Given([str(tmp_path / text)]))
    if text == "file":
        assert "line 1: " in found(verify(world.suite, given), "anchor")[0][1]
        return
    with pytest.raises(ConfigError, match="--log"):
        verify(world.suite, given)
