"""Questions whose answers a task's own `eval.py` scores, in the sandbox, and tasks of users' folders.

They are tasksets of the kind `"scored"`. The info's spec has `scorer`, path to text, with an `eval.py` that defines
`evaluate(question, model_answer, reference_answer, **extra)` and returns 0 (wrong) to 1 (right). A task is a question
whose metadata are the `question`, the `answer` and the `extra` arguments of `evaluate`.

An `eval.py` may call functions of an answer, in a separate sandbox: `heredity_guest.ask("call", {"code": …,
"function": …, "arguments": "([1, 2], 'x')"})` returns `{"value": …}` or `{"error": …}`, where arguments and value are
written as Python literals. So an answer that is a program never sees the expected results.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from heredity._core.errors import CandidateError, ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import jsonl, read_bytes, read_text, yaml_value
from heredity._core.refusals import quoted, reading
from heredity._core.tables import read_rows
from heredity.engine.actor import Solving, ToolResult
from heredity.engine.player import KeepingPrograms, KeptProgram
from heredity.engine.question_runner import conversation_of
from heredity.engine.questions import Question
from heredity.engine.questions.extract import final_text
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info
from heredity.resources import SourceTree
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits

SCORED = "scored"
"""The kind of these tasksets."""

_SECONDS = 20.0
"""Limits of `eval.py` per answer, excluding the functions of the answer."""

_SCORER_CODE = """\
from eval import evaluate


def score(question, answer, reference, extra):
    return evaluate(question, answer, reference, **extra)
"""

_CALLER_CODE = """\
from ast import literal_eval
from importlib import import_module


class Caller:
    def __init__(self):
        self.module = import_module("answer")

    def call(self, function, arguments):
        return repr(getattr(self.module, function)(*literal_eval(arguments)))
"""


def scored_question(
    text: str, answer: Any, *, question: Any = None, extra: Mapping[str, Any] | None = None, instructions: str = ""
) -> Question:
    """Return a question that an `eval.py` scores.

    Args:
        text: the prompt for the model.
        answer: the reference answer for `evaluate`: a JSON value.
        question: the question for `evaluate`; by default the text.
        extra: further arguments of `evaluate`.
        instructions: the required form of the answer.
    """
    given = {"question": text if question is None else question, "answer": answer, "extra": dict(extra or {})}
    shown = answer if isinstance(answer, str) else str(answer)
    return Question(text, shown, {"kind": "exact"}, instructions=instructions, metadata=given)


class ScoringRunner:
    """Runs questions and has `eval.py` score the answers, each in a fresh process.

    Args:
        solving: attempts the questions; its verdict is replaced.
        programs: the sandbox; closed by the caller.
        calls_s: total wall seconds for the functions of one answer.
    """

    def __init__(self, solving: Runner, programs: KeepingPrograms, *, calls_s: float = 10.0) -> None:
        self._solving, self._programs, self._calls_s = solving, programs, calls_s

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt all jobs, then yield (position, trajectory) as each one is scored.

        An answer that makes `eval.py` fail is wrong, unless it fails on the reference answer as well: then the task
        is at fault.

        Raises:
            ConfigError: if a taskset's spec has no `eval.py`.
        """
        trajectories = [attempt async for attempt in self._solving.run(jobs, limits)]

        async def score(position: int, trajectory: Trajectory) -> tuple[int, Trajectory]:
            return position, await self._scored(jobs[position], trajectory)

        async with aclosing(as_completed(score(*attempt) for attempt in trajectories)) as scored:
            async for attempt in scored:
                yield attempt

    async def close(self) -> None:
        """Close the runner that solves."""
        await self._solving.close()

    async def _scored(self, job: Job, trajectory: Trajectory) -> Trajectory:
        if trajectory.status != Status.OK:
            return trajectory
        replies = [message.content for message in conversation_of(trajectory) if message.role == "assistant"]
        points, problem = await self._evaluate(job, final_text(replies[-1]))
        if points is None:
            checked, _ = await self._evaluate(job, job.task.spec["answer"])
            if checked is None:
                return _unscored(trajectory, f"eval.py of {job.taskset.name} takes no answer: {problem}")
        return _rescored(trajectory, points or 0.0, problem)

    async def _evaluate(self, job: Job, answer: str) -> tuple[float | None, str]:
        """Return the score of an answer, None if it has none, and the problem."""
        files: Mapping[str, str] = job.taskset.spec.get("scorer", {})
        if "eval.py" not in files:
            raise ConfigError(f"{job.taskset.name} is {SCORED!r}, and its spec has no eval.py under 'scorer'")
        tree = SourceTree({**files, "heredity_scorer.py": _SCORER_CODE})
        given = job.task.spec["metadata"]
        arguments = {
            "question": given["question"],
            "reference": given["answer"],
            "extra": given["extra"],
            "answer": answer,
        }
        async with AsyncExitStack() as stack:
            calls = _Calls(self._programs, stack, self._calls_s)
            result = await self._programs.call(
                tree, "heredity_scorer:score", arguments, seconds=_SECONDS, services={"call": calls}
            )
        return _points(result)


