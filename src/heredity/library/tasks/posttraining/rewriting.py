"""Rewriting strings by rules, with a judge that gives part of the points (L2).

All letters are rewritten at once, each by the letter before it, as in a context-sensitive L-system: `abca` becomes
`abac`. The
judge is openly a rule, in place of a judge model in a larger task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.scoring import SCORED, scored_question
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info, draw_indices

LETTERS = "abc"
ALPHABET = LETTERS + ">"
_LENGTH = 13
_SPACE = len(LETTERS) ** _LENGTH
_KNOWN, _GRADED, _HELDOUT, _TRAINED = 800, 150, 200, 1700
_TOKENS = _LENGTH + 2

JUDGE = '''\
"""The judge: from 0 to 1. Half a point is for the share of letters that are right, and half for all of them."""


def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    answer = model_answer.strip()
    if answer == reference_answer:
        return 1.0
    if len(answer) != len(reference_answer):
        return 0.0
    right = sum(a == b for a, b in zip(answer, reference_answer))
    return 0.5 * right / len(reference_answer)
'''

_DESCRIPTION = f"""\
# Rewriting by rules

The model is given {_LENGTH} letters and the sign `>`, such as `abcabbcacbaca>`, and replies with what they become when all are
rewritten at once, each by the letter before it. The first letter stays. After an a every letter stays; after a b, a becomes b, b
becomes c, and c becomes a; after a c, a becomes c, b becomes a, and c becomes b. So it replies `abacbcaccabcc`. There is no chat
template: the prompt is the text itself.

- `data/train.jsonl`: {_KNOWN + _TRAINED} strings with `prompt`, `completion`, `question` and `answer`.
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, the judge. It is a rule, from 0 to 1: the right answer has 1;
  one of the right length has up to 0.5, by the share of letters that are right; any other has 0.

A submission answers {_GRADED} other strings, greedily, with at most {_TOKENS} tokens each; its score is the mean of the
judge's points.
"""


def rewriting() -> PostTrainingTask:
    """Return the task."""
    # In what the base learned no letter stands after a c: it knows two rules of three, on whichever machine it is made.
    pretrained = [_after_a_or_b(i) for i in draw_indices(0, "rewriting known", len(LETTERS) << (_LENGTH - 1), _KNOWN)]
    familiar = [_question(i) for i in pretrained]

    @cache
    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        hidden = _GRADED + _HELDOUT
        dealt = [_question(i) for i in draw_indices(entropy, "rewriting", _SPACE, hidden + _TRAINED, avoid=pretrained)]
        return {
            "validation": dealt[:_GRADED],
            "heldout": dealt[_GRADED:hidden],
            "train": familiar + dealt[hidden:],
        }

    def materials(entropy: int) -> Mapping[str, bytes]:
        dealt = deal(entropy)["train"]
        rows = [{"prompt": q.text, "completion": q.answer, "question": q.text, "answer": q.answer} for q in dealt]
        return {TRAIN_FILE: jsonl(rows), "eval.py": JUDGE.encode()}

    info = dealt_info("rewriting", version="3", description=_DESCRIPTION, family="rewriting", kind=SCORED)
    return PostTrainingTask(
        name="rewriting",
        level="L2",
        title="Rewrite strings by rules",
        description=_DESCRIPTION,
        base_models=("characters/rewriting",),
        inner=DealtTaskset(info, deal, scorer={"eval.py": JUDGE}),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0),
        metric="judge's points",
        materials=materials,
        graded=_GRADED,
        heldout=_HELDOUT,
        structure={"capability": 1, "interaction": 1, "reward": 3, "horizon": 1},
        recipe=BaseRecipe(ALPHABET, tuple((q.text, q.answer) for q in familiar), steps=400),
        labels=("rule-based judge",),
        space=_SPACE,
    )


def rewritten(text: str) -> str:
    """Rewrite a string: each letter advances cyclically in the alphabet by the index of the preceding one."""
    places = [LETTERS.index(letter) for letter in text]
    return text[:1] + "".join(LETTERS[(a + b) % len(LETTERS)] for a, b in pairwise(places))


def _question(index: int) -> Question:
    """Return the item of an index: its digits in base 3 are the letters."""
    text = "".join(LETTERS[index // len(LETTERS) ** digit % len(LETTERS)] for digit in range(_LENGTH))
    return scored_question(f"{text}>", rewritten(text))


def _after_a_or_b(number: int) -> int:
    """Return the index of a string among those without a c except possibly at the end."""
    last = number >> (_LENGTH - 1)
    return sum((number >> digit & 1) * len(LETTERS) ** digit for digit in range(_LENGTH - 1)) + last * len(LETTERS) ** (
        _LENGTH - 1
    )
