"""Generated questions: every data set of the package reasoning-gym (Stojanovski et al., 2025, arXiv:2505.24760).

A task's question is generated from a seed of its own, drawn from the entropy, so that from one task no other can be computed.
Which split a question belongs to is decided by the digest of its text: no two splits can share one, whatever the entropy.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from heredity.errors import ConfigError, HostError, MissingExtraError, UnknownNameError
from heredity.ids import canonical_json, generator
from heredity.tasks.contract import SPLITS, Task, TasksetInfo
from heredity.tasks.questions.answers_as_code import may_take_hours, problem_of
from heredity.tasks.questions.child_scoring import score_in_child
from heredity.tasks.questions.contract import Question, Verification
from heredity.tasks.questions.known_faults import fault_notes
from heredity.tasks.questions.pools import question_info, question_tasks
from heredity.tasks.questions.verify import VERSION

PREFIX = "questions/reasoning-gym/"
INSTRUCTIONS = "Give your final answer between <answer> and </answer>, in just the form that is asked for."

_SEEDS = 2**31
_MISSES = 300
"""After so many seeds in a row without a new question of the split, its questions count as exhausted."""

_MAX_CHARS = 1000
"""An answer may have so many characters and ten times the reference's: some scorers take milliseconds for each."""

_COMPARED = frozenset({"game_of_life_halting"})
"""Their scorers accept every answer that is not empty; here the answer must be the reference."""

_PRINTS = frozenset({"bf"})
"""They print while they generate, which would spoil a command's JSON."""

_UNSTABLE = frozenset({"isomorphic_strings", "knight_swap", "polynomial_multiplication", "ransom_note", "word_ladder"})
"""They iterate over sets of texts: the same seed gives other questions in each process, unless PYTHONHASHSEED is set."""


def dataset_names() -> tuple[str, ...]:
    """Return the names of the data sets, sorted; none if the package is not installed."""
    if find_spec("reasoning_gym") is None:
        return ()
    # A composite needs a list of data sets and their weights, which no name could hold.
    return tuple(sorted(_datasets().keys() - {"composite"}))


