"""Publishing: the folder that a stranger gets, without secrets and machine-bound files, checked as the stranger would.

`published.json` marks its root. The file says what was left out, which other starts the owner declares, and the digest
of all files, which a paper can quote.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from heredity import __version__
from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HeredityError, redacted
from heredity._core.outside import json_value
from heredity.experiments.results import rebuild
from heredity.experiments.sealed import OPENED
from heredity.experiments.transparency.writer import Writer, open_logs
from heredity.experiments.verification.published import PUBLISHED, digest_of_files
from heredity.records.events import RUN_FINISHED
from heredity.records.journal import read_chain
from heredity.records.lock import RunLock
from heredity.records.run_folder import is_run, is_suite, write_atomic
from heredity.results.card import Card, CheckStatus

VERSION = 1

LEFT_OUT: Mapping[str, str] = {
    "lock": "names a process of this machine",
    "spans.jsonl": "times of steps, with prompts, addresses and paths of this machine",
    "workspace": "what an outside agent saw and wrote",
    "logs": "output of an outside agent",
    "models": "weights; publish them apart",
    "best-models": "weights; publish them apart",
    "teams": "working folders of teams",
    "evolution": "working folders of trainers",
    "code": "working folders of trainers",
    "plans": "working folders of planners",
    "view.sqlite": "index of the live page",
    "view.sqlite-shm": "index of the live page",
    "view.sqlite-wal": "index of the live page",
    "judgements.jsonl": "cache of scores, keyed with the sealed secret",
    PUBLISHED: "of an earlier publication",
}
"""Entries of runs and suites that are not published, with the reasons."""

ALLOWED = ("paths", "names")
"""Finds that the owner may accept; keys are never published."""

_SHOWN = 5
_CHUNK = 1 << 22
_OVERLAP = 256
_ORDINARY = frozenset({"root", "user", "ubuntu", "admin", "runner", "nobody", "localhost", "test", "home"})
"""User and host names that identify nobody."""


@dataclass(frozen=True, slots=True)
class Find:
    """What a folder must not show: `keys`, `paths` or `names`, the file, and the text with keys hidden."""

    kind: str
    file: str
    text: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of a publication.

    Attributes:
        to: the new folder; by default `published/` with the name of the source.
        allowed: kinds of finds to accept, of `ALLOWED`.
        other_starts: suites of the same experiment that are not in the folder, with the reasons.
        sample: rollouts of each run that are played again; None for all.
    """

    to: Path | None = None
    allowed: Sequence[str] = ()
    other_starts: Mapping[str, str] = field(default_factory=dict[str, str])
    sample: int | None = 20


@dataclass(frozen=True, slots=True)
class Published:
    """Result of a publication.

    Attributes:
        folder: the new folder.
        manifest: content of its published.json.
        card: the checks that a stranger's process made.
        command: the command to verify it.
        with_logs: the command that compares it with the owner's logs too, which strangers need copies of; "" without logs.
    """

    folder: Path
    manifest: Mapping[str, Any]
    card: Card
    command: str
    with_logs: str = ""


class RefusedPublicationError(ConfigError):
    """A folder cannot be published.

    Attributes:
        reasons: every reason, each with its remedy.
    """

    def __init__(self, folder: Path, reasons: Sequence[str]) -> None:
        self.reasons = list(reasons)
        super().__init__(f"{folder} is not published: {'; '.join(reasons)}")


def publish(folder: Path, wanted: Wanted | None = None, notify: Callable[[str], None] = lambda step: None) -> Published:
    """Make the folder of a run or a suite that a stranger gets, and check it as the stranger would.

    Args:
        folder: a run or a suite that has ended; it is not changed, except that its logs are completed.
        wanted: options.
        notify: called with each step.

    Raises:
        RefusedPublicationError: if a run has not ended, something secret was found, or a check fails; nothing is left.
        ConfigError: if the folder holds neither, the target exists, or an option is wrong.
        RunLockedError: if another process works on the folder.
    """
    wanted, folder = wanted or Wanted(), folder.resolve()
    if unknown := set(wanted.allowed) - set(ALLOWED):
        raise ConfigError(f"--allow {min(unknown)}: expected {' or '.join(ALLOWED)}; keys are never published")
    if not is_run(folder) and not is_suite(folder):
        raise ConfigError(f"{folder} holds neither a run nor a suite; give one, such as runs/demo-20260101-120000")
    target = (wanted.to or Path("published") / folder.name).absolute()
    if os.path.lexists(target):
        raise ConfigError(f"{target} exists; remove it, or name another folder with --to")
    if target.is_relative_to(folder):
        raise ConfigError(f"{target} is inside {folder}; name a folder elsewhere with --to")
    with _partial(target) as partial:
        lock = RunLock.acquire(folder / "lock")
        try:
            if reasons := list(unfinished(folder)):
                raise RefusedPublicationError(folder, reasons)
            notify("completing logs")
            logs = _complete_logs(folder)
            notify("copying")
            left_out = _copy(folder, partial)
        finally:
            lock.release()
        notify("rebuilding reports")
        rebuild(partial)
        notify("searching for secrets")
        finds = list(finds_in(partial, _private(folder)))
        if reasons := [*_refusals(finds, wanted.allowed)]:
            raise RefusedPublicationError(folder, reasons)
        manifest = _manifest(folder, partial, left_out, logs, finds, wanted)
        write_atomic(partial / PUBLISHED, json.dumps(manifest, indent=1).encode() + b"\n")
        notify("checking as a stranger")
        card = _strangers_card(partial, wanted)
        if failed := [check for check in card.checks if check.status is CheckStatus.FAILED]:
            raise RefusedPublicationError(folder, [_remedied(c.name, c.run, c.reason) for c in failed])
        partial.rename(target)
    command, options = command_for(target, wanted.sample), [shlex.quote(Path(word).name) for word in _trusting()]
    return Published(target, manifest, card, command, " ".join([command, *options]) if options else "")


