"""The typed part of world generation in results: builds, gates, repairs, and the yield of a suite (AutoEnv, table 2)."""

from __future__ import annotations

from heredity.results.base import Interval, Result


class FindingRow(Result):
    """A fault that a gate found; `count` is how often it was seen."""

    gate: str
    kind: str
    message: str
    count: int


class BuildRow(Result):
    """A build: how many of the gates that were shown it passed, and what was found.

    Attributes:
        index: counts from 1.
        status: `ok`, or why there is no answer.
        changed: files that differ from the build before.
    """

    index: int
    candidate: str
    status: str
    passed: int
    gates: int
    findings: list[FindingRow]
    changed: list[str]


class GateRow(Result):
    """A gate on the selected world, from all hidden seeds; `findings` has each kind once."""

    gate: str
    passed: bool
    findings: list[FindingRow]

    @property
    def kinds(self) -> list[str]:
        """The kinds of its findings."""
        return [finding.kind for finding in self.findings]


class StageRow(Result):
    """A file of the selected world: its digest, and how many versions of it were built."""

    file: str
    digest: str
    versions: int


class RepairRow(Result):
    """A fault of one build: `mended` if the selected world's last build does not have it, in `builds` it was seen."""

    gate: str
    kind: str
    builds: int
    mended: bool


class GenerationRun(Result):
    """What came of a theme.

    Attributes:
        source: who named the theme, `given` or `proposed`; `reviewed` by nobody, a `model` or a `person`.
        gates: all gates on the selected world; empty while it is not judged, or nothing was built.
        admitted: None while it is not judged.
        first_failed: the first gate that rejected it; empty if none did.
        tokens: of the author's model; None where unknown, as `cost_usd`.
    """

    world: str
    theme: str
    source: str
    reviewed: str
    builds: list[BuildRow]
    repairs: list[RepairRow]
    stages: list[StageRow]
    gates: list[GateRow]
    admitted: bool | None
    first_failed: str
    tokens: int | None
    cost_usd: float | None


class Share(Result):
    """`hits` of `of`, with the interval of the share (Wilson, 95%); None of nothing, and where nothing is ranked."""

    hits: int
    of: int
    interval: Interval | None


class YieldRow(Result):
    """A row of table 2: themes that passed, each phase among those that passed the phases before.

    Attributes:
        group: what the row is of.
        execution: built, described and executed.
        levels: distinct, solvable, with bounds that hold.
        reliability: rewards are sound, and tell players apart.
        novel: no copy of the library, and hides what it says it hides; the paper has no such phase.
        overall: admitted among all themes.
        cost_usd: mean US dollars a theme; None where unknown.
        builds: mean builds a theme.
    """

    group: str
    execution: Share
    levels: Share
    reliability: Share
    novel: Share
    overall: Share
    cost_usd: float | None
    builds: float | None


class FaultRow(Result):
    """A kind of fault: in how many worlds builds showed it, how many of these mended it, how many ended with it at the gates."""

    gate: str
    kind: str
    worlds: int
    builds: int
    mended: int
    at_the_end: int


class GenerationSuite(Result):
    """The yield of a suite.

    Attributes:
        authors: a row for each author, and for all together where there are several.
        sources: a row for each source of themes.
        faults: kinds of faults, most worlds first.
    """

    authors: list[YieldRow]
    sources: list[YieldRow]
    faults: list[FaultRow]
