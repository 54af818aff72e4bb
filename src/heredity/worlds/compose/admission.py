"""Composed worlds at the gates, several at a time; what is known of them is not found out again."""

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

from pydantic import TypeAdapter

from heredity.errors import HeredityError
from heredity.ids import digest_bytes, digest_json
from heredity.outside import ANY_SIZE, json_value, read_text
from heredity.refusals import reading
from heredity.workers import process_pool
from heredity.worlds.compose.composed import ComposedWorld
from heredity.worlds.compose.recipe import Recipe
from heredity.worlds.gates.admit import Admission, admit
from heredity.worlds.gates.contract import CERTIFICATE, Subject, files_digest
from heredity.worlds.gates.novelty import Fingerprint
from heredity.worlds.world import World, sound_worlds

UNJUDGED = "could not be judged"
"""How a reason ends that is no rejection: such a world is judged again the next time."""
KNOWN = "composed.jsonl"
"""What is known, a line for each world, in the folder where worlds are written."""


@dataclass(frozen=True, slots=True)
class Composed:
    """What came of a recipe.

    Attributes:
        world: the world's name.
        seed: its seed.
        digest: of its description and of the code that judged it.
        reason: why it was rejected, as gate and finding; empty if it was admitted.
        detail: the same in words.
        meta: `reward`, `observation`, `semantics`, `mechanics` and `theme`.
        players: mean shares of the bounds, by player of the reliability gate.
        nearest: the installed world that is nearest by behaviour; `distance`: how far, in standard deviations.
        fingerprint: the figures that distances are taken of.
        seconds: of processor time that it took.
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
        """Whether it passed every gate."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "admitted": self.admitted}


_ROW = TypeAdapter(Composed)


def judged(recipe: Recipe, out: Path | None = None) -> Composed:
    """Compose a world and execute the gates on it, up to the first that rejects; write it where it is admitted.

    Args:
        recipe: what it is asked to be.
        out: where its folder is written, with its certificate; nothing is written if None.
    """
    began = time.process_time()
    made = ComposedWorld(recipe)
    composition, described = made.composition, made.description.meta
    kinds = {"reward": described.reward, "observation": described.observation, "semantics": described.semantics}
    meta = {**kinds, "mechanics": list(composition.mechanics), "theme": composition.theme}
    one = Composed(recipe.name, recipe.seed, digest(made), meta=meta)
    try:
        subject = Subject.of(made, library=sound_worlds()[0])
    except HeredityError as error:  # no levels, or none that search settles
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
    """Return the digest of a world and of the code that judges it: what is known of another is not what is known of this one."""
    return digest_json([files_digest(made), _code()])


@cache
def _code() -> str:
    root = Path(__file__).parents[1]
    paths = sorted(path for folder in ("compose", "dsl", "gates") for path in (root / folder).glob("*.py"))
    return digest_json({str(path.relative_to(root)): digest_bytes(path.read_bytes()) for path in paths})


def admissions(recipes: Sequence[Recipe], out: Path | None = None, processes: int | None = 1) -> Iterator[Composed]:
    """Judge many, and yield what came of each as it is ready.

    With `out`, each is noted in `composed.jsonl` there, and those that stand there already are not judged again, unless their
    rules, the gates or the language have changed since, or an admitted one's folder is gone.

    Args:
        recipes: what they are asked to be.
        out: where worlds are written.
        processes: how many at a time; None for one per core.
    """
    kept_before = {} if out is None else _read_recorded(out)
    waiting: list[Recipe] = []
    for recipe in recipes:
        one = kept_before.get(recipe.name)
        if one is not None and _there(one, out) and one.digest == digest(ComposedWorld(recipe)):
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


def _there(one: Composed, out: Path | None) -> bool:
    """Return whether what is to be written of a world stands there."""
    return out is None or not one.admitted or (out / one.world / CERTIFICATE).exists()


def _read_recorded(out: Path) -> dict[str, Composed]:
    """Read what is known; a line that was cut off or is no such row is passed over, and its world judged again."""
    path, rows = out / KNOWN, dict[str, Composed]()
    if not path.exists():
        return rows
    with reading(path, "text", "remove it, and worlds are judged again"):
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
