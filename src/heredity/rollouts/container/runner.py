"""`ContainerRunner`: harnesses on container tasks. Each attempt is a conversation with a shell; what it leaves is verified."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from heredity.actors.contract import Answer, Problem, Programs, Solving
from heredity.actors.conversation import Conversation
from heredity.actors.solver import Solver
from heredity.errors import CandidateError, ConfigError
from heredity.gateway import Model
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus, FailureSource, Status
from heredity.rollouts.container.check import success_threshold
from heredity.rollouts.container.shell import SHELL, shell_tool
from heredity.rollouts.container.verification import ContainerRollout, Controls, attempt
from heredity.rollouts.contract import Job
from heredity.rollouts.conversation_record import ConversationRecord, built, check_solving, seeds_of
from heredity.rollouts.rollout import attributed
from heredity.rollouts.streams import as_completed
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.sandbox.containers import Backend, ContainerSandbox
from heredity.sandbox.containers.contract import AGENT_S
from heredity.sandbox.engine_folder import EngineFolder
from heredity.sandbox.limits import Limits
from heredity.tasks import Task
from heredity.tasks.containers import ContainerTask, read_task

PROJECT = "/harness"
"""Where a harness's project files are in the container of a task."""

_FOLDER = "project/"
_BROKEN = (AnswerStatus.PROGRAM_ERROR, AnswerStatus.PROGRAM_TIMEOUT)
_CUT = (AnswerStatus.TURNS, AnswerStatus.TIMEOUT)


class ContainerRunner:
    """Rollouts container tasks with harnesses: tasksets of the kind `"container"`.

    A harness is a solver's candidate (docs/harnesses.md). It has the tool `shell`; its files below `agent/solver`'s `project/`
    are at `/harness` in the container. Of the task it learns the instruction and what the container holds, and nothing else.

    Args:
        model: what harnesses converse with.
        backend: makes the containers; whoever made it closes it, and the programs.
        programs: the sandbox for candidates that have programs.
        settings: how each rollout goes.
        concurrent: most rollouts at the same time; by default two for each core.

    Raises:
        ConfigError: if the settings are out of range, or ask for feedback that these tasks do not have.
    """

    def __init__(
        self,
        model: Model,
        *,
        backend: Backend,
        programs: Programs | None = None,
        settings: Solving | None = None,
        concurrent: int | None = None,
    ) -> None:
        self.settings = settings or Solving()
        concurrent = 2 * len(os.sched_getaffinity(0)) if concurrent is None else concurrent
        check_solving(self.settings, concurrent)
        if self.settings.feedback not in ("none", "self"):
            raise ConfigError(f"feedback is {self.settings.feedback!r}; container tasks have none and self")
        self._model, self._programs, self._backend = model, programs, backend
        self._controls = Controls(backend)
        self._places = asyncio.Semaphore(concurrent)

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; what has not ended is dropped when it is closed.

        A rollout may take `Solving.seconds`, `Limits.episode_s` or the time that the task gives its agent, whichever is least;
        a harness's own program may take `Limits.act_s` of it for itself. What is on the disk when the time or the turns are
        used up is verified all the same: then the status is ok, the reward counts, and `failure` says how the rollout ended.
        A harness whose program fails is not verified.

        Raises:
            BudgetError: if the budget does not allow a model call; the rollouts under way are dropped.
            ConfigError: if a candidate needs a sandbox for its programs, and there is none.
        """
        seeds = seeds_of(jobs, self.settings)
        with EngineFolder() as folder:
            harnesses = {job.candidate: _harness(job, folder) for job in jobs}
            self._check(harnesses.values())

            async def made(position: int, job: Job) -> tuple[int, Trajectory]:
                async with self._places:
                    record = _Record(job, Conversation(self._model, self.settings, seeds[position]))
                    return position, await attributed(record, self._attempt(record, harnesses[job.candidate], limits))

            async with aclosing(as_completed(made(position, job) for position, job in enumerate(jobs))) as ended:
                async for rollout in ended:
                    yield rollout

    async def close(self) -> None:
        """Do nothing: the runner starts no process of its own."""

    def _check(self, harnesses: Iterable[_Harness | ConfigError]) -> None:
        if self._programs is None and any(isinstance(h, _Harness) and h.solver.needs_programs for h in harnesses):
            raise ConfigError("a candidate has programs, and there is no sandbox to run them in; give programs")

    async def _attempt(self, record: _Record, harness: _Harness | ConfigError, limits: Limits) -> Trajectory:
        try:
            return await self._worked(record, harness, limits)
        except _BrokenError as error:
            failure = error.failure
            return record.trajectory({"reason": failure.message}, failure.message, failure=failure)
        # Not the harness's doing: its own failures are told apart above.
        except (ConfigError, CandidateError) as error:
            return record.failed(Status.ENVIRONMENT_ERROR, FailureSource.ENVIRONMENT, str(error))

    async def _worked(self, record: _Record, harness: _Harness | ConfigError, limits: Limits) -> Trajectory:
        if isinstance(harness, ConfigError):
            return record.failed(Status.IMPORT_ERROR, FailureSource.CANDIDATE, str(harness))
        task = await asyncio.to_thread(_read, record.job.task)
        least, record.question = success_threshold(task), task.instruction.strip()
        record.conversation.settings = replace(
            self.settings,
            seconds=min(self.settings.seconds, limits.episode_s, task.agent.timeout_s or AGENT_S),
            program_seconds=min(self.settings.program_seconds, limits.act_s),
        )
        problem = Problem(record.question)

        async def agent(sandbox: ContainerSandbox, _: ContainerTask) -> None:
            if harness.project is not None:
                await _put(harness.project, sandbox)
            shell = shell_tool(sandbox, record.conversation.settings)
            record.answer = await harness.solver.attempt(problem, record.conversation, self._programs, provided=[shell])
            if record.answer.status in _BROKEN:
                raise _BrokenError(record.failure_of(record.answer))

        return record.verified(await attempt(self._backend, task, agent, self._controls), least)


class _BrokenError(Exception):
    """A harness failed by itself; what it has done is not verified."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


