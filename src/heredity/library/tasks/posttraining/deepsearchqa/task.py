"""DeepSearchQA (arXiv:2601.20975) as a post-training task, in the form of Agent² RL-Bench: six steps of search, then a judge.

Questions and answers come from the user's copy of google/deepsearchqa; the user also provides the search.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity._core.outside import jsonl, read_text
from heredity._core.refusals import quoted
from heredity.engine.questions.judge import grade
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.env.rollout import FORM, Transcript, asked, written
from heredity.kinds.checkpoint.tasks.env.search import normal
from heredity.kinds.checkpoint.tasks.kinds import GameProcess, episode_info, episode_solving
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.kinds.question.benchmarks import find
from heredity.library.tasks.posttraining.deepsearchqa.searching import Result, Search, Web, check_url, corpus
from heredity.models import Model

DATA_VARIABLE = "DEEPSEARCHQA_DATA"
"""Environment variable: the benchmark's CSV file."""

CORPUS_VARIABLE = "DEEPSEARCHQA_CORPUS"
"""Environment variable: a `.jsonl` file of documents to search."""

SEARCH_VARIABLE = "DEEPSEARCHQA_SEARCH"
"""Environment variable: the URL of a SearXNG instance to search with."""

STEPS = 6
GRADED = 200
HELDOUT = 200
_FILE = "DSQA-full.csv"
_COLUMNS = ("problem", "answer", "answer_type")
_CONCURRENT = 16
_TOKENS = 160
_SNIPPET = 200
_MOST = 3000

INSTRUCTION = f"""\
Answer the question by searching. You have {STEPS} steps, and answering is one of them.
Actions: search[words] looks for pages; open[title] shows all that is known of one that was found; answer[words] gives the answer
and ends the episode. If several things are asked for, name them all: answer[first; second].
{FORM}"""

_RUBRICS: Mapping[str, str] = {
    "Single Answer": (
        "Score 1 if the answer states the same thing as the reference, in whatever words; otherwise score 0. There is nothing "
        "between."
    ),
    "Set Answer": (
        "The reference lists items. Score 1 if the answer names every one of them, in whatever words and order; score 0 if it "
        "leaves even one out. There is nothing between."
    ),
}
"""Answer type to what makes an answer right, as Agent² RL-Bench asks its judge (appendix A.8): items beyond the list do no harm."""

_ACTION = re.compile(r"(search|open|answer)\s*\[(.*)", re.IGNORECASE | re.DOTALL)

_DESCRIPTION = """\
# DeepSearchQA

The model is given a question and has {steps} steps: it searches, opens what was found, and answers. A judge, a language model that
is told the reference and the type of answer, decides whether the answer is right: 1, or else 0. No answer in time is 0.
{source}

- `data/train.jsonl`: {train} other questions, each with `prompt` (exactly as the graded model is asked first), `question`,
  `answer`, `answer_type` (`Single Answer`, or `Set Answer`, of which every item has to be named), and a `completion` that gives
  the reference at once. How to search is not shown in it.

The search and the judge are not in reach from here. A submission answers {graded} questions, greedily, with at most {tokens} tokens
a step; its score is the share of right answers.
"""


