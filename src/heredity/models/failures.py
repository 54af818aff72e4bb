"""Translates pydantic-ai's errors into provider failures."""

from __future__ import annotations

import socket

from heredity._core.errors import ProviderError

GARBLED = (TypeError, AttributeError, ValueError, LookupError, AssertionError)
"""Errors raised by the SDKs on malformed answers, in addition to the SDKs' classes."""

_SHOWN = 500
_UNKNOWN = ("unknown_model", False, "is the model's name right, and is it there?")


def translated(error: Exception, model: str, key: str, address: str = "") -> ProviderError:
    """Translate an error of pydantic-ai, an SDK or the transport, chained to it.

    Args:
        error: the error raised.
        model: the model called.
        key: a secret that the message must not repeat. If the error does (some servers echo it), it is not chained.
        address: the provider's address; empty for the kind's default.
    """
    kind, transient, advice = _kind(error)
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

    table: tuple[tuple[type[Exception] | tuple[type[Exception], ...], tuple[str, bool, str]], ...] = (
        ((e.ModelTimeoutError, e.ModelRequestTimeout, TimeoutError), ("timeout", True, "")),
        (e.ModelRateLimitError, ("rate_limit", True, "")),
        (e.ModelQuotaExceededError, ("rate_limit", False, "the account's quota is used up; waiting does not help")),
        ((e.ModelUnavailableError, e.ModelServerError), ("server", True, "")),
        ((e.ModelConnectionError, OSError), ("connection", True, "")),
        (e.ModelContextWindowExceededError, ("context", False, "the request is too long for it; send less")),
        (e.ModelAuthenticationError, ("auth", False, "is the key in the variable named by api_key_env right?")),
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


def _by_status(status: int) -> tuple[str, bool, str]:
    if status == 413:
        return "context", False, "the request is too long for it; send less"
    if status == 404:
        return _UNKNOWN
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
