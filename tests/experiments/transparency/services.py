"""Counterparts of logs on this machine: a timestamp service that `openssl ts` answers for, and a server with Rekor's API."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Answer = tuple[int, bytes, dict[str, str]]


@contextmanager
def serving(answer: Callable[[str, bytes], Answer]) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, data, headers = answer(self.path, body)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _do  # noqa: N815 - the names of the standard library

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = Authority
[root]
basicConstraints = critical, CA:TRUE
[leaf]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = critical, timeStamping
keyUsage = critical, digitalSignature
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
signer_cert = {folder}/leaf.pem
certs = {folder}/root.pem
signer_key = {folder}/leaf.key
signer_digest = sha256
default_policy = 1.2.3
digests = sha256
"""


@dataclass
class Authority:
    """Timestamp authority with a root certificate.

    Attributes:
        folder: its folder.
        broken: answers nothing but errors while True.
    """

    folder: Path
    broken: bool = False
    asked: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "tsa.cnf").write_text(_CONFIG.format(folder=self.folder))
        new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "tsa.cnf")
        self._openssl("req", "-x509", *new, "-extensions", "root", "-keyout", "root.key", "-out", "root.pem")
        self._openssl("req", *new, "-subj", "/CN=Leaf", "-keyout", "leaf.key", "-out", "leaf.csr")
        signed = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "30")
        self._openssl(
            "x509", "-req", "-in", "leaf.csr", *signed, "-extfile", "tsa.cnf", "-extensions", "leaf", "-out", "leaf.pem"
        )

    @property
    def root(self) -> Path:
        return self.folder / "root.pem"

    def answer(self, path: str, body: bytes) -> Answer:
        self.asked += 1
        if self.broken:
            return 503, b"out of order", {}
        (self.folder / "query").write_bytes(body)
        self._openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-out", "reply")
        return 200, (self.folder / "reply").read_bytes(), {"Content-Type": "application/timestamp-reply"}

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.folder)


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _split(size: int) -> int:
    return 1 << (size - 1).bit_length() - 1


def root_of(leaves: list[bytes]) -> bytes:
    """The root of a Merkle tree, by its definition in RFC 9162, section 2.1.1."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = _split(len(leaves))
    return _node(root_of(leaves[:half]), root_of(leaves[half:]))


def proof_of(index: int, leaves: list[bytes]) -> list[bytes]:
    """An inclusion proof, by its definition in RFC 9162, section 2.1.3.1."""
    if len(leaves) == 1:
        return []
    half = _split(len(leaves))
    if index < half:
        return [*proof_of(index, leaves[:half]), root_of(leaves[half:])]
    return [*proof_of(index - half, leaves[half:]), root_of(leaves[:half])]


@dataclass
class Rekor:
    """Server with the part of Rekor's API that is used, and a tree of its own."""

    leaves: list[bytes] = field(default_factory=list[bytes])
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    lie: Callable[[dict[str, Any]], None] = lambda entry: None
    broken: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def answer(self, path: str, body: bytes) -> Answer:
        with self.lock:
            status, value = self._answer(path, body)
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return status, data, {}

    def _answer(self, path: str, body: bytes) -> tuple[int, Any]:
        if self.broken:
            return 502, {"message": "bad gateway"}
        if path == "/api/v1/log/publicKey":
            return 200, self.public
        if path == "/api/v1/index/retrieve":
            content = json.loads(body)["publicKey"]["content"]
            return 200, [self._uuid(i) for i, leaf in enumerate(self.leaves) if content.encode() in leaf]
        if path == "/api/v1/log/entries/retrieve":
            numbers = [int(uuid[-8:], 16) for uuid in json.loads(body)["entryUUIDs"]]
            return 200, [self._entry(number) for number in numbers]
        if path == "/api/v1/log/entries":
            self.leaves.append(json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode())
            made = self._entry(len(self.leaves) - 1)
            self.lie(made)
            return 201, made
        return 404, {"message": "not found"}

    @staticmethod
    def _uuid(index: int) -> str:
        return f"{'24296fb24b8ad77a':<072}{index:08x}"

    def _entry(self, index: int) -> dict[str, Any]:
        root, size = root_of(self.leaves), len(self.leaves)
        text = f"rekor.test - 1\n{size}\n{base64.b64encode(root).decode()}\n"
        signed = b"\0\1\2\3" + self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        note = f"{text}\n\N{EM DASH} rekor.test {base64.b64encode(signed).decode()}\n"
        entry: dict[str, Any] = {
            "body": base64.b64encode(self.leaves[index]).decode(),
            "integratedTime": int(time.time()),
            "logID": "0" * 64,
            "logIndex": 1000 + index,
        }
        promised = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()
        proof = {
            "checkpoint": note,
            "hashes": [one.hex() for one in proof_of(index, self.leaves)],
            "logIndex": index,
            "rootHash": root.hex(),
            "treeSize": size,
        }
        timestamp = base64.b64encode(self.key.sign(promised, ec.ECDSA(hashes.SHA256()))).decode()
        entry["verification"] = {"inclusionProof": proof, "signedEntryTimestamp": timestamp}
        return {self._uuid(index): entry}
