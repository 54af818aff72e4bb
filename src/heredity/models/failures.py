"""Translates pydantic-ai's errors into provider failures."""

from __future__ import annotations

import re
import socket

from heredity._core.errors import ProviderError

GARBLED = (TypeError, AttributeError, ValueError, LookupError, AssertionError)
"""Errors raised by the SDKs on malformed answers, in addition to the SDKs' classes."""

_SHOWN = 500
_UNKNOWN = ("unknown_model", False, "is the model's name right, and is it there?")
_KEY = ("auth", False, "is the key in the variable named by api_key_env right?")
_TOO_LONG = ("context", False, "the request is too long for it; send less")
_USED_UP = ("rate_limit", False, "the account's quota is used up; waiting does not help")
_QUOTA = re.compile(
    "insufficient_quota|exceeded your current quota|credit balance|billing_(?:error|hard_limit)|PerDay", re.IGNORECASE
)
_CONTEXT = re.compile(
    "context_length_exceeded|maximum context length|prompt is too long|input token count|context window", re.IGNORECASE
)


def translated(error: Exception, model: str, key: str, address: str = "") -> ProviderError:
    """Translate an error of pydantic-ai, an SDK or the transport, chained to it.

    Args:
        error: the error raised.
        model: the model called.
        key: a secret that the message must not repeat. If the error does (some servers echo it), it is not chained.
        address: the provider's address; empty for the kind's default.
    """
    kind, transient, advice = _kind(error)
    if kind == "auth" and not key:
        advice = "it wants a key, and none is configured: name the variable that holds it in api_key_env"
    retry_after_s = getattr(error, "retry_after", None)
    text = unconnected(error) or str(error).removesuffix(".") or type(error).__name__
    text = text.replace(key, "[key]") if key else text
    where = f"{model} at {address}" if address else model
    message = f"{where} failed ({kind}): {text[:_SHOWN]}" + (f"; {advice}" if advice else "")
    failure = ProviderError(kind, message, transient=transient, retry_after_s=retry_after_s)
    if not key or not _tells(error, key):
        failure.__cause__ = error
    return failure


def unconnected(error: BaseException | None) -> str:
    """Return the reason for a failed connection from a chain of errors; `""` if there is none."""
    while error is not None:
        for kind, reason in _UNCONNECTED:
            if isinstance(error, kind):
                return reason
        error = error.__cause__ or error.__context__
    return ""


_UNCONNECTED = (
    (ConnectionRefusedError, "connection refused: no server listens there"),
    (socket.gaierror, "the name of its host cannot be resolved"),
)


def _kind(error: Exception) -> tuple[str, bool, str]:
    """Return the kind, whether it is transient, and the remedy."""
    from pydantic_ai import exceptions as e

    # Both generations of httpx name their errors alike.
    transport = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in transport:
        return "timeout", True, ""
    if "TransportError" in transport:
        return "connection", True, ""
    if isinstance(error, e.ModelHTTPError) and (meaning := _by_words(error.status_code, str(error), error.retry_after)):
        return meaning
    table: tuple[tuple[type[Exception] | tuple[type[Exception], ...], tuple[str, bool, str]], ...] = (
        ((e.ModelTimeoutError, e.ModelRequestTimeout, TimeoutError), ("timeout", True, "")),
        (e.ModelRateLimitError, ("rate_limit", True, "")),
        (e.ModelQuotaExceededError, _USED_UP),
        ((e.ModelUnavailableError, e.ModelServerError), ("server", True, "")),
        ((e.ModelConnectionError, OSError), ("connection", True, "")),
        (e.ModelContextWindowExceededError, _TOO_LONG),
        (e.ModelAuthenticationError, _KEY),
        (e.ModelNotFoundError, _UNKNOWN),
        ((e.ModelRequestRejectedError, e.UserError, NotImplementedError), ("request", False, "")),
    )
    for types, meaning in table:
        if isinstance(error, types):
            return meaning
    if isinstance(error, e.ModelHTTPError):
        return _by_status(error.status_code)
    if isinstance(error, e.ModelAPIError) and error.in_stream:
        return "server", True, ""
    return "garbage", True, "is it an endpoint of the configured kind?"


def _by_words(status: int, text: str, retry_after_s: float | None) -> tuple[str, bool, str] | None:
    """Return the meaning of an error whose status alone says less than its words; None for any other."""
    if status == 402 or (status < 500 and retry_after_s is None and _QUOTA.search(text)):
        return _USED_UP
    return _TOO_LONG if status in (400, 413, 422) and _CONTEXT.search(text) else None


def _by_status(status: int) -> tuple[str, bool, str]:
    fixed = {413: _TOO_LONG, 404: _UNKNOWN, 401: _KEY, 403: _KEY, 429: ("rate_limit", True, "")}
    if status in fixed:
        return fixed[status]
    if status == 408:
        return "timeout", True, ""
    if status in (409, 425) or status >= 500:
        return "server", True, ""
    return "request", False, ""


def _tells(error: BaseException | None, key: str) -> bool:
    while error is not None:
        parts = (str(error), repr(error), repr(getattr(error, "body", "")), repr(getattr(error, "headers", "")))
        if any(key in part for part in parts):
            return True
        error = error.__cause__ or error.__context__
    return False
