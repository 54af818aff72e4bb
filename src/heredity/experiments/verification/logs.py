"""Checks of a folder against logs that its owner cannot change unseen: proofs, dates, and starts that are not in the folder.

A log holds the statements of runs (see `heredity.experiments.transparency.statements`). A stranger gives it as a git
repository, as its file, or as the address of a Rekor instance, and the certificates and keys that he trusts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from heredity._core.errors import ConfigError, HeredityError
from heredity._core.outside import read_bytes
from heredity.experiments.transparency.logs import Trust, entries_by_key, entry_time, git, git_text, token_time
from heredity.experiments.transparency.statements import (
    FIRST,
    Receipt,
    Statement,
    first_hidden_evaluation,
    parse_log,
    read_receipts,
    statements_of,
)
from heredity.experiments.verification.cards import Finding, check, failed, failed_on, not_checked, passed
from heredity.records.journal import read_chain
from heredity.results.card import Check
from heredity.results.text import listed, plural

OWN_CLOCK_S, OTHER_CLOCK_S = 2.0, 60.0
"""Tolerated difference of clocks in seconds: of git on the owner's machine, and of a service."""
_MOST_BYTES = 1 << 30
_FILES = re.compile(r"heredity[^/]*\.jsonl")


@dataclass(frozen=True, slots=True)
class Given:
    """Logs and trust that a stranger gives.

    Attributes:
        logs: repositories, log files, or addresses of Rekor instances.
        trust: files of certificates and public keys (PEM).
    """

    logs: Sequence[str] = ()
    trust: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """Run of the folder: what it states, the receipts for it, and when cases were first seen."""

    name: str
    statements: Sequence[Statement]
    receipts: Sequence[Receipt]
    hidden_at: float | None


@dataclass(frozen=True, slots=True)
class _Line:
    statement: Statement
    line: str
    commit: str = ""
    at: float | None = None


@dataclass(frozen=True, slots=True)
class _LogFile:
    """File of statements, with commits and dates if it is in a repository."""

    name: str
    lines: Sequence[_Line]
    problems: Sequence[str] = field(default_factory=tuple[str, ...])


def log_checks(
    folders: Sequence[Path], given: Given, declared: Mapping[str, str] | None = None, *, alone: bool = False
) -> list[Check]:
    """Check the runs of a folder against logs.

    Args:
        folders: the runs' folders, with valid journals.
        given: the logs and the trust.
        alone: whether a run stands for itself, so that only its own reruns are counted.
        declared: suites outside this folder that its owner declares, with the reasons.

    Raises:
        ConfigError: if a log or a file of keys cannot be used.
        MissingExtraError: if the package that reads keys is not installed.
    """
    try:
        runs = [_read(folder) for folder in folders]
    except HeredityError as error:
        return [check("anchor", None, partial(failed, str(error)))]
    trust = Trust.read(given.trust)
    addresses = [text.rstrip("/") for text in given.logs if "://" in text]
    files = [log for text in given.logs if "://" not in text for log in _opened(Path(text))]
    services = dict.fromkeys((r.kind, r.log) for run in runs for r in run.receipts if r.kind != "git")
    checks = [check("anchor", None, partial(_in_file, log, runs)) for log in files]
    checks += [check("anchor", None, partial(_in_service, kind, log, runs, trust)) for kind, log in services]
    if not files:
        named = dict.fromkeys(r.log for run in runs for r in run.receipts if r.kind == "git")
        checks += [
            check("anchor", None, partial(not_checked, f"{log} has receipts; give it with --log")) for log in named
        ]
    if not checks:
        return [check("anchor", None, partial(not_checked, _UNLOGGED))]
    if files:
        checks.append(check("starts", None, partial(_starts, files, runs, declared or {}, alone)))
    checks += [check("starts", None, partial(_by_key, address, files, runs)) for address in addresses]
    return checks


_UNLOGGED = "no log has the start and the end of this, so reruns and dropped runs cannot be counted"


def _read(folder: Path) -> _Run:
    chain = read_chain(folder / "journal.jsonl")
    hidden = first_hidden_evaluation(chain.events)
    return _Run(folder.name, statements_of(folder, chain), read_receipts(folder), hidden)


def _opened(path: Path) -> list[_LogFile]:
    """Read a log file, or those of a repository."""
    try:
        if path.is_dir():
            if git(path, "rev-parse", "--git-dir", check=False).returncode:
                raise ConfigError(f"--log {path} is not a git repository; give one, or the file of a log")
            names = git_text(path, "ls-tree", "--name-only", "HEAD").splitlines()
            logs = [name for name in names if _FILES.fullmatch(name)] or [n for n in names if n.endswith(".jsonl")]
            if not logs:
                raise ConfigError(f"--log {path} has no file heredity*.jsonl; give the file of the log")
            return [_in_repository(path, name) for name in logs]
        above, repository = path.absolute().parent, ""
        if path.is_file() and git(above, "rev-parse", "--git-dir", check=False).returncode == 0:
            repository = git_text(above, "ls-files", "--full-name", "--", path.name)
        if repository == path.name:
            return [_in_repository(above, path.name)]
        return [_parsed(path.name, read_bytes(path, _MOST_BYTES))]
    except OSError as error:
        raise ConfigError(f"--log {path} cannot be read: {error.strerror}; give a repository or a file") from error


