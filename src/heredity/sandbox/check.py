"""One requirement of runs on this machine, as checked by `heredity doctor` and the preflight of a suite."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_DISK = 512 << 20
"""Free bytes required where runs and temporary files are kept."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check.

    Attributes:
        name: the requirement.
        ok: whether it is met.
        needed: whether runs are impossible without it.
        detail: the finding.
        remedy: the fix if it is not met.
    """

    name: str
    ok: bool
    needed: bool
    detail: str
    remedy: str = ""
