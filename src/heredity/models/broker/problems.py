"""Errors of a broker, in the format of each API."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from heredity._core.errors import BudgetError, ProviderError

Shape = Callable[["Problem"], dict[str, Any]]
"""Formats a problem as the JSON body of an API's error."""


class Problem(Exception):  # noqa: N818 - an answer, not a failure of ours
    """A request that is answered with an error.

    Attributes:
        kind: `"request"`, `"token"`, `"unknown_model"`, `"unknown_path"`, `"unknown_response"`, `"stalled"`, `"too_large"`,
            `"budget"`, `"busy"`, `"rate_limit"`, `"context"`, `"provider"`, `"timeout"` or `"host"`.
        status: HTTP status.
        field: path of the invalid field, `"messages[0].content"`; `""` for none.
        retry: whether a retry may help.
        retry_after_s: seconds to wait before a retry; None if unknown.
    """

    def __init__(
        self, kind: str, message: str, *, field: str = "", retry: bool = False, retry_after_s: float | None = None
    ) -> None:
        self.kind, self.field, self.retry, self.retry_after_s = kind, field, retry, retry_after_s
        self.status = _STATUS[kind]
        super().__init__(message)

    @property
    def headers(self) -> dict[str, str]:
        """Headers that tell both vendors' clients whether to retry."""
        headers = {"x-should-retry": "true" if self.retry else "false"}
        if self.retry_after_s is not None:
            headers["retry-after"] = str(math.ceil(self.retry_after_s))
        return headers


_STATUS = {
    "request": 400,
    "context": 400,
    "token": 401,
    "unknown_model": 404,
    "unknown_path": 404,
    "unknown_response": 404,
    "stalled": 408,
    "too_large": 413,
    "budget": 429,
    "busy": 429,
    "rate_limit": 429,
    "host": 500,
    "provider": 502,
    "timeout": 504,
}

_OPENAI = {
    "token": ("invalid_request_error", "invalid_api_key"),
    "unknown_model": ("invalid_request_error", "model_not_found"),
    "unknown_path": ("invalid_request_error", "unknown_url"),
    "too_large": ("invalid_request_error", "request_too_large"),
    "budget": ("insufficient_quota", "insufficient_quota"),
    "busy": ("rate_limit_error", "rate_limit_exceeded"),
    "rate_limit": ("rate_limit_error", "rate_limit_exceeded"),
    "context": ("invalid_request_error", "context_length_exceeded"),
    "provider": ("server_error", "server_error"),
    "timeout": ("server_error", "timeout"),
    "host": ("server_error", "server_error"),
}

_ANTHROPIC = {
    "token": "authentication_error",
    "unknown_response": "not_found_error",
    "unknown_model": "not_found_error",
    "unknown_path": "not_found_error",
    "too_large": "request_too_large",
    "budget": "rate_limit_error",
    "busy": "rate_limit_error",
    "rate_limit": "rate_limit_error",
    "provider": "api_error",
    "timeout": "timeout_error",
    "host": "api_error",
}


def openai_shape(problem: Problem) -> dict[str, Any]:
    """Return a problem in OpenAI's format."""
    type_, code = _OPENAI.get(problem.kind, ("invalid_request_error", None))
    return {"error": {"message": _printable(problem), "type": type_, "param": problem.field or None, "code": code}}


def anthropic_shape(problem: Problem) -> dict[str, Any]:
    """Return a problem in Anthropic's format."""
    message = _printable(problem)
    if problem.kind == "context" and "prompt is too long" not in message:
        # Phrase by which clients recognise that they must shorten the conversation.
        message = f"prompt is too long: {message}"
    return {
        "type": "error",
        "error": {"type": _ANTHROPIC.get(problem.kind, "invalid_request_error"), "message": message},
    }


_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def google_shape(problem: Problem) -> dict[str, Any]:
    """Return a problem in Google's format."""
    details: list[dict[str, Any]] = []
    if problem.field:
        violations = [{"field": problem.field, "description": _printable(problem)}]
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations})
    if problem.retry_after_s is not None:
        delay = f"{math.ceil(problem.retry_after_s)}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    status = _GOOGLE.get(problem.status, "UNKNOWN")
    error = {"code": problem.status, "message": _printable(problem), "status": status}
    return {"error": {**error, **({"details": details} if details else {})}}


def short(model: str) -> str:
    """Return the last part of a model's name, the only part shown to programs: the rest may be a path of the host."""
    return model.rpartition("/")[2]


def problem_of(error: Exception, model: str) -> Problem:
    """Translate a model's failure for the calling program.

    The program learns the errors it can act on. Any other message may contain host details (keys, addresses, paths),
    so only its kind is returned; the call's record has it in full.
    """
    if isinstance(error, BudgetError):
        return Problem("budget", "the budget for language models is spent; finish with what you have")
    if not isinstance(error, ProviderError):
        return Problem("host", "the host failed to answer this call")
    if error.kind in ("request", "context"):
        return Problem(error.kind, str(error).replace(model, short(model)) if model else str(error))
    kind = error.kind if error.kind in ("timeout", "rate_limit") else "provider"
    advice = "ask again" if error.transient else "asking again gives the same"
    message = f"the model's provider gave no answer ({error.kind}); {advice}"
    return Problem(kind, message, retry=error.transient, retry_after_s=error.retry_after_s)


def _printable(problem: Problem) -> str:
    # A path or a text that is not UTF-8 has no encoding
    return str(problem).encode("utf-8", "replace").decode()