def _parsed(name: str, data: bytes, dates: Sequence[tuple[str, float]] = (), problems: Iterable[str] = ()) -> _LogFile:
    lines: list[_Line] = []
    found = list(problems)
    try:
        for number, statement, line in parse_log(data):
            commit, at = dates[number - 1] if number <= len(dates) else ("", None)
            if lines and at is not None and at < (lines[-1].at or 0.0) - OWN_CLOCK_S:
                found.append(f"line {number} has an earlier date than the line before it")
            lines.append(_Line(statement, line, commit, at))
    except ValueError as error:
        found.append(str(error))
    return _LogFile(name, lines, found)


_BLAMED = re.compile(rb"^([0-9a-f]{40,64}) \d+ \d+|^committer-time (\d+)", re.MULTILINE)


def _in_repository(repository: Path, name: str) -> _LogFile:
    data = git(repository, "cat-file", "blob", f"HEAD:{name}").stdout
    blamed = git(repository, "blame", "--no-textconv", "--line-porcelain", "HEAD", "--", name).stdout
    marks = [match.groups() for match in _BLAMED.finditer(blamed)]
    commits = [commit.decode() for commit, _ in marks if commit]
    times = [float(at) for _, at in marks if at]
    history = git_text(
        repository,
        "log",
        "--no-textconv",
        "--no-ext-diff",
        "--numstat",
        "-m",
        "--first-parent",
        "--format=",
        "HEAD",
        "--",
        name,
    )
    removed = [line for line in history.splitlines() if line.split("\t")[1:2] not in ([], ["0"])]
    problems = [f"{plural(len(removed), 'commit')} removed or changed lines of it"] if removed else []
    return _parsed(f"{repository.absolute().name}/{name}", data, list(zip(commits, times, strict=True)), problems)


def _in_file(log: _LogFile, runs: Sequence[_Run]) -> Finding:
    problems = [f"{log.name}: {problem}" for problem in log.problems]
    held = {line.statement: line for line in log.lines}
    texts = {line.line: line for line in log.lines}
    for run in runs:
        problems += _lacking(log.name, run, held)
        problems += _rewritten(log.name, run, texts)
        times = {s: line.at for s, line in held.items() if s in run.statements and line.at is not None}
        problems += _misdated(log.name, run, times, OWN_CLOCK_S)
    dated = [line.at for run in runs for s in run.statements if (line := held.get(s)) and line.at is not None]
    dates = f", by the committer's clock {_span(dated)}" if dated else "; without dates, as it is in no repository"
    return failed_on(problems, f"{log.name} has {_counted(runs)}{dates}")


def _counted(runs: Sequence[_Run]) -> str:
    moments = Counter(s.event for run in runs for s in run.statements)
    return f"the start and the end of {plural(moments['start'], 'run')}"


def _span(times: Sequence[float]) -> str:
    first, last = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S") for at in (min(times), max(times)))
    return f"{first} to {last} UTC"


def _lacking(log: str, run: _Run, held: Iterable[Statement]) -> list[str]:
    """Return the statements of a run that a log lacks; other statements of the same start say that records were changed."""
    there = set(held)
    problems: list[str] = []
    for statement in run.statements:
        if statement in there:
            continue
        others = [s for s in there if (s.event, s.suite, s.run) == (statement.event, statement.suite, statement.run)]
        same = [s for s in others if s.commitment == statement.commitment]
        what = f"{log} has another {statement}: the records were changed" if same else f"{statement} is not in {log}"
        problems.append(what)
    return problems


def _rewritten(log: str, run: _Run, texts: Mapping[str, _Line]) -> list[str]:
    """Return the receipts that the log contradicts: its history was rewritten after they were given."""
    problems: list[str] = []
    for receipt in run.receipts:
        statement, previous = Statement.parse(receipt.line)
        line = texts.get(receipt.line)
        if line is None and previous != FIRST and any(one.statement.suite == statement.suite for one in texts.values()):
            problems.append(
                f"{log} was rewritten: it no longer has the line that {receipt.log} took for the {statement}"
            )
        elif line is not None and receipt.kind == "git" and line.commit not in ("", receipt.proof.get("commit")):
            problems.append(f"{log} was rewritten: the {statement} is in another commit than its receipt says")
    return problems


