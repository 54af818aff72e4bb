"""The kind of questions: solvers converse with a language model, and answers are checked against references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.engine.kind import CONVERSING, Kind, Needs, Opening
from heredity.engine.question_runner import SolvingRunner
from heredity.engine.questions import present
from heredity.engine.runner import Runner
from heredity.tasks import Task


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return SolvingRunner(
        opening.model,
        judge=opening.judge,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=opening.concurrent,
        provided=opening.provided,
    )


def _public_data(task: Task) -> Mapping[str, Any]:
    question = present(task.spec)
    return {
        "question": question.text,
        "choices": list(question.choices),
        "images": len(question.images),
        "instructions": question.instructions,
        "prompt": question.prompt,
    }


KIND = Kind(
    "question",
    _open,
    Needs(
        model="required",
        purpose="questions are answered",
        offline="local/smollm2-135m",
        judge=True,
        programs=True,
        tools=True,
        calls=(1, 2),
        reads=CONVERSING,
    ),
    shown=_public_data,
)