@dataclass(slots=True)
class _Calls:
    """The service `call`: functions of one answer, whose process is kept between calls of the same code."""

    programs: KeepingPrograms
    stack: AsyncExitStack
    left: float
    opened: dict[str, KeptProgram] = field(default_factory=dict[str, KeptProgram])

    async def __call__(self, asked: Any) -> dict[str, Any]:
        try:
            code, function, arguments = (str(asked[key]) for key in ("code", "function", "arguments"))
        except (TypeError, KeyError) as error:
            raise CandidateError("call takes an object with code, function and arguments") from error
        if code not in self.opened:
            tree = SourceTree({"answer.py": code, "heredity_caller.py": _CALLER_CODE})
            program = self.programs.open(tree, "heredity_caller:Caller", {})
            self.opened[code] = await self.stack.enter_async_context(program)
        if self.left <= 0:
            return {"error": "the functions of the answer took too long"}
        result = await self.opened[code].call("call", {"function": function, "arguments": arguments}, seconds=self.left)
        self.left -= result.seconds
        return {"error": _problem(result)} if result.error else {"value": result.value}


def _points(result: ToolResult) -> tuple[float | None, str]:
    if result.error:
        return None, _problem(result)
    value = result.value
    if isinstance(value, bool | int | float) and 0 <= value <= 1:
        return float(value), ""
    return None, f"evaluate returned {str(value)[:80]!r}; expected a number from 0 to 1"


def _problem(result: ToolResult) -> str:
    return f"{result.error}: {result.message}"[:300]


def _rescored(trajectory: Trajectory, points: float, problem: str) -> Trajectory:
    message = f"score {points:g}" + (f": {problem}" if problem else "")
    verdict = {"info/correct": points >= 1.0, "info/reason": message, "info/rounds": [points], "info/extracted": ""}
    before, last = trajectory.columns, trajectory.length - 1
    reward = np.zeros(trajectory.length)
    reward[-1:] = points
    columns: dict[str, Column] = {
        **before,
        **{key: [None] * last + [value] for key, value in verdict.items()},
        "obs": [*list(before["obs"])[:-1], message],
        "reward": reward,
    }
    return replace(trajectory, total_reward=points, columns=columns)


def _unscored(trajectory: Trajectory, problem: str) -> Trajectory:
    failure = Failure(Status.ENVIRONMENT_ERROR, problem)
    source = FailureSource.ENVIRONMENT
    return replace(trajectory, status=failure.category, failure_source=source, total_reward=0.0, failure=failure)


_CONFIG = "config.yaml"
_MODES = ("per_sample",)
_LEAST = 8
_TOKENS = 512


def smith(folder: str) -> PostTrainingTask:
    """Return the task of a user's own folder.

    The folder has the form of Agent² RL-Bench's public release:

    - `config.yaml`: `name`; `eval_mode`, `per_sample`; `expose_files`, a list of files of the folder for the agent;
      `description`.
    - `eval.py`: `evaluate(question, model_answer, reference_answer, **extra)` returns 0 to 1. It runs in the sandbox.
    - `data/train.jsonl`: rows with `question` and `answer`; every other field is an `extra` argument.

    There a submission is scored on the same rows that it was trained on. Here the suite's entropy deals the rows out:
    half for training, a quarter (at most 150) for grading, and a quarter (at most 200) held out.

    Args:
        folder: its path.

    Raises:
        ConfigError: if a file is missing or wrong; the message names it.
        UnknownNameError: if the `eval_mode` is another.
    """
    root = Path(folder).expanduser()
    config = _config(root)
    questions = _questions(root / TRAIN_FILE)
    name, graded, heldout = f"smith:{folder}", min(150, len(questions) // 4), min(200, len(questions) // 4)
    files = SourceTree({str(path.relative_to(root)): _bytes(path) for path in sorted(root.rglob("*.py"))})
    exposed = _exposed(root, config.get("expose_files") or [])

    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        order = generator(entropy, "posttraining", "smith", config["name"]).permutation(len(questions))
        dealt = [questions[i] for i in order]
        hidden = graded + heldout
        return {"validation": dealt[:graded], "heldout": dealt[graded:hidden], "train": dealt[hidden:]}

    description = _description(root, config, graded)
    version = digest_json([files.digest, [question.to_spec() for question in questions]])[:12]
    info = dealt_info(name, version=version, description=description, family="smith", kind=SCORED)
    return PostTrainingTask(
        name=name,
        level="L1",
        title=str(config["name"]),
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal, scorer={path: files.text(path) for path in files}),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=1800.0),
        metric="mean of evaluate",
        materials=lambda entropy: {**exposed, TRAIN_FILE: jsonl(map(_row, deal(entropy)["train"]))},
        graded=graded,
        heldout=heldout,
        structure={"capability": 2, "interaction": 1, "reward": 2, "horizon": 1},
        labels=("the user's own",),
    )


