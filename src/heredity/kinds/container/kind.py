"""The kind of container tasks: harnesses work with a shell in a container, and the resulting files are verified."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import CandidateError, ConfigError
from heredity.engine.actor import Answer, Problem, Programs, ProvidedTool, Solving, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord, built, check_solving, seeds_of
from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening
from heredity.engine.react import FORM
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.solver import Solver
from heredity.engine.streams import as_completed
from heredity.engine.tools import Tool
from heredity.engine.trajectory import Failure, Trajectory
from heredity.kinds.container.check import success_threshold
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import ContainerRollout, Controls, attempt
from heredity.models import Model, Reply, Request, ToolCall, ToolSpec
from heredity.models.contract import NOTHING_USED
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus, FailureSource, Status
from heredity.sandbox.containers import Backend, ContainerSandbox, ExecResult
from heredity.sandbox.containers.contract import AGENT_S
from heredity.sandbox.containers.task import ContainerTask
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

SHELL = ToolSpec(
    "shell",
    "Runs a command with bash in the environment of the task, and shows what it printed and its exit code. Every command is a "
    "new shell that starts in the same folder: a `cd` or a variable does not last, files do.",
    {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "the command line"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
"""The tool's description for models."""


def shell_tool(sandbox: ContainerSandbox, settings: Solving) -> ProvidedTool:
    """Return the shell of a running sandbox; `settings` limit the time and the shown output of each command."""

    async def run(arguments: Mapping[str, Any]) -> str:
        done = await sandbox.exec(arguments["command"], timeout_s=settings.shell_seconds)
        return result_text(done, settings.tool_output_chars)

    return ProvidedTool(SHELL, run)


