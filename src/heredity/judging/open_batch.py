"""The batch that is open: which train tasks a session admits, and what was committed when the next one begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from heredity.errors import ConfigError
from heredity.evolution import Batch
from heredity.judging.admission import CheckedTrial, MalformedError
from heredity.judging.decisions import GATE_KEYS, Record, frozen
from heredity.judging.schedule import BatchPlan
from heredity.judging.session_log import SessionLog
from heredity.records import Committer
from heredity.records.events import BATCH_STARTED, SCHEDULE_PLANNED, BatchStarted, TaskLabels
from heredity.tasks import Task


class OpenBatch:
    """Walks through a plan, batch by batch; a replaying method walks through it again from the beginning."""

    def __init__(self, plan: BatchPlan | None, log: SessionLog, record: Record, *, replay: bool) -> None:
        """Continue from what the log holds.

        Args:
            plan: the batches; None if the run has no schedule.
            log: what the journal says of the session.
            record: journals.
            replay: whether the method starts again from the beginning.
        """
        self._plan, self._log, self._record = plan, log, record
        self._position = 0 if replay else len(log.batches)
        self.batch: Batch | None = None

    @property
    def plan(self) -> BatchPlan:
        """The plan.

        Raises:
            ConfigError: if the run has no schedule.
        """
        if self._plan is None:
            raise ConfigError("this run has no schedule, so that there are no batches; choose tasks and submit them")
        return self._plan

    @property
    def repeating(self) -> bool:
        """Whether the next batch was started in an earlier process."""
        return self._position < len(self._log.batches)

    def left(self) -> Sequence[Batch]:
        """Return the batches that are still to come."""
        return self.plan.batches[self._position :]

    async def begin(self, batch: Batch) -> None:
        """Open a batch and journal it, with what was committed until then."""
        if not self.repeating:
            since = self._log.batches[-1][1] if batch.reset and self._log.batches else 0
            committed = frozen(self._log.decisions[since:]) or frozen(self._log.decisions[:1])
            data: BatchStarted = {
                "number": batch.number,
                "epoch": batch.epoch,
                "tasks": list(batch.tasks),
                "candidate": committed,
                "reset": batch.reset,
            }
            await self._record([BATCH_STARTED.line(data)], [])
        self._position += 1
        self.batch = batch

    def check(self, checked: Sequence[CheckedTrial], key: str) -> None:
        """Check that a new request keeps to the batch that is open.

        Raises:
            MalformedError: if it does not.
        """
        if key.startswith(GATE_KEYS):
            raise MalformedError("invalid_request", f"the key {key!r} begins with {GATE_KEYS!r}, which is the gate's")
        if self._plan is None:
            return
        if self.batch is None:
            raise MalformedError(
                "invalid_env_instance", "no batch is open: this run has a schedule; take tasks from session.batches()"
            )
        outside = sorted({task for trial in checked for task in trial.tasks} - set(self.batch.tasks))
        if outside:
            raise MalformedError(
                "invalid_env_instance",
                f"train task {outside[0]} is not in batch {self.batch.number}; attempt its tasks: "
                f"{', '.join(map(str, self.batch.tasks))}",
            )


async def journal_plan(records: Committer, plan: BatchPlan, train: Sequence[Task]) -> None:
    """Journal a run's plan once.

    Raises:
        ConfigError: if the journal holds another plan.
    """
    planned = SCHEDULE_PLANNED.first(records.journal.events)
    if planned is None:
        await records.commit([SCHEDULE_PLANNED.line({**plan.to_json(), "tasks": [labelled(task) for task in train]})])
    elif planned["digest"] != plan.digest:
        raise ConfigError(
            f"the run was started with the batch plan {planned['digest'][:12]}, and is asked to go on with {plan.digest[:12]}; "
            "restore the schedule that it was started with, or start a new run"
        )


def labelled(task: Task) -> TaskLabels:
    """Return a task's id and its labels, as they are recorded."""
    return cast("TaskLabels", {"id": task.id, "domain": "", "source_benchmark": "", **task.attributes})
