"""Known benchmarks of questions: GSM8K, AIME, GPQA, GAIA and Humanity's Last Exam, read from files.

GPQA, GAIA and Humanity's Last Exam are read from the user's own copy: their authors ask not to publish the questions
in the clear.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.outside import read_bytes, resolved
from heredity._core.refusals import quoted
from heredity._core.tables import read_rows
from heredity.engine.questions.contract import LETTERS, Question
from heredity.engine.questions.pools import LETTER, NUMBER, WORDS, Pool, shared_out
from heredity.engine.questions.verify import reference_number
from heredity.kinds.question.files import SHARES, omission_notes, read_pool, sound_rows

DATA_VARIABLE = "HEREDITY_DATA"
"""Environment variable: the folder with `gsm8k/` and `aime/`."""

DOWNLOAD_VARIABLE = "HEREDITY_DOWNLOAD"
"""Environment variable: `1` allows fetching missing files from the Hugging Face hub."""


def find(relative: str, hub: tuple[str, str] | None = None) -> Path:
    """Return the path of a benchmark's file.

    The search order is the folder that `HEREDITY_DATA` names, or else `./data` and `shared/data` in the current
    folder or any above it, or else, if `HEREDITY_DOWNLOAD` is 1, the Hugging Face hub.

    Args:
        relative: such as `"gsm8k/train.parquet"`.
        hub: the data set and the file on the hub, if it is there.

    Raises:
        ConfigError: if it is not found; the message lists the places searched.
    """
    tried = [folder / relative for folder in _folders()]
    for path in tried:
        if path.is_file():
            return path
    looked = ", ".join(map(str, tried))
    if hub is not None and os.environ.get(DOWNLOAD_VARIABLE) == "1":
        return _download(*hub, looked)
    allow = f", or allow a download with {DOWNLOAD_VARIABLE}=1" if hub is not None else ""
    raise ConfigError(f"{relative} is missing; looked for {looked}; set {DATA_VARIABLE} to the folder it is in{allow}")


def _folders() -> list[Path]:
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return [Path(named).expanduser()]
    here = Path.cwd()
    return [here / "data", *(folder / "shared" / "data" for folder in (here, *here.parents))]


def _download(dataset: str, file: str, looked: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ConfigError(f"{file} of {dataset} cannot be fetched; pip install huggingface_hub") from error
    try:
        return Path(hf_hub_download(dataset, file, repo_type="dataset"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ConfigError(
            f"{file} of {dataset} cannot be fetched from the hub: {error}; nor is it in {looked}"
        ) from error


GSM8K = "questions/gsm8k"
_HUB = "openai/gsm8k"


def read_gsm8k() -> Pool:
    """Read GSM8K (Cobbe et al., 2021, arXiv:2110.14168): grade-school word problems with whole numbers as answers.

    A tenth of the benchmark's train split, chosen by the questions' digests, is the validation split (its test split
    is held out).

    Raises:
        ConfigError: if its files are missing or are not GSM8K's.
    """
    (train, odd), (test, odd_too) = (
        sound_rows(
            read_rows(find(f"gsm8k/{s}.parquet", (_HUB, f"main/{s}-00000-of-00001.parquet"))).rows, _gsm8k_question
        )
        for s in ("train", "test")
    )
    return Pool(
        splits={**shared_out(train, {"train": 0.9, "validation": 0.1}), "heldout": test},
        description="# GSM8K\n\nWord problems of grade school; the answer is a number.\n",
        hidden="public benchmark",
        family="math",
        notes=omission_notes([*odd, *odd_too]),
    )


def _gsm8k_question(where: str, cells: Mapping[str, Any]) -> Question:
    solution, marker, answer = str(cells.get("answer")).rpartition("####")
    if not marker or not isinstance(cells.get("question"), str):
        raise ConfigError("no question whose answer ends with #### and a number; expected GSM8K's columns")
    # Tolerance 0: the answers are whole numbers, up to hundreds of millions.
    question = Question(
        cells["question"],
        answer.strip().replace(",", ""),
        {"kind": "numeric", "relative": 0.0},
        instructions=NUMBER,
        metadata={"solution": solution.strip()},
    )
    reference_number(question)
    return question


AIME = {"questions/aime24": "aime24", "questions/aime25": "aime25"}
_SHARES = {"train": 10 / 30, "validation": 5 / 30, "heldout": 15 / 30}


def read_aime(name: str) -> Pool:
    """Read a year of AIME (American Invitational Mathematics Examination): problems with integer answers from 0 to 999.

    By the questions' digests, 10 of the 30 problems are for training, 5 for validation and 15 are held out: too few
    for small differences, as the intervals will show.

    Args:
        name: `"aime24"` or `"aime25"`.

    Raises:
        ConfigError: if the file is missing or wrong.
    """
    pool = read_pool(find(f"aime/{name}.jsonl"), {"verifier": "integer", "minimum": 0, "maximum": 999})
    questions = [question for split in pool.splits.values() for question in split]
    return replace(
        pool,
        splits=shared_out(questions, _SHARES),
        description=f"# AIME 20{name[-2:]}\n\nCompetition problems; the answer is an integer from 0 to 999.\n",
        hidden="public benchmark",
        family="math",
    )


GPQA = "questions/gpqa"
GPQA_VARIABLE = "HEREDITY_GPQA"
"""Environment variable: the path of the file."""

_RIGHT = "Correct Answer"
_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_GPQA_COLUMNS = ("Record ID", "High-level domain", "Subdomain")


def read_gpqa() -> Pool:
    """Read GPQA (Rein et al., 2023, arXiv:2311.12022): choice questions of graduate science.

    `HEREDITY_GPQA` names the file, such as `gpqa_diamond.csv`, in the benchmark's own columns or in those of
    `heredity.kinds.question.files`. The options are shuffled anew for every suite, so that knowing the file's order
    is useless.

    Raises:
        ConfigError: if no file is named, or it is wrong.
    """
    named = os.environ.get(GPQA_VARIABLE)
    if not named:
        raise ConfigError(f"{GPQA} needs your copy of GPQA; set {GPQA_VARIABLE} to its path, such as gpqa_diamond.csv")
    path = Path(named).expanduser()
    table = read_rows(path)
    about = "# GPQA\n\nQuestions of graduate science with one right option.\n"
    if _RIGHT in table.columns:
        seen: set[str] = set()
        questions, odd = sound_rows(table.rows, lambda _, cells: _gpqa_question(cells, seen))
        fewer = sum(len(question.choices) <= len(_WRONG) for question in questions)
        about += f"\n{fewer} of them have fewer options: the file repeats a wrong one.\n" if fewer else ""
        splits, notes = shared_out(questions, SHARES), omission_notes(odd)
    else:
        pool = read_pool(path, {"verifier": "choice"})
        splits, notes = pool.splits, pool.notes
    return Pool(splits, about, "public benchmark", "science", shuffle=True, notes=notes)


def _gpqa_question(cells: dict[str, Any], seen: set[str]) -> Question:
    """Return the question of a row; a wrong option that the published files repeat counts once."""
    text, right, *wrong = (str(cells.get(name) or "").strip() for name in ("Question", _RIGHT, *_WRONG))
    choices = tuple(dict.fromkeys((right, *wrong)))
    if "" in (text, *choices) or right in wrong or len(choices) < 2:
        raise ConfigError(f"expected Question, {_RIGHT} and {', '.join(_WRONG)}, not empty, and the right one once")
    metadata = {name: cells[name] for name in _GPQA_COLUMNS if cells.get(name)}
    question = Question(text, LETTERS[0], {"kind": "choice"}, choices, LETTER, metadata=metadata)
    if question.identity in seen:
        raise ConfigError("repeats an earlier question; keep one of them")
    seen.add(question.identity)
    return question


GAIA = "questions/gaia"
GAIA_VARIABLE = "HEREDITY_GAIA"
"""Environment variable: the folder of the questions, or its metadata file."""

LEVELS = (1, 2, 3)
_FILES = ("metadata.jsonl", "metadata.parquet")
_TEXTS = (".txt", ".csv", ".json", ".jsonld", ".xml", ".py", ".md", ".pdb", ".html", ".tsv")
_SHOWN = 30_000
_GAIA_FORM = (
    f"{WORDS} A number is written in digits, without units unless the question asks for them; "
    "a list is separated by commas."
)


def read_gaia(options: Mapping[str, Any]) -> Pool:
    """Read GAIA (Mialon et al., 2023, arXiv:2311.12983): questions for assistants with tools.

    `HEREDITY_GAIA` names the folder with `metadata.jsonl` (or `metadata.parquet`) and the attachments, such as
    `2023/validation`. Answers are compared by the benchmark's rule (`heredity.engine.questions.extract`).

    The answers of the test set are not published: a team answers it whole (`HEREDITY_GAIA=GAIA/2023/test`,
    `questions/gaia?whole=true`), and `heredity team submission` writes the file for the leaderboard.

    Args:
        options: `level`, 1 to 3, selects the questions of one level.

    Raises:
        ConfigError: if no copy is named, or the copy or an option is wrong.
    """
    if unknown := set(options) - {"level"}:
        raise ConfigError(f"{GAIA} has no option {min(unknown)!r}; it has level")
    level = options.get("level")
    if level is not None and level not in LEVELS:
        raise ConfigError(f"level is {quoted(level)}; expected 1, 2 or 3")
    path = _metadata()
    questions, odd = sound_rows(read_rows(path).rows, lambda _, cells: _gaia_question(cells, path.parent))
    if odd and any(question.verifier["kind"] == "unpublished" for question in questions):
        raise ConfigError(f"{odd[0]}; the leaderboard takes a set whole, so no question may be left out")
    chosen = [question for question in questions if level in (None, question.metadata["level"])]
    if not chosen:
        raise ConfigError(f"{path} has no question of level {level}")
    attached = sum("file" in question.metadata and not _is_shown(question) for question in chosen)
    about = f"# GAIA\n\n{len(chosen)} questions; {attached} have an attachment that is named and not shown.\n"
    return Pool(shared_out(chosen, SHARES), about, "public benchmark", "assistants", notes=omission_notes(odd))


def _metadata() -> Path:
    named = os.environ.get(GAIA_VARIABLE)
    if not named:
        raise ConfigError(
            f"{GAIA} needs your copy of GAIA; set {GAIA_VARIABLE} to its folder, such as GAIA/2023/validation"
        )
    path = Path(named).expanduser()
    if not path.is_dir():
        return path
    paths = [path / name for name in _FILES if (path / name).is_file()]
    if not paths:
        raise ConfigError(
            f"{GAIA_VARIABLE} is {path}, which has neither {' nor '.join(_FILES)}; name the folder that has it"
        )
    return paths[0]


def _gaia_question(cells: Mapping[str, Any], folder: Path) -> Question:
    text, reference = (str(cells.get(name) or "").strip() for name in ("Question", "Final answer"))
    if not text or not reference:
        raise ConfigError("expected Question and Final answer, not empty")
    published = reference != "?"
    try:
        level = int(cells.get("Level") or 0)
    except (TypeError, ValueError):
        level = 0
    if level not in LEVELS:
        raise ConfigError(f"Level is {cells.get('Level')!r:.40}; expected 1, 2 or 3")
    name = str(cells.get("file_name") or "").strip()
    shown, images = _attached(folder, name) if name else ("", ())
    metadata = {
        "level": level,
        "task_id": str(cells.get("task_id") or ""),
        **({"file": name, "files": [str(resolved(folder / name))]} if name else {}),
    }
    verifier = {"kind": "gaia" if published else "unpublished"}
    return Question(f"{text}{shown}", reference if published else "", verifier, (), _GAIA_FORM, images, metadata)


def _attached(folder: Path, name: str) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    """Return the part of an attachment that a solver sees: a picture, the start of a text, or its name."""
    path = resolved(folder / name)
    if not path.is_relative_to(resolved(folder)) or not path.is_file():
        raise ConfigError(f"file_name is {name!r:.80}, and there is no such file beside the questions; add it there")
    kind = mimetypes.guess_type(path.name)[0] or ""
    if kind in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        return f"\n\n(A picture is attached: {name}.)", ((kind, read_bytes(path)),)
    if path.suffix.lower() in _TEXTS:
        text = read_bytes(path).decode("utf-8", "replace")
        cut = f"\n[cut: {len(text) - _SHOWN} characters are not shown]" if len(text) > _SHOWN else ""
        return f"\n\nThe attached file {name}:\n\n{text[:_SHOWN]}{cut}", ()
    return f"\n\n(A file is attached: {name}.)", ()


def _is_shown(question: Question) -> bool:
    return bool(question.images) or Path(str(question.metadata["file"])).suffix.lower() in _TEXTS


HLE = "questions/hle"
HLE_VARIABLE = "HEREDITY_HLE"
"""Environment variable: the path of the file."""

_OPTIONS = ("pictures", "category")
_HLE_FORM = (
    'Explain briefly, then end with two lines: "Answer: " and the answer alone; "Confidence: " and how sure you are of it, from 0% '
    "to 100%."
)
_PICTURE = re.compile(r"data:(image/[a-z0-9.+-]+);base64,(.*)", re.DOTALL)
_HLE_COLUMNS = ("id", "category", "raw_subject", "answer_type")


def read_hle(options: Mapping[str, Any]) -> Pool:
    """Read Humanity's Last Exam (Phan et al., 2025, arXiv:2501.14249).

    `HEREDITY_HLE` names the file, parquet or JSONL. Every answer is compared by a judge that knows the reference, so
    a suite must name one (`gateway.judge`). Solvers also state their confidence, for the calibration error.

    Args:
        options: `pictures`, false to leave out questions with a picture; `category`, the only one to use.

    Raises:
        ConfigError: if no file is named, or the file or an option is wrong.
    """
    if unknown := set(options) - set(_OPTIONS):
        raise ConfigError(f"{HLE} has no option {min(unknown)!r}; it has {', '.join(_OPTIONS)}")
    pictures = options.get("pictures", True)
    if not isinstance(pictures, bool):
        raise ConfigError(f"pictures is {quoted(pictures)}; expected true or false")
    named = os.environ.get(HLE_VARIABLE)
    if not named:
        raise ConfigError(
            f"{HLE} needs your copy of Humanity's Last Exam; set {HLE_VARIABLE} to its path, a parquet file or JSONL"
        )
    rows = read_rows(Path(named).expanduser()).rows
    questions, odd = sound_rows(rows, lambda _, cells: _hle_question(cells))
    categories = sorted({str(question.metadata.get("category", "")) for question in questions})
    category = options.get("category")
    if category is not None and category not in categories:
        raise ConfigError(f"category is {category!r:.60}; the file has {', '.join(categories)}")
    chosen = [
        question
        for question in questions
        if (pictures or not question.images) and category in (None, question.metadata.get("category"))
    ]
    if not chosen:
        raise ConfigError(f"{named} has no question that these options leave")
    seen = sum(bool(question.images) for question in chosen)
    about = f"# Humanity's Last Exam\n\n{len(chosen)} questions, {seen} with a picture.\n"
    return Pool(shared_out(chosen, SHARES), about, "public benchmark", "exam", notes=omission_notes(odd))


def _hle_question(cells: Mapping[str, Any]) -> Question:
    text, reference = (str(cells.get(name) or "").strip() for name in ("question", "answer"))
    if not text or not reference:
        raise ConfigError("expected question and answer, not empty")
    metadata = {name: str(cells[name]) for name in _HLE_COLUMNS if cells.get(name)}
    return Question(text, reference, {"kind": "hle"}, (), _HLE_FORM, _pictures(cells.get("image")), metadata)


def _pictures(cell: Any) -> tuple[tuple[str, bytes], ...]:
    if not cell:
        return ()
    match = _PICTURE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None:
        raise ConfigError(f"image is {str(cell)[:40]!r}; expected data:image/…;base64,…")
    try:
        return ((match[1], base64.b64decode(match[2], validate=True)),)
    except binascii.Error as error:
        raise ConfigError(f"image is no base 64: {error}; write it as data:image/png;base64,…") from error
