"""Rewriting strings by rules, with a judge that gives part of the points (L2).

Wherever two equal letters stand side by side they become one other letter, the leftmost pair first, until there is no pair left:
`aab` becomes `bb`, which becomes `c`. The judge is a rule, and says so: it stands where a model would judge in a larger task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from heredity.actors.contract import Solving
from heredity.ids import generator
from heredity.posttraining.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.posttraining.tasks.dealing import DealtTaskset, dealt_info, jsonl
from heredity.posttraining.tasks.scoring import SCORED, scored_question
from heredity.tasks.questions import Question

RULES = {"aa": "b", "bb": "c", "cc": "a"}
ALPHABET = "abc>"
_LENGTHS = (4, 5, 6, 7)
_KNOWN, _GRADED, _HELDOUT, _TRAINED = 250, 150, 200, 900
_TOKENS = 9

JUDGE = '''\
"""The judge: from 0 to 1. Half a point is for how close an answer comes to the right one, and half for the right one."""


def distance(one, other):
    """Return how many letters must be added, left out or replaced to make one text the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(last + (a != b), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    answer = model_answer.strip()
    if answer == reference_answer:
        return 1.0
    paired = any(a == b for a, b in zip(answer, answer[1:]))
    if not answer or paired or set(answer) - set("abc"):
        return 0.0
    return 0.5 * max(0.0, 1 - distance(answer, reference_answer) / max(len(answer), len(reference_answer)))
'''

_DESCRIPTION = f"""\
# Rewriting by rules

The model is given a string of the letters a, b and c and the sign `>`, such as `aabac>`. Wherever two equal letters stand side
by side they become one other letter (`aa` becomes `b`, `bb` becomes `c`, `cc` becomes `a`), the leftmost pair first, until there
is no pair left. It replies with what is left: `cac`. There is no chat template: the prompt is the text itself.

- `data/train.jsonl`: {_KNOWN + _TRAINED} strings with `prompt`, `completion`, `question` and `answer`.
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, the judge. It is a rule, from 0 to 1: the right answer has 1,
  one that comes close has up to 0.5, and one with a pair left in it, or with other signs, has 0.

A submission answers {_GRADED} other strings, greedily, with at most {_TOKENS} tokens each; its score is the mean of the
judge's points.
"""


def rewriting() -> PostTrainingTask:
    """Return the task."""
    texts = ["".join(letters) for n in _LENGTHS for letters in product("abc", repeat=n)]
    texts = [text for text in texts if rewritten(text) != text]
    order = generator(0, "posttraining", "rewriting", "known").permutation(len(texts))
    questions = [_question(texts[i]) for i in order]
    known, others = questions[:_KNOWN], questions[_KNOWN:]

    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        dealt = [others[i] for i in generator(entropy, "posttraining", "rewriting", "deal").permutation(len(others))]
        hidden = _GRADED + _HELDOUT
        return {
            "validation": dealt[:_GRADED],
            "heldout": dealt[_GRADED:hidden],
            "train": known + dealt[hidden : hidden + _TRAINED],
        }

    def materials(entropy: int) -> Mapping[str, bytes]:
        dealt = deal(entropy)["train"]
        rows = [{"prompt": q.text, "completion": q.answer, "question": q.text, "answer": q.answer} for q in dealt]
        return {TRAIN_FILE: jsonl(rows), "eval.py": JUDGE.encode()}

    info = dealt_info("rewriting", version="1", description=_DESCRIPTION, family="rewriting", kind=SCORED)
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
        recipe=BaseRecipe(ALPHABET, tuple((q.text, q.answer) for q in known), steps=120),
        labels=("rule-based judge",),
    )


@cache
def rewritten(text: str) -> str:
    """Return what is left of a string when no rule applies any more; each rule shortens it, so there is an end."""
    for place in range(len(text) - 1):
        if text[place : place + 2] in RULES:
            return rewritten(text[:place] + RULES[text[place : place + 2]] + text[place + 2 :])
    return text


def _question(text: str) -> Question:
    return scored_question(f"{text}>", rewritten(text))
