"""Logs that hold statements: a file in a git repository, a timestamp service, Rekor.

Each appends a line and returns its proof, which a stranger checks later with `checked_time` and the keys and
certificates that he trusts. A line that a git log holds already is not appended again.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, cast

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HostError, MissingExtraError, RecordError, redacted
from heredity._core.ids import canonical_json, digest_bytes
from heredity._core.outside import json_value, read_bytes
from heredity.configuration.user import GitLogSettings, LogSettings, RekorSettings, TimestampSettings
from heredity.experiments.transparency.statements import FIRST, Receipt, Statement, append_line, parse_log

TIMEOUT_S = 15.0
"""Timeout of one request to a service, in seconds."""
_PROGRAM_S = 60.0
_LOCK_S = 30.0
_MOST_BYTES = 4 << 20


class LogError(HostError):
    """A log did not take a line; it is tried again later."""


class Log(Protocol):
    """Log of a user's.

    Attributes:
        name: address, or name of the repository, without its place on this machine.
    """

    name: str

    def append(self, statement: Statement, line: str | None) -> Receipt:
        """Append a statement.

        Args:
            statement: the statement.
            line: the line that a log before this one holds; None to choose it.

        Raises:
            LogError: if the log cannot be reached or refuses it; a later attempt may succeed.
            ConfigError: if the settings of the log are wrong.
        """
        ...


def open_log(settings: LogSettings) -> Log:
    """Return a log by its settings.

    Raises:
        ConfigError: if its repository does not exist, or a file of keys or certificates cannot be used.
        MissingExtraError: if a package that it needs is not installed.
    """
    if isinstance(settings, GitLogSettings):
        return GitLog(settings)
    return TimestampLog(settings) if isinstance(settings, TimestampSettings) else RekorLog(settings)


@dataclass(frozen=True)
class Trust:
    """Certificates and keys that a stranger trusts.

    Attributes:
        certificates: certificates of timestamp authorities (PEM).
        keys: public keys of Rekor instances.
    """

    certificates: bytes = b""
    keys: Sequence[Any] = ()

    @classmethod
    def read(cls, files: Sequence[Path]) -> Trust:
        """Read files with certificates and public keys (PEM).

        Raises:
            ConfigError: if a file holds neither.
            MissingExtraError: if the package that reads keys is not installed.
        """
        certificates, keys = b"", list[Any]()
        for path in files:
            try:
                data = read_bytes(path, _MOST_BYTES)
                if b"BEGIN CERTIFICATE" in data:
                    certificates += data + b"\n"
                else:
                    keys.append(public_key(data))
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"{path} cannot be used: {error!s:.200}; give a file of PEM certificates or of a PEM public key"
                ) from error
        return cls(certificates, keys)


def public_key(pem: bytes) -> Any:
    """Return a public key.

    Raises:
        ValueError: if it is none.
        MissingExtraError: if the package that reads keys is not installed.
    """
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError as error:
        raise MissingExtraError("a log with the API of Rekor", "transparency") from error
    return load_pem_public_key(pem)


def git(
    repository: Path, *arguments: str, check: bool = True, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a repository without anything that the repository configures to be run.

    Raises:
        ConfigError: if git is not installed.
        LogError: if it fails and `check` is set, or takes too long.
    """
    settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "commit.gpgsign=false", "log.showSignature=false"]
    # Objects that are missing are not fetched: the repository names the program that would.
    settings += [] if arguments[0] == "push" else ["protocol.allow=never"]
    safe = [word for setting in settings for word in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *safe, "--no-pager", *arguments],
            check=False,
            capture_output=True,
            timeout=_PROGRAM_S,
            input=stdin or b"",
            env={**environment, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except FileNotFoundError as error:
        raise ConfigError("git is not installed; install it, or choose another kind of log") from error
    except subprocess.TimeoutExpired as error:
        raise LogError(f"git {arguments[0]} did not finish in {_PROGRAM_S:g} s") from error
    if check and done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise LogError(f"git {arguments[0]} failed: {said[-1] if said else f'exit code {done.returncode}'}")
    return done


def git_text(repository: Path, *arguments: str) -> str:
    """Return what a git command prints (see `git`)."""
    return git(repository, *arguments).stdout.decode("utf-8", "replace").strip()


class GitLog:
    """File in a git repository: one line and one commit for each statement. See `Log`."""

    def __init__(self, settings: GitLogSettings) -> None:
        self.repository, self.file, self.remote = Path(settings.repository), settings.file, settings.push
        if not self.repository.is_dir() or git(self.repository, "rev-parse", "--git-dir", check=False).returncode:
            raise ConfigError(f"{self.repository} is not a git repository; make one: git init {self.repository}")
        self.name = f"git {self.repository.name}/{self.file}"

    def append(self, statement: Statement, line: str | None = None) -> Receipt:
        """Append a statement, unless the file holds it already, and commit it; then push, if that is asked for."""
        with self._locked():
            number, line = self._appended(statement)
            receipt = Receipt("git", self.name, line, self._proof(number))
            if self.remote:
                git(self.repository, "push", "--quiet", self.remote, "HEAD")
        return receipt

    def _appended(self, statement: Statement) -> tuple[int, str]:
        path, kept = self.repository / self.file, self._kept()
        previous, count = FIRST, 0
        try:
            for count, there, line in parse_log(kept):
                if there == statement:
                    return count, line
                previous = digest_bytes(line.encode())
        except ValueError as error:
            raise LogError(
                f"{self.name} cannot be continued, {error}; restore the file, or name another in the settings"
            ) from error
        line = statement.line(previous)
        try:
            append_line(path, line.encode() + b"\n", len(kept))
            git(self.repository, "add", "--force", "--", self.file)
            about = f"heredity: {statement}"
            git(self.repository, *self._author(), "commit", "--quiet", "--only", "-m", about, "--", self.file)
        except (RecordError, LogError) as error:
            self._undo(path, kept)
            raise LogError(f"{self.name}: {error}") from error
        return count + 1, line

    def _kept(self) -> bytes:
        """Return the committed content of the file; a line that a killed process left uncommitted is dropped."""
        committed = git(self.repository, "cat-file", "blob", f"HEAD:{self.file}", check=False)
        kept = committed.stdout if committed.returncode == 0 else b""
        path = self.repository / self.file
        try:
            there = read_bytes(path, 1 << 30) if os.path.lexists(path) else b""
        except OSError as error:
            raise LogError(f"{self.name} cannot be read: {error.strerror}") from error
        if not there.startswith(kept):
            raise LogError(f"{self.name} was changed by hand; restore it: git checkout -- {self.file}")
        return kept

    def _undo(self, path: Path, kept: bytes) -> None:
        with contextlib.suppress(OSError):
            os.truncate(path, len(kept))
            if not kept:
                path.unlink()
        with contextlib.suppress(LogError):
            git(self.repository, "reset", "--quiet", "--", self.file, check=False)

    def _author(self) -> list[str]:
        if git(self.repository, "config", "user.email", check=False).returncode == 0:
            return []
        return ["-c", "user.name=heredity", "-c", "user.email=heredity@localhost"]

    def _proof(self, number: int) -> dict[str, Any]:
        blamed = git_text(
            self.repository,
            "blame",
            "--no-textconv",
            "--porcelain",
            "-L",
            f"{number},{number}",
            "HEAD",
            "--",
            self.file,
        )
        return {"commit": blamed.split(" ", 1)[0], "file": self.file}

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Let one process append at a time."""
        folder = self.repository / git_text(self.repository, "rev-parse", "--git-common-dir")
        try:
            fd = os.open(folder / "heredity.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LogError(f"{self.name} cannot be locked: {error.strerror}") from error
        try:
            until = time.monotonic() + _LOCK_S
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError as error:
                    if time.monotonic() > until:
                        raise LogError(f"{self.name} is in use by another process") from error
                    time.sleep(0.02)
            yield
        finally:
            os.close(fd)


def _request(url: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, bytes, str]:
    """Return status, body and `Location` of an answer, whatever its status.

    Raises:
        LogError: if there is none.
    """
    request = urllib.request.Request(url, data, dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read(_MOST_BYTES), answer.headers.get("Location") or ""
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(_MOST_BYTES), error.headers.get("Location") or ""
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise LogError(f"{redacted(url)} cannot be reached: {reason}") from error


def _refused(name: str, status: int, body: bytes) -> LogError:
    return LogError(f"{name} refused the line with status {status}: {body[:200].decode('utf-8', 'replace').strip()}")


class TimestampLog:
    """Timestamp service, RFC 3161: its token shows that a line existed, and keeps no list. See `Log`."""

    def __init__(self, settings: TimestampSettings) -> None:
        self.url, self.name = settings.url, redacted(settings.url)
        self._trust = Trust.read([Path(settings.certificates)])

    def append(self, statement: Statement, line: str | None = None) -> Receipt:
        """Ask for a token of the line and check it."""
        line = line or statement.line()
        with EngineFolder() as folder:
            (folder / "line").write_bytes(line.encode())
            query = _openssl("ts", "-query", "-data", folder / "line", "-sha256", "-cert").stdout
            status, body, _ = _request(self.url, query, {"Content-Type": "application/timestamp-query"})
        if status != 200:
            raise _refused(self.name, status, body)
        receipt = Receipt("timestamp", self.name, line, {"token": base64.b64encode(body).decode()})
        try:
            token_time(receipt, self._trust)
        except ValueError as error:
            raise LogError(f"{self.name}: {error}") from error
        return receipt


_STAMPED = re.compile(rb"^Time stamp: (\w+ +\d+ [\d:]+)(?:\.\d+)? (\d+) GMT", re.MULTILINE)


def token_time(receipt: Receipt, trust: Trust) -> datetime:
    """Return the time in a token that covers the line of its receipt, in whole seconds.

    Certificates need to be valid at that time, not today.

    Args:
        receipt: a timestamp service's receipt.
        trust: trusted certificates.

    Raises:
        ValueError: if it is of another line, or its signer is not trusted.
    """
    with EngineFolder() as folder:
        line, token, roots = folder / "line", folder / "token", folder / "roots"
        line.write_bytes(receipt.line.encode())
        token.write_bytes(base64.b64decode(str(receipt.proof.get("token")), validate=True))
        roots.write_bytes(trust.certificates)
        stamped = _STAMPED.search(_openssl("ts", "-reply", "-in", token, "-text").stdout)
        if stamped is None:
            raise ValueError("this is not a token")
        text = f"{stamped[1].decode()} {stamped[2].decode()}"
        at = datetime.strptime(text, "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
        valid = ("-attime", str(int(at.timestamp())))
        done = _openssl("ts", "-verify", "-data", line, "-in", token, "-CAfile", roots, *valid)
    if done.returncode:
        said = (done.stderr + done.stdout).decode("utf-8", "replace").splitlines()
        reasons = [part.rpartition("error:")[2] for part in said if "error:" in part] or ["openssl refuses it"]
        raise ValueError(f"the token is not valid: {reasons[-1]}")
    return at


def _openssl(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["openssl", *map(str, arguments)],
            check=False,
            capture_output=True,
            timeout=_PROGRAM_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
    except FileNotFoundError as error:
        raise ConfigError("openssl is not installed; tokens of timestamp services need it") from error
    except subprocess.TimeoutExpired as error:
        raise LogError(f"openssl did not finish in {_PROGRAM_S:g} s") from error


class RekorLog:
    """Transparency log with the API of Rekor, version 1: entries of type hashedrekord, signed by the user. See `Log`."""

    def __init__(self, settings: RekorSettings) -> None:
        self.url, self.name = settings.url, redacted(settings.url)
        self._path = Path(settings.key)
        signing_key(self._path)
        self._trust = Trust.read([Path(settings.public_key)] if settings.public_key else [])

    def append(self, statement: Statement, line: str | None = None) -> Receipt:
        """Enter the digest of the line, signed, and check that the entry is included."""
        line = line or statement.line()
        status, body, location = _request(
            f"{self.url}/api/v1/log/entries",
            canonical_json(self._entry(line)),
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        if status == 409 and location:  # it is there already
            status, body, _ = _request(f"{self.url}/{location.lstrip('/')}" if "://" not in location else location)
        if status not in (200, 201):
            raise _refused(self.name, status, body)
        try:
            answer = cast("dict[str, Any]", json_value(body))
            ((uuid, entry),) = answer.items()
        except (ValueError, AttributeError) as error:
            raise LogError(f"{self.name} did not answer with an entry: {error!s:.200}") from error
        receipt = Receipt("rekor", self.name, line, {"uuid": uuid, "entry": entry})
        try:
            entry_time(receipt, self._trust if self._trust.keys else self._asked())
        except ValueError as error:
            raise LogError(f"{self.name}: {error}") from error
        return receipt

    def _asked(self) -> Trust:
        status, body, _ = _request(f"{self.url}/api/v1/log/publicKey")
        if status != 200:
            raise _refused(self.name, status, body)
        return Trust(keys=[public_key(body)])

    def _entry(self, line: str) -> dict[str, Any]:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        key = signing_key(self._path)
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        signature = {
            "content": base64.b64encode(key.sign(line.encode(), ec.ECDSA(hashes.SHA256()))).decode(),
            "publicKey": {"content": base64.b64encode(public).decode()},
        }
        data = {"hash": {"algorithm": "sha256", "value": digest_bytes(line.encode())}}
        return {"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": {"data": data, "signature": signature}}


def signing_key(path: Path) -> Any:
    """Return the private key that signs entries (ECDSA, P-256); it is made if the file is missing.

    Raises:
        ConfigError: if the file holds no such key, or cannot be written.
        MissingExtraError: if the package that makes keys is not installed.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )
    except ImportError as error:
        raise MissingExtraError("a log with the API of Rekor", "transparency") from error
    try:
        if not path.exists():
            made = ec.generate_private_key(ec.SECP256R1())
            data = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            # The first of two processes wins; both use its key.
            with contextlib.suppress(FileExistsError):
                os.link(partial, path)
            partial.unlink()
        key = load_pem_private_key(read_bytes(path, _MOST_BYTES), None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            f"{path} cannot be used as the key that signs log entries: {error!s:.200}; give another file"
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigError(f"{path} is not an ECDSA key; remove it to have one made, or name another file")
    return key


def entry_time(receipt: Receipt, trust: Trust) -> datetime:
    """Return the time at which Rekor included the line of a receipt.

    The entry's signature, the inclusion proof, the log's checkpoint and its signed time are all checked.

    Args:
        receipt: Rekor's receipt.
        trust: trusted public keys of logs.

    Raises:
        ValueError: if one of them does not hold.
    """
    try:
        entry = cast("Mapping[str, Any]", receipt.proof["entry"])
        body = base64.b64decode(entry["body"], validate=True)
        _check_body(receipt.line, cast("dict[str, Any]", json_value(body)))
        proof = cast("Mapping[str, Any]", entry["verification"]["inclusionProof"])
        root = included_root(body, int(proof["logIndex"]), int(proof["treeSize"]), list(proof["hashes"]))
        if root != proof["rootHash"]:
            raise ValueError("the inclusion proof does not lead to its root")
        _check_checkpoint(str(proof["checkpoint"]), root, int(proof["treeSize"]), trust)
        promised = {name: entry[name] for name in ("body", "integratedTime", "logID", "logIndex")}
        signature = base64.b64decode(entry["verification"]["signedEntryTimestamp"], validate=True)
        if not any(_signed(key, signature, canonical_json(promised)) for key in trust.keys):
            raise ValueError("the time of the entry is not signed by a trusted key of a log")
        return datetime.fromtimestamp(int(entry["integratedTime"]), UTC)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"the entry is incomplete: {type(error).__name__} {error!s:.100}") from error