def deepsearchqa() -> PostTrainingTask:
    """Return the task of answering by search (L3), with the questions of DeepSearchQA.

    Raises:
        ConfigError: if the questions are missing or invalid, or neither `DEEPSEARCHQA_CORPUS` nor `DEEPSEARCHQA_SEARCH`
            is set.
    """
    rows, (where, source, version, label) = _rows(_data()), _place()
    graded, heldout = (min(most, len(rows) // 3) for most in (GRADED, HELDOUT))
    train = len(rows) - graded - heldout
    description = _DESCRIPTION.format(steps=STEPS, source=source, train=train, graded=graded, tokens=_TOKENS)
    info = episode_info(
        "deepsearchqa",
        f"{__name__}:open_game_process",
        version=f"1, questions {digest_json(rows)[:12]}, {version}",
        description=description,
        family="search",
        judge=True,
        concurrent=_CONCURRENT,
    )

    def deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
        order = generator(entropy, "posttraining", "deepsearchqa", "deal").permutation(len(rows))
        dealt = [{**rows[i], **where} for i in order]
        views = graded + heldout
        return {"validation": dealt[:graded], "heldout": dealt[graded:views], "train": dealt[views:]}

    return PostTrainingTask(
        name="deepsearchqa",
        level="L3",
        title="Questions that take searching",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(INSTRUCTION + "\n\n{{question}}"),
        solving=episode_solving(_TOKENS),
        metric="accuracy",
        materials=lambda entropy: {TRAIN_FILE: jsonl(map(_row, deal(entropy)["train"]))},
        graded=graded,
        heldout=heldout,
        structure={"capability": 5, "interaction": 4, "reward": 4, "horizon": 3},
        labels=("public benchmark", *label),
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the question of a task's spec."""
    if judge is None:
        raise ConfigError("posttraining/deepsearchqa is decided by a model, and there is none; set gateway.judge")
    search = corpus(Path(spec["corpus"])) if "corpus" in spec else Web(spec["search"])
    yield Looking(spec, search, judge)


class Looking:
    """A question in progress.

    Args:
        spec: spec of the task: `question`, `answer` and `answer_type`.
        search: the search to use.
        judge: the model that decides the answer.
    """

    steps = STEPS

    def __init__(self, spec: Spec, search: Search, judge: Model) -> None:
        self._spec, self._search, self._judge = spec, search, judge
        self._found: dict[str, Result] = {}

    async def reset(self) -> str:
        """Start with the question."""
        self._found = {}
        return _opening(self._spec)

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Search, open or answer; anything else costs its step.

        Raises:
            HostError: if the search fails.
            ProviderError: if the judge gives no verdict.
        """
        read = _ACTION.search(action)
        if read is None:
            return "That is no action. Use search[words], open[title] or answer[words].", 0.0, False
        inside, closed, _ = read[2].rpartition("]")  # which is missing where a long answer was cut
        verb, words = read[1].lower(), " ".join((inside if closed else read[2]).split())
        if verb == "answer":
            return "The answer was taken.", await self._right(words), True
        if verb == "search":
            return await self._searched(words), 0.0, False
        result = self._found.get(normal(words))
        return (_cut(result.text or "Nothing more is known of it.", _MOST) if result else _UNKNOWN), 0.0, False

    async def _searched(self, words: str) -> str:
        hits = await self._search.find(words)
        for hit in reversed(hits):  # of two with one title the better one is opened
            self._found |= {normal(name): hit for name in (hit.url, hit.title) if name}
        lines = [" ".join(filter(None, (f"[{hit.title}]", hit.url, _cut(hit.text, _SNIPPET)))) for hit in hits]
        return "\n".join(lines) or "Nothing was found."

    async def _right(self, given: str) -> float:
        if not given:
            return 0.0
        rubric, answer = _RUBRICS[self._spec["answer_type"]], self._spec["answer"]
        judgement = await grade(self._judge, self._spec["question"], given, reference=answer, rubric=rubric)
        return float(judgement.score == 1)


_UNKNOWN = "No search has found anything of that title. Open what stands in brackets among the results."


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _opening(spec: Spec) -> str:
    return f"Question: {spec['question']}"


def _row(spec: Spec) -> dict[str, str]:
    fields = {name: spec[name] for name in ("question", "answer", "answer_type")}
    prompt = asked(INSTRUCTION, Transcript(_opening(spec)))
    return {"prompt": prompt, "completion": written("", f"answer[{spec['answer']}]"), **fields}


def _data() -> Path:
    named = os.environ.get(DATA_VARIABLE)
    if named is None:
        try:
            return find(f"deepsearchqa/{_FILE}", ("google/deepsearchqa", _FILE))
        except ConfigError as error:
            raise ConfigError(f"{error}; or set {DATA_VARIABLE} to the file {_FILE} of google/deepsearchqa") from error
    path = Path(named).expanduser()
    if not path.is_file():
        raise ConfigError(f"{DATA_VARIABLE} is {named!r}; expected the file {_FILE} of google/deepsearchqa")
    return path


def _rows(path: Path) -> Sequence[Mapping[str, str]]:
    """Read the questions; keep the first of duplicates, and drop those without an answer, which cannot be judged."""
    try:
        reader = csv.DictReader(StringIO(read_text(path).removeprefix("\ufeff"), newline=""))
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise ConfigError(f"{path} lacks {', '.join(missing)}; expected the columns {', '.join(_COLUMNS)}")
        read = [{name: (row[name] or "").strip() for name in _COLUMNS} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read: {error}; expected {_FILE} of google/deepsearchqa") from error
    rows: dict[str, Mapping[str, str]] = {}
    for number, row in enumerate(read, 1):
        if row["answer_type"] not in _RUBRICS:
            kinds = " or ".join(_RUBRICS)
            answer_type = quoted(row["answer_type"])
            raise ConfigError(f"row {number} of {path} has the answer type {answer_type}; expected {kinds}")
        if row["problem"] and row["answer"]:
            kept = {"question": row["problem"], "answer": row["answer"], "answer_type": row["answer_type"]}
            rows.setdefault(" ".join(row["problem"].split()), kept)
    if len(rows) < 3:
        raise ConfigError(f"{path} has {len(rows)} questions with answers; expected at least 3")
    return list(rows.values())


def _place() -> tuple[Mapping[str, str], str, str, tuple[str, ...]]:
    """Return the search's source in the forms for specs, description, version and labels."""
    documents, url = os.environ.get(CORPUS_VARIABLE), os.environ.get(SEARCH_VARIABLE)
    if (documents is None) == (url is None):
        given = "neither is set" if url is None else "both are set"
        raise ConfigError(
            f"{given} of {CORPUS_VARIABLE} (a .jsonl file of documents with title and text) and {SEARCH_VARIABLE} (the URL of a "
            "SearXNG instance); set one of them"
        )
    if url is not None:
        description = (
            "What is searched is the web as it is on that day, by a search engine that shows extracts of pages."
        )
        return {"search": check_url(url, SEARCH_VARIABLE)}, description, f"searched by {url}", ("live search",)
    path = Path(documents or "").expanduser().absolute()
    corpus(path)
    description = "What is searched is a fixed collection of documents, ranked by BM25."
    return {"corpus": str(path)}, description, f"documents {digest_bytes(path.read_bytes())[:12]}", ()
