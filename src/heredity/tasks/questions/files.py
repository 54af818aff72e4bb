"""Questions out of a file: JSONL, CSV or parquet with the columns question, answer, and perhaps choices, images, split.

Any other column is kept as metadata; questions with the same `document` are a cluster (`Task.cluster`). A `split` is train,
validation (val, dev) or heldout (test); without that column half of the questions train, a fifth validates, and the rest is held
out.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from heredity.errors import ConfigError, HeredityError, UnknownNameError
from heredity.outside import json_value, read_bytes, read_text
from heredity.refusals import reading
from heredity.tasks.questions.contract import Question, letter_of
from heredity.tasks.questions.pools import INSTRUCTIONS, Pool, shared_out
from heredity.tasks.questions.verify import normalised, reference_number

SHARES = {"train": 0.5, "validation": 0.2, "heldout": 0.3}
"""How a file without a column `split` is divided."""

MOST_ODD = 0.05
"""The largest share of rows that are left out as odd."""

_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "val", "valid", "dev"), "validation"),
    **dict.fromkeys(("heldout", "held-out", "test"), "heldout"),
}
_OWN = ("question", "problem", "answer", "choices", "images", "split")
_KINDS = ("numeric", "integer", "choice", "exact", "judge")

Made = TypeVar("Made")
Row = tuple[str, dict[str, Any]]
"""Where a row stands (`questions.csv, line 3`), and its cells."""


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file with where each one stands; empty lines of JSONL are skipped.

    Raises:
        ConfigError: if it is missing, has another suffix, or cannot be parsed; with the line where that is known.
    """
    readers = {".jsonl": _json_lines, ".csv": _csv, ".parquet": _parquet}
    if path.suffix.lower() not in readers:
        raise ConfigError(f"{path} is no file of questions; expected {', '.join(readers)}")
    with reading(
        path,
        path.suffix.removeprefix(".").upper(),
        "give a file of questions in UTF-8, with the columns of docs/questions.md",
    ):
        rows = list(readers[path.suffix.lower()](path))
    if not rows:
        raise ConfigError(f"{path} has no questions; expected at least one")
    return rows


def read_pool(path: Path, options: Mapping[str, Any]) -> Pool:
    """Read a file of questions.

    Args:
        path: the file.
        options: `verifier` and that verifier's options, for all questions; by default each one's is chosen by its answer:
            `choice` where there are choices, else `numeric` if all answers are numbers, else `exact`. `instructions` replace ours.

    Raises:
        ConfigError: if the file or a row of it is wrong.
    """
    rows = read_rows(path)
    wanted = dict(options)
    kind = wanted.pop("verifier", None)
    instructions = wanted.pop("instructions", None)
    if kind not in (None, *_KINDS):
        raise UnknownNameError("verifier of a file", str(kind), _KINDS)
    if kind is None and wanted:
        raise ConfigError(f"{', '.join(wanted)}: options of a verifier; name it too, with verifier=…")
    plain = kind or ("numeric" if all(_is_number(cells) for _, cells in rows) else "exact")
    first_seen: dict[str, str] = {}

    def made(where: str, cells: Mapping[str, Any]) -> tuple[Question, str]:
        verifier = {"kind": kind or ("choice" if cells.get("choices") else plain), **wanted}
        question = _question(cells, verifier, instructions, path.parent)
        earlier = first_seen.setdefault(question.identity, where)
        if earlier != where:
            raise ConfigError(f"repeats the question of {earlier}; keep one of them")
        return question, _split(cells)

    sound, odd = sound_rows(rows, made)
    questions = [question for question, _ in sound]
    return Pool(
        splits=_divided(path, questions, [split for _, split in sound]),
        description=f"# {path.stem}\n\n{len(questions)} questions of the file {path.name}.\n{left_out(odd)}",
        hidden="the user's file",
        family="file",
    )


def sound_rows(rows: Sequence[Row], made: Callable[[str, dict[str, Any]], Made]) -> tuple[list[Made], list[str]]:
    """Return what is made of the rows of a file, and what is wrong with those of which nothing can be made.

    Args:
        rows: the rows.
        made: makes something of where a row stands and its cells; what it raises is what is wrong with that one.

    Raises:
        ConfigError: if more than one row in twenty is odd: then it is the file that is wrong.
    """
    sound: list[Made] = []
    odd: list[str] = []
    for where, cells in rows:
        try:
            sound.append(made(where, cells))
        except HeredityError as error:
            odd.append(f"{where}: {error}")
    if len(odd) > MOST_ODD * len(rows):
        share = f" ({len(odd)} of {len(rows)} rows are odd, at most {MOST_ODD:.0%} are left out)" if odd[1:] else ""
        raise ConfigError(f"{odd[0]}{share}")
    return sound, odd