@contextmanager
def _partial(target: Path) -> Generator[Path]:
    """Make the folder to fill beside the target; it is removed unless it was renamed."""
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{partial} cannot be created: {error.strerror}; name another folder with --to") from error
    try:
        yield partial
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror}; free some space, or use --to") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):  # made for it alone
            target.parent.rmdir()


def _runs_of(folder: Path) -> list[Path]:
    return [folder] if is_run(folder) else sorted(path for path in (folder / "runs").iterdir() if is_run(path))


def unfinished(folder: Path) -> Iterator[str]:
    """Yield the reasons why a folder cannot be published yet."""
    for run in _runs_of(folder):
        try:
            events = read_chain(run / "journal.jsonl").events
        except HeredityError as error:
            yield str(error)
            continue
        if RUN_FINISHED.first(events) is None:
            yield f"{run.name} has not ended; continue it with heredity resume"
        elif not (run / OPENED).exists():
            yield f"the hidden cases of {run.name} are sealed, until every suite that is judged on them has ended"


def _complete_logs(folder: Path) -> list[str]:
    logs = open_logs()
    writer, problems = Writer(logs), dict[str, str]()
    for run in _runs_of(folder) if logs else ():
        problems |= writer.write(run).problems
    if problems:
        name, why = next(iter(problems.items()))
        raise RefusedPublicationError(
            folder, [f"{name} lacks starts or ends of it: {why}; try again: heredity log {folder}"]
        )
    return [log.name for log in logs]


def _copy(source: Path, target: Path) -> dict[str, str]:
    """Copy a run or a suite; return what was left out with the reasons."""
    left_out: dict[str, str] = {}
    tops = [source, *(_runs_of(source) if not is_run(source) else ())]
    for top in tops:
        inside = top.relative_to(source)
        (target / inside).mkdir(parents=True, exist_ok=True)
        for path in sorted(top.iterdir()):
            if path.name == "runs" and top == source and not is_run(source):
                continue
            reason = LEFT_OUT.get(path.name) or ("unfinished file" if path.name.startswith(".") else "")
            if reason:
                left_out.setdefault(path.name, reason)
            elif path.is_symlink():
                raise RefusedPublicationError(source, [f"{path} is a link; replace it by what it points to"])
            elif path.is_dir():
                shutil.copytree(path, target / inside / path.name, symlinks=True)
            else:
                shutil.copyfile(path, target / inside / path.name)
    return left_out


@dataclass(frozen=True, slots=True)
class _Private:
    """What identifies this machine and its user: patterns of each kind of find."""

    patterns: Sequence[tuple[str, re.Pattern[bytes]]]


