"""Error tree: every error that Heredity raises on purpose derives from `HeredityError`.

HeredityError
├── ConfigError            a configuration or an argument is wrong (names the field, the value, the remedy)
│   └── UnknownNameError   a name that is not registered (names the nearest known ones)
├── MissingExtraError      an optional dependency is not installed (names the extra to install)
├── IsolationError         this machine cannot isolate untrusted code as requested
├── RecordError            a file on disk cannot be read or written
│   ├── DamagedRecordError     a journal line or a blob does not match its checksum
│   ├── RunLockedError         another process holds the run folder
│   └── ReplayDivergedError    a resumed run requested something that differs from its journal
├── SessionError           the session refuses a request
│   ├── RejectedError          malformed request: costs nothing
│   ├── BudgetError            not enough budget left: costs nothing
│   └── ClosedError            the session is closed
├── CandidateError         the candidate's code failed (carries a `Failure`)
├── RefusedError           an action that is impossible in a world's state: costs its step, changes nothing
└── HostError              an environment, a provider or this host failed: retried, then missing, never a zero
    ├── ProviderError          a language model's provider did not answer (carries why, and whether to retry)
    └── OutageError            a resource of the run is unavailable: the run stays open and can be resumed
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

_FEW = 24  # maximum number of names listed in full if none is similar
_LONGEST_NAME = 200  # maximum length of a repeated name
_UNSHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]|\r(?!\n)"
)
"""Control characters, characters that change the direction of text, and those without an encoding."""


_SECRET = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bxai-[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bglpat-[A-Za-z0-9_-]{16,}|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"
)
"""Provider keys and service tokens of known formats."""


_CREDENTIALS = re.compile(
    r"(?<=://)[^/\s@'\"]+(?=@)|(?<=[?&])((?:[\w-]*[_-])?(?:api)?(?:key|token|secret|password)=)[^&\s'\"]+",
    re.IGNORECASE,
)
"""Credentials before the @ of an address, and values of parameters named like keys."""


def redacted(text: str) -> str:
    """Return text with keys and tokens of known formats shortened to their first characters, and without keys in addresses."""
    text = _CREDENTIALS.sub(lambda match: f"{match[1] or ''}…", text)
    return _SECRET.sub(lambda match: f"{match[0][:4]}…", text)


def clean(value: object) -> str:
    """Return text with control and bidirectional characters escaped, since they could hide content on a page or terminal."""
    return _UNSHOWN.sub(lambda match: match[0].encode("unicode_escape").decode(), str(value))


def described(error: BaseException) -> str:
    """Return an exception in one line; for a syntax error with file, line and source text."""
    if isinstance(error, SyntaxError):
        text = f": {error.text.strip()}" if error.text else ""
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){text}"
    return repr(error)


class HeredityError(Exception):
    """Base of every error that Heredity raises on purpose.

    Its text shows invisible characters, such as control characters, and hides keys.
    """

    def __str__(self) -> str:
        return redacted(clean(super().__str__()))


class ConfigError(HeredityError):
    """A configuration or an argument is wrong; the message names the field, the value and the remedy."""


class UnknownNameError(ConfigError):
    """A name that is not registered; the message suggests the nearest known names, or all if they are few.

    Args:
        or_path: whether a folder's path is also valid: an existing folder of that name is suggested first.
    """

    def __init__(self, what: str, name: str, names: Iterable[str], *, or_path: bool = False) -> None:
        self.name = name
        names = list(names)
        self.suggestions = nearest(name, names)
        hint = ""
        if or_path and Path(name).is_dir():
            hint = f"; for the folder {name} here, write ./{name}"
        elif self.suggestions:
            hint = f"; did you mean {' or '.join(self.suggestions)}?"
        elif 0 < len(names) <= _FEW:
            hint = f"; known: {', '.join(sorted(names))}"
        else:
            hint = "; correct the name"
        super().__init__(f"unknown {what} {name[:_LONGEST_NAME]!r}{hint}")


class MissingExtraError(HeredityError):
    """An optional dependency is not installed.

    Args:
        what: the feature that needs it.
        extra: extra of the package `heredity`.
        install: arguments of `pip install` if no extra provides it.
    """

    def __init__(self, what: str, extra: str = "", *, install: str = "") -> None:
        self.extra = extra
        wanted = install or f"'heredity[{extra}]'"
        super().__init__(f"{what} needs an optional dependency: pip install {wanted}")


class IsolationError(HeredityError):
    """This machine cannot isolate untrusted code as requested; `heredity doctor` lists missing parts."""


class RecordError(HeredityError):
    """A file on disk could not be read or written."""


class DamagedRecordError(RecordError):
    """A journal line or a blob does not match its checksum."""


class RunLockedError(RecordError):
    """Another process holds the run folder."""


class ReplayDivergedError(RecordError):
    """A resumed run requested something that differs from its journal."""


class SessionError(HeredityError):
    """The session refuses a request."""


class RejectedError(SessionError):
    """A malformed request; nothing was charged."""


class BudgetError(SessionError):
    """Not enough budget is left for the request; nothing was charged."""


class ClosedError(SessionError):
    """The session is closed: its budget is exhausted, or the evolver finished."""


class CandidateError(HeredityError):
    """The candidate's code failed."""


class HostError(HeredityError):
    """An environment, a provider or this host failed; the rollout is retried, then missing, never a zero."""


class ProviderError(HostError):
    """A language model's provider gave no usable answer.

    Attributes:
        kind: `"timeout"`, `"rate_limit"`, `"server"` (5xx), `"connection"`, `"garbage"` (violates the protocol),
            `"empty"` (neither
            text nor tool calls), `"auth"`, `"unknown_model"` (404), `"request"` (other 4xx: a retry gives the
            same), `"context"`
            (too long), `"unscripted"` (a scripted or replayed model has no answer), `"verdict"` (a judge
            answers without one).
        transient: whether a retry may help.
        retry_after_s: wait requested by the provider, in seconds; None if unknown.
    """

    def __init__(self, kind: str, message: str, *, transient: bool, retry_after_s: float | None = None) -> None:
        self.kind, self.transient, self.retry_after_s = kind, transient, retry_after_s
        super().__init__(message)

    @property
    def unreachable(self) -> bool:
        """True if every request would fail now, so that the failure is not about this one."""
        return self.kind in _UNREACHABLE

    @property
    def outage(self) -> bool:
        """True if the provider failed rather than refused this request, and may answer another one."""
        return self.kind in _UNREACHABLE | _FAILING


_UNREACHABLE = frozenset({"connection", "auth", "rate_limit", "unknown_model"})
_FAILING = frozenset({"timeout", "server", "garbage"})


class OutageError(HostError):
    """A resource of the run is unavailable; the run stays open and can be resumed later."""


class RefusedError(HeredityError):
    """An action that is impossible in a world's state: it costs its step, changes nothing and never pays."""


def nearest(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to `limit` known names that resemble `name`, best first, ignoring case."""
    by_folded = {k.casefold(): k for k in names}
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=limit, cutoff=0.5)
    return [by_folded[c] for c in close]