@dataclass(frozen=True)
class _Harness:
    """A candidate that can be run: its solver, and the folder with its project files if it has any."""

    solver: Solver
    project: Path | None


@dataclass
class _Record(ConversationRecord):
    """What is known of one rollout at a container task."""

    keys = (
        "question",
        "correct",
        "reason",
        "ended",
        "rewards",
        "leftovers",
        "discarded",
        "disk_full",
        "exceeded",
        "notes",
    )

    answer: Answer | None = None

    def verified(self, rollout: ContainerRollout, least: float) -> Trajectory:
        """Return the record of a rollout whose work was verified; `least` is the reward that counts as success."""
        verdict, output = rollout.verdict, rollout.verdict.output.strip()
        if verdict.reward is None:
            why = f"the verifier gave no reward: {verdict.status}: {verdict.message}"
            return self.failed(
                Status.ENVIRONMENT_ERROR, FailureSource.ENVIRONMENT, f"{why}; it said: {output}" if output else why
            )
        if verdict.failure_source is FailureSource.CANDIDATE:
            return self.failed(verdict.status, FailureSource.CANDIDATE, verdict.message)
        answer = self.answer or self.conversation.answer(AnswerStatus.TIMEOUT, "the time of the attempt was used up")
        summary = f"reward {verdict.reward:g}"
        info = {
            "correct": verdict.reward >= least,
            "reason": output if verdict.reward < 1 else "",
            "ended": "answered" if answer.status == AnswerStatus.OK else answer.status.value,
            "rewards": dict(verdict.rewards),
            "leftovers": list(rollout.leftovers),
            "discarded": list(rollout.discarded),
            "disk_full": rollout.disk_full,
            "exceeded": rollout.agent_status if rollout.agent_status not in ("ok", "timeout") else "",
        }
        return self.trajectory(
            info,
            f"{summary}: {output}" if info["reason"] else summary,
            score=verdict.reward,
            failure=None if answer.status == AnswerStatus.OK else self.failure_of(answer),
            failure_source=FailureSource.NONE,
            truncated=answer.status in _CUT,
        )


def project_of(program: SourceTree | None) -> SourceTree | None:
    """Return the files that a harness's program has for the container; None if there are none."""
    files = {path.removeprefix(_FOLDER): data for path, data in (program or {}).items() if path.startswith(_FOLDER)}
    return SourceTree(files) if files else None


def harness_solver(candidate: Candidate) -> Solver | ConfigError:
    """Return the solver of a harness, or why it cannot be run here."""
    solver = built(candidate)
    if isinstance(solver, Solver) and SHELL.name in {tool.name for tool in solver.parts.tools}:
        return ConfigError(
            f"tool/{SHELL.name} has the name of a tool that every container task has; give it another name"
        )
    return solver


def _harness(job: Job, folder: Path) -> _Harness | ConfigError:
    solver = harness_solver(job.candidate)
    if isinstance(solver, ConfigError):
        return solver
    files, target = project_of(solver.parts.program), folder / job.candidate.digest
    if files is not None:
        files.write_to(target)
        for path in files:
            (target / path).chmod(0o755)  # a tree has no modes, and what is put there may be scripts
    return _Harness(solver, None if files is None else target)


async def _put(project: Path, sandbox: ContainerSandbox) -> None:
    try:
        await sandbox.upload(project, PROJECT)
    except CandidateError as error:
        raise _BrokenError(
            Failure(Status.INIT_ERROR, f"the project's files cannot be put at {PROJECT}: {error}")
        ) from error


def _read(task: Task) -> ContainerTask:
    """Return the task as it was when the run began.

    Raises:
        ConfigError: if it cannot be read, or has changed.
    """
    current = read_task(Path(task.spec["folder"]))
    if current.digest != task.spec["digest"]:
        raise ConfigError(f"{current.folder} has changed since the run began; restore it, or begin another run")
    return current