def _check_body(line: str, body: Mapping[str, Any]) -> None:
    spec = body["spec"]
    if body["kind"] != "hashedrekord" or spec["data"]["hash"]["value"] != digest_bytes(line.encode()):
        raise ValueError("the entry is of another line")
    key = public_key(base64.b64decode(spec["signature"]["publicKey"]["content"]))
    if not _signed(key, base64.b64decode(spec["signature"]["content"]), line.encode()):
        raise ValueError("the entry's signature is not valid")


def _signed(key: Any, signature: bytes, data: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
            return True
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, data)
            return True
    except InvalidSignature:
        return False
    raise ValueError("the log's key is neither ECDSA nor Ed25519")


_NOTE = re.compile(
    r"(?P<text>[^\n]+\n(?P<size>\d+)\n(?P<root>[A-Za-z0-9+/=]+)\n(?:[^\n]+\n)*)\n(?P<signatures>.*)", re.DOTALL
)


def _check_checkpoint(note: str, root: str, size: int, trust: Trust) -> None:
    """Check a signed note: name, size and root of the tree, and after an empty line a signature that begins with a key's hint."""
    parsed = _NOTE.fullmatch(note)
    if parsed is None or int(parsed["size"]) != size or base64.b64decode(parsed["root"]).hex() != root:
        raise ValueError("the checkpoint is of another tree")
    for line in parsed["signatures"].splitlines():
        given = base64.b64decode(line.rpartition(" ")[2])
        if any(_signed(key, given[4:], parsed["text"].encode()) for key in trust.keys):
            return
    raise ValueError("the checkpoint is not signed by a trusted key of a log")


