"""The kind of programming problems: solvers converse with a language model, and the judge of programs judges what they wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.actors.contract import SYSTEM
from heredity.resources import Candidate, SourceTree
from heredity.rollouts.code.runner import CodeRunner
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Candidates, Kind, Needs, Opening
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.code.taskset import asked_of

_STARTER = "Solve the programming problem. Think first, then give the whole program.\n"


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return CodeRunner(
        opening.model,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=opening.concurrent,
        workers=opening.workers.count,
        provided=opening.provided,
    )


def _starter(info: TasksetInfo) -> Candidate:
    return Candidate({SYSTEM: SourceTree({"prompt.md": _STARTER})})


def _shown(task: Task) -> Mapping[str, Any]:
    asked = asked_of(task.spec)
    return {
        "problem": task.spec["problem"],
        "language": task.spec["language"],
        "question": asked.text,
        "instructions": asked.instructions,
    }


KIND = Kind(
    "code",
    _open,
    Needs(
        model="required",
        purpose="programs are written",
        offline="local/smollm2-135m",
        programs=True,
        confined=True,
        commands=True,
        tools=True,
    ),
    Candidates(starter=_starter),
    shown=_shown,
)
