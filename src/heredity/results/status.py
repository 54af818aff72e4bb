"""How rollouts end, and whose failure it is: the words of journals, results and pages, each with one meaning."""

from __future__ import annotations

from enum import StrEnum


class FailureSource(StrEnum):
    """Whose failure ended a rollout, or that none did."""

    NONE = "none"
    CANDIDATE = "candidate"
    """It counts, at the return of a failure or less."""
    ENVIRONMENT = "environment"
    PROVIDER = "provider"
    HOST = "host"

    @property
    def excused(self) -> bool:
        """Whether the candidate had no part in it: the rollout is retried, then missing, never a zero."""
        return self in _EXCUSED


_EXCUSED = frozenset({FailureSource.ENVIRONMENT, FailureSource.PROVIDER, FailureSource.HOST})


class Status(StrEnum):
    """How a rollout ended, by whose failure it usually is; a kind of another package may have statuses of its own."""

    OK = "ok"
    MISSING = "missing"
    """In outcomes: an environment, a provider or the host failed it, after every retry."""

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
    """A checkpoint cannot be loaded, or its process died of it."""

    # Environments, providers, this host.
    ENVIRONMENT_ERROR = "environment_error"
    PROVIDER_ERROR = "provider_error"
    HOST_ERROR = "host_error"
    ISOLATION_ERROR = "isolation_error"
    """The candidate could not be confined, and was not run."""


class AnswerStatus(StrEnum):
    """How a solver came to its answer, or to none."""

    OK = "ok"
    TURNS = "turns"
    """It was out of turns."""
    EMPTY = "empty"
    REFUSAL = "refusal"
    TIMEOUT = "timeout"
    PROGRAM_TIMEOUT = "program_timeout"
    """Its program took too long for itself."""
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
"""Statuses of rollouts that the candidate's own code failed."""
