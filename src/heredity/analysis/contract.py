"""A protocol's contribution to results: its typed part, and its answers to the shared analysis.

    class Metrics(CommonMetrics):
        run_part = MyRun
        reference = "starting point"

        def of_run(self, evidence: RunEvidence) -> MyRun:
            return MyRun(rounds=sum(event["kind"] == "my.round" for event in evidence.events))

A protocol without specific figures uses `CommonMetrics` unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.results.base import Result
from heredity.results.run import RunResults


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
