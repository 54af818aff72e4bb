"""Allow-list of hosts and ports for a team, which also keeps names from leading to the local network.

A name is resolved once, and the resulting address is checked (and connected to), so that a name that changes in between
gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from heredity._core.errors import CandidateError, ConfigError

USUAL = (80, 443)
"""Default ports of a host."""

_HOST = re.compile(r"(\*|(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*)\.?")
_LOOKUP_S = 10.0
_CONNECT_S = 15.0
_SHOWN = 12

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ForbiddenHostError(CandidateError):
    """A host that is not allowed; the message lists the allowed ones."""


class UnreachableHostError(CandidateError):
    """An allowed host that does not answer or cannot be resolved."""


@dataclass(frozen=True, slots=True)
class _Rule:
    host: str
    ports: tuple[int, ...]

    def fits(self, host: str, port: int) -> bool:
        if port not in self.ports:
            return False
        if self.host == "*":
            return True
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host


class AllowedHosts:
    """The hosts that may be reached.

    Args:
        entries: `host:port`, `host` (ports 80 and 443), `*.domain` (its subdomains), `*` (every public host). Hosts
            are names or addresses (`127.0.0.1`, `[::1]`).
        private: allow names to lead to addresses of this machine and the local network. Addresses listed as such, and
            `localhost`, are always allowed.

    Raises:
        ConfigError: if an entry is malformed.
    """

    def __init__(self, entries: Iterable[str], *, private: bool = False) -> None:
        self.entries = tuple(entries)
        self._rules = tuple(map(_rule, self.entries))
        self._private = private

    def permits(self, host: str, port: int) -> bool:
        """Return whether a host is allowed by name. `connect` checks its address."""
        name = canonical(host)
        return any(rule.fits(name, port) for rule in self._rules)

    def check(self, host: str, port: int) -> None:
        """Check that a host is allowed by name.

        Raises:
            ForbiddenHostError: if not.
        """
        if not self.permits(host, port):
            listed = ", ".join(self.entries[:_SHOWN]) or "none"
            raise ForbiddenHostError(f"{_format_host(host)}:{port} is not allowed; allowed hosts: {listed}")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host.

        Raises:
            ForbiddenHostError: if it is not allowed, or its name leads only to the local network.
            UnreachableHostError: if the name cannot be resolved.
        """
        self.check(host, port)
        name = canonical(host)
        literal = _address(name)
        named = any(rule.host == name for rule in self._rules)
        candidates = [literal] if literal else await _looked_up(name, port)
        if self._private or (named and (literal or name == "localhost")):
            return [str(address) for address in candidates]
        public = [str(address) for address in candidates if _public(address)]
        if not public:
            raise ForbiddenHostError(
                f"{_format_host(host)} leads to {candidates[0]}, which is not a public address; to allow it list the address "
                "itself, or set private = true"
            )
        return public

    async def connect(self, host: str, port: int) -> Streams:
        """Connect to a host.

        Raises:
            ForbiddenHostError: if it is not allowed.
            UnreachableHostError: if it does not answer.
        """
        reason = "no address"
        for address in await self.addresses(host, port):
            try:
                async with asyncio.timeout(_CONNECT_S):
                    return await asyncio.open_connection(address, port)
            except TimeoutError:
                reason = f"no answer within {_CONNECT_S:g} s"
            except OSError as error:
                reason = error.strerror or str(error)
        raise UnreachableHostError(f"{_format_host(host)}:{port} cannot be reached: {reason}")


def canonical(host: str) -> str:
    """Return the canonical form of a host's name or address, for comparison."""
    name = host.strip("[]").lower()
    if literal := _address(name):
        return str(literal)
    try:
        name = name.encode("idna").decode() if not name.isascii() else name
    except UnicodeError:
        return name
    return name.removesuffix(".")


def split_host(text: str) -> tuple[str, int | None]:
    """Return host and port of `host:port`, `[::1]:80`, or a host alone.

    Raises:
        ValueError: if it is malformed.
    """
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]@/\s]+)(?::([0-9]{1,5}))?", text)
    if match is None or (match[2] and not 0 < int(match[2]) < 1 << 16):
        raise ValueError(f"{text!r:.120} is no host and port")
    return match[1], int(match[2]) if match[2] else None


def _rule(entry: str) -> _Rule:
    try:
        host, port = split_host(entry)
    except ValueError:
        host, port = "", None
    name = canonical(host)
    if not _address(name) and not _HOST.fullmatch(name):
        raise ConfigError(
            f"web.allow: {entry!r:.120} is no host; write host:port, host, *.domain or *, without http:// and path"
        )
    return _Rule(name, (port,) if port else USUAL)


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


async def _looked_up(name: str, port: int) -> Sequence[Address]:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_LOOKUP_S):
            addresses = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        raise UnreachableHostError(f"{_format_host(name)} is not known to any name server ({error})") from error
    # An address may contain the name of an interface, which is not part of the name.
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in addresses]


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def _public(address: Address) -> bool:
    """Return whether an address is public; one that wraps another is judged by that."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return _public(address.ipv4_mapped)
        if address in _TRANSLATED:
            return _public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.sixtofour or address.teredo or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _format_host(host: str) -> str:
    return host[:120] if host.isprintable() else ascii(host)[:120]
