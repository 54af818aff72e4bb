"""Logs of Inspect: `.eval` (a zip archive) and JSON, of versions 1 and 2 of its format.

Only headers and summaries of samples are read where a log has them, so the size of its conversations does not matter.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from heredity._core.errors import ConfigError, MissingExtraError, RecordError, UnknownNameError
from heredity._core.outside import MAX_BYTES, read_bytes
from heredity.analysis.evaluations import Evaluation
from heredity.experiments.imports.contract import Choice, Importer

Json = Mapping[str, Any]

_VERSIONS = (1, 2)
_HEAD = 4096
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's values of correct, incorrect, partly correct, and no answer."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_CONDUCT = frozenset(
    {"seed", "max_connections", "max_retries", "timeout", "attempt_timeout", "cache", "batch", "adaptive_connections"}
)
"""Settings of model calls that make no other entry: repeats differ in them."""
_LONGEST = 100


def recognises(path: Path) -> bool:
    """Report whether a path is a log, or a folder with `.eval` logs."""
    if path.is_dir():
        return next(path.rglob("*.eval"), None) is not None
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEAD)
        return b'"eval"' in head and b'"status"' in head
    return False


def files(path: Path) -> Sequence[Path]:
    """Return the logs at a path."""
    return sorted(path.rglob("*.eval")) if path.is_dir() else [path]


def read(path: Path, choice: Choice) -> list[Evaluation]:
    """Read a log.

    Raises:
        RecordError: if it is damaged, or of another version.
        ConfigError: if it does not have the chosen scorer.
        MissingExtraError: if it is compressed in a way that this Python cannot read.
    """
    try:
        header, samples = _read_zip(path) if path.suffix == ".eval" else _read_json(path)
        return [_evaluation(path, header, samples, choice)]
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        zlib.error,
        EOFError,
        NotImplementedError,
    ) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or f"{type(error).__name__}: {error}"
        raise RecordError(f"it is not a log of Inspect: {reason:.300}") from error


def _zipfile() -> ModuleType:
    """Return the module that reads archives, with Zstandard if it is installed; Inspect compresses so."""
    import zipfile

    if sys.version_info < (3, 14):
        with suppress(ImportError):
            from backports.zstd import zipfile as extended  # pyright: ignore[reportMissingImports]

            return extended
    return zipfile


def _loads(data: bytes) -> Any:
    """Parse JSON; NaN, with which Inspect marks what was not scored, is None."""
    try:
        return json.loads(data, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _read_zip(path: Path) -> tuple[Json, Iterator[Json]]:
    archive = _zipfile()
    try:
        log = archive.ZipFile(path)
    except archive.BadZipFile as error:
        raise ValueError(f"{error}; a log that is still written cannot be read") from error
    with log:
        names = dict.fromkeys(log.namelist())

        def member(name: str) -> Any:
            try:
                with log.open(name) as file:
                    data = file.read(MAX_BYTES + 1)
            except NotImplementedError as error:
                raise MissingExtraError(
                    "reading logs of Inspect that are compressed with Zstandard", "inspect"
                ) from error
            except archive.BadZipFile as error:
                raise ValueError(str(error)) from error
            if len(data) > MAX_BYTES:
                raise ValueError(f"{name} has more than {MAX_BYTES} bytes")
            return _loads(data)

        interrupted = "header.json" not in names
        header = {"status": "started", **member("_journal/start.json")} if interrupted else member("header.json")
        if "summaries.json" in names:
            return header, iter(member("summaries.json"))
        partial = sorted(name for name in names if name.startswith("_journal/summaries/"))
        if partial:
            return header, iter([row for name in partial for row in member(name)])
        own = [
            name for name in names if name.startswith("samples/") and name.endswith(".json") and name.count("/") == 1
        ]
        return header, iter([_small(member(name)) for name in own])


def _small(sample: Json) -> Json:
    """Keep what is compared of a sample."""
    return {key: sample[key] for key in ("id", "epoch", "scores", "score", "error", "metadata") if key in sample}


def _read_json(path: Path) -> tuple[Json, Iterator[Json]]:
    try:
        log = _loads(read_bytes(path))
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; convert it: inspect log convert --to eval") from error
    return log, iter([_small(sample) for sample in log.get("samples") or ()])


def _evaluation(path: Path, header: Json, samples: Iterator[Json], choice: Choice) -> Evaluation:
    version = header.get("version", 1)
    if version not in _VERSIONS:
        raise ValueError(f"its version is {version!r}; versions {_VERSIONS[0]} to {_VERSIONS[-1]} can be read")
    spec: Json = header["eval"]
    rows = list(samples)
    scorer, key, others = _scorer(header, rows, choice.scorer, path)
    epochs = (spec.get("config") or {}).get("epochs") or 1
    ids = (spec.get("dataset") or {}).get("sample_ids") or ()
    scores: dict[str, list[float | None]] = {str(sample): [] for sample in ids}
    clusters: dict[str, str] = {}
    problems, unscored = Counter[str](), 0
    for sample in rows:
        name = str(sample["id"])
        value, problem = _number(_value(sample, scorer, key))
        problems.update([problem] if problem else [])
        unscored += value is None
        scores.setdefault(name, []).append(value)
        cluster = (sample.get("metadata") or {}).get(choice.cluster) if choice.cluster else None
        if cluster is not None:
            clusters[name] = str(cluster)
    if choice.cluster and rows and not clusters:
        raise ConfigError(f"{path}: no sample has the metadata {choice.cluster!r}; give another --cluster, or none")
    wanted = max(epochs, 1) * max(len(ids), len(scores))
    told = _notes(path, header, problems, wanted - len(rows) + unscored, wanted)
    if others:
        told.append(f"compared by the scorer {_name(scorer, key)}; others: {', '.join(others)} (choose with --scorer)")
    return Evaluation(
        source=str(path),
        entry=str(spec.get("model")),
        settings=_settings(header),
        taskset=str(spec["task"]),
        version=str(spec.get("task_version", 0)),
        scorer=_name(scorer, key),
        scores=scores,
        clusters=clusters,
        status=str(header.get("status", "success")),
        notes=told,
    )


def _notes(path: Path, header: Json, problems: Counter[str], missing: int, wanted: int) -> list[str]:
    told = [f"{path.name}: {count} scores are {problem} and count as missing" for problem, count in problems.items()]
    status = header.get("status", "success")
    if status != "success":
        told.append(f"{path.name}: its status is {status}")
    if missing > 0:
        told.append(f"{path.name}: {missing} of {wanted} scores are missing")
    if header.get("invalidated"):
        told.append(f"{path.name}: it was marked as invalid")
    return told


def _name(scorer: str, key: str) -> str:
    return f"{scorer}.{key}" if key else scorer


def _scores_of(sample: Json) -> Json:
    if sample.get("scores") is not None:
        return sample["scores"]
    return {"score": sample["score"]} if sample.get("score") is not None else {}


def _scorer(header: Json, rows: Sequence[Json], wanted: str, path: Path) -> tuple[str, str, list[str]]:
    """Return the scorer to compare, its key if its values have several parts, and the names of the others."""
    known: dict[tuple[str, str], None] = {}
    for sample in rows:
        for name, score in _scores_of(sample).items():
            value = score.get("value") if isinstance(score, Mapping) else None
            parts = list(cast(Json, value)) if isinstance(value, Mapping) else [""]
            known.update({(name, part): None for part in parts})
    if not known:
        return wanted or "no scorer", "", []
    names = {_name(*pair): pair for pair in known}
    if wanted and wanted not in names:
        raise UnknownNameError(f"scorer of {path.name}", wanted, sorted(names))
    results = header.get("results") or {}
    headline = (results.get("headline") or {}).get("scorer")
    first = next((pair for pair in known if pair[0] == headline), next(iter(known)))
    chosen = names[wanted] if wanted else first
    return *chosen, [] if wanted else [name for name in names if name != _name(*chosen)]


def _value(sample: Json, scorer: str, key: str) -> Any:
    score = _scores_of(sample).get(scorer)
    value = score.get("value") if isinstance(score, Mapping) else None
    return cast(Json, value).get(key) if key and isinstance(value, Mapping) else value


def _number(value: Any) -> tuple[float | None, str]:
    """Return a value as a number by Inspect's rule, or why it is none."""
    if value is None:
        return None, ""
    if isinstance(value, bool | int | float):
        number = float(value)
        return (number, "") if math.isfinite(number) else (None, "not finite")
    if isinstance(value, str):
        known = _LETTERS.get(value, _WORDS.get(value.lower()))
        if known is not None:
            return known, ""
        with suppress(ValueError):
            return _number(float(value))
        return None, f"no number ({value!r:.40})"
    return None, f"no number ({type(value).__name__})"


def _settings(header: Json) -> dict[str, Any]:
    """Return what tells apart evaluations of one model on one task: short values only."""
    spec, plan = header["eval"], header.get("plan") or {}
    steps = [str(step.get("solver")) for step in plan.get("steps") or ()]
    settings: dict[str, Any] = {"solver": spec.get("solver") or ", ".join(steps)}
    tables = {
        "solver": spec.get("solver_args"),
        "task": spec.get("task_args"),
        "model": spec.get("model_args"),
        "generate": spec.get("model_generate_config") or plan.get("config"),
    }
    for table, values in tables.items():
        for name, value in (values or {}).items():
            short = isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST)
            if short and name not in _CONDUCT:
                settings[f"{table}.{name}"] = value
    return settings


IMPORTER = Importer("logs of Inspect (.eval or .json), or a folder of .eval logs", recognises, files, read)
