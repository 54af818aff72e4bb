"""Addition, character by character: `483021+7=` is answered `483028`.

`arithmetic` adds a one-digit number to a six-digit one. There are nine million sums, so even exhaustive generation
within the time limit covers almost none of the held-out ones. `arithmetic-hard` adds two four-digit numbers with a base
that knows almost nothing: within minutes on a CPU, online reinforcement learning finds no reward to learn from. It is a
fixture for failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info, draw_indices

ALPHABET = "0123456789+="
_PRETRAINED = 0
"""Entropy of what the base was pretrained on: public, the same for everybody."""

_EVAL = '''\
"""The rule by which answers are graded: 1.0 for the right digits and nothing else, 0.0 otherwise."""


def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    return float(model_answer.strip() == reference_answer)
'''

_DESCRIPTION = """\
# {title}

The model is asked `{example}` and has to answer `{answer}`, the digits alone.
There is no chat template: the prompt is the text itself.

- `data/train.jsonl`: {rows} sums with `prompt`, `completion`, `question` and `answer`.
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, the rule that grades.

A submission answers {graded} other sums, greedily, with at most {tokens} tokens each; its score is the share of right answers.
The base model has seen some of the sums in `data/train.jsonl`, and a few of them only.
"""


def arithmetic() -> PostTrainingTask:
    """Return the task of adding one digit to six (L1): a base in the middle of the scale, which training improves."""
    return _task("arithmetic", "Add a digit to a number of six digits", (6, 1), (1000, 1000), steps=240)


def arithmetic_hard() -> PostTrainingTask:
    """Return the task of adding four digits to four (L1), whose base is too weak to earn rewards: a failure fixture."""
    return _task(
        "arithmetic-hard",
        "Add two numbers of four digits",
        (4, 4),
        (60, 40),
        steps=60,
        labels=("failure fixture",),
    )


def _task(
    name: str,
    title: str,
    digits: tuple[int, int],
    trained: tuple[int, int],
    *,
    steps: int,
    labels: tuple[str, ...] = (),
) -> PostTrainingTask:
    """Return a task.

    Args:
        name: its name.
        title: one line.
        digits: digits of the two numbers.
        trained: train rows: those that the base was pretrained on, and others.
        steps: updates of the base.
        labels: labels for reports.
    """
    space, question = _sums(*digits)
    graded, heldout, tokens = 150, 200, max(digits) + 2
    pretrained = draw_indices(_PRETRAINED, f"{name} known", space, trained[0])
    familiar = [question(i) for i in pretrained]

    @cache
    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        count = graded + heldout + trained[1]
        dealt = [question(i) for i in draw_indices(entropy, name, space, count, avoid=pretrained)]
        return {
            "validation": dealt[:graded],
            "heldout": dealt[graded : graded + heldout],
            "train": familiar + dealt[graded + heldout :],
        }

    first, sizes = familiar[0], {"rows": sum(trained), "graded": graded, "tokens": tokens}
    description = _DESCRIPTION.format(title=title, example=first.text, answer=first.answer, **sizes)
    return PostTrainingTask(
        name=name,
        level="L1",
        title=title,
        description=description,
        base_models=(f"characters/{name}",),
        inner=DealtTaskset(dealt_info(name, version="2", description=description, family="math"), deal),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=tokens, temperature=0.0),
        metric="accuracy",
        materials=lambda entropy: {TRAIN_FILE: jsonl(map(_row, deal(entropy)["train"])), "eval.py": _EVAL.encode()},
        graded=graded,
        heldout=heldout,
        structure={"capability": 1, "interaction": 1, "reward": 1, "horizon": 1},
        recipe=BaseRecipe(ALPHABET, tuple((q.text, q.answer) for q in familiar), steps=steps),
        labels=labels,
        space=space,
    )


def _row(q: Question) -> dict[str, str]:
    return {"prompt": q.text, "completion": q.answer, "question": q.text, "answer": q.answer}


def _sums(*digits: int) -> tuple[int, Callable[[int], Question]]:
    """Return the number of sums of two numbers with these digits, and a function from index to sum."""
    least = [10 ** (count - 1) if count > 1 else 0 for count in digits]
    sizes = [10**count - low for count, low in zip(digits, least, strict=True)]

    def question(index: int) -> Question:
        a, b = least[0] + index // sizes[1], least[1] + index % sizes[1]
        return Question(f"{a}+{b}=", str(a + b), {"kind": "exact"})

    return sizes[0] * sizes[1], question
