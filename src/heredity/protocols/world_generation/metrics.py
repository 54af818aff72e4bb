"""Results of world generation: findings in builds, gate results, and the yield over themes (AutoEnv, table 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RecordError
from heredity._core.ids import digest_bytes
from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.analysis.run_record import Submission
from heredity.analysis.samples import wilson
from heredity.analysis.usage import best_known
from heredity.engine.trajectory import decode_many
from heredity.kinds.world.gates.build import ALL
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.protocols.world_generation.judge import GATES_EXECUTED, RECORD, GatesExecuted, reports_of
from heredity.records.events import RUN_FINISHED, RUN_STARTED
from heredity.results.base import Interval, Result
from heredity.results.run import RunResults


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
        tokens: tokens of the author's model (None if unknown), like `cost_usd`.
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


PHASES: Mapping[str, Sequence[str]] = {
    "execution": ("build", "format", "execution"),
    "levels": ("levels",),
    "reliability": ("reward", "reliability"),
    "novel": ("novelty", "leak"),
}
"""The phases of the paper's table, and one that it lacks, with their gates."""

Found = Callable[[GenerationRun], bool]


@dataclass(frozen=True)
class GenerationMetrics(CommonMetrics):
    """Metrics of world generation."""

    run_part: type[Result] | None = GenerationRun
    suite_part: type[Result] | None = GenerationSuite
    reference: str = "nothing"

    def of_run(self, evidence: RunEvidence) -> GenerationRun | None:
        """Return the results of a theme so far."""
        started = RUN_STARTED.first(evidence.events)
        about: Mapping[str, Any] | None = None if started is None else dict(started).get(RECORD)  # type: ignore[assignment]
        if about is None:
            return None
        builds = _builds(evidence, len(about["gates"]))
        gates = _gates(list(GATES_EXECUTED.all(evidence.events)))
        finished = RUN_FINISHED.first(evidence.events) is not None
        chosen = evidence.record.selected
        return GenerationRun(
            world=about["world"],
            theme=about["theme"],
            source=about["source"],
            reviewed=_reviewed(about["reviewed"], evidence),
            builds=builds,
            repairs=_repairs(builds),
            stages=_stages(evidence, None if chosen is None else chosen["candidate"]),
            gates=gates,
            admitted=(bool(gates) and all(gate.passed for gate in gates)) if finished else None,
            first_failed=next((gate.gate for gate in gates if not gate.passed), "" if gates else ALL[0]),
            **_used(evidence),
        )

    def of_suite(self, evidence: SuiteEvidence) -> GenerationSuite | None:
        """Return the yield; unfinished runs are left out."""
        pairs = [
            (label, run.part)
            for label, run in zip(evidence.labels, evidence.runs, strict=True)
            if isinstance(run.part, GenerationRun) and run.part.admitted is not None
        ]
        if not pairs:
            return None
        parts = [part for _, part in pairs]
        labels = list(dict.fromkeys(label for label, _ in pairs))
        rows = [_yield(label, [part for own, part in pairs if own == label], evidence.ranked) for label in labels]
        together = [_yield("all authors", parts, evidence.ranked)] if len(labels) > 1 else []
        sources = list(dict.fromkeys(map(_source, parts)))
        return GenerationSuite(
            authors=[*rows, *together],
            sources=[_yield(name, [p for p in parts if _source(p) == name], evidence.ranked) for name in sources],
            faults=_faults(parts),
        )


def _builds(evidence: RunEvidence, gates: int) -> list[BuildRow]:
    rows: list[BuildRow] = []
    before: Mapping[str, bytes] = {}
    for submission in evidence.record.submissions.values():
        if submission.completion is None:
            continue
        files = _files(evidence, submission.candidate)
        changed = sorted(path for path in {*files, *before} if files.get(path) != before.get(path))
        findings, passed = _count_shown(evidence, submission)
        status = submission.outcomes[0]["status"] if submission.outcomes else str(submission.status)
        rows.append(
            BuildRow(
                index=len(rows) + 1,
                candidate=submission.candidate,
                status=status,
                passed=passed,
                gates=gates,
                findings=findings,
                changed=changed,
            )
        )
        before = files
    return rows


def _count_shown(evidence: RunEvidence, submission: Submission) -> tuple[list[FindingRow], int]:
    assert submission.completion is not None
    blob = submission.completion["blob"]
    try:
        trajectories = decode_many(evidence.load_blob(blob)) if blob else []
    except RecordError:
        return [], 0
    reports = [report for trajectory in trajectories for report in reports_of(trajectory)]
    return [row for report in reports for row in _rows(report)], sum(bool(report["passed"]) for report in reports)


def _rows(report: Mapping[str, Any]) -> list[FindingRow]:
    return [
        FindingRow(gate=report["gate"], kind=one["kind"], message=one["message"], count=one["count"])
        for one in report["findings"]
    ]


def _files(evidence: RunEvidence, digest: str) -> Mapping[str, bytes]:
    try:
        return evidence.load_candidate(digest).agent
    except (RecordError, KeyError):
        return {}


