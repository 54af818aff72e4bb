"""Registry of the installed protocols."""

from __future__ import annotations

from typing import Any

from heredity._core.plugins import Group
from heredity.protocols.contract import Protocol


def _conforms(offered: Any) -> bool:
    return isinstance(offered, Protocol)


PROTOCOLS: Group[Protocol] = Group(
    "heredity.protocols", "protocol", "a heredity.protocols.contract.Protocol", _conforms
)
"""The names accepted by `run.protocol`."""
