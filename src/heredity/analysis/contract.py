"""A protocol's contribution to results: its typed part, and its answers to the shared analysis.

    class Metrics(CommonMetrics):
        run_part = MyRun
        reference = "starting point"

        def of_run(self, evidence: RunEvidence) -> MyRun:
            return MyRun(rounds=sum(event["kind"] == "my.round" for event in evidence.events))

A protocol without specific figures uses `CommonMetrics` unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from heredity._core.errors import RecordError
from heredity.analysis.run_record import RunRecord, read_run
from heredity.analysis.suite_table import TasksetScores
from heredity.resources import Candidate
from heredity.results.base import Result
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


class Metrics(Protocol):
    """A protocol's contribution to its results."""

    @property
    def run_part(self) -> type[Result] | None:
        """Type of the protocol's part of a run's results; None without one."""

    @property
    def suite_part(self) -> type[Result] | None:
        """Type of the protocol's part of a suite's results; None without one."""

    @property
    def reference(self) -> str:
        """Name of the reference that every run is compared with, such as `"random policy"`."""
        ...

    @property
    def returns(self) -> bool:
        """True if scores are unbounded returns, even if all happen to lie between 0 and 1.

        Other scores that all lie there count as shares, and their intervals are clipped to that range.
        """
        ...

    def keeps_reference(self, evidence: RunEvidence) -> bool:
        """Return True if a run that selected nothing chose to keep the reference; it then has the reference's held-out scores."""
        ...

    def of_run(self, evidence: RunEvidence) -> Result | None:
        """Return the protocol's part of a run's results; None if the run has none yet."""
        ...

    def of_suite(self, evidence: SuiteEvidence) -> Result | None:
        """Return the protocol's part of a suite's results; None if its runs have none."""
        ...

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return settings other than the evolver's options that distinguish runs of one evolver: name to JSON value."""
        ...


MetricsOf = Callable[[str | None], Metrics]
"""Returns the metrics of a protocol by its name in the journal's `run.started`."""


@dataclass(frozen=True)
class CommonMetrics:
    """Results without a protocol-specific part; see `Metrics` for the attributes."""

    run_part: type[Result] | None = None
    suite_part: type[Result] | None = None
    reference: str = "starting point"
    returns: bool = False

    def keeps_reference(self, evidence: RunEvidence) -> bool:
        """Return False: a run that selects nothing has no result."""
        return False

    def of_run(self, evidence: RunEvidence) -> Result | None:
        """Return None: nothing is added."""
        return None

    def of_suite(self, evidence: SuiteEvidence) -> Result | None:
        """Return None: nothing is added."""
        return None

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return nothing: options distinguish runs."""
        return {}
