"""One attempt, whatever plays in it: bounded in time, on record as a span, and each failure put down to whose it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from heredity.errors import HostError, IsolationError, ProviderError
from heredity.rollouts.contract import Job
from heredity.rollouts.trajectory import Trajectory
from heredity.rollouts.world.process import StageError
from heredity.spans import span


class Record(Protocol):
    """What is known of an attempt while it lasts."""

    job: Job

    def failed(self, status: str, blame: str, message: str, trace: str = "") -> Trajectory:
        """Return the record of an attempt that something ended before its time."""
        ...


async def attempted(record: Record, attempt: Awaitable[Trajectory], seconds: float | None = None) -> Trajectory:
    """Return the trajectory of an attempt, or the record of what ended it.

    A provider, this host or a game that fails leaves the attempt missing; one that has not ended in time is the candidate's
    failure. Other errors, such as a spent budget, end more than the attempt and are passed on.

    Args:
        record: of the attempt.
        attempt: it.
        seconds: most wall seconds that it may take; None for as many as it likes.
    """
    job, clock = record.job, asyncio.timeout(seconds)
    with span("attempt", kind="attempt", task=job.task.id, candidate=job.candidate.digest) as step:
        try:
            async with clock:
                trajectory = await attempt
        except ProviderError as error:
            trajectory = record.failed("provider_error", "provider", f"{error.kind}: {error}")
        except StageError as error:
            trajectory = record.failed(error.status, error.blame, str(error), error.traceback)
        except HostError as error:
            trajectory = record.failed("host_error", "host", str(error))
        except IsolationError as error:
            trajectory = record.failed("isolation_error", "host", str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            trajectory = record.failed("rollout_timeout", "candidate", f"no end within {seconds:g} seconds")
        step.set(status=trajectory.status, blame=trajectory.blame, score=trajectory.total_reward)
        return trajectory
