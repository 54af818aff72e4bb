"""One rollout, whatever kind it is of: bounded in time, on record as a span, and each failure put down to whose it is."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Protocol

from heredity.errors import HeredityError, HostError, IsolationError, ProviderError
from heredity.gateway.waiting import rollout_clock
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job
from heredity.rollouts.trajectory import Trajectory
from heredity.spans import span


class RolloutError(HeredityError):
    """A rollout cannot go on, raised by the code of its kind, which knows whose failure that is.

    Attributes:
        status: the category of the failure.
        failure_source: whose it is.
        traceback: the lines of whoever wrote what failed, if there are any.
    """

    def __init__(
        self,
        message: str,
        traceback: str = "",
        *,
        status: str = Status.ENVIRONMENT_ERROR,
        failure_source: FailureSource = FailureSource.ENVIRONMENT,
    ) -> None:
        self.traceback, self.status, self.failure_source = traceback, status, failure_source
        super().__init__(message)


class Record(Protocol):
    """What is known of a rollout while it lasts."""

    job: Job

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a rollout that something ended before its time."""
        ...


async def attributed(record: Record, rollout: Awaitable[Trajectory], seconds: float | None = None) -> Trajectory:
    """Return the trajectory of a rollout, or the record of what ended it.

    A provider, this host or an environment that fails leaves the rollout missing; one that has not ended in time is the
    candidate's failure. Other errors, such as a spent budget, end more than the rollout and are passed on.

    Args:
        record: of the rollout.
        rollout: it.
        seconds: most wall seconds that it may take; None for as many as it likes.
    """
    job, clock = record.job, None
    with span("rollout", kind="rollout", task=job.task.id, candidate=job.candidate.digest) as step:
        try:
            async with rollout_clock(seconds) as clock:
                trajectory = await rollout
        except ProviderError as error:
            failed = record.failed(Status.PROVIDER_ERROR, FailureSource.PROVIDER, f"{error.kind}: {error}")
            trajectory = _with(failed, error)
        except RolloutError as error:
            trajectory = record.failed(error.status, error.failure_source, str(error), error.traceback)
        except HostError as error:
            trajectory = _with(record.failed(Status.HOST_ERROR, FailureSource.HOST, str(error)), error)
        except IsolationError as error:
            trajectory = record.failed(Status.ISOLATION_ERROR, FailureSource.HOST, str(error))
        except TimeoutError:
            if clock is None or not clock.expired():
                raise
            message = f"no end within {seconds:g} seconds"
            trajectory = record.failed(Status.ROLLOUT_TIMEOUT, FailureSource.CANDIDATE, message)
        step.set(status=trajectory.status, failure_source=trajectory.failure_source, score=trajectory.total_reward)
        return trajectory


def _with(trajectory: Trajectory, error: HostError) -> Trajectory:
    failure = trajectory.failure
    return trajectory if failure is None else replace(trajectory, failure=replace(failure, error=error))
