"""The tasks of being preferred: stand-in instructions judged by a rule or a model, and AlpacaEval's if available."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import json_value, jsonl, read_text
from heredity.engine.actor import Solving
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.kinds import FREE, PREFERENCE
from heredity.kinds.checkpoint.tasks.taskset import Deal, DealtTaskset, Spec, dealt_info
from heredity.kinds.question.benchmarks import find
from heredity.library.tasks.posttraining.preference.instructions import (
    FORMS,
    StandIn,
    count_instructions,
    instructions,
    topics,
)
from heredity.tasks import TasksetInfo

GRADED = 70
HELDOUT = 70
_TOKENS = 160
_PAIRS = len(FORMS) * len(topics())
ALPACA_FILE = "alpaca_eval/alpaca_eval.json"

_RULE = "heredity.library.tasks.posttraining.preference.instructions:rule"
_RULES = (
    "The judge is a **stand-in**: a rule that checks whether an answer has the form that was asked for, knows its subject, "
    "mentions what it has to, and does not repeat itself. It measures how well instructions are followed, and not what "
    "people would prefer."
)
_MODEL = "The judge is a language model, asked in both orders; verdicts that contradict each other are a tie."
_OWN = "The instructions are stand-ins of our own, short and plain; they are not AlpacaEval's."
_REAL = (
    "The instructions and the reference answers are AlpacaEval's; what there is to train on is a stand-in of our own."
)

_DESCRIPTION = """\
# Following instructions, judged by comparison

The model answers an instruction, and a judge compares its answer with a reference answer: 1 for a win, 0.5 for a tie, 0 for a loss.
{judge}
{source}
Length is no merit: beyond {free} times the length of the reference, a win or a tie pays in proportion less.

- `data/train.jsonl`: {practice} instructions with `prompt`, a good `completion` and a `rejected` one; `question` repeats it.

The judge is not in the workspace. A submission answers {graded} other instructions, greedily, with at most {tokens} tokens each;
its score is the mean. A comparison that the judge fails to make is missing, and no loss.
"""


def preference() -> PostTrainingTask:
    """Return the task of following stand-in instructions (L2), compared by a rule that stands in for a judge."""
    return _stand_in("preference", _RULES, _RULE, ("stand-in", "rule in place of a judge"), reward=3)


def preference_judged() -> PostTrainingTask:
    """Return the task of following stand-in instructions (L2), compared by a model."""
    return _stand_in("preference-judged", _MODEL, None, ("stand-in",), reward=4)


def alpaca_eval() -> PostTrainingTask:
    """Return AlpacaEval (Li et al. 2023; L2), compared by a model with the reference answers of its file.

    Raises:
        ConfigError: if its file is missing or not in AlpacaEval's published format.
    """
    rows = _alpaca_rows()
    half = len(rows) // 2

    @cache
    def deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
        dealt = [rows[i] for i in generator(entropy, "posttraining", "alpaca-eval", "deal").permutation(len(rows))]
        return {"train": (), "validation": dealt[:half], "heldout": dealt[half : 2 * half]}

    description = _told(_MODEL, _REAL, half, _PAIRS)
    info = _info("alpaca-eval", f"file {digest_json(rows)[:12]}", description, None)
    return _task("alpaca-eval", info, deal, description, (half, half), lambda entropy: _rows(instructions(entropy)))


def _stand_in(name: str, judge: str, rule: str | None, labels: tuple[str, ...], *, reward: int) -> PostTrainingTask:
    def deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
        keys = ("form", "topic", "name", "number", "reference")
        specs = [{"question": item.text, **{key: getattr(item, key) for key in keys}} for item in instructions(entropy)]
        split = GRADED + HELDOUT
        return {"validation": specs[:GRADED], "heldout": specs[GRADED:split], "train": specs[split:]}

    practice = _PAIRS - GRADED - HELDOUT
    description = _told(judge, _OWN, GRADED, practice)
    info = _info(name, "2", description, rule)
    task = _task(
        name,
        info,
        deal,
        description,
        (GRADED, HELDOUT),
        lambda entropy: _rows(instructions(entropy)[GRADED + HELDOUT :]),
    )
    return replace(task, structure={**task.structure, "reward": reward}, labels=labels, space=count_instructions())


def _task(
    name: str,
    info: TasksetInfo,
    deal: Deal,
    description: str,
    sizes: tuple[int, int],
    rows: Callable[[int], bytes],
) -> PostTrainingTask:
    return PostTrainingTask(
        name=name,
        level="L2",
        title="Following instructions, judged by comparison",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0),
        metric="preference",
        materials=lambda entropy: {TRAIN_FILE: rows(entropy)},
        graded=sizes[0],
        heldout=sizes[1],
        structure={"capability": 2, "interaction": 1, "reward": 4, "horizon": 1},
    )


def _told(judge: str, source: str, graded: int, practice: int) -> str:
    return _DESCRIPTION.format(judge=judge, source=source, free=FREE, graded=graded, practice=practice, tokens=_TOKENS)


def _info(name: str, version: str, description: str, rule: str | None) -> TasksetInfo:
    info = dealt_info(name, version=version, description=description, family="preference", kind=PREFERENCE)
    return replace(info, spec={**info.spec, **({"rule": rule} if rule else {"judge": True})})


def _rows(items: Sequence[StandIn]) -> bytes:
    return jsonl(
        {"prompt": item.text, "completion": item.good, "rejected": item.bad, "question": item.text} for item in items
    )


def _alpaca_rows() -> list[dict[str, Any]]:
    path = find(ALPACA_FILE, ("tatsu-lab/alpaca_eval", "alpaca_eval.json"))
    try:
        read: Any = json_value(read_text(path))
        rows = {row["instruction"]: row["output"] for row in read}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is not what AlpacaEval publishes ({error!r}); expected a JSON list of objects with instruction and output"
        ) from error
    if len(rows) < 2:
        raise ConfigError(f"{path} has {len(rows)} instructions; expected at least 2")
    return [{"question": instruction, "reference": output} for instruction, output in rows.items()]
