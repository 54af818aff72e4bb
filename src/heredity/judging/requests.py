"""Requests: what a session has admitted under each key, so that a repeated one is answered and not charged again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from heredity.errors import RejectedError, ReplayDivergedError
from heredity.evolution import Feedback
from heredity.judging.session_log import SessionLog


@dataclass(slots=True, eq=False)
class AdmittedRequest:
    """A request that was admitted.

    Attributes:
        digest: of what determines its answer.
        ids: the numbers of its submissions.
        charge: episodes that it cost.
        earlier: whether an earlier process admitted it, and this one has not been asked for it yet.
        task: attempts it; None before and after.
    """

    digest: str
    ids: Sequence[int]
    charge: int
    earlier: bool
    task: asyncio.Task[list[Feedback]] | None = None

    def repeats(self, digest: str, key: str, *, replay: bool) -> bool:
        """Check a request under the same key; whether it is the first time that it is asked for again after a restart.

        Raises:
            ReplayDivergedError: if a replaying method asks for something else than before the restart.
            RejectedError: if it is another request.
        """
        if self.digest != digest:
            if self.earlier and replay:
                raise ReplayDivergedError(
                    f"the evolver asked for something else under the key {key!r} than before the run was interrupted; "
                    "resume it with the version and configuration it was started with, or start a new run"
                )
            raise RejectedError(f"the key {key!r} belongs to another request; give each request a key of its own")
        first, self.earlier = self.earlier, False
        return first


def earlier(log: SessionLog, ids: Sequence[int]) -> AdmittedRequest:
    """Return a request that is in the journal."""
    submissions = [log.submissions[i] for i in ids]
    return AdmittedRequest(submissions[0].request, ids, sum(s.charge for s in submissions), earlier=True)