def left_out(odd: Sequence[str]) -> str:
    """Return a paragraph on the rows that were left out; `""` if none were."""
    return f"\n{len(odd)} rows of the file are left out: {'; '.join(odd)[:500]}.\n" if odd else ""


def _question(cells: Mapping[str, Any], verifier: dict[str, Any], instructions: str | None, folder: Path) -> Question:
    text, answer = cells.get("question", cells.get("problem")), cells.get("answer")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"question is {text!r}; expected text")
    if answer is None or isinstance(answer, bool | list | dict) or not str(answer).strip():
        raise ConfigError(f"answer is {answer!r}; expected text or a number")
    kind, reference = verifier["kind"], str(answer).strip()
    choices = _choices(cells.get("choices")) if kind == "choice" else ()
    question = Question(
        text=text.strip(),
        answer=letter_of(reference, choices) if choices else reference,
        verifier=verifier,
        choices=choices,
        instructions=INSTRUCTIONS[kind] if instructions is None else instructions,
        images=tuple(_image(folder, name) for name in _listed(cells.get("images"))),
        metadata={name: _json_value(cell) for name, cell in cells.items() if name not in _OWN and cell is not None},
    )
    if kind in ("numeric", "integer"):
        reference_number(question)
    if kind == "exact":
        normalised("", tuple(verifier.get("ignore", ())))
    return question


def _choices(cell: Any) -> tuple[str, ...]:
    choices = tuple(str(choice).strip() for choice in _listed(cell))
    if len(set(choices)) != len(choices) or "" in choices:
        raise ConfigError(f"choices are {list(choices)}; expected different texts, none of them empty")
    return choices


def _listed(cell: Any) -> list[Any]:
    if isinstance(cell, str) and cell.strip():
        try:
            cell = json_value(cell)
        except ValueError as error:
            raise ConfigError(f'{cell[:80]!r} is no list; expected JSON such as ["one", "two"]') from error
    if cell in (None, ""):
        return []
    if not isinstance(cell, list):
        raise ConfigError(f"{cell!r:.80} is no list; give one")
    return cell


def _image(folder: Path, name: Any) -> tuple[str, bytes]:
    path = folder / str(name)
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise ConfigError(f"{path} is no picture; expected a suffix such as .png")
    with reading(f"the picture {path}", "a picture", "add it, or correct its path"):
        return kind, read_bytes(path)


def _split(cells: Mapping[str, Any]) -> str:
    named = str(cells.get("split") or "").strip().lower()
    if named and named not in _SPLITS:
        raise ConfigError(f"split is {named!r:.80}; expected train, validation or heldout")
    return _SPLITS.get(named, "")


def _divided(path: Path, questions: Sequence[Question], splits: Sequence[str]) -> dict[str, list[Question]]:
    if not any(splits):
        return shared_out(questions, SHARES)
    if not all(splits):
        raise ConfigError(f"{path}: {splits.count('')} questions have no split and others have one; name all or none")
    return {
        split: [question for question, own in zip(questions, splits, strict=True) if own == split]
        for split in dict.fromkeys(_SPLITS.values())
    }


def _is_number(cells: Mapping[str, Any]) -> bool:
    if cells.get("choices"):
        return True
    try:
        reference_number(Question("?", str(cells.get("answer", "")), {"kind": "numeric"}))
    except ConfigError:
        return False
    return True


def _json_value(cell: Any) -> Any:
    return json.loads(json.dumps(cell, default=str))


def _json_lines(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_text(path).removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        with reading(where, "JSON", "write one object a line"):
            cells = json_value(line)
        if not isinstance(cells, dict):
            raise ConfigError(f"{where}: {line[:80]!r} is no JSON object; write one a line")
        yield where, cells


def _csv(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        # Without inference: the answer 025 is not 25.
        table = pl.read_csv(read_bytes(path), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise ConfigError(
            f"{path} is no CSV: {error!s:.200}; correct that row, with quotes around commas and line breaks"
        ) from error
    line = 2
    for cells in table.iter_rows(named=True):
        yield f"{path.name}, line {line}", cells
        line += 1 + sum(cell.count("\n") for cell in cells.values() if cell)


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        table = pl.read_parquet(read_bytes(path))
    # What the reader did not foresee is no `Exception` of Python's.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ConfigError(f"{path} is no parquet file: {error!s:.200}; write or fetch it anew") from error
    for number, cells in enumerate(table.iter_rows(named=True), 1):
        yield f"{path.name}, row {number}", cells
