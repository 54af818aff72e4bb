"""Questions from a file: JSONL, CSV or parquet with the columns question, answer, and optionally choices, images, split.

Other columns become metadata; questions with the same `document` are a cluster (`Task.cluster`). A `split` is train,
validation (val, dev) or heldout (test); without that column half of the questions are for training, a fifth for
validation, and the rest is held out. Each row selects the verifier of its answer; a damaged row is left out and
reported, without effect on the others.
"""

from __future__ import annotations

import json
import math
import mimetypes
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import quoted, reading
from heredity._core.tables import Row, Rows, read_rows, renamed
from heredity.engine.questions.contract import Question, letter_of
from heredity.engine.questions.pools import INSTRUCTIONS, Pool, shared_out
from heredity.engine.questions.verify import normalised, reference_number

SHARES = {"train": 0.5, "validation": 0.2, "heldout": 0.3}
"""Shares of the splits in a file without a column `split`."""

MOST_ODD = 0.05
"""Maximum share of damaged rows that are left out."""

_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "val", "valid", "dev"), "validation"),
    **dict.fromkeys(("heldout", "held-out", "test"), "heldout"),
}
_MISSING = ("NaN", "nan")
"""Texts that packages write for a missing number."""
_OWN = ("question", "answer", "choices", "images", "split", "document")
_KINDS = ("numeric", "integer", "choice", "exact", "judge")
_COMPARED = {
    "numeric": "as numbers",
    "integer": "as whole numbers",
    "choice": "by the option that they name",
    "exact": "word for word",
    "judge": "by a model",
}
_MOST_NAMED = 5
_EXACT = 1 << 53
_READ = _OWN[:-1]
_SPELLINGS = {"question": ("question", "problem")}

Made = TypeVar("Made")


def read_pool(path: Path, options: Mapping[str, Any]) -> Pool:
    """Read a file of questions.

    Args:
        path: the file.
        options: `verifier` and that verifier's options, for all questions; by default chosen by each answer: `choice`
            if there are choices, `numeric` for a number, else `exact`. `instructions` replace ours, `encoding` is the
            text's, and `question`, `answer`, `choices`, `images`, `split`, `document` name other columns.

    Raises:
        ConfigError: if the file is wrong, or more than one row in twenty.
    """
    wanted = dict(options)
    kind = wanted.pop("verifier", None)
    instructions = wanted.pop("instructions", None)
    encoding = wanted.pop("encoding", None)
    named = {name: str(wanted.pop(name)) for name in _OWN if name in wanted}
    if kind not in (None, *_KINDS):
        raise UnknownNameError("verifier of a file", str(kind), _KINDS)
    if kind is None and wanted:
        taken = (*_OWN, "encoding", "instructions", "verifier")
        raise ConfigError(
            f"{path.name}: unknown option {', '.join(wanted)}; expected {', '.join(taken)}; a verifier's own need verifier=NAME"
        )
    table = read_rows(path, None if encoding is None else str(encoding))
    columns = _columns(path, table, named)
    rows = renamed(table, columns)
    names = {name: columns.get(name, name) for name in _OWN}
    divided = any(str(row.cells.get("split") or "").strip() for row in rows)
    first_seen: dict[str, str] = {}

    def make(where: str, cells: Mapping[str, Any]) -> tuple[Question, str, str]:
        verifier = {"kind": kind or _kind(cells), **wanted}
        question = _question(cells, verifier, instructions, path.parent, names)
        split = _split(cells, names["split"], divided=divided)
        earlier = first_seen.setdefault(question.identity, where)
        if earlier != where:
            raise ConfigError(f"repeats the question of {earlier}; keep one of them")
        return question, split, where

    sound, odd = sound_rows(rows, make)
    questions = [question for question, _, _ in sound]
    taken = [
        f"the column {column!r} is read as {name}"
        for name, column in columns.items()
        if column not in _SPELLINGS.get(name, (name,))
    ]
    compared = _compared([(question.verifier["kind"], where) for question, _, where in sound])
    notes = [*(["; ".join([*table.form, *taken])] if table.form or taken else []), *compared, *omission_notes(odd)]
    return Pool(
        splits=_divided(questions, [split for _, split, _ in sound] if divided else ()),
        description=f"# {path.stem}\n\n{len(questions)} questions of the file {path.name}.\n",
        hidden="the user's file",
        family="file",
        notes=tuple(f"{path.name}: {note}" for note in notes),
    )


