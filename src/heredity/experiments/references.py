"""What every run of a suite is compared with, scored once for each taskset and kept in the suite's folder."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity.evolution.starter import starter_candidate
from heredity.experiments.config import SCHEDULED, TRAINING, Cell, Config
from heredity.experiments.evolvers import initial_candidate
from heredity.experiments.gradings import RunGrading
from heredity.experiments.trainers import Base, CheckpointPlaces, base_of
from heredity.ids import digest_json
from heredity.judging import Sealed
from heredity.judging.attempts import Attempter, comparisons_of, listed_comparisons
from heredity.judging.bench import Reference, require
from heredity.judging.session_log import score_to_json
from heredity.judging.views import View, score_candidate
from heredity.records.run_folder import write_atomic
from heredity.resources import Candidate
from heredity.rollouts.contract import Runner
from heredity.tasks import Taskset

_REFERENCES = "references.json"


class References:
    """Held-out scores of what runs are compared with: of the random policy, or of the candidate that a run began with."""

    def __init__(
        self, folder: Path, sealed: Sealed, config: Config, runner: Runner, places: CheckpointPlaces | None = None
    ) -> None:
        self._path, self._sealed, self._config, self._runner = folder / _REFERENCES, sealed, config, runner
        self._places = places or CheckpointPlaces()
        self._gate = asyncio.Lock()
        self._known: dict[str, dict[str, Any]] = json.loads(self._path.read_bytes()) if self._path.exists() else {}

    async def of(self, tasks: Taskset, cell: Cell) -> Reference | None:
        """Return the reference of a run on its taskset's held-out cases; None where a run's first snapshot is it."""
        if cell.config.run.protocol == SCHEDULED:
            return None
        if cell.config.run.protocol == TRAINING:
            return (await self.of_base(tasks, cell))[1]
        if cell.config.run.protocol == "policy-evolution":
            name, candidate = "random", starter_candidate(tasks.info)
        else:
            name, candidate = "initial", initial_candidate(cell, tasks.info)
        async with self._gate:
            found = await self._scored(tasks, candidate)
        return Reference(candidate, _scores(found), name)

    async def of_base(self, tasks: Taskset, cell: Cell, grading: RunGrading | None = None) -> tuple[Base, Reference]:
        """Return the base model of a run of post-training, and its scores on the graded view and on held-out.

        Scores are those of what grades the run: of another engine, version or device none are recalled.
        """
        async with self._gate:
            base = await base_of(cell, self._places)
            graded = await self._scored(tasks, base.candidate, "train", cell.config.budget.train_cases, grading=grading)
            heldout = await self._scored(tasks, base.candidate, grading=grading)
        compared = {"graded": comparisons_of(graded), "heldout": comparisons_of(heldout)}
        return base, Reference(base.candidate, _scores(heldout), "base", graded=_scores(graded), comparisons=compared)

    async def _scored(
        self,
        tasks: Taskset,
        candidate: Candidate,
        split: str = "heldout",
        asked: int | None = None,
        *,
        grading: RunGrading | None = None,
    ) -> Mapping[str, Any]:
        count, info = self._config.views.heldout if asked is None else asked, tasks.info
        commitment = self._sealed.commitment([tasks], {split: count})
        key = digest_json(
            [info.name, info.version, count, commitment, candidate.digest, *([grading.about] if grading else [])]
        )
        if key not in self._known:
            attempter = Attempter(grading or self._runner, self._config.limits.limits())
            view = View(split, self._sealed.tasks(tasks, split, count))
            found = require(
                await score_candidate(attempter, info, view, candidate), f"{split} attempts of the run's reference"
            )
            listed = [score_to_json(s) for s in found.scores]
            self._known[key] = {"scores": listed, **listed_comparisons(found.comparisons)}
            write_atomic(self._path, json.dumps(self._known).encode())
        return self._known[key]


def _scores(found: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(math.nan if score is None else score for score in found["scores"])
