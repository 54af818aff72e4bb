"""Admission of composed worlds, several at a time; recorded results are not recomputed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from heredity._core.errors import HeredityError
from heredity._core.ids import digest_bytes, digest_json
from heredity._core.outside import ANY_SIZE, json_value, read_text
from heredity._core.refusals import reading
from heredity._core.workers import process_pool
from heredity.kinds.world.compose.composing import ComposedWorld
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.gates.admit import Admission, admit
from heredity.kinds.world.gates.contract import CERTIFICATE, Subject, files_digest
from heredity.kinds.world.gates.novelty import NEAR, Fingerprint, of_library
from heredity.kinds.world.world import World, sound_worlds


def novelty(admitted: Sequence[Composed]) -> dict[str, dict[str, float]]:
    """Return the distribution of distances to the nearest other world: least, quartiles and greatest.

    Returns:
        `nearest_composed`: from each composed world to the nearest other one; `nearest_installed`: to the nearest installed
        one; `installed`: from each installed one to the nearest other installed one, to compare with.
    """
    installed = np.array(_vectors([of_library(name) for name in sound_worlds()[0]]))
    return {
        "nearest_composed": _spread(_nearest(_scaled(admitted))),
        "nearest_installed": _spread([one.distance for one in admitted]),
        "installed": _spread(_nearest(installed / _spreads())),
    }


def copies(admitted: Sequence[Composed]) -> dict[str, str]:
    """Return the worlds that behave like an earlier one, closer than the novelty gate allows, each with that one.

    Args:
        admitted: in order; the first of several similar worlds is kept.
    """
    points = _scaled(admitted)
    kept, alike = list[int](), dict[str, str]()
    for index, one in enumerate(admitted):
        gaps = np.sqrt(((points[kept] - points[index]) ** 2).mean(axis=1))
        if kept and gaps.min() < NEAR:
            alike[one.world] = admitted[kept[int(gaps.argmin())]].world
        else:
            kept.append(index)
    return alike


def _scaled(admitted: Sequence[Composed]) -> np.ndarray:
    return np.array(_vectors([one.fingerprint for one in admitted])).reshape(len(admitted), -1) / _spreads()


def _spreads() -> np.ndarray:
    """Return the standard deviation of each figure among the installed worlds, 1 if they do not differ."""
    deviations = np.array(_vectors([of_library(name) for name in sound_worlds()[0]])).std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)


def _vectors(prints: Sequence[Fingerprint]) -> list[list[float]]:
    return [[one[figure] for figure in sorted(one)] for one in prints]


def _nearest(points: np.ndarray) -> list[float]:
    if len(points) < 2:
        return []
    gaps = np.array([np.sqrt(((points - point) ** 2).mean(axis=1)) for point in points])
    np.fill_diagonal(gaps, np.inf)
    return [float(gap) for gap in gaps.min(axis=1)]


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    names = ("min", "q25", "median", "q75", "max")
    return {
        name: round(float(v), 4) for name, v in zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)), strict=True)
    }


UNJUDGED = "could not be judged"
"""Suffix of a reason that is not a rejection; such a world is judged again the next time."""
KNOWN = "composed.jsonl"
"""Record of results, a line per world, in the output folder."""


@dataclass(frozen=True, slots=True)
class Composed:
    """The result of a recipe.

    Attributes:
        world: the world's name.
        seed: its seed.
        digest: digest of its description and of the code that judged it.
        reason: why it was rejected, as gate and finding (empty if it was admitted).
        detail: the reason in words.
        meta: `reward`, `observation`, `semantics`, `mechanics` and `theme`.
        players: mean shares of the bounds, by player of the reliability gate.
        nearest: the installed world that is nearest by behaviour; `distance`: how far, in standard deviations.
        fingerprint: the figures that distances are computed from.
        seconds: CPU seconds used.
    """

    world: str
    seed: int
    digest: str
    reason: str = ""
    detail: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    players: Mapping[str, float] = field(default_factory=dict[str, float])
    nearest: str = ""
    distance: float = 0.0
    fingerprint: Fingerprint = field(default_factory=dict[str, float])
    seconds: float = 0.0

    @property
    def admitted(self) -> bool:
        """True if it passed every gate."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {**asdict(self), "admitted": self.admitted}


_ROW = TypeAdapter(Composed)