def _misdated(log: str, run: _Run, times: Mapping[Statement, float], tolerance: float) -> list[str]:
    problems: list[str] = []
    for statement, at in times.items():
        late = at - (run.hidden_at if run.hidden_at is not None else at)
        if statement.event == "start" and late > tolerance:
            problems.append(f"{log} has the {statement} {late:.0f} s after its first evaluation on hidden cases")
        if at < statement.at - tolerance:
            what = "it began" if statement.event == "start" else "its last event"
            problems.append(f"{log} has the {statement} {statement.at - at:.0f} s before {what}")
    return problems


def _in_service(kind: str, log: str, runs: Sequence[_Run], trust: Trust) -> Finding:
    if not (trust.certificates if kind == "timestamp" else trust.keys):
        what = "certificates of the authority" if kind == "timestamp" else "public key of the log"
        return not_checked(f"{log} has receipts; give the {what} with --trust FILE")
    problems: list[str] = []
    every: list[float] = []
    for run in runs:
        times: dict[Statement, float] = {}
        for receipt in run.receipts:
            if receipt.log != log:
                continue
            statement = Statement.parse(receipt.line)[0]
            try:
                at = token_time(receipt, trust) if kind == "timestamp" else entry_time(receipt, trust)
                times[statement] = at.timestamp()
            except ValueError as error:
                problems.append(f"{log}, {statement}: {error}")
        every += times.values()
        problems += _lacking(log, run, times)
        problems += _misdated(log, run, {s: t for s, t in times.items() if s in run.statements}, OTHER_CLOCK_S)
    return failed_on(problems, f"{log} has {_counted(runs)}, {_span(every)}" if every else f"{log} has nothing of this")


def _starts(files: Sequence[_LogFile], runs: Sequence[_Run], declared: Mapping[str, str], alone: bool) -> Finding:
    """Find starts in the logs that are not in the folder: dropped runs, reruns, other suites of the same experiment."""
    own = {s for run in runs for s in run.statements}
    suites, experiments = {s.suite for s in own}, {s.experiment for s in own}
    logged = dict.fromkeys(line.statement for log in files for line in log.lines)
    others = [s for s in logged if s.event == "start" and s not in own]
    if alone:
        others = [s for s in others if s.run in {one.run for one in own}]
    names = {(s.suite, s.run) for s in own}
    dropped = [s for s in others if s.suite in suites and (s.suite, s.run) not in names]
    again = [s for s in others if s not in dropped and (s.experiment in experiments or s.suite in suites)]
    problems: list[str] = []
    if dropped:
        verb = "was" if len(dropped) == 1 else "were"
        shown = _some([s.run for s in dropped])
        problems.append(f"{plural(len(dropped), 'run')} of this suite {verb} started and left out: {shown}")
    times = {suite: max(Counter(s.run for s in again if s.suite == suite).values()) for suite in _suites(again)}
    if undeclared := [suite for suite in times if suite not in declared]:
        ended = {(s.suite, s.run, s.commitment) for s in logged if s.event == "end"}
        complete = {s.suite for s in again if (s.suite, s.run, s.commitment) in ended}.intersection(undeclared)
        total, left = sum(times.values()) + len(suites), sum(times[suite] for suite in undeclared)
        problems.append(
            f"this {'run' if alone else 'suite'} was started {total} times, and {left} {'is' if left == 1 else 'are'} not in "
            f"this folder ({_some(undeclared)}; runs of {len(complete)} of those ended)"
        )
    told = f"; its owner declares {plural(sum(times.values()), 'other start')}: {_some(list(times))}" if times else ""
    name = listed([log.name for log in files])
    return failed_on(problems, f"{name} has no other start of these experiments{told}")


_SHOWN = 5


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return listed([*names[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def _suites(statements: Iterable[Statement]) -> list[str]:
    return list(dict.fromkeys(s.suite for s in statements))


def _by_key(address: str, files: Sequence[_LogFile], runs: Sequence[_Run]) -> Finding:
    """Count the entries of the owner's key in a Rekor instance."""
    import hashlib

    receipts = [receipt for run in runs for receipt in run.receipts if receipt.kind == "rekor"]
    if not receipts:
        return not_checked(f"{address} cannot be searched: no run has a receipt with the owner's key")
    texts = [*(receipt.line for receipt in receipts), *(line.line for log in files for line in log.lines)]
    known = {hashlib.sha256(text.encode()).hexdigest() for text in texts}
    held = entries_by_key(address, receipts[0])
    unknown = sum(digest not in known for digest in held)
    if unknown:
        return not_checked(
            f"{address} has {len(held)} entries of this owner's key, and {unknown} of them are neither in this folder nor "
            "in a log file given here"
        )
    return passed(
        f"all {len(held)} entries of this owner's key in {address} are in this folder or in the given log files"
    )
