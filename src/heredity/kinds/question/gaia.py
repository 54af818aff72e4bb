"""GAIA (Mialon et al., 2023, arXiv:2311.12983): questions for assistants with tools, from the user's own copy.

Its authors ask not to publish it in the clear, so it does not come with this package: `HEREDITY_GAIA` names the
folder with `metadata.jsonl` (or `metadata.parquet`) and the attachments, such as `2023/validation`.
`questions/gaia?level=1` selects one level. Answers are compared by the benchmark's rule
(`heredity.engine.questions.extract`). The answers of the test set are not published: a team answers it whole
(`HEREDITY_GAIA=GAIA/2023/test`, `questions/gaia?whole=true`), and `heredity team submission` writes the file for the
leaderboard.
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.outside import read_bytes, resolved
from heredity._core.refusals import quoted
from heredity._core.tables import read_rows
from heredity.engine.questions.contract import Question
from heredity.engine.questions.pools import WORDS, Pool, shared_out
from heredity.kinds.question.files import SHARES, left_out, sound_rows

NAME = "questions/gaia"
PATH_VARIABLE = "HEREDITY_GAIA"
"""Environment variable: the folder of the questions, or its metadata file."""

LEVELS = (1, 2, 3)
_FILES = ("metadata.jsonl", "metadata.parquet")
_TEXTS = (".txt", ".csv", ".json", ".jsonld", ".xml", ".py", ".md", ".pdb", ".html", ".tsv")
_SHOWN = 30_000
_FORM = f"{WORDS} A number is written in digits, without units unless the question asks for them; a list is separated by commas."


def read_gaia(options: Mapping[str, Any]) -> Pool:
    """Read the user's copy.

    Args:
        options: `level`, 1 to 3, selects the questions of one level.

    Raises:
        ConfigError: if no copy is named, or the copy or an option is wrong.
    """
    if unknown := set(options) - {"level"}:
        raise ConfigError(f"{NAME} has no option {min(unknown)!r}; it has level")
    level = options.get("level")
    if level is not None and level not in LEVELS:
        raise ConfigError(f"level is {quoted(level)}; expected 1, 2 or 3")
    path = _metadata()
    questions, odd = sound_rows(read_rows(path).rows, lambda _, cells: _question(cells, path.parent))
    if odd and any(question.verifier["kind"] == "unpublished" for question in questions):
        raise ConfigError(f"{odd[0]}; the leaderboard takes a set whole, so no question may be left out")
    chosen = [question for question in questions if level in (None, question.metadata["level"])]
    if not chosen:
        raise ConfigError(f"{path} has no question of level {level}")
    attached = sum("file" in question.metadata and not _is_shown(question) for question in chosen)
    about = f"# GAIA\n\n{len(chosen)} questions; {attached} have an attachment that is named and not shown.\n"
    return Pool(shared_out(chosen, SHARES), about, "public benchmark", "assistants", notes=left_out(odd))


def _metadata() -> Path:
    named = os.environ.get(PATH_VARIABLE)
    if not named:
        raise ConfigError(
            f"{NAME} needs your copy of GAIA; set {PATH_VARIABLE} to its folder, such as GAIA/2023/validation"
        )
    path = Path(named).expanduser()
    if not path.is_dir():
        return path
    paths = [path / name for name in _FILES if (path / name).is_file()]
    if not paths:
        raise ConfigError(
            f"{PATH_VARIABLE} is {path}, which has neither {' nor '.join(_FILES)}; name the folder that has it"
        )
    return paths[0]


def _question(cells: Mapping[str, Any], folder: Path) -> Question:
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
    return Question(f"{text}{shown}", reference if published else "", verifier, (), _FORM, images, metadata)


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
