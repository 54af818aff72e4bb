"""Addition, character by character: `47+5=` is answered `52`.

`arithmetic` adds a number of one digit to one of two digits; its 900 sums are dealt out anew by each suite's entropy, except for
those that the base was pretrained on. `arithmetic-hard` adds two numbers of two digits with a base that knows next to nothing: in
the minutes that a CPU has, online reinforcement learning finds no reward to learn from. It is there to stay a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from heredity.actors.contract import Solving
from heredity.ids import generator
from heredity.posttraining.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.posttraining.tasks.dealing import DealtTaskset, dealt_info, jsonl
from heredity.tasks.questions import Question

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
    """Return the task of adding one digit to two (L1): a base in the middle of the scale, which training lifts."""
    pairs = tuple((a, b) for a in range(10, 100) for b in range(10))
    return _task("arithmetic", "Add a digit to a number of two digits", pairs, 900, pretrained=250, steps=180)


def arithmetic_hard() -> PostTrainingTask:
    """Return the task of adding two digits to two (L1), whose base is too weak to be rewarded: a failure fixture."""
    numbers = generator(_PRETRAINED, "posttraining", "arithmetic-hard").choice(8100, 450, replace=False)
    pairs = tuple((int(n) // 90 + 10, int(n) % 90 + 10) for n in numbers)
    return _task(
        "arithmetic-hard",
        "Add two numbers of two digits",
        pairs,
        8100,
        pretrained=60,
        steps=60,
        labels=("failure fixture",),
    )


def _task(
    name: str,
    title: str,
    pairs: Sequence[tuple[int, int]],
    space: int,
    *,
    pretrained: int,
    steps: int,
    labels: tuple[str, ...] = (),
) -> PostTrainingTask:
    order = generator(_PRETRAINED, "posttraining", name, "known").permutation(len(pairs))
    questions = [_question(*pairs[i]) for i in order]
    familiar, others = questions[:pretrained], questions[pretrained:]
    graded, heldout, tokens = 150, 200, 6

    @cache
    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        dealt = [others[i] for i in generator(entropy, "posttraining", name, "deal").permutation(len(others))]
        return {
            "validation": dealt[:graded],
            "heldout": dealt[graded : graded + heldout],
            "train": familiar + dealt[graded + heldout :],
        }

    def materials(entropy: int) -> Mapping[str, bytes]:
        rows = (
            {"prompt": q.text, "completion": q.answer, "question": q.text, "answer": q.answer}
            for q in deal(entropy)["train"]
        )
        return {TRAIN_FILE: jsonl(rows), "eval.py": _EVAL.encode()}

    first = familiar[0]
    description = _DESCRIPTION.format(
        title=title,
        example=first.text,
        answer=first.answer,
        rows=len(questions) - graded - heldout,
        graded=graded,
        tokens=tokens,
    )
    return PostTrainingTask(
        name=name,
        level="L1",
        title=title,
        description=description,
        base_models=(f"characters/{name}",),
        inner=DealtTaskset(dealt_info(name, version="1", description=description, family="math"), deal),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=tokens, temperature=0.0),
        metric="accuracy",
        materials=materials,
        graded=graded,
        heldout=heldout,
        structure={"capability": 1, "interaction": 1, "reward": 1, "horizon": 1},
        recipe=BaseRecipe(ALPHABET, tuple((q.text, q.answer) for q in familiar), steps=steps),
        labels=labels,
        space=space,
    )


def _question(a: int, b: int) -> Question:
    return Question(f"{a}+{b}=", str(a + b), {"kind": "exact"})