def _private(folder: Path) -> _Private:
    """Return the patterns for keys in this process's environment, folders, and names of user and host."""
    secret = re.compile(r"(?:key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
    values = {value for name, value in os.environ.items() if secret.search(name) and len(value) >= 12}
    places = {str(Path.home()), str(Path.cwd()), str(folder), str(folder.parent), str(Path(sys.prefix).parent)}
    places = {place for place in places if len(Path(place).parts) > 1}
    names = {getpass.getuser(), socket.gethostname().partition(".")[0], *Path.home().parts[-1:]}
    names = {name for name in names if len(name) >= 4 and name.casefold() not in _ORDINARY}
    patterns = [("keys", re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"))]
    patterns += [("keys", _any(values, b"", b""))] if values else []
    patterns.append(("paths", re.compile(rb"(?<![\w.-])/(?:home|Users)/[A-Za-z0-9._-]+")))
    patterns += [("paths", _any(places, rb"(?<![\w.-])", rb"(?![\w-])"))]
    patterns += [("names", _any(names, rb"(?<![A-Za-z0-9])", rb"(?![A-Za-z0-9])"))] if names else []
    return _Private(patterns)


def _any(texts: set[str], before: bytes, after: bytes) -> re.Pattern[bytes]:
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile(before + b"(?:" + b"|".join(re.escape(os.fsencode(text)) for text in ordered) + b")" + after)


def finds_in(folder: Path, private: _Private) -> Iterator[Find]:
    """Search all files of a folder for keys, paths of this machine, and names of its user, each kind once a file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(folder).as_posix()
            seen: set[str] = set()
            for chunk in _chunks(path):
                yield from (Find(kind, name, text) for kind, text in _finds(chunk, private, seen))


def _finds(chunk: bytes, private: _Private, seen: set[str]) -> Iterator[tuple[str, str]]:
    for kind, pattern in private.patterns:
        if kind not in seen and (match := pattern.search(chunk)):
            seen.add(kind)
            yield kind, "a key" if kind == "keys" else match[0].decode("utf-8", "replace")
    if "keys" not in seen:
        text = chunk.decode("utf-8", "replace")
        if (hidden := redacted(text)) != text:
            seen.add("keys")
            at = next(i for i, (a, b) in enumerate(zip(text, hidden + "\0", strict=False)) if a != b)
            yield "keys", " ".join(hidden[max(0, at - 12) : at + 4].split())


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        before = b""
        while chunk := file.read(_CHUNK):
            yield before + chunk
            before = chunk[-_OVERLAP:]


_REMEDIES = {
    "keys": "remove it from what was run, and run again: records cannot be edited",
    "paths": "name files relative to an installed package, or accept it with --allow paths",
    "names": "or accept it with --allow names",
}


def _refusals(finds: Sequence[Find], allowed: Sequence[str]) -> Iterator[str]:
    for kind, remedy in _REMEDIES.items():
        files = [find for find in finds if find.kind == kind]
        if files and kind not in allowed:
            shown = ", ".join(f"{find.file} ({find.text})" for find in files[:_SHOWN])
            more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
            yield f"it shows {_KINDS[kind]} in {shown}{more}; {remedy}"


_KINDS = {"keys": "a key or a token", "paths": "paths of this machine", "names": "names of its user or host"}


def _manifest(
    source: Path, partial: Path, left_out: Mapping[str, str], logs: Sequence[str], finds: Sequence[Find], wanted: Wanted
) -> dict[str, Any]:
    digest, count, size = digest_of_files(partial)
    accepted = {kind: sum(find.kind == kind for find in finds) for kind in ALLOWED if kind in wanted.allowed}
    return {
        "schema_version": VERSION,
        "heredity": __version__,
        "name": source.name,
        "digest": digest,
        "files": count,
        "bytes": size,
        "left_out": dict(left_out),
        "accepted": {kind: count for kind, count in accepted.items() if count},
        "logs": list(logs),
        "other_starts": dict(wanted.other_starts),
    }


def _strangers_card(folder: Path, wanted: Wanted) -> Card:
    """Verify a copy of a folder in a process that has neither this one's environment nor its place."""
    arguments = ["--json", *(("--sample", str(wanted.sample)) if wanted.sample else ("--replay", "all"))]
    arguments += _trusting()
    with EngineFolder() as home:
        copy = home / "copy"
        shutil.copytree(folder, copy, symlinks=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "heredity", "verify", str(copy), *arguments],
            check=False,
            capture_output=True,
            cwd=home,
            env={**kept, "HOME": str(home), "HEREDITY_CONFIG": ""},
            stdin=subprocess.DEVNULL,
        )
    try:
        fields = cast("dict[str, Any]", json_value(done.stdout))
        return Card.model_validate({name: fields[name] for name in Card.model_fields if name in fields})
    except (ValueError, TypeError) as error:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RefusedPublicationError(folder, [f"it could not be verified: {said[-1] if said else error}"]) from error


def _trusting() -> list[str]:
    """Return the options with the user's own logs, and what he trusts of services."""
    from heredity.configuration.user import GitLogSettings, TimestampSettings, user_config

    options: list[str] = []
    for settings in user_config().log:
        if isinstance(settings, GitLogSettings):
            options += ["--log", str(Path(settings.repository) / settings.file)]
        elif isinstance(settings, TimestampSettings):
            options += ["--trust", settings.certificates]
        elif settings.public_key:
            options += ["--trust", settings.public_key]
    return options


def _remedied(check: str, run: str | None, reason: str) -> str:
    of = f" of {run}" if run else ""
    remedy = "; declare them with --other SUITE=REASON, or publish them too" if check == "starts" else ""
    return f"the check {check}{of} fails: {reason}{remedy}"


def command_for(folder: Path, sample: int | None) -> str:
    """Return the command with which a stranger verifies a published folder."""
    replay = f"--sample {sample}" if sample else "--replay all"
    return f"heredity verify {shlex.quote(folder.name)} {replay}"