def _columns(path: Path, table: Rows, named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field: as given, else by name, ignoring case."""
    columns: dict[str, str] = {}
    for name in _OWN:
        spellings = (named[name],) if name in named else _SPELLINGS.get(name, (name,))
        alike = [column for column in table.columns if column.strip().casefold() in map(str.casefold, spellings)]
        exact = [column for one in spellings for column in table.columns if column == one]
        alike = exact[:1] or alike
        if len(alike) > 1:
            raise ConfigError(f"{path}: the columns {', '.join(alike)} may all be {name}; choose one by ?{name}=COLUMN")
        if alike:
            columns[name] = alike[0]
        elif name in named:
            raise ConfigError(f"{path}: {name}={named[name]}, and there is no such column; {_listed_columns(table)}")
    if missing := [name for name in ("question", "answer") if name not in columns]:
        example = "&".join(f"{name}={column}" for name, column in zip(missing, _spare(table, columns), strict=False))
        raise ConfigError(
            f"{path}: no column is called {' or '.join(missing)}; {_listed_columns(table)}. "
            f"Rename columns, or say which they are, as in 'questions/file:{path}?{example}'"
        )
    return columns


def _spare(table: Rows, columns: Mapping[str, str]) -> list[str]:
    return [column for column in table.columns if column not in columns.values()] or ["COLUMN"] * 2


def _listed_columns(table: Rows) -> str:
    shown = ", ".join(repr(column)[:40] for column in table.columns[:12])
    form = f" ({'; '.join(table.form)})" if table.form else ""
    return f"its columns are {shown or 'none'}{form}"


def _kind(cells: Mapping[str, Any]) -> str:
    if cells.get("choices"):
        return "choice"
    try:
        reference_number(Question("?", _text(cells.get("answer")), {"kind": "numeric"}))
    except ConfigError:
        return "exact"
    return "numeric"


def _compared(verified: Sequence[tuple[str, str]]) -> list[str]:
    """Return notes on the verifiers of a file's answers, with the lines of those that differ from most."""
    counts = Counter(kind for kind, _ in verified).most_common()
    notes: list[str] = []
    for position, (kind, count) in enumerate(counts):
        lines = [where.partition(", ")[2] for one, where in verified if one == kind]
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        few = f" ({', '.join(lines[:_MOST_NAMED])}{more})" if position else ""
        answers = "answer is" if count == 1 else "answers are"
        notes.append(f"{count} {answers} compared {_COMPARED[kind]}, verifier {kind}{few}")
    return notes


def sound_rows(rows: Sequence[Row], made: Callable[[str, dict[str, Any]], Made]) -> tuple[list[Made], list[str]]:
    """Convert the rows of a file; return the results, and the errors of rows that could not be converted.

    Args:
        rows: the rows.
        made: converts a row's position and cells (its exception is that row's error).

    Raises:
        ConfigError: if more than one row in twenty fails: then the file itself is wrong.
    """
    sound: list[Made] = []
    odd: list[str] = []
    for where, cells, problem in rows:
        try:
            if problem:
                raise ConfigError(problem)
            sound.append(made(where, cells))
        except HeredityError as error:
            odd.append(f"{where}: {error}")
    if len(odd) > MOST_ODD * len(rows):
        share = f" ({len(odd)} of {len(rows)} rows are odd, at most {MOST_ODD:.0%} are left out)" if odd[1:] else ""
        raise ConfigError(f"{odd[0]}{share}")
    return sound, odd


def omission_notes(odd: Sequence[str]) -> list[str]:
    """Return a list with a note on the rows that were left out, empty if none were."""
    rows = "1 row is" if len(odd) == 1 else f"{len(odd)} rows are"
    return [f"{rows} left out: {'; '.join(odd)[:500]}"] if odd else []


def _question(
    cells: Mapping[str, Any],
    verifier: dict[str, Any],
    instructions: str | None,
    folder: Path,
    names: Mapping[str, str],
) -> Question:
    text, answer = cells.get("question"), cells.get("answer")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{names['question']} is {quoted(text)}; expected text")
    if isinstance(answer, bool | list | dict) or not _text(answer):
        raise ConfigError(f"{names['answer']} is {quoted(answer)}; expected text or a number")
    kind, reference = verifier["kind"], _text(answer)
    choices = _choices(cells.get("choices")) if kind == "choice" else ()
    question = Question(
        text=text.strip(),
        answer=letter_of(reference, choices) if choices else reference,
        verifier=verifier,
        choices=choices,
        instructions=INSTRUCTIONS[kind] if instructions is None else instructions,
        images=tuple(_image(folder, name) for name in _listed(cells.get("images"))),
        metadata={name: _json_value(cell) for name, cell in cells.items() if name not in _READ and cell is not None},
    )
    if kind in ("numeric", "integer"):
        reference_number(question)
    if kind == "exact":
        normalised("", tuple(verifier.get("ignore", ())))
    return question


def _text(cell: Any) -> str:
    """Return a cell as text; missing values (null, NaN) become empty, and 4.0 in a column of numbers becomes 4."""
    if (
        cell is None
        or (isinstance(cell, float) and math.isnan(cell))
        or (isinstance(cell, str) and cell.strip() in _MISSING)
    ):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT else str(cell).strip()


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
            raise ConfigError(f'{cell[:80]!r} is not a list; expected JSON such as ["one", "two"]') from error
    if cell in (None, ""):
        return []
    if not isinstance(cell, list):
        raise ConfigError(f"{quoted(cell)} is not a list; give one")
    return cell


def _image(folder: Path, name: Any) -> tuple[str, bytes]:
    path = folder / str(name)
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise ConfigError(f"{path} is no picture; expected a suffix such as .png")
    with reading(f"the picture {path}", "a picture", "add it, or correct its path"):
        return kind, read_bytes(path)


def _split(cells: Mapping[str, Any], column: str, *, divided: bool) -> str:
    named = _text(cells.get("split")).lower()
    if named and named not in _SPLITS:
        raise ConfigError(f"{column} is {named!r:.80}; expected train, validation or heldout")
    if divided and not named:
        raise ConfigError(f"{column} is empty, and other rows have one; name all or none")
    return _SPLITS.get(named, "")


def _divided(questions: Sequence[Question], splits: Sequence[str]) -> dict[str, list[Question]]:
    if not splits:
        return shared_out(questions, SHARES)
    return {
        split: [question for question, own in zip(questions, splits, strict=True) if own == split]
        for split in dict.fromkeys(_SPLITS.values())
    }


def _json_value(cell: Any) -> Any:
    return json.loads(json.dumps(cell, default=str))
