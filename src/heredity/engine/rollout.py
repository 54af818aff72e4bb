"""One rollout of any kind: limited in time, recorded as a span, with each failure attributed to its source."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Protocol

from heredity._core.errors import HeredityError, HostError, IsolationError, ProviderError
from heredity._core.spans import span
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.models.waiting import rollout_clock
from heredity.results.status import FailureSource, Status


class RolloutError(HeredityError):
    """Ends a rollout; raised by the code of its kind, which knows the failure source.

    Attributes:
        status: the category of the failure.
        failure_source: the failure source.
        traceback: lines of the failed code's author, if any.
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
    """The state of a rollout while it lasts."""

    job: Job

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a rollout that an error ended early."""
        ...


async def attributed(record: Record, rollout: Awaitable[Trajectory], seconds: float | None = None) -> Trajectory:
    """Return the trajectory of a rollout, or the record of the failure that ended it.

    A failing provider, host or environment leaves the rollout missing; a timeout is the candidate's failure. Other errors
    (an exhausted budget, say) end more than the rollout and propagate.

    Args:
        record: of the rollout.
        rollout: the rollout.
        seconds: timeout, in wall seconds; None for no limit.
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