class ReasoningTaskset:
    """Questions of one data set of reasoning-gym.

    Args:
        dataset: its name there, such as `"chain_sum"`.
        options: fields of its configuration; those left out keep their defaults.

    Raises:
        MissingExtraError: if reasoning-gym is not installed.
        UnknownNameError: if there is no such data set, or it has no such option.
        ConfigError: if a value is refused, or the data set cannot be reproduced in this process.
    """

    def __init__(self, dataset: str, options: Mapping[str, Any]) -> None:
        if find_spec("reasoning_gym") is None:
            raise MissingExtraError(f"{PREFIX}{dataset}", "reasoning")
        if dataset not in dataset_names():
            raise UnknownNameError("data set of reasoning-gym", dataset, dataset_names())
        allowed = [f.name for f in fields(_datasets()[dataset][1]) if f.name not in ("seed", "size")]
        for name in options:
            if name not in allowed:
                raise UnknownNameError(f"option of {dataset}", name, allowed)
        if dataset in _UNSTABLE and not os.environ.get("PYTHONHASHSEED", "").isdigit():
            raise ConfigError(
                f"{dataset} gives other questions in each process; set PYTHONHASHSEED to a number, such as 0, to fix them"
            )
        self.dataset, self.options = dataset, dict(options)
        query = "&".join(f"{name}={_written(value)}" for name, value in sorted(options.items()))
        self.name = f"{PREFIX}{dataset}?{query}" if query else PREFIX + dataset
        self._generate(0)

    @property
    def info(self) -> TasksetInfo:
        """What this taskset is."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        hashed = f", hash seed {os.environ['PYTHONHASHSEED']}" if self.dataset in _UNSTABLE else ""
        category = str(entry_of(self.dataset, self.options, 0)[0].category)
        shown = f" with {canonical_json(self.options).decode()}" if self.options else ""
        return question_info(
            self.name,
            version=f"reasoning-gym {version('reasoning_gym')}, verifier {VERSION}{hashed}",
            description=f"# {self.dataset}\n\nGenerated questions of reasoning-gym ({category}){shown}.\n",
            family=category,
            notes=fault_notes("reasoning-gym", self.dataset),
            public={
                "instructions": INSTRUCTIONS,
                "answer_format": "reasoning-gym",
                "train_tasks": None,
                "hidden": "generated from secret entropy",
            },
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split, all of them different; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give 0 or more")
        draws = generator(entropy, "questions", self.name, split)
        questions: dict[str, Question] = {}
        misses = 0
        while len(questions) < count:
            question = self._generate(int(draws.integers(_SEEDS)))
            if SPLITS[int(question.identity, 16) % len(SPLITS)] == split and question.identity not in questions:
                questions[question.identity] = question
                misses = 0
            elif (misses := misses + 1) >= _MISSES:
                raise ConfigError(
                    f"{count} tasks of split {split!r} of {self.name} asked for; it has about {len(questions)} different questions"
                )
        return question_tasks(split, list(questions.values()))

    def _generate(self, seed: int) -> Question:
        try:
            _, entry = entry_of(self.dataset, self.options, seed)
        except Exception as error:
            raise ConfigError(
                f"{self.name} cannot generate with {self.options}: {error!r}; change its options"
            ) from error
        verifier = {"kind": "reasoning-gym", "dataset": self.dataset, "config": self.options, "seed": seed}
        return Question(entry["question"], _reference(entry), verifier, instructions=INSTRUCTIONS)


def score(question: Question, answer: str) -> Verification:
    """Score an answer with the data set's own scorer, in this process.

    Some scorers would evaluate an answer as Python; what is no plain value or expression is wrong without being shown to them.
    An answer that a scorer cannot take is wrong, as long as the scorer takes the reference.

    Raises:
        HostError: if the scorer fails by itself, or the installed version gives another question for the seed.
        MissingExtraError: if reasoning-gym is not installed.
    """
    if find_spec("reasoning_gym") is None:
        raise MissingExtraError("scoring this question", "reasoning")
    options = question.verifier
    name, shown = options["dataset"], answer[:2000]
    scorer, entry = entry_of(name, options["config"], options["seed"])
    if entry["question"] != question.text:
        raise HostError(
            f"reasoning-gym {version('reasoning_gym')} generates another question of {name} from seed {options['seed']}; "
            "score with the version (and PYTHONHASHSEED) that the task was drawn with"
        )
    reference = _reference(entry)
    if len(answer) > _MAX_CHARS + 10 * len(reference):
        return Verification(0.0, False, shown, f"the answer has {len(answer)} characters, too many to score")
    if name in _COMPARED:
        same = answer.casefold() == reference.casefold()
        return Verification(float(same), same, shown, "matches the reference" if same else "is not the reference")
    problem = "" if answer == reference else problem_of(type(scorer), answer)
    if problem:
        return Verification(0.0, False, shown, problem)
    try:
        if may_take_hours(type(scorer)):
            scored = score_in_child(name, options["config"], options["seed"], answer)
            if scored is None:
                if score_in_child(name, options["config"], options["seed"], reference) is None:
                    raise HostError(f"the scorer of {name} fails on the reference: it comes to no end")
                return Verification(0.0, False, shown, f"the scorer of {name} comes to no end with the answer")
            points = scored
        else:
            points = points_of(scorer, answer, entry)
    except HostError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, an answer made a scorer fail that takes the reference
        _check(name, options["config"], options["seed"])
        return Verification(0.0, False, shown, f"the scorer of {name} cannot take the answer: {error!r}"[:300])
    return Verification(points, points >= 1.0, shown, f"the scorer of {name} gives {points:g}")


def _check(name: str, options: Mapping[str, Any], seed: int) -> None:
    """Raise HostError if a scorer cannot even take the reference; the entry is made anew, for it may have been changed."""
    scorer, entry = entry_of(name, options, seed)
    try:
        points_of(scorer, _reference(entry), entry)
    except Exception as error:
        raise HostError(f"the scorer of {name} fails on the reference: {error!r}") from error


def points_of(scorer: Any, answer: str, entry: Mapping[str, Any]) -> float:
    """Return what a scorer gives for an answer, from 0 to 1."""
    return min(1.0, max(0.0, float(scorer.score_answer(answer, entry))))


def _reference(entry: Mapping[str, Any]) -> str:
    # Where there is no single right answer, some data sets give None.
    return "" if entry["answer"] is None else str(entry["answer"])


def _datasets() -> dict[str, Any]:
    from reasoning_gym.factory import DATASETS

    return DATASETS


def entry_of(dataset: str, options: Mapping[str, Any], seed: int) -> tuple[Any, dict[str, Any]]:
    """Return a data set of one question, which also scores, and the question's entry, which scorers may change."""
    scorer, entry = _made(dataset, canonical_json(dict(options)), seed)
    return scorer, copy.deepcopy(entry)


@lru_cache(maxsize=256)
def _made(dataset: str, options: bytes, seed: int) -> tuple[Any, dict[str, Any]]:
    import reasoning_gym

    with contextlib.redirect_stdout(io.StringIO()) if dataset in _PRINTS else contextlib.nullcontext():
        made = reasoning_gym.create_dataset(dataset, seed=seed, size=1, **json.loads(options))
        return made, made[0]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