def judged(recipe: Recipe, out: Path | None = None) -> Composed:
    """Compose a world and run the gates on it, up to the first that rejects; write it if it is admitted.

    Args:
        recipe: the recipe of the world.
        out: folder for the world and its certificate (nothing is written if None).
    """
    began = time.process_time()
    made = ComposedWorld(recipe)
    composition, described = made.composition, made.description.meta
    kinds = {"reward": described.reward, "observation": described.observation, "semantics": described.semantics}
    meta = {**kinds, "mechanics": list(composition.mechanics), "theme": composition.theme}
    one = Composed(recipe.name, recipe.seed, digest(made), meta=meta)
    try:
        subject = Subject.of(made, library=sound_worlds()[0])
    except HeredityError as error:  # No levels, or none that search settles.
        one = replace(one, reason="levels: generator", detail=str(error))
    else:
        admission = admit(subject, first=True)
        one = _of(one, admission)
        if out is not None and admission.admitted:
            folder = out / made.name
            made.write(folder)
            replace(admission, digest=files_digest(World(folder.resolve()))).write(folder)
    return replace(one, seconds=round(time.process_time() - began, 3))


def _of(one: Composed, admission: Admission) -> Composed:
    unjudged = next((report for report in admission.gates if report.unjudged), None)
    if unjudged is not None:
        return replace(one, reason=f"{unjudged.gate}: {UNJUDGED}", detail=unjudged.unjudged)
    figures = {report.gate: report.figures for report in admission.gates}
    first = next(((report.gate, finding) for report in admission.gates for finding in report.findings), None)
    reason, detail = ("", "") if first is None else (f"{first[0]}: {first[1].kind}", first[1].message)
    novelty = figures.get("novelty", {})
    return replace(
        one,
        reason=reason,
        detail=detail,
        players={name: round(share, 4) for name, share in figures.get("reliability", {}).get("means", {}).items()},
        nearest=novelty.get("nearest") or "",
        distance=novelty.get("distance") or 0.0,
        fingerprint=novelty.get("fingerprint", {}),
    )


def digest(made: ComposedWorld) -> str:
    """Return the digest of a world and of the code that judges it; records with another digest are outdated."""
    return digest_json([files_digest(made), _code()])


@cache
def _code() -> str:
    root = Path(__file__).parents[1]
    paths = sorted(path for folder in ("compose", "dsl", "gates") for path in (root / folder).glob("*.py"))
    return digest_json({str(path.relative_to(root)): digest_bytes(path.read_bytes()) for path in paths})


def admissions(recipes: Sequence[Recipe], out: Path | None = None, processes: int | None = 1) -> Iterator[Composed]:
    """Judge many recipes, and yield each result as it is ready.

    With `out`, each result is recorded in `composed.jsonl` there. Recorded worlds are not judged again, unless their
    rules, the gates or the language have changed, or an admitted world's folder is missing.

    Args:
        recipes: the recipes of the worlds.
        out: folder for the worlds.
        processes: number of processes; None for one per core.
    """
    kept_before = {} if out is None else _read_recorded(out)
    waiting: list[Recipe] = []
    for recipe in recipes:
        one = kept_before.get(recipe.name)
        if one is not None and _is_written(one, out) and one.digest == digest(ComposedWorld(recipe)):
            yield one
        else:
            waiting.append(recipe)
    workers = min(processes or len(os.sched_getaffinity(0)), len(waiting))
    for one in _in_this_process(waiting, out) if workers < 2 else _in_processes(waiting, out, workers):
        if out is not None and not one.reason.endswith(UNJUDGED):
            out.mkdir(parents=True, exist_ok=True)
            with (out / KNOWN).open("a", encoding="utf-8") as file:
                file.write(json.dumps(one.to_json()) + "\n")
        yield one


def _is_written(one: Composed, out: Path | None) -> bool:
    """Return True if the files of an admitted world exist."""
    return out is None or not one.admitted or (out / one.world / CERTIFICATE).exists()


def _read_recorded(out: Path) -> dict[str, Composed]:
    """Read recorded results; an invalid or truncated line is skipped, and its world judged again."""
    path, rows = out / KNOWN, dict[str, Composed]()
    if not path.exists():
        return rows
    with reading(path, "text", "remove it to judge worlds again"):
        text = read_text(path, ANY_SIZE)
    if not text.endswith("\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
    for line in text.split("\n"):
        with suppress(ValueError):
            row = _ROW.validate_python(json_value(line))
            rows[row.world] = row
    return rows


def _in_this_process(recipes: Sequence[Recipe], out: Path | None) -> Iterator[Composed]:
    for recipe in recipes:
        yield judged(recipe, out)


def _in_processes(recipes: Sequence[Recipe], out: Path | None, workers: int) -> Iterator[Composed]:
    with process_pool(workers) as pool:
        running = [pool.submit(judged, recipe, out) for recipe in recipes]
        try:
            for future in as_completed(running):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
