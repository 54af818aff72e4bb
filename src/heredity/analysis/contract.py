"""What a protocol says about its results: its typed part of them, and what the shared analysis asks about scores.

    class Metrics(CommonMetrics):
        run_part = MyRun
        reference = "starting point"

        def of_run(self, evidence: RunEvidence) -> MyRun:
            return MyRun(rounds=sum(event["kind"] == "my.round" for event in evidence.events))

A protocol that has no figures of its own is a `CommonMetrics` as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.results.base import Result
from heredity.results.run import RunResults


class Metrics(Protocol):
    """What a protocol says about its results."""

    @property
    def run_part(self) -> type[Result] | None:
        """Type of the protocol's part of a run's results; None without one."""

    @property
    def suite_part(self) -> type[Result] | None:
        """Type of the protocol's part of a suite's results; None without one."""

    @property
    def reference(self) -> str:
        """What the reference is called that every run is compared with, such as `"random policy"`."""
        ...

    @property
    def returns(self) -> bool:
        """Whether scores are returns, which may be anything, also where all happen to lie between 0 and 1.

        Other scores that all do are taken for shares, and no interval leaves that range.
        """
        ...

    def keeps_reference(self, evidence: RunEvidence) -> bool:
        """Return whether a run that selected nothing chose to leave the reference, whose held-out scores are its own then."""
        ...

    def of_run(self, evidence: RunEvidence) -> Result | None:
        """Return the protocol's part of a run's results; None if the run has none yet."""
        ...

    def of_suite(self, evidence: SuiteEvidence) -> Result | None:
        """Return the protocol's part of a suite's results; None if its runs have none."""
        ...

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return what tells a run from another of the same evolver, beside the evolver's options: name to JSON value."""
        ...


MetricsOf = Callable[[str | None], Metrics]
"""Name of a protocol, as in the journal's `run.started`, to what it says about its results."""


@dataclass(frozen=True)
class CommonMetrics:
    """Results without a part of their own; see `Metrics` for the attributes."""

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
        """Return nothing: options tell runs apart."""
        return {}
