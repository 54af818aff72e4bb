"""What post-training has to say on pages: how scores went, by which code, what failed, and whether the mode was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.protocols.post_training.results import TrainingRunResults
from heredity.protocols.post_training.run_sections import run_sections
from heredity.protocols.post_training.suite_results import TrainingSuiteResults
from heredity.protocols.post_training.suite_sections import suite_sections
from heredity.results.page import Section
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import Words

WORDS = Words(
    score="score",
    rollout="graded answer",
    taskset="task",
    product="checkpoint",
    products="checkpoints",
    case="hidden item",
    subject="checkpoint",
    reference="base model",
    mark="base",
    reference_id="base",
    foot="The held-out gain is the result. The graded view was fed back and chose the checkpoint, so its best score flatters.",
)


@dataclass(frozen=True)
class TrainingReport:
    """The report of post-training; a run also has reports/summary.md and .jsonl, and a suite results.csv."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        return run_sections(run, run.part) if isinstance(run.part, TrainingRunResults) else []

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        return suite_sections(suite, suite.part, runs) if isinstance(suite.part, TrainingSuiteResults) else []


REPORT = TrainingReport()
