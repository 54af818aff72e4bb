"""One thing that runs need of this machine, as `heredity doctor` and the preflight of a suite find it."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_DISK = 512 << 20
"""Bytes that have to be free where runs are kept and where temporary files are."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Attributes:
        name: what it is.
        ok: whether it is there and works.
        needed: whether runs are impossible without it.
        detail: what was found.
        remedy: what to do where it is missing.
    """

    name: str
    ok: bool
    needed: bool
    detail: str
    remedy: str = ""
