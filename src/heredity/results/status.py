"""Statuses and failure sources of rollouts: the words of journals, results and pages, each with one meaning."""

from __future__ import annotations

from enum import StrEnum


class FailureSource(StrEnum):
    """Source of the failure that ended a rollout, or none."""

    NONE = "none"
    CANDIDATE = "candidate"
    """The failure counts as a score: at most the return of a failure."""
    ENVIRONMENT = "environment"
    PROVIDER = "provider"
    HOST = "host"

    @property
    def excused(self) -> bool:
        """True if the candidate did not cause it: the rollout is retried, then missing, never a zero."""
        return self in _EXCUSED


_EXCUSED = frozenset({FailureSource.ENVIRONMENT, FailureSource.PROVIDER, FailureSource.HOST})


class Status(StrEnum):
    """End of a rollout, by its usual failure source; kinds of other packages may have further statuses."""

    OK = "ok"
    MISSING = "missing"
    """In outcomes: failed by an environment, a provider or the host, after every retry."""

    # Candidates.
    MISSING_POLICY = "missing_policy"
    DENIED_IMPORT = "denied_import"
    IMPORT_ERROR = "import_error"
    INIT_ERROR = "init_error"
    INIT_TIMEOUT = "init_timeout"
    ACT_ERROR = "act_error"
    INVALID_ACTION = "invalid_action"
    ROLLOUT_TIMEOUT = "rollout_timeout"
    OOM = "oom"
    NO_ANSWER = "no_answer"
    NON_FINITE_RETURN = "non_finite_return"
    MODEL_ERROR = "model_error"
    """A checkpoint cannot be loaded, or crashes its process."""

    # Environments, providers, this host.
    ENVIRONMENT_ERROR = "environment_error"
    PROVIDER_ERROR = "provider_error"
    HOST_ERROR = "host_error"
    ISOLATION_ERROR = "isolation_error"
    """The candidate could not be confined, and was not run."""


class AnswerStatus(StrEnum):
    """Ways in which a solver reached its answer, or reasons why it has none."""

    OK = "ok"
    TURNS = "turns"
    """Turn limit reached."""
    EMPTY = "empty"
    LENGTH = "length"
    """The answer was cut at the token limit."""
    REFUSAL = "refusal"
    TIMEOUT = "timeout"
    PROGRAM_TIMEOUT = "program_timeout"
    """The solver's program took too long."""
    PROGRAM_ERROR = "program_error"


PROGRAM_FAILURES = frozenset(
    {
        Status.MISSING_POLICY,
        Status.DENIED_IMPORT,
        Status.IMPORT_ERROR,
        Status.INIT_ERROR,
        Status.INIT_TIMEOUT,
        Status.ACT_ERROR,
        Status.ROLLOUT_TIMEOUT,
        Status.OOM,
    }
)
"""Statuses of rollouts that the candidate's code failed."""
