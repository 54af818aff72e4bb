"""What every run of a suite is compared with, scored once for each taskset and kept in the suite's folder."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.ids import digest_json
from heredity.judging.bench import require
from heredity.judging.cases import HiddenCases
from heredity.judging.rollouts import Comparison, Rollouts, comparisons_of, listed_comparisons
from heredity.judging.session_log import score_to_json
from heredity.judging.views import View, score_candidate
from heredity.records.run_folder import write_atomic
from heredity.resources import Candidate
from heredity.rollouts.contract import Runner
from heredity.sandbox.limits import Limits
from heredity.tasks import Taskset


@dataclass(frozen=True, slots=True)
class ReferenceScores:
    """How a reference did on hidden tasks.

    Attributes:
        scores: one for each task; NaN where missing.
        comparisons: what was found of each answer, where answers are compared with others.
    """

    scores: tuple[float, ...]
    comparisons: Sequence[Comparison | None] = ()


class References:
    """Scores of what runs are compared with, such as the random policy, or the candidate that a run began with.

    Attributes:
        gate: is held while something is scored; whoever has to make a reference first holds it too.
    """

    def __init__(self, path: Path, hidden_cases: HiddenCases, runner: Runner, limits: Limits) -> None:
        """Recall what was scored before.

        Args:
            path: the file of the scores.
            hidden_cases: the suite's secret.
            runner: attempts tasks.
            limits: what one rollout may use.
        """
        self._path, self._hidden_cases, self._runner, self._limits = path, hidden_cases, runner, limits
        self.gate = asyncio.Lock()
        self._recorded: dict[str, dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else {}

    async def scores(
        self,
        taskset: Taskset,
        candidate: Candidate,
        count: int,
        *,
        split: str = "heldout",
        runner: Runner | None = None,
        under: Mapping[str, Any] | None = None,
    ) -> ReferenceScores:
        """Return the scores of a candidate on the first hidden tasks of a split, recalled or attempted.

        Args:
            taskset: where tasks come from.
            candidate: what is scored.
            count: how many tasks.
            split: of the taskset.
            runner: attempts them instead of the suite's own.
            under: what else scores hang on, as JSON values; those of other conditions are not recalled.

        Raises:
            HostError: if not one rollout could be made.
        """
        async with self.gate:
            recorded = await self._scored(taskset, candidate, {split: count}, runner or self._runner, under)
        scores = tuple(math.nan if score is None else score for score in recorded["scores"])
        return ReferenceScores(scores, comparisons_of(recorded))

    async def _scored(
        self,
        taskset: Taskset,
        candidate: Candidate,
        counts: Mapping[str, int],
        runner: Runner,
        under: Mapping[str, Any] | None,
    ) -> Mapping[str, Any]:
        ((split, count),) = counts.items()
        info, commitment = taskset.info, self._hidden_cases.commitment([taskset], counts)
        key = digest_json(
            [info.name, info.version, count, commitment, candidate.digest, *([dict(under)] if under else [])]
        )
        if key not in self._recorded:
            rollouts = Rollouts(runner, self._limits)
            view = View(split, self._hidden_cases.tasks(taskset, split, count))
            result = require(
                await score_candidate(rollouts, info, view, candidate), f"{split} rollouts of the run's reference"
            )
            listed = [score_to_json(score) for score in result.scores]
            self._recorded[key] = {"scores": listed, **listed_comparisons(result.comparisons)}
            write_atomic(self._path, json.dumps(self._recorded).encode())
        return self._recorded[key]
