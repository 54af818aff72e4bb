"""The error tree: every error that Heredity raises on purpose derives from `HeredityError`.

HeredityError
├── ConfigError            a configuration or an argument is wrong (names the field, the value, the remedy)
│   └── UnknownNameError   a name that is not registered (names the nearest known ones)
├── MissingExtraError      an optional dependency is not installed (names the extra to install)
├── IsolationError         this machine cannot isolate untrusted code as asked
├── RecordError            something on disk
│   ├── DamagedRecordError     a journal line or a blob does not match its checksum
│   ├── RunLockedError         another process holds the run folder
│   └── ReplayDivergedError    a resumed run asked for something else than its journal says
├── SessionError           the session refuses a request
│   ├── RejectedError          malformed request: costs nothing
│   ├── BudgetError            not enough budget left: costs nothing
│   └── ClosedError            the session is closed
├── CandidateError         the candidate's own failure (carries a `Failure`)
└── HostError              an environment, a provider or this host failed: retried, then missing, never a zero
    ├── ProviderError          a language model's provider did not answer (carries why, and whether to ask again)
    └── OutageError            what a run needs is not there: the run stays open, and is resumed when it is back
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

_FEW = 24  # names that are listed whole where none resembles what was asked for
_LONGEST_NAME = 200  # of a name that is repeated
_UNSHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]|\r(?!\n)"
)
"""Control characters, those that turn the direction of text, and what has no encoding."""


_SECRET = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bxai-[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bglpat-[A-Za-z0-9_-]{16,}|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"
)
"""Keys of providers and tokens of services, by their known forms."""


_CREDENTIALS = re.compile(
    r"(?<=://)[^/\s@'\"]+(?=@)|(?<=[?&])((?:[\w-]*[_-])?(?:api)?(?:key|token|secret|password)=)[^&\s'\"]+",
    re.IGNORECASE,
)
"""What an address holds before its @, and the values of parameters that are named as keys are."""


def redacted(text: str) -> str:
    """Return text with keys and tokens of a known form replaced by their first characters, and without the keys of addresses."""
    text = _CREDENTIALS.sub(lambda match: f"{match[1] or ''}…", text)
    return _SECRET.sub(lambda match: f"{match[0][:4]}…", text)


def clean(value: object) -> str:
    """Return text with control and bidirectional characters as escapes: on a page or in a terminal they would hide what it says."""
    return _UNSHOWN.sub(lambda match: match[0].encode("unicode_escape").decode(), str(value))


def described(error: BaseException) -> str:
    """Return what was raised in one line; of a syntax error the file, the line and its text."""
    if isinstance(error, SyntaxError):
        text = f": {error.text.strip()}" if error.text else ""
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){text}"
    return repr(error)


class HeredityError(Exception):
    """Base of every error that Heredity raises on purpose.

    Its text shows what could not be seen, such as control characters, and no keys.
    """

    def __str__(self) -> str:
        return redacted(clean(super().__str__()))


class ConfigError(HeredityError):
    """A configuration or an argument is wrong; the message names the field, the value and the remedy."""


class UnknownNameError(ConfigError):
    """A name that is not registered; the message suggests the nearest known names, or all where they are few.

    Args:
        or_path: whether the path of a folder would have done, too: a folder here of that name is suggested before all else.
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
        what: what needs it.
        extra: of the package `heredity`.
        install: what else brings it, where no extra does, as `pip install` takes it.
    """

    def __init__(self, what: str, extra: str = "", *, install: str = "") -> None:
        self.extra = extra
        wanted = install or f"'heredity[{extra}]'"
        super().__init__(f"{what} needs an optional dependency: pip install {wanted}")


class IsolationError(HeredityError):
    """This machine cannot isolate untrusted code as asked; `heredity doctor` says what is missing."""


class RecordError(HeredityError):
    """Something on disk could not be read or written."""


class DamagedRecordError(RecordError):
    """A journal line or a blob does not match its checksum."""


class RunLockedError(RecordError):
    """Another process holds the run folder."""


class ReplayDivergedError(RecordError):
    """A resumed run asked for something else than its journal records."""


class SessionError(HeredityError):
    """The session refuses a request."""


class RejectedError(SessionError):
    """A malformed request; nothing was charged."""


class BudgetError(SessionError):
    """Not enough budget is left for the request; nothing was charged."""


class ClosedError(SessionError):
    """The session is closed: its budget is spent, or the evolver finished."""


class CandidateError(HeredityError):
    """The candidate's own code failed."""


class HostError(HeredityError):
    """An environment, a provider or this host failed; the rollout is retried, then missing, never a zero."""


class ProviderError(HostError):
    """A language model's provider gave no usable answer.

    Attributes:
        kind: `"timeout"`, `"rate_limit"`, `"server"` (5xx), `"connection"`, `"garbage"` (not what the protocol says),
            `"empty"` (neither text nor tool calls), `"auth"`, `"unknown_model"` (404), `"request"` (other 4xx: asking again gives
            the same), `"context"` (too long), `"unscripted"` (a scripted or replayed model has no answer), `"verdict"` (a judge
            answers, but gives none).
        transient: whether asking again may help.
        retry_after_s: how long the provider asks to wait; None if it does not say.
    """

    def __init__(self, kind: str, message: str, *, transient: bool, retry_after_s: float | None = None) -> None:
        self.kind, self.transient, self.retry_after_s = kind, transient, retry_after_s
        super().__init__(message)

    @property
    def unreachable(self) -> bool:
        """Whether no request whatever would be answered now, so that it says nothing of this one."""
        return self.kind in _UNREACHABLE

    @property
    def outage(self) -> bool:
        """Whether the provider failed rather than refused this request, though another request may be answered."""
        return self.kind in _UNREACHABLE | _FAILING


_UNREACHABLE = frozenset({"connection", "auth", "rate_limit", "unknown_model"})
_FAILING = frozenset({"timeout", "server", "garbage"})


class OutageError(HostError):
    """What a run needs is not there; the run stays open, and is resumed when it is back."""


def nearest(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to `limit` known names that resemble `name`, best first, ignoring case."""
    by_folded = {k.casefold(): k for k in names}
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=limit, cutoff=0.5)
    return [by_folded[c] for c in close]
