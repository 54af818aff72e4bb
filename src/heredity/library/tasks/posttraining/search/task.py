"""The task of answering by search: separate countries for practice and for grading, decided by rules or by a judge."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from heredity._core.outside import jsonl
from heredity.engine.questions.judge import grade
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.env.search import (
    INSTRUCTION,
    STEPS,
    Library,
    Question,
    SearchEpisode,
    question_of,
)
from heredity.kinds.checkpoint.tasks.kinds import (
    SEEDS,
    GameProcess,
    LocalGameProcess,
    demonstrated,
    environment_files,
    episode_info,
    episode_solving,
    seed_of,
)
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.library.tasks.posttraining.search.corpus import Asked, countries, questions, solution
from heredity.models import Model

GRADED = 150
HELDOUT = 150
PRACTICE = 300
_PRACTICE, _VIEWS = 0, 1
"""Which of the two countries of a seed."""

_RUBRIC = (
    "Score 1 if the answer names everything that the reference names, in whatever words, and nothing that contradicts it or goes "
    "beyond it; otherwise score 0."
)
_BY_RULE = "An answer is right if it names all that is asked for and nothing else; case, articles and punctuation do not matter."
_BY_JUDGE = "A model that is told the reference decides whether an answer is right."

_DESCRIPTION = """\
# Answering by search

The model is given a question about a made-up country and has {steps} steps to answer it: it searches documents, opens them, and
answers. One to three documents have to be read for it. A right answer pays 1; anything else, or none in time, pays nothing.
{verdict}

- `data/train.jsonl`: the steps of {practice} right solutions, each with `prompt` (exactly as the graded model is asked), the
  `completion`, and the `episode`.
- `data/episodes.jsonl`: the same {practice} questions: `question`, and `answers`, a list of items, each in the ways to write it.
- `data/documents.jsonl`: the documents for practice, `title` and `text`.
- `env/`: the game itself, decided by rule:

```text
import json
from env.rollout import play
from env.search import INSTRUCTION, Library, SearchEpisode, question_of
library = Library.of([json.loads(line) for line in open("data/documents.jsonl")])
asked = [question_of(json.loads(line)) for line in open("data/episodes.jsonl")]
played = play(SearchEpisode(library, asked[0]), INSTRUCTION, reply=my_model)
```

A submission answers {graded} questions, greedily, about another country, of which no document lies here: names and facts differ,
so what helps is how to search. Its score is the share of right answers. The documents are made up here; it is not DeepSearchQA.
"""


def search() -> PostTrainingTask:
    """Return the task of answering by search (L3), decided by rules."""
    return _task("search", _BY_RULE, judge=False, reward=3)


def search_judged() -> PostTrainingTask:
    """Return the task of answering by search (L3) with a model that decides answers, as DeepSearchQA has one."""
    return _task("search-judged", _BY_JUDGE, judge=True, reward=4)


def _task(name: str, verdict: str, *, judge: bool, reward: int) -> PostTrainingTask:
    description = _DESCRIPTION.format(steps=STEPS, verdict=verdict, practice=PRACTICE, graded=GRADED)
    info = episode_info(
        name, f"{__name__}:open_game_process", version="1", description=description, family="search", judge=judge
    )
    return PostTrainingTask(
        name=name,
        level="L3",
        title="Answering by search",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, _deal),
        solver=plain_solver(INSTRUCTION + "\n\n{{question}}"),
        solving=episode_solving(),
        metric="accuracy",
        materials=_materials,
        graded=GRADED,
        heldout=HELDOUT,
        structure={"capability": 5, "interaction": 4, "reward": reward, "horizon": 3},
        labels=("generated",),
        space=SEEDS,
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the library of a task's spec; a judge, if given, decides the answer in place of the rule."""
    question = question_of(spec)
    episode = SearchEpisode(_library(spec["country"], spec["part"]), question)
    yield LocalGameProcess(episode) if judge is None else _JudgedStage(episode, question, judge)


class _JudgedStage(LocalGameProcess):
    """A question whose answer a model decides."""

    def __init__(self, episode: SearchEpisode, question: Question, judge: Model) -> None:
        super().__init__(episode)
        self._game, self._question, self._judge = episode, question, judge

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; raises `ProviderError` if the judge gives no verdict."""
        observation, reward, done = await super().step(action)
        if not done:
            return observation, reward, done
        reference = "; ".join(ways[0] for ways in self._question.answers)
        given = self._game.given or ""
        judgement = await grade(self._judge, self._question.text, given, reference=reference, rubric=_RUBRIC)
        return observation, judgement.score, done


@lru_cache(maxsize=4)
def _library(seed: int, part: int) -> Library:
    return countries(seed)[part].library


def _deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
    seed = seed_of(entropy, "search")
    views = _specs(seed, _VIEWS, questions(seed, _VIEWS)[: GRADED + HELDOUT])
    practice = _specs(seed, _PRACTICE, questions(seed, _PRACTICE)[:PRACTICE])
    return {"train": practice, "validation": views[:GRADED], "heldout": views[GRADED:]}


def _specs(seed: int, part: int, asked: Sequence[Asked]) -> list[dict[str, Any]]:
    return [{**_row(entry.question), "country": seed, "part": part, "hops": entry.hops} for entry in asked]


def _row(question: Question) -> dict[str, Any]:
    return {"question": question.text, "answers": [list(ways) for ways in question.answers]}


def _materials(entropy: int) -> Mapping[str, bytes]:
    seed = seed_of(entropy, "search")
    library, asked = _library(seed, _PRACTICE), questions(seed, _PRACTICE)[:PRACTICE]
    rows = [
        {**row, "episode": number}
        for number, entry in enumerate(asked)
        for row in demonstrated(SearchEpisode(library, entry.question), INSTRUCTION, solution(entry))
    ]
    return {
        TRAIN_FILE: jsonl(rows),
        "data/episodes.jsonl": jsonl(_row(entry.question) for entry in asked),
        "data/documents.jsonl": jsonl(asdict(document) for document in library.documents),
        **environment_files("ranking", "search"),
    }