def included_root(leaf: bytes, index: int, size: int, hashes: Sequence[str]) -> str:
    """Return the root that an inclusion proof of a Merkle tree leads to (RFC 9162, section 2.1.3.2).

    Args:
        leaf: the entry.
        index: its number in the tree, from 0.
        size: number of entries.
        hashes: the proof, hexadecimal, from the leaf upwards.

    Raises:
        ValueError: if the proof has the wrong length.
    """
    if not 0 <= index < size:
        raise ValueError(f"the entry {index} is not in a tree of {size}")
    position, last, node = index, size - 1, hashlib.sha256(b"\0" + leaf).digest()
    for other in map(bytes.fromhex, hashes):
        if last == 0:
            raise ValueError("the inclusion proof is too long")
        if position & 1 or position == last:
            node = hashlib.sha256(b"\1" + other + node).digest()
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            node = hashlib.sha256(b"\1" + node + other).digest()
        position, last = position >> 1, last >> 1
    if last:
        raise ValueError("the inclusion proof is too short")
    return node.hex()


def entries_by_key(url: str, receipt: Receipt) -> list[str]:
    """Return the digests of all lines that Rekor holds from the signer of a receipt.

    Raises:
        LogError: if the log does not answer.
        ValueError: if the receipt or an answer is malformed.
    """
    try:
        entry: Any = receipt.proof["entry"]
        body: Any = json_value(base64.b64decode(entry["body"]))
        key = {"format": "x509", "content": body["spec"]["signature"]["publicKey"]["content"]}
        found: list[str] = _answer(f"{url}/api/v1/index/retrieve", {"publicKey": key})
        digests: list[str] = []
        for first in range(0, len(found), _AT_ONCE):
            asked = {"entryUUIDs": found[first : first + _AT_ONCE]}
            for each in _answer(f"{url}/api/v1/log/entries/retrieve", asked):
                for entry in each.values():
                    held = cast("dict[str, Any]", json_value(base64.b64decode(entry["body"])))
                    digests.append(str(held["spec"]["data"]["hash"]["value"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"an entry is malformed: {error!s:.100}") from error
    return digests


_AT_ONCE = 10


def _answer(url: str, asked: Mapping[str, Any]) -> Any:
    status, body, _ = _request(
        url, json.dumps(asked).encode(), {"Content-Type": "application/json", "Accept": "application/json"}
    )
    if status != 200:
        raise _refused(url, status, body)
    return json_value(body)
