"""What every run of a suite is compared with, scored once for each taskset and kept in the suite's folder."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path

from heredity.evolution.starter import starter_candidate
from heredity.experiments.config import SCHEDULED, Cell, Config
from heredity.experiments.evolvers import initial_candidate
from heredity.ids import digest_json
from heredity.judging import Sealed
from heredity.judging.attempts import Attempter
from heredity.judging.bench import Reference
from heredity.judging.session_log import score_to_json
from heredity.judging.views import View, score_candidate
from heredity.records.run_folder import write_atomic
from heredity.resources import Candidate
from heredity.rollouts.contract import Runner
from heredity.tasks import Taskset

_REFERENCES = "references.json"


class References:
    """Held-out scores of what runs are compared with: of the random policy, or of the candidate that a run began with."""

    def __init__(self, folder: Path, sealed: Sealed, config: Config, runner: Runner) -> None:
        self._path, self._sealed, self._config, self._runner = folder / _REFERENCES, sealed, config, runner
        self._gate = asyncio.Lock()
        self._known: dict[str, list[float | None]] = json.loads(self._path.read_bytes()) if self._path.exists() else {}

    async def of(self, tasks: Taskset, cell: Cell) -> Reference | None:
        """Return the reference of a run on its taskset's held-out cases; None where a run's first snapshot is it."""
        if cell.config.run.protocol == SCHEDULED:
            return None
        if cell.config.run.protocol == "policy-evolution":
            name, candidate = "random", starter_candidate(tasks.info)
        else:
            name, candidate = "initial", initial_candidate(cell, tasks.info)
        async with self._gate:
            scores = await self._scores(tasks, candidate)
        return Reference(candidate, tuple(math.nan if s is None else s for s in scores), name)

    async def _scores(self, tasks: Taskset, candidate: Candidate) -> list[float | None]:
        count, info = self._config.views.heldout, tasks.info
        commitment = self._sealed.commitment([tasks], {"heldout": count})
        key = digest_json([info.name, info.version, count, commitment, candidate.digest])
        if key not in self._known:
            attempter = Attempter(self._runner, self._config.limits.limits())
            view = View("heldout", self._sealed.tasks(tasks, "heldout", count))
            found = await score_candidate(attempter, info, view, candidate)
            self._known[key] = [score_to_json(s) for s in found.scores]
            write_atomic(self._path, json.dumps(self._known).encode())
        return self._known[key]
