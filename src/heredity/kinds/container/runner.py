"""`ContainerRunner`: harnesses on container tasks. An attempt is a conversation with a shell; the result is verified."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import CandidateError, ConfigError
from heredity.engine.actor import Answer, Problem, Programs, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord, built, check_solving, seeds_of
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job
from heredity.engine.solver import Solver
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Failure, Trajectory
from heredity.kinds.container.check import success_threshold
from heredity.kinds.container.format import read_task
from heredity.kinds.container.shell import SHELL, shell_tool
from heredity.kinds.container.verification import ContainerRollout, Controls, attempt
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus, FailureSource, Status
from heredity.sandbox.containers import Backend, ContainerSandbox
from heredity.sandbox.containers.contract import AGENT_S
from heredity.sandbox.containers.task import ContainerTask
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

PROJECT = "/harness"
"""Path of a harness's project files in the container of a task."""

_FOLDER = "project/"
_BROKEN = (AnswerStatus.PROGRAM_ERROR, AnswerStatus.PROGRAM_TIMEOUT)
_CUT = (AnswerStatus.TURNS, AnswerStatus.TIMEOUT)


class ContainerRunner:
    """Runs harnesses on container tasks: tasksets of the kind `"container"`.

    A harness is a solver's candidate (docs/harnesses.md). It has the tool `shell`; its files below `agent/solver`'s
    `project/` are at `/harness` in the container. It sees only the task's instruction and the content of the
    container.

    Args:
        model: the model that harnesses converse with.
        backend: creates the containers; closed, like the programs, by the caller.
        programs: the sandbox for candidates that have programs.
        settings: settings of each rollout.
        concurrent: maximum concurrent rollouts; by default two per core.

    Raises:
        ConfigError: if the settings are out of range, or require feedback that these tasks do not have.
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
            raise ConfigError(f"feedback is {self.settings.feedback!r}; container tasks support none and self")
        self._model, self._programs, self._backend = model, programs, backend
        self._controls = Controls(backend)
        self._places = asyncio.Semaphore(concurrent)

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; closing the generator drops the rest.

        A rollout may take `Solving.seconds`, `Limits.episode_s` or the task's timeout for its agent, whichever is
        least; a harness's own program may take `Limits.act_s` of it for itself. When the time or the turns are
        exhausted, the disk is verified nevertheless: the status is ok, the reward counts, and `failure` says how the
        rollout ended. A harness whose program fails is not verified.

        Raises:
            BudgetError: if the budget does not allow a model call; rollouts in progress are dropped.
            ConfigError: if a candidate needs a sandbox for its programs that is missing.
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
        """No-op; the runner has no processes of its own."""

    def _check(self, harnesses: Iterable[_Harness | ConfigError]) -> None:
        if self._programs is None and any(isinstance(h, _Harness) and h.solver.needs_programs for h in harnesses):
            raise ConfigError("a candidate has programs, and there is no sandbox to run them in; give programs")

    async def _attempt(self, record: _Record, harness: _Harness | ConfigError, limits: Limits) -> Trajectory:
        try:
            return await self._worked(record, harness, limits)
        except _BrokenError as error:
            failure = error.failure
            return record.trajectory({"reason": failure.message}, failure.message, failure=failure)
        # Not the harness's failure: those are handled above.
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
                await _upload_project(harness.project, sandbox)
            shell = shell_tool(sandbox, record.conversation.settings)
            record.answer = await harness.solver.attempt(problem, record.conversation, self._programs, provided=[shell])
            if record.answer.status in _BROKEN:
                raise _BrokenError(record.failure_of(record.answer))

        return record.verified(await attempt(self._backend, task, agent, self._controls), least)


class _BrokenError(Exception):
    """A failure of the harness itself; its work is not verified."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


@dataclass(frozen=True)
class _Harness:
    """A candidate ready to run: its solver, and the folder with its project files, if any."""

    solver: Solver
    project: Path | None


@dataclass
class _Record(ConversationRecord):
    """The state of one rollout on a container task."""

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
        """Return the record of a verified rollout; `least` is the minimum reward that counts as success."""
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
    """Return a harness's project files for the container; None if there are none."""
    files = {path.removeprefix(_FOLDER): data for path, data in (program or {}).items() if path.startswith(_FOLDER)}
    return SourceTree(files) if files else None


def harness_solver(candidate: Candidate) -> Solver | ConfigError:
    """Return the solver of a harness, or the reason it cannot be run here."""
    solver = built(candidate)
    if isinstance(solver, Solver) and SHELL.name in {tool.name for tool in solver.parts.tools}:
        return ConfigError(
            f"tool/{SHELL.name} has the name of the built-in tool of container tasks; give it another name"
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
            (target / path).chmod(0o755)  # a tree has no modes, and its files may be scripts
    return _Harness(solver, None if files is None else target)


async def _upload_project(project: Path, sandbox: ContainerSandbox) -> None:
    try:
        await sandbox.upload(project, PROJECT)
    except CandidateError as error:
        raise _BrokenError(
            Failure(Status.INIT_ERROR, f"the project's files cannot be put at {PROJECT}: {error}")
        ) from error


def _read(task: Task) -> ContainerTask:
    """Return the task as it was when the run started.

    Raises:
        ConfigError: if it cannot be read, or has changed.
    """
    current = read_task(Path(task.spec["folder"]))
    if current.digest != task.spec["digest"]:
        raise ConfigError(f"{current.folder} has changed since the run started; restore it, or start another run")
    return current
