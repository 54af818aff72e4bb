"""Anchors: external proof that a commitment or the head of a journal existed at some time.

A statement is anchored: one line for each run, `heredity commitment RUN DIGEST` while it runs, or `heredity head RUN
DIGEST`
after its end. A git commit has the digests in its message or its files. A token of RFC 3161 covers the statement's
bytes,
and is checked by `openssl ts -verify`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError
from heredity._core.outside import read_bytes
from heredity.experiments.verification.cards import Finding, failed, failed_on
from heredity.records import Event
from heredity.records.events import SESSION_CLOSED
from heredity.results.card import RunCard

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_SECONDS = 60.0
_SLACK_S = 300.0
"""Seconds by which an authority's clock may differ from that of a run's machine."""
_MOST_BYTES = 16 << 20


class Statement(StrEnum):
    """Anchored value of a run: its commitment, at the start, or the head of its journal, at the end."""

    COMMITMENT = "commitment"
    HEAD = "head"


def statement(kind: Statement, runs: Sequence[RunCard]) -> str:
    """Return the text to anchor: the same from any copy of the folder.

    Raises:
        ConfigError: if there is no run yet.
    """
    lines = [f"heredity {kind} {run.run_id} {value}\n" for run in runs if (value := _digest(kind, run))]
    if not lines:
        raise ConfigError(f"cannot print the {kind}: this folder has no started run")
    return "".join(sorted(lines))


def _digest(kind: Statement, run: RunCard) -> str | None:
    return run.commitment if kind is Statement.COMMITMENT else run.head


@dataclass(frozen=True, slots=True)
class Anchor:
    """Location of an anchored statement.

    Attributes:
        kind: `"git"` or `"tsr"`.
        path: a repository, or the file of a token.
        commit: commit in the repository.
    """

    kind: str
    path: Path
    commit: str = ""

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """Read `git:REPO@COMMIT` or `tsr:FILE`.

        Raises:
            ConfigError: if the text has neither form.
        """
        kind, _, rest = text.partition(":")
        path, _, commit = rest.rpartition("@") if kind == "git" else (rest, "", "")
        if kind not in ("git", "tsr") or not path or (kind == "git" and not _COMMIT.fullmatch(commit)):
            raise ConfigError(
                f"--anchor {text!r} is not an anchor; write git:REPO@COMMIT, with 7 or more hexadecimal digits, or tsr:FILE"
            )
        return cls(kind, Path(path), commit)


@dataclass(frozen=True, slots=True)
class Period:
    """Times of one or several runs according to their journals, in Unix seconds.

    Attributes:
        started: the first start.
        closed: the first end of a session: from here on, an evolver has nothing more to learn.
        ended: the last line.
    """

    started: float
    closed: float
    ended: float

    @classmethod
    def of(cls, events: Sequence[Event]) -> Period:
        """Return the period of a journal."""
        closed = next((event.at for event in events if event.kind == SESSION_CLOSED.name), events[-1].at)
        return cls(events[0].at, closed, events[-1].at)

    @classmethod
    def over(cls, periods: Sequence[Period]) -> Period:
        """Return the period of several runs."""
        return cls(
            min(one.started for one in periods), min(one.closed for one in periods), max(one.ended for one in periods)
        )

    def refutes(self, kind: Statement, at: float) -> str:
        """Return why an anchor of that time shows something else than its statement says; empty if it does not."""
        if kind is Statement.COMMITMENT and at > self.closed + _SLACK_S:
            return f"the commitment was anchored {at - self.closed:.0f} s after a session was closed, and binds nothing"
        if kind is Statement.COMMITMENT and at < self.started - _SLACK_S:
            return (
                f"the commitment was anchored {self.started - at:.0f} s before the journals say that the runs started"
            )
        if kind is Statement.HEAD and at < self.ended - _SLACK_S:
            return f"the head was anchored {self.ended - at:.0f} s before the journals say that the runs ended"
        return ""


def anchored(anchor: Anchor, runs: Sequence[RunCard], period: Period, authority: Path | None) -> Finding:
    """Check that an anchor holds the commitment or the head of every run, and that its date fits the journals.

    Args:
        anchor: the anchor to check.
        runs: the cards with the expected digests.
        period: when the runs started and ended, according to their journals.
        authority: certificates to check a token's signature with.
    """
    statements = {kind: statement(kind, runs) for kind in Statement}
    if anchor.kind == "git":
        return _in_commit(anchor, runs, period)
    if authority is None:
        return failed(f"{anchor.path}: a token cannot be checked without its signer's certificate; give --ca FILE")
    return _in_token(anchor.path, statements, period, authority)


def _in_commit(anchor: Anchor, runs: Sequence[RunCard], period: Period) -> Finding:
    shown = _git(anchor, "show", "--no-patch", "--format=%H%n%cI%n%B", anchor.commit, "--")
    if shown.returncode:
        return failed(f"git: {_last(shown)}")
    commit, when, message = shown.stdout.split("\n", 2)
    held: dict[Statement, list[str]] = {kind: [] for kind in Statement}
    for run in runs:
        for kind in Statement:
            digest = _digest(kind, run)
            if digest and (digest in message or _git(anchor, "grep", "-q", "-F", "-e", digest, commit).returncode == 0):
                held[kind].append(str(run.run_id))
    whole = [kind for kind, names in held.items() if len(names) == len(runs)]
    lacking = [str(run.run_id) for run in runs if not any(str(run.run_id) in names for names in held.values())]
    problems = [f"neither commitment nor head of {name} is in the commit {commit[:12]}" for name in lacking]
    at = datetime.fromisoformat(when).timestamp()
    refuted = [why for kind in whole if (why := period.refutes(kind, at))]
    # A commit with both shows one of them.
    problems += refuted if len(refuted) == len(whole) else []
    kinds = " and ".join(f"{kind}s" for kind in whole) or "a commitment or a head of each"
    return failed_on(
        problems, f"{kinds} of {len(runs)} runs are in the commit {commit[:12]}, with the committer's date {when}"
    )


def _git(anchor: Anchor, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Nothing that an untrusted repository configures is run.
    command = ["git", "-C", str(anchor.path), "-c", "core.fsmonitor=false", "-c", "core.pager=cat", "--no-pager"]
    return _run([*command, *arguments])


def _in_token(path: Path, statements: Mapping[Statement, str], period: Period, authority: Path) -> Finding:
    for file_read in (path, authority):
        try:
            read_bytes(file_read, _MOST_BYTES)
        except OSError as error:
            return failed(
                f"{file_read} cannot be read: {error.strerror}; give the file of a token, and of certificates"
            )
    answers: list[str] = []
    for kind, text in statements.items():
        with EngineFolder() as folder:
            data = folder / "data"
            data.write_bytes(text.encode())
            done = _run(["openssl", "ts", "-verify", "-data", str(data), "-in", str(path), "-CAfile", str(authority)])
        if done.returncode == 0:
            when = _time_of(path)
            refuted = period.refutes(kind, _seconds(when))
            return failed_on([refuted] if refuted else [], f"{path} is a token of the {kind}s, of {when}")
        answers.append(_last(done))
    return failed(f"{path} does not match the commitments or the heads: {answers[0]}")


def _time_of(path: Path) -> str:
    answer = _run(["openssl", "ts", "-reply", "-in", str(path), "-text"]).stdout
    return next((line.partition(":")[2].strip() for line in answer.splitlines() if line.startswith("Time stamp")), "?")


def _seconds(when: str) -> float:
    return datetime.strptime(re.sub(r"\.\d+", "", when), "%b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC).timestamp()


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise ConfigError(f"{command[0]} is not installed; install it to check anchors") from error
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"{command[0]} did not finish in {_SECONDS:g} s") from error


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    reasons = [line for line in lines if "error:" in line.lower()] or lines
    return reasons[-1] if reasons else f"exit code {done.returncode}"
