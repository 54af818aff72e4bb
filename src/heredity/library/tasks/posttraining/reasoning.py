"""Generated questions of reasoning-gym as post-training tasks: `posttraining/reasoning/gcd`, with options as in `questions/…`.

Graded and held-out questions come from the suite's secret entropy. The package is public, and an agent may generate
more questions with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from heredity._core.errors import ConfigError
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import present
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.question.taskset import GENERATED, INSTRUCTIONS, SOURCE
from heredity.tasks import Task, Taskset

_TOKENS = 300
_TRAINED = (1000, 300, 100)
_LEAST = 30
_GRADED, _HELDOUT = 100, 100

_EVAL = '''\
"""The rule by which answers are graded, for rows of data/train.jsonl: from 0 to 1. It needs the package reasoning-gym."""

import re


def evaluate(question: str, model_answer: str, reference_answer: str, verifier: dict) -> float:
    """Score a reply with the data set's own scorer; `verifier` is the row's."""
    import reasoning_gym

    places = re.findall(r"<answer>(.*?)</answer>", model_answer, re.DOTALL)
    answer = (places[-1] if places else model_answer).strip()
    if not answer:
        return 0.0
    data = reasoning_gym.create_dataset(verifier["dataset"], seed=verifier["seed"], size=1, **verifier["config"])
    return float(data.score_answer(answer, data[0]))
'''

_DESCRIPTION = """\
# {name}

Generated questions of reasoning-gym. {instructions}

- `data/train.jsonl`: questions with `prompt` (what the model is asked), `completion`, `question`, `answer`, and
  `verifier` for `eval.py`.
- `eval.py`: `evaluate(question, model_answer, reference_answer, verifier)`, the data set's own scorer.

A submission answers {graded} other questions, greedily, with at most {tokens} tokens each; its score is the mean of their points.
"""


def reasoning(rest: str) -> PostTrainingTask:
    """Return the task of a data set.

    Args:
        rest: its name, optionally with options: `"gcd"`, `"chain_sum?max_terms=3"`.

    Raises:
        UnknownNameError: if the data set or an option is unknown.
        MissingExtraError: if reasoning-gym is not installed.
        ConfigError: if an option's value is invalid.
    """
    inner = SOURCE.taskset(GENERATED + rest)

    def materials(entropy: int) -> Mapping[str, bytes]:
        return {TRAIN_FILE: jsonl(map(_row, _trained(inner, entropy))), "eval.py": _EVAL.encode()}

    return PostTrainingTask(
        name=f"reasoning/{rest}",
        level="L1",
        title=f"Questions of {rest}",
        description=_DESCRIPTION.format(name=rest, instructions=INSTRUCTIONS, graded=_GRADED, tokens=_TOKENS),
        base_models=("smollm2-135m",),
        inner=inner,
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=1800.0),
        metric="accuracy",
        materials=materials,
        graded=_GRADED,
        heldout=_HELDOUT,
        structure={"capability": 2, "interaction": 1, "reward": 1, "horizon": 1},
    )


def _trained(inner: Taskset, entropy: int) -> tuple[Task, ...]:
    """Draw the train rows: fewer if a data set has too few different questions."""
    for count in _TRAINED:
        with suppress(ConfigError):
            return inner.draw("train", count, entropy)
    return inner.draw("train", _LEAST, entropy)


def _row(task: Task) -> dict[str, object]:
    spec = task.spec
    return {
        "prompt": present(spec).prompt,
        "completion": f"<answer>{spec['answer']}</answer>",
        **{key: spec[key] for key in ("question", "answer", "verifier")},
    }
