"""Inputs of results: a run's journal and blobs, and the results of a suite's runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heredity._core.errors import RecordError
from heredity.analysis.run_record import RunRecord, read_run
from heredity.analysis.suite_table import TasksetScores
from heredity.resources import Candidate
from heredity.results.run import RunResults

LoadCandidate = Callable[[str], Candidate]
LoadBlob = Callable[[str], bytes]


def no_blob(digest: str) -> bytes:
    """Raise: the blobs of the run are unavailable.

    Raises:
        RecordError: always.
    """
    raise RecordError(f"blob {digest}: no blobs were given")


@dataclass(frozen=True)
class RunEvidence:
    """Evidence about a run.

    Attributes:
        events: the journal's lines as mappings, in order.
        load_candidate: digest of a candidate to the candidate; raises `RecordError` or `KeyError` if it is gone.
        load_blob: digest of a blob to its bytes, with the same errors.
    """

    events: Sequence[Mapping[str, Any]]
    load_candidate: LoadCandidate
    load_blob: LoadBlob = no_blob

    @classmethod
    def of(
        cls, events: Iterable[Mapping[str, Any]], load_candidate: LoadCandidate, load_blob: LoadBlob = no_blob
    ) -> RunEvidence:
        """Return the evidence of a journal that can be read only once."""
        return cls(list(events), load_candidate, load_blob)

    @cached_property
    def record(self) -> RunRecord:
        """The journal, read."""
        return read_run(self.events)


@dataclass(frozen=True)
class SuiteEvidence:
    """Evidence about a suite.

    Attributes:
        runs: the results of its runs, including unfinished ones.
        labels: the evolver of each run, with options and settings added if one name occurs with several.
        tasksets: the held-out scores of each taskset, by those labels.
        ranked: whether evolvers may be compared; if not, its part has no intervals, tests, verdicts or best entries.
    """

    runs: Sequence[RunResults]
    labels: Sequence[str]
    tasksets: Sequence[TasksetScores]
    ranked: bool = True
