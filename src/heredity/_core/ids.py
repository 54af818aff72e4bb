"""Digests, names and seed sequences: the identities of things.

A digest is 64 hexadecimal characters of SHA-256. A path of words names a seed sequence, so that every random draw can
be
traced: `seed_sequence(7, "method", "parametric")` is the same on every machine, and independent of any other path.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import numpy as np

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MASK_32 = 0xFFFFFFFF


def digest_bytes(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest of `data` as 64 hexadecimal characters."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Encode a JSON value so that equal values give equal bytes (sorted keys, no spaces, no NaN)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest_json(value: Any) -> str:
    """Return the digest of a JSON value's canonical encoding."""
    return digest_bytes(canonical_json(value))


def seed_sequence(entropy: int, *path: str | int) -> np.random.SeedSequence:
    """Return the seed sequence that `entropy` and a path of names define.

    Args:
        entropy: non-negative integer of any size; a run's seed or a suite's secret entropy.
        *path: purpose of the draws, from general to particular, such as `"validation", "gymnasium/Acrobot-v1"`.
    """
    key = hashlib.sha256(canonical_json(list(path))).digest()
    words = [int.from_bytes(key[i : i + 4], "big") & _MASK_32 for i in range(0, 16, 4)]
    return np.random.SeedSequence(entropy, spawn_key=tuple(words))


def generator(entropy: int, *path: str | int) -> np.random.Generator:
    """Return a random generator on the named seed sequence (see `seed_sequence`)."""
    return np.random.Generator(np.random.PCG64(seed_sequence(entropy, *path)))
