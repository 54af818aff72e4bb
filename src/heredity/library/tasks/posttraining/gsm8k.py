"""GSM8K (Cobbe et al., 2021, arXiv:2110.14168) as a post-training task, with the real data.

Agent² RL-Bench grades on the whole test split. Here half of it, chosen by the questions' digests, is graded, and the
other half is held out. All 7473 questions of the train split, with their solutions, are for training.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question, present
from heredity.engine.questions.verify import VERSION
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info
from heredity.kinds.question.benchmarks import read_gsm8k

_CALCULATOR = re.compile(r"<<[^<>]*>>")
_TOKENS = 400

_EVAL = '''\
"""The rule by which answers are graded: 1.0 for the right number, 0.0 otherwise."""

import re

_NUMBER = re.compile(r"-?[$]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:[.][0-9]+)?")


def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    """Read the number after the last `Answer:`, or else the last number. In grading more ways of writing one are read."""
    stated = re.findall(r"Answer:([^\\n]*)", model_answer)
    found = _NUMBER.findall(stated[-1] if stated else model_answer)
    if not found:
        return 0.0
    number = found[0] if stated else found[-1]
    return float(float(re.sub(r"[$,]", "", number)) == float(reference_answer))
'''

_DESCRIPTION = """\
# GSM8K

Word problems of grade school. The model works the answer out and ends with the line `Answer: ` and the number alone.

- `data/train.jsonl`: {train} problems with `prompt` (what the model is asked), `completion` (a worked solution), `question`
  and `answer`.
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, the rule that grades, for numbers as they are usually written.

A submission answers {graded} problems of the benchmark's test split, greedily, with at most {tokens} tokens each; its score is the
share of right answers. A number is read where answers stand: after `Answer:`, in a box, or else the last one.
"""


def gsm8k() -> PostTrainingTask:
    """Return the task.

    Raises:
        ConfigError: if the benchmark's files are missing or wrong.
    """
    dealt = _dealt()
    description = _DESCRIPTION.format(train=len(dealt["train"]), graded=len(dealt["validation"]), tokens=_TOKENS)
    info = dealt_info("gsm8k", version=f"GSM8K, verifier {VERSION}", description=description, family="math")
    return PostTrainingTask(
        name="gsm8k",
        level="L1",
        title="Word problems of grade school",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, lambda _: dealt),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=1800.0),
        metric="accuracy",
        materials=lambda _: {TRAIN_FILE: jsonl(map(_row, dealt["train"])), "eval.py": _EVAL.encode()},
        graded=len(dealt["validation"]),
        heldout=len(dealt["heldout"]),
        structure={"capability": 2, "interaction": 1, "reward": 1, "horizon": 1},
        labels=("public benchmark",),
    )


@cache
def _dealt() -> Mapping[str, Sequence[Question]]:
    splits = read_gsm8k().splits
    hidden = sorted(splits["heldout"], key=lambda question: question.identity)
    return {
        "train": [*splits["train"], *splits["validation"]],
        "validation": hidden[::2],
        "heldout": hidden[1::2],
    }


def _row(question: Question) -> dict[str, str]:
    solution = _CALCULATOR.sub("", question.metadata["solution"])
    return {
        "prompt": present(question.to_spec()).prompt,
        "completion": f"{solution}\nAnswer: {question.answer}",
        "question": question.text,
        "answer": question.answer,
    }
