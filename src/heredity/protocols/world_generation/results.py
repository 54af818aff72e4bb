"""Result types of world generation: builds, gates, repairs, and the yield of a suite (AutoEnv, table 2)."""

from __future__ import annotations

from heredity.results.base import Interval, Result


class FindingRow(Result):
    """A fault found by a gate; `count` is the number of occurrences."""

    gate: str
    kind: str
    message: str
    count: int


class BuildRow(Result):
    """A build: the number of visible gates it passed, and the findings.

    Attributes:
        index: number of the build, from 1.
        status: `ok`, or why the build failed.
        changed: files that differ from the previous build.
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
        """Kinds of its findings."""
        return [finding.kind for finding in self.findings]


class StageRow(Result):
    """A file of the selected world: its digest, and the number of built versions."""

    file: str
    digest: str
    versions: int


class RepairRow(Result):
    """A fault of a build: `mended` if the selected world lacks it; `builds` lists the builds that had it."""

    gate: str
    kind: str
    builds: int
    mended: bool


class GenerationRun(Result):
    """The outcome of a theme.

    Attributes:
        source: origin of the theme, `given` or `proposed`; `reviewed`: empty, `model` or `person`.
        gates: all gates on the selected world; empty until it is judged, or if none was built.
        admitted: None until it is judged.
        first_failed: the first gate that rejected it; empty if none did.
        tokens: tokens of the author's model; None if unknown, like `cost_usd`.
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
    """`hits` of `of`, with the interval of the share (Wilson, 95%); None if `of` is 0 or nothing is ranked."""

    hits: int
    of: int
    interval: Interval | None


class YieldRow(Result):
    """A row of table 2: themes that passed each phase, among those that passed the previous phases.

    Attributes:
        group: the group of themes.
        execution: built, described and executed.
        levels: distinct, solvable, with valid upper bounds.
        reliability: rewards are sound and tell players apart.
        novel: not a copy from the library, and hides the variables it declares hidden; the paper lacks this phase.
        overall: admitted among all themes.
        cost_usd: mean US dollars per theme; None if unknown.
        builds: mean builds per theme.
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
    """A kind of fault: the number of worlds whose builds had it, that fixed it, and that ended with it at the gates."""

    gate: str
    kind: str
    worlds: int
    builds: int
    mended: int
    at_the_end: int


class GenerationSuite(Result):
    """The yield of a suite.

    Attributes:
        authors: a row per author, and one for all if there are several.
        sources: a row per source of themes.
        faults: kinds of faults, most worlds first.
    """

    authors: list[YieldRow]
    sources: list[YieldRow]
    faults: list[FaultRow]
