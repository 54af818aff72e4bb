"""Each kind of log takes a line, proves it, and says what is wrong; two writers, kills and full disks lose nothing."""

from __future__ import annotations

import base64
import json
import multiprocessing
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity.configuration.user import GitLogSettings, RekorSettings, TimestampSettings, user_config
from heredity.experiments.transparency.logs import (
    GitLog,
    LogError,
    RekorLog,
    TimestampLog,
    Trust,
    entry_time,
    included_root,
    token_time,
)
from heredity.experiments.transparency.statements import FIRST, Receipt, Statement, append_line, parse_log

from . import services

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def statement(run: str = "a", **fields: Any) -> Statement:
    return Statement("start", "suite", run, "e" * 64, "c" * 64, at=1.5, **fields)


def git(repository: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", "-C", str(repository), *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "results")
    return tmp_path / "results"


def log_of(repository: Path, **settings: str) -> GitLog:
    return GitLog(GitLogSettings(kind="git", repository=str(repository), **settings))


def lines(repository: Path) -> list[tuple[int, Statement, str]]:
    return list(parse_log((repository / "heredity-log.jsonl").read_bytes()))


def test_a_statement_is_the_same_after_it_was_written_and_read() -> None:
    for one in (statement(), Statement("end", "s", "r", "e", "c", "h" * 64, 12, 3.25)):
        assert Statement.parse(one.line("p")) == (one, "p")


@pytest.mark.parametrize(
    "line",
    [
        "", "{}", "[]", "null", '{"heredity":2}', '{"heredity":1,"previous":"0","event":"middle"}',
        '{"heredity":1,"previous":"0","event":"start","suite":1,"run":"a","experiment":"e","commitment":"c"}',
        '{"heredity":1,"previous":"0","event":"start","suite":"s","run":"a","experiment":"e","commitment":"c","x":"y"}',
        '{"heredity":1,"previous":"0","event":"start","suite":"s"}',
        '{"heredity":1,"previous":"0","event":"start","suite":"s","run":"a","experiment":"e","commitment":"c","at":"1"}',
    ],
)  # fmt: skip
def test_what_is_no_statement_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Statement.parse(line)


def test_every_line_of_a_git_log_is_one_commit_and_names_the_line_before(repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "mine")
    (repository / "mine").write_text("staged by its owner")
    git(repository, "add", "mine")
    receipts = [log_of(repository).append(statement(run)) for run in "abc"]
    assert [one.run for _, one, _ in lines(repository)] == ["a", "b", "c"]
    assert json.loads(receipts[0].line)["previous"] == FIRST
    commits = git(repository, "log", "--format=%H", "--reverse", "--", "heredity-log.jsonl").splitlines()
    assert [receipt.proof["commit"] for receipt in receipts] == commits
    assert git(repository, "diff", "--cached", "--name-only") == "mine", "what else was staged is left as it was"


def test_a_statement_that_a_git_log_has_is_not_written_twice(repository: Path) -> None:
    first = log_of(repository).append(statement())
    log_of(repository).append(statement("b"))
    assert log_of(repository).append(statement()) == first
    assert len(lines(repository)) == 2


def test_a_line_that_a_killed_process_left_uncommitted_or_half_is_dropped(repository: Path) -> None:
    log_of(repository).append(statement())
    path = repository / "heredity-log.jsonl"
    for left in (b'{"at":1.5,"commi', statement("x").line().encode() + b"\n"):
        path.write_bytes(path.read_bytes() + left)
        log_of(repository).append(statement(f"after {len(left)}"))
    assert len(lines(repository)) == 3
    assert not git(repository, "status", "--porcelain")


def test_a_log_that_was_changed_by_hand_is_not_continued(repository: Path) -> None:
    log_of(repository).append(statement())
    path = repository / "heredity-log.jsonl"
    kept = path.read_text()
    path.write_text(kept.replace('"run":"a"', '"run":"x"'))
    with pytest.raises(LogError, match=r"changed by hand; restore it: git checkout -- heredity-log\.jsonl"):
        log_of(repository).append(statement("b"))
    git(repository, "commit", "-qam", "forged")
    log_of(repository).append(statement("b"))  # the first line is a statement, as any
    path.write_text(path.read_text().replace('"run":"x"', '"run":"y"'))
    git(repository, "commit", "-qam", "forged")
    with pytest.raises(LogError, match="line 2 does not follow line 1"):
        log_of(repository).append(statement("c"))


def _append(repository: Path, name: str) -> None:
    for number in range(6):
        log_of(repository).append(statement(f"{name}{number}"))


def test_two_processes_append_at_once_and_nothing_is_lost(repository: Path) -> None:
    processes = [
        multiprocessing.get_context("fork").Process(target=_append, args=(repository, name)) for name in ("a", "b")
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(one.run for _, one, _ in lines(repository)) == sorted(f"{n}{i}" for n in "ab" for i in range(6))


def test_a_push_that_fails_is_said_and_made_good_by_the_next_attempt(repository: Path, tmp_path: Path) -> None:
    git(repository, "remote", "add", "public", str(tmp_path / "public.git"))
    pushing = log_of(repository, push="public")
    with pytest.raises(LogError, match="git push failed"):
        pushing.append(statement())
    git(tmp_path, "init", "-q", "--bare", "public.git")
    receipt = pushing.append(statement())
    assert len(lines(repository)) == 1
    assert git(tmp_path / "public.git", "log", "--all", "--format=%H") == receipt.proof["commit"]


def test_a_full_disk_leaves_the_log_as_it_was(repository: Path) -> None:
    log_of(repository).append(statement())
    path = repository / "heredity-log.jsonl"
    before = path.read_bytes()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
    try:
        with pytest.raises(LogError, match=r"could not be written|File too large"):
            log_of(repository).append(statement("b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert path.read_bytes() == before
    log_of(repository).append(statement("b"))
    assert len(lines(repository)) == 2


def test_a_line_is_written_whole_or_not_at_all_after_half_of_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntw")
    append_line(path, b"three\n")
    assert path.read_bytes() == b"one\nthree\n"


def test_what_is_no_repository_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"git init {tmp_path}"):
        log_of(tmp_path)


def test_hooks_and_signing_of_the_repository_are_not_run(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    git(repository, "config", "commit.gpgsign", "true")
    log_of(repository).append(statement())
    assert len(lines(repository)) == 1


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, services.Authority]]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    made = services.Authority(tmp_path_factory.mktemp("tsa") / "authority")
    with services.serving(made.answer) as url:
        yield url, made


def test_a_token_is_checked_when_it_comes_and_offline_with_the_certificate(
    authority: tuple[str, services.Authority], tmp_path: Path
) -> None:
    url, made = authority
    receipt = TimestampLog(TimestampSettings(kind="timestamp", url=url, certificates=str(made.root))).append(
        statement()
    )
    trust = Trust.read([made.root])
    assert token_time(receipt, trust).year >= 2024
    other = Receipt("timestamp", receipt.log, statement("b").line(), receipt.proof)
    with pytest.raises(ValueError, match="not valid"):
        token_time(other, trust)
    stranger = services.Authority(tmp_path / "stranger")
    with pytest.raises(ValueError, match="not valid"):
        token_time(receipt, Trust.read([stranger.root]))
    settings = TimestampSettings(kind="timestamp", url=url, certificates=str(stranger.root))
    with pytest.raises(LogError, match="not valid"):
        TimestampLog(settings).append(statement())


def test_openssl_accepts_the_token(authority: tuple[str, services.Authority], tmp_path: Path) -> None:
    url, made = authority
    settings = TimestampSettings(kind="timestamp", url=url, certificates=str(made.root))
    receipt = TimestampLog(settings).append(statement())
    (tmp_path / "line").write_text(receipt.line)
    (tmp_path / "token").write_bytes(base64.b64decode(receipt.proof["token"]))
    command = ["openssl", "ts", "-verify", "-data", "line", "-in", "token", "-CAfile", str(made.root)]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("answer", [(503, b"busy", {}), (200, b"<html>", {}), (200, b"", {}), (302, b"", {})])
def test_a_service_without_an_answer_is_a_log_that_failed(answer: services.Answer, tmp_path: Path) -> None:
    (tmp_path / "root.pem").write_text("-----BEGIN CERTIFICATE-----")
    settings = TimestampSettings(kind="timestamp", url="http://x", certificates=str(tmp_path / "root.pem"))
    with services.serving(lambda path, body: answer) as url:
        with pytest.raises(LogError, match=url):
            TimestampLog(settings.model_copy(update={"url": url})).append(statement())
        with pytest.raises(LogError, match=url):
            rekor(url, tmp_path).append(statement())
    with pytest.raises(LogError, match="cannot be reached"):
        TimestampLog(settings.model_copy(update={"url": url})).append(statement())


@given(size=st.integers(1, 40), data=st.data())
def test_an_inclusion_proof_leads_to_the_root_for_its_leaf_alone(size: int, data: st.DataObject) -> None:
    leaves = [bytes([number]) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    proof, root = [one.hex() for one in services.proof_of(index, leaves)], services.root_of(leaves).hex()
    assert included_root(leaves[index], index, size, proof) == root
    assert included_root(b"other", index, size, proof) != root
    with pytest.raises(ValueError, match="too long"):
        included_root(leaves[index], index, size, [*proof, "00" * 32])
    if proof:
        with pytest.raises(ValueError, match="too short"):
            included_root(leaves[index], index, size, proof[:-1])


def rekor(url: str, folder: Path, **settings: str) -> RekorLog:
    return RekorLog(RekorSettings(kind="rekor", url=url, key=str(folder / "key.pem"), **settings))


def test_rekor_includes_lines_signed_by_a_key_that_is_made_once(tmp_path: Path) -> None:
    server = services.Rekor()
    (tmp_path / "rekor.pem").write_bytes(server.public)
    with services.serving(server.answer) as url:
        receipts = [rekor(url, tmp_path, public_key=str(tmp_path / "rekor.pem")).append(statement(r)) for r in "abc"]
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    trust = Trust.read([tmp_path / "rekor.pem"])
    assert all(entry_time(receipt, trust).year >= 2024 for receipt in receipts)
    with pytest.raises(ValueError, match="another line"):
        entry_time(Receipt("rekor", "x", statement("d").line(), receipts[0].proof), trust)
    with pytest.raises(ValueError, match="not signed by a trusted key"):
        entry_time(receipts[0], Trust(keys=[services.Rekor().key.public_key()]))


def _other_time(entry: dict[str, Any]) -> None:
    next(iter(entry.values()))["integratedTime"] -= 3600


def _other_root(entry: dict[str, Any]) -> None:
    next(iter(entry.values()))["verification"]["inclusionProof"]["rootHash"] = "0" * 64


def _no_proof(entry: dict[str, Any]) -> None:
    del next(iter(entry.values()))["verification"]["inclusionProof"]


def _other_checkpoint(entry: dict[str, Any]) -> None:
    proof = next(iter(entry.values()))["verification"]["inclusionProof"]
    proof["checkpoint"] = proof["checkpoint"].replace("rekor.test - 1", "rekor.test - 2")


def _other_body(entry: dict[str, Any]) -> None:
    inner = next(iter(entry.values()))
    body = json.loads(base64.b64decode(inner["body"]))
    body["spec"]["signature"]["content"] = body["spec"]["signature"]["content"][:-8] + "AAAAAAA="
    inner["body"] = base64.b64encode(json.dumps(body).encode()).decode()


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        (_other_time, "time of the entry is not signed"),
        (_other_root, "does not lead to its root"),
        (_no_proof, "incomplete"),
        (_other_checkpoint, "checkpoint is not signed"),
        (_other_body, "signature is not valid|the inclusion proof"),
        (lambda entry: entry.clear(), "did not answer with an entry"),
    ],
)
def test_an_entry_that_rekor_does_not_prove_is_no_receipt(
    lie: Callable[[dict[str, Any]], None], why: str, tmp_path: Path
) -> None:
    server = services.Rekor(lie=lie)
    with services.serving(server.answer) as url, pytest.raises(LogError, match=why):
        rekor(url, tmp_path).append(statement())


def test_settings_are_read_from_the_file_that_the_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    monkeypatch.setenv("HEREDITY_CONFIG", str(file))
    service = '[[log]]\nkind = "timestamp"\nurl = "https://a.b/tsr"\ncertificates = "a.pem"\n'
    file.write_text('[[log]]\nkind = "git"\nrepository = "results"\n' + service)
    first, second = user_config().log
    assert isinstance(first, GitLogSettings)
    assert first.repository == str(tmp_path / "results")
    assert second.kind == "timestamp"
    for text, why in (
        ('[[log]]\nkind = "gti"\n', "kind"),
        ('[[log]]\nkind = "git"\nrepository = "x"\nfiel = "y"\n', "fiel"),
        ('[[log]]\nkind = "git"\nrepository = "x"\nfile = "../y"\n', "name of a file"),
        ('[[log]]\nkind = "rekor"\nurl = "rekor.sigstore.dev"\n', "begins with https://"),
        ("[log", "TOML"),
    ):
        file.write_text(text)
        with pytest.raises(ConfigError, match=why):
            user_config()
    file.unlink()
    with pytest.raises(ConfigError, match=r"config\.toml"):
        user_config()
    monkeypatch.setenv("HEREDITY_CONFIG", "")
    assert user_config().log == []