def result_text(done: ExecResult, limit: int) -> str:
    """Format a command's result: stdout, `[stderr]` and stderr if any, `[exit code: N]` as the last line.

    Args:
        done: the result.
        limit: approximate maximum of characters; longer output keeps its beginning and end.
    """
    why = "" if done.reason in ("exited", "not_started") else f", ended: {_ENDED[done.reason]}"
    last = f"[exit code: {done.code}{why}]"
    room = max(limit - len(last) - 60, 0)
    errors = shortened(done.stderr, max(room // 2, room - len(done.stdout)))
    parts = [shortened(done.stdout, room - len(errors)), f"[stderr]\n{errors}" if errors else "", last]
    return "\n".join(part.rstrip("\n") for part in parts if part)


def shortened(text: str, limit: int) -> str:
    """Return a text cut to about `limit` characters: its beginning, its end, and the number left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[len(text) - half :]}"


_ENDED = {
    "timeout": "it took too long",
    "memory": "all processes together took too much memory",
    "processes": "there were too many processes",
}


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

        A rollout may take `Solving.seconds`, `Limits.episode_s` or the task's timeout for its agent, the least of them;
        the program of a harness may take `Limits.act_s` of it for itself. When the time or the turns are exhausted, the
        disk is verified nevertheless: the status is ok, the reward counts, and `failure` says how the rollout ended. A
        harness whose program fails is not verified.

        Raises:
            BudgetError: if the budget does not allow a model call (rollouts in progress are dropped).
            ConfigError: if a candidate needs a sandbox for its programs that is missing.
        """
        seeds = seeds_of(jobs, self.settings)
        with EngineFolder() as folder:
            harnesses = {job.candidate: _harness(job, folder) for job in jobs}
            self._check(harnesses.values())

            async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
                async with self._places:
                    record = _Record(job, Conversation(self._model, self.settings, seeds[position]))
                    return position, await attributed(record, self._attempt(record, harnesses[job.candidate], limits))

            async with aclosing(as_completed(attempt(position, job) for position, job in enumerate(jobs))) as ended:
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


PROGRAM_SECONDS = 10.0
"""Limits of loading a part, of calling its hooks and of the trial, each."""

_SETTINGS = Solving(seconds=60.0)
_COMMAND = "ls"
_PRINTED = "notes.txt\n[exit code: 0]"
_PROBLEM = "Say in one word whether there is a file notes.txt in this folder."
_ENTRY = "heredity_probe"
_MOST = 400

_HOOKS = """\
from heredity_harness import probe


def run():
    import agent

    if not callable(getattr(agent, "solve", None)):
        raise TypeError("agent.py: it has no function solve; expected def solve(problem, host)")
    probe(agent.__file__)
"""

_TOOL = """\
import inspect


def run(names):
    import tool

    if not callable(getattr(tool, "run", None)):
        raise TypeError("tool.py: it has no function run; expected def run(...)")
    try:
        inspect.signature(tool.run).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise TypeError(f"tool.py: run does not take the arguments of its schema ({error}); expected {names}") from error
"""


async def probe(candidate: Candidate, programs: Programs) -> str:
    """Check that a harness runs.

    Its parts are read, its tools and middleware loaded in the sandbox, each hook called with samples, and then one
    rollout is made with canned replies: one call of the shell, then an answer. It uses neither a model nor a
    container.

    Returns:
        `""`, or one line that describes the problem.

    Raises:
        HostError: if the sandbox fails.
        IsolationError: if a program cannot be confined.
    """
    solver = harness_solver(candidate)
    if isinstance(solver, ConfigError):
        return _line(str(solver))
    return await _loaded(solver, programs) or await _tried(solver, programs)


async def _loaded(solver: Solver, programs: Programs) -> str:
    program = solver.parts.program
    if program is not None and (wrong := await _call(programs, program, _HOOKS, {})):
        return _line(f"agent/solver: {wrong}")
    for tool in solver.parts.tools:
        if tool.tree is not None and (wrong := await _call(programs, tool.tree, _TOOL, {"names": _names(tool)})):
            return _line(f"tool/{tool.name}: {wrong}")
    return ""


async def _call(programs: Programs, tree: SourceTree, text: str, arguments: Mapping[str, Any]) -> str:
    probing = tree.with_file(f"{_ENTRY}.py", text)
    return _wrong(await programs.call(probing, f"{_ENTRY}:run", arguments, seconds=PROGRAM_SECONDS))


async def _tried(solver: Solver, programs: Programs) -> str:
    conversation = Conversation(_Canned(), replace(_SETTINGS, program_seconds=PROGRAM_SECONDS))
    answer = await solver.attempt(Problem(_PROBLEM), conversation, programs, provided=[ProvidedTool(SHELL, _shell)])
    if answer.status == AnswerStatus.OK:
        return ""
    message = (
        conversation.notes[-1].strip().splitlines()[-1]
        if answer.status == AnswerStatus.PROGRAM_ERROR and conversation.notes
        else answer.detail
    )
    return _line(f"agent/solver: a trial ended with {answer.status}: {message}")


async def _shell(_: Mapping[str, Any]) -> str:
    return _PRINTED


@dataclass
class _Canned:
    """A model that calls the shell once, then answers."""

    name: str = "probe"

    async def reply(self, request: Request) -> Reply:
        """Return the next canned reply."""
        words = "\n".join(message.content for message in request.messages)
        if any(message.role in ("assistant", "tool") for message in request.messages):
            return Reply("Yes.", usage=NOTHING_USED)
        if any(tool.name == SHELL.name for tool in request.tools):
            call = ToolCall("call-1", SHELL.name, f'{{"command": "{_COMMAND}"}}')
            return Reply("I look.", (call,), "tool_calls", NOTHING_USED)
        if FORM in words:
            action = f'{{"action": "{SHELL.name}", "params": {{"command": "{_COMMAND}"}}}}'
            return Reply(f"<action>{action}</action>", usage=NOTHING_USED)
        return Reply("Yes.", usage=NOTHING_USED)


def _names(tool: Tool) -> list[str]:
    properties: Any = tool.parameters.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []


def _wrong(result: ToolResult) -> str:
    return f"{result.error}: {result.message}" if result.error else ""


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    assert opening.backend is not None, "needed"
    return ContainerRunner(
        opening.model,
        backend=opening.backend,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=min(opening.concurrent, 2 * len(os.sched_getaffinity(0))),
    )


def _public_data(task: Task) -> Mapping[str, Any]:
    return {"prompt": read_task(Path(task.spec["folder"])).instruction}


KIND = Kind(
    "container",
    _open,
    Needs(
        model="required",
        purpose="container tasks are worked on",
        offline="offline/shell-worker",
        programs=True,
        containers=True,
        calls=(4, 60),
        reads=(*CONVERSING, "limits.act_s", "engine.containers"),
    ),
    Candidates(probe=probe),
    shown=_public_data,
)