def _config(root: Path) -> dict[str, Any]:
    with reading(root / _CONFIG, "YAML", "add or correct it: a task's folder has one"):
        config = yaml_value(read_text(root / _CONFIG))
    if not isinstance(config, dict) or not config.get("name"):
        raise ConfigError(f"{root / _CONFIG} has no name; add one, such as name: my-task")
    mode = config.get("eval_mode", _MODES[0])
    if mode not in _MODES:
        raise UnknownNameError(f"eval_mode of {root / _CONFIG}", str(mode), _MODES)
    if not (root / "eval.py").is_file():
        raise ConfigError(
            f"{root} has no eval.py; add one that defines evaluate(question, model_answer, reference_answer)"
        )
    return config


def _questions(path: Path) -> list[Question]:
    questions: dict[str, Question] = {}
    for where, cells, problem in read_rows(path).rows:
        if problem:
            raise ConfigError(f"{where} of {path}: {problem}")
        if "question" not in cells or "answer" not in cells:
            raise ConfigError(
                f"{where} of {path}: it has {quoted(list(cells))}; expected the fields question and answer"
            )
        if not _text(cells["question"]).strip():
            raise ConfigError(
                f"{where} of {path}: question = {quoted(cells['question'])}; expected a text that says something"
            )
        extra = {key: value for key, value in cells.items() if key not in ("question", "answer")}
        question = scored_question(_text(cells["question"]), cells["answer"], question=cells["question"], extra=extra)
        questions.setdefault(question.identity, question)
    if len(questions) < _LEAST:
        raise ConfigError(f"{path} has {len(questions)} different questions; expected {_LEAST} or more")
    return list(questions.values())


def _exposed(root: Path, names: Any) -> dict[str, bytes]:
    if not isinstance(names, list):
        raise ConfigError(f"expose_files of {root / _CONFIG} is {names!r:.80}; expected a list of files")
    exposed: dict[str, bytes] = {}
    for name in map(str, names):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        path, inside = root / name, PurePosixPath(name)
        within = path.is_file() and path.resolve().is_relative_to(root.resolve())
        if not within or inside.parts[0] == "data" or path.resolve() == (root / TRAIN_FILE).resolve():
            raise ConfigError(
                f"expose_files of {root / _CONFIG} names {name!r}; expected files of the folder outside of data/, "
                "which holds what is graded"
            )
        exposed[str(inside)] = _bytes(path)
    return exposed


def _description(root: Path, config: Mapping[str, Any], graded: int) -> str:
    own = root / "description.md"
    text = (
        _bytes(own).decode("utf-8", "replace")
        if own.is_file()
        else f"# {config['name']}\n\n{config.get('description', '')}\n"
    )
    return f"""{text.rstrip()}

- `data/train.jsonl`: rows with `prompt` (what the model is asked), `completion`, and the fields of the task.

A submission answers {graded} other rows, greedily, with at most {_TOKENS} tokens each; its score is the mean of what
`evaluate` gives.
"""


def _bytes(path: Path) -> bytes:
    with reading(path, "a plain file", "add it: a task's folder has plain files"):
        return read_bytes(path)


def _row(question: Question) -> dict[str, Any]:
    given = question.metadata
    return {
        **given["extra"],
        "question": given["question"],
        "answer": given["answer"],
        "prompt": question.text,
        "completion": _text(given["answer"]),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