def _repairs(builds: Sequence[BuildRow]) -> list[RepairRow]:
    """Return the faults found in builds, in order of first occurrence."""
    seen = dict.fromkeys((finding.gate, finding.kind) for build in builds for finding in build.findings)
    last = {(finding.gate, finding.kind) for finding in builds[-1].findings} if builds else set[tuple[str, str]]()
    # Without a world no other gate runs, so no fault counts as fixed.
    blind = any(gate == ALL[0] for gate, _ in last)
    return [
        RepairRow(
            gate=gate,
            kind=kind,
            builds=sum(any((f.gate, f.kind) == (gate, kind) for f in build.findings) for build in builds),
            mended=(gate, kind) not in last and not blind,
        )
        for gate, kind in seen
    ]


def _gates(executed: Sequence[GatesExecuted]) -> list[GateRow]:
    """Return the gates' results over all seeds; a build that ended before it was a world failed the first gate."""
    reports = [report for data in executed for report in data["reports"]]
    ended = [_ended(data["status"]) for data in executed if not data["reports"]]
    rows: list[GateRow] = []
    for gate in ALL:
        own = [report for report in reports if report["gate"] == gate]
        findings = [*(ended if gate == ALL[0] else ()), *(row for report in own for row in _rows(report))]
        if own or findings:
            passed = not findings and all(report["passed"] for report in own)
            rows.append(GateRow(gate=gate, passed=passed, findings=list({row.kind: row for row in findings}.values())))
    return rows


def _ended(status: str) -> FindingRow:
    return FindingRow(gate=ALL[0], kind=status, message="the build was ended before it was a world", count=1)


def _stages(evidence: RunEvidence, digest: str | None) -> list[StageRow]:
    if digest is None:
        return []
    built = [_files(evidence, submission.candidate) for submission in evidence.record.submissions.values()]
    return [
        StageRow(file=path, digest=digest_bytes(data), versions=len({files[path] for files in built if path in files}))
        for path, data in _files(evidence, digest).items()
    ]


def _reviewed(of_theme: str, evidence: RunEvidence) -> str:
    """Return who made the theme precise; the author's review counts as a model's."""
    started = RUN_STARTED.first(evidence.events)
    options = (started["evolver"].get("options") or {}) if started else {}
    return of_theme or ("model" if options.get("review") else "")


def _used(evidence: RunEvidence) -> dict[str, Any]:
    """Return the usage of the author's model: a method's calls, or the known usage of an outside agent."""
    if not evidence.record.calls:
        best = best_known(evidence.record.usage)
        return {"tokens": best.tokens, "cost_usd": best.cost_usd}
    used = sum((Usage(**call["usage"]) for call in evidence.record.calls if call["usage"]), NOTHING_USED)
    return {"tokens": used.tokens, "cost_usd": used.cost_usd}


def _source(part: GenerationRun) -> str:
    reviewed = {"": "automatic", "model": "reviewed by a model", "person": "reviewed by a person"}[part.reviewed]
    return f"{part.source}, {reviewed}"


def _yield(group: str, parts: Sequence[GenerationRun], ranked: bool) -> YieldRow:
    shares: dict[str, Share] = {}
    left = list(parts)
    for phase, gates in PHASES.items():
        passed = [part for part in left if _passed(part, gates)]
        shares[phase] = _share(len(passed), len(left), ranked)
        left = passed
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    return YieldRow(
        group=group,
        **shares,
        overall=_share(sum(bool(part.admitted) for part in parts), len(parts), ranked),
        cost_usd=sum(costs) / len(costs) if len(costs) == len(parts) else None,
        builds=sum(len(part.builds) for part in parts) / len(parts),
    )


def _passed(part: GenerationRun, gates: Sequence[str]) -> bool:
    """Return True if all of the given gates were executed and passed."""
    by_name = {row.gate: row.passed for row in part.gates}
    return all(by_name.get(gate, False) for gate in gates)


def _share(hits: int, of: int, ranked: bool) -> Share:
    return Share(hits=hits, of=of, interval=wilson(hits, of) if ranked and of else None)


def _faults(parts: Sequence[GenerationRun]) -> list[FaultRow]:
    """Return the faults, where they were found, and their outcomes."""
    at_the_end = [{(gate.gate, kind) for gate in part.gates for kind in gate.kinds} for part in parts]
    shown = [{(row.gate, row.kind): row for row in part.repairs} for part in parts]
    kinds = dict.fromkeys(key for own in (*shown, *at_the_end) for key in own)
    rows = [
        FaultRow(
            gate=gate,
            kind=kind,
            worlds=sum((gate, kind) in one or (gate, kind) in end for one, end in zip(shown, at_the_end, strict=True)),
            builds=sum(one[gate, kind].builds for one in shown if (gate, kind) in one),
            mended=sum(
                (gate, kind) in one and one[gate, kind].mended and (gate, kind) not in end
                for one, end in zip(shown, at_the_end, strict=True)
            ),
            at_the_end=sum((gate, kind) in end for end in at_the_end),
        )
        for gate, kind in kinds
    ]
    return sorted(rows, key=lambda row: (-row.worlds, ALL.index(row.gate) if row.gate in ALL else len(ALL), row.kind))


METRICS = GenerationMetrics()


def runs_of(runs: Sequence[RunResults]) -> list[tuple[RunResults, GenerationRun]]:
    """Return the runs with results of this protocol, and these results."""
    return [(run, run.part) for run in runs if isinstance(run.part, GenerationRun)]
