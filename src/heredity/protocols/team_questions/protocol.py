"""Teams on tasksets of questions: a team answers each in a separate folder, and its record is examined (Autogenesis)."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from heredity._core.bounds import Cases, CountOrZero, Parallel
from heredity._core.errors import ConfigError
from heredity._core.plugins import located
from heredity.analysis.calibration import calibration_error
from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.analysis.paired import compare_paired
from heredity.analysis.samples import GAP, SHARE, Clusters, Floats, wilson
from heredity.analysis.statistics import evolver_mean
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import (
    EVERY_KEY,
    BudgetSection,
    EvolverSection,
    LimitsSection,
    Locate,
    Section,
    SolverSection,
    ViewsSection,
)
from heredity.engine.questions.pools import SITES
from heredity.models.contract import NOTHING_USED, Usage
from heredity.models.settings import Role
from heredity.protocols.contract import Evolver, Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.protocols.team_questions.judge import (
    EVENTS,
    MISSING,
    PRACTICE,
    TEAM_ANSWERED,
    TEAM_PRACTISED,
    UNSCORED,
    TeamBench,
    TeamEvolved,
    judge,
)
from heredity.protocols.team_questions.report import REPORT
from heredity.protocols.team_questions.results import (
    CheckRow,
    CourseRow,
    EditRow,
    EvolutionPart,
    GainRow,
    LevelRow,
    QuestionRow,
    TeamRun,
    TeamSuite,
)
from heredity.records import Event
from heredity.resources import Store
from heredity.resources.assembly import part_of
from heredity.results.base import Result
from heredity.results.run import RunResults, RunStatus
from heredity.sandbox.browser_bubblewrap import find_browser
from heredity.session.session import Session
from heredity.session.views import ViewPlan, check_sizes
from heredity.team.settings import TeamSettings, load_team

if TYPE_CHECKING:
    from heredity.configuration.config import Config


class TeamQuestionsSection(Section):
    """`[team]`: the team that answers.

    Attributes:
        file: path of a team.toml; `package:path` for one in an installed package.
        concurrent: number of questions worked on at once; 1 if the team evolves across them.
        evolution: overrides the file's `evolution.mode`; vary it in a matrix to compare runs with and without evolution.
        practice: number of train questions, with answers, that a team evolving across questions works on first: those it
            solves become its canaries. It never learns the answers of judged questions.
        evolves: ids of questions whose record must show a commit and a refusal if the team evolves, and across questions a
            rollback; for tests with programs in place of models.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("concurrent", "evolution", "practice", "evolves")
    varied: ClassVar[bool] = True
    labelled: ClassVar[bool] = True
    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"file": located})

    file: Annotated[str, Field(min_length=1)]
    concurrent: Parallel = 2
    evolution: Literal["", "none", "within", "across"] = ""
    practice: CountOrZero = 0
    evolves: list[str] = Field(default_factory=list[str])

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of evolution for a team that does not evolve."""
        if self.evolution in ("", "across"):  # Empty leaves it to the file.
            return {}
        idle = {"practice": "only a team that evolves across questions practises; set team.evolution"}
        if self.evolution == "none":
            idle["evolves"] = "the team does not evolve; set team.evolution"
        return idle

    def agree(self, config: Config) -> None:
        """Reject tools that no agent would get, and evolvers that would do nothing."""
        if config.evolver.outside:
            raise ValueError(
                f"evolver: a team answers, and {config.evolver.label!r} would never be started; name it as an agent in "
                f"{self.file}, with launcher, and leave evolver out"
            )
        if config.solver.tools:
            raise ValueError(f"solver.tools has no effect: {self.file} sets the tools of each agent; remove it")


class TeamBudgetSection(BudgetSection):
    """`[budget]`: unused; a team is judged as it stands."""

    train_cases: Cases = 1

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        why = "a team is judged as it stands; bound its models with gateway.max_cost_usd or gateway.max_tokens"
        return dict.fromkeys(type(self).model_fields, why)


class TeamEvolverSection(EvolverSection):
    """`[evolver]`: its name in reports."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of methods too."""
        why = "a team answers by itself: its agents and their prompts are in its file"
        return {**super().idle(config), "initial": why, "options": why}


class TeamSolverSection(SolverSection):
    """`[solver]`: unused; the team's file sets turns and seconds of each agent."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        return dict.fromkeys(type(self).model_fields, "the team's file sets turns and seconds of each agent")


class TeamLimitsSection(LimitsSection):
    """`[limits]`: unused; the team's file limits its tasks and steps."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        return dict.fromkeys(type(self).model_fields, "the team's file limits its tasks and steps (team.seconds)")


class TeamViewsSection(ViewsSection):
    """`[views]`: number of questions.

    Attributes:
        heldout: number of questions, the first in drawing order.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 60

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "every question is held out; set views.heldout"}


NONE = "none"
_MODEL = "gateway.execution"
_ORDER = (NONE, "within", "across")


@dataclass(frozen=True, slots=True)
class _Arm:
    """Runs that differ only in their seeds: for each, the questions by id, and whether its evolution failed."""

    mode: str
    runs: Mapping[int | None, Mapping[str, QuestionRow]]
    failed: Sequence[bool] = (False,)


def gains(runs: Sequence[RunResults], *, ranked: bool = True) -> list[GainRow]:
    """Return a row per mode of evolution and level, with all levels together last.

    Args:
        runs: the runs of a suite.
        ranked: True to compute intervals and tests.
    """
    rows: list[GainRow] = []
    for (taskset, _), arms in _grouped(runs).items():
        plain = arms.get(NONE)
        for mode in sorted(arms, key=_ORDER.index):
            arm = arms[mode]
            levels = sorted({row.level for questions in arm.runs.values() for row in questions.values()})
            model = next(str(r.conditions.get(_MODEL, "")) for r in runs if r.taskset == taskset)
            for level in [*levels, 0] if len(levels) > 1 else levels:
                row = _row(arm, plain if mode != NONE else None, level, ranked=ranked)
                rows += [row.model_copy(update={"taskset": taskset, "model": model})] if row else []
    return rows


def _grouped(runs: Sequence[RunResults]) -> dict[tuple[str, str], dict[str, _Arm]]:
    """Group runs that differ only in their evolution and their seeds."""
    groups: dict[tuple[str, str], dict[str, dict[int | None, Mapping[str, QuestionRow]]]] = {}
    failed: dict[tuple[str, str, str], list[bool]] = {}
    for run in runs:
        if isinstance(run.part, TeamRun):
            mode = run.part.evolution.mode if run.part.evolution else NONE
            arms = groups.setdefault((run.taskset or "", repr(sorted(run.conditions.items()))), {})
            arms.setdefault(mode, {})[run.seed] = {row.id: row for row in run.part.questions}
            key = (run.taskset or "", repr(sorted(run.conditions.items())), mode)
            failed.setdefault(key, []).append(run.status is RunStatus.FAILED)
    return {
        key: {mode: _Arm(mode, own, failed[(*key, mode)]) for mode, own in arms.items()} for key, arms in groups.items()
    }


def _row(arm: _Arm, plain: _Arm | None, level: int, *, ranked: bool) -> GainRow | None:
    asked = {name: row for own in arm.runs.values() for name, row in own.items() if level in (0, row.level)}
    names = sorted(asked)
    clusters: Clusters = [asked[name].cluster or None for name in names]
    table = _table(arm, list(arm.runs), names)
    if not np.isfinite(table).any():
        return None
    failed = all(arm.failed)
    estimate = evolver_mean([table], SHARE, [clusters]) if ranked else None
    seeds = [seed for seed in arm.runs if plain is not None and seed in plain.runs]
    before = _table(plain, seeds, names) if plain is not None and seeds and not failed else None
    after = _table(arm, seeds, names)
    compared = (
        None
        if before is None
        else compare_paired([after - before], bounds=GAP, sides=[(after, before)], clusters=[clusters])
    )
    share = float(np.nanmean(before)) if before is not None and np.isfinite(before).any() else 0.0
    return GainRow(
        taskset="",
        model="",
        mode=arm.mode,
        level=level,
        runs=len(arm.runs),
        questions=len(names),
        share=float(np.nanmean(table)),
        ci=estimate[0].interval if estimate else None,
        gain=compared.difference if compared else None,
        gain_ci=compared.interval if compared and ranked else None,
        p=compared.p if compared and ranked else None,
        percent=100.0 * compared.difference / share if compared and share > 0.0 else None,
        failed=failed,
    )


def _table(arm: _Arm, seeds: Sequence[int | None], names: Sequence[str]) -> Floats:
    """Return right answers, shape (runs, questions); NaN if a question was not tried."""

    def right(row: QuestionRow | None) -> float:
        return float("nan") if row is None or row.status in (MISSING, UNSCORED) else float(row.correct)

    return np.array([[right(arm.runs[seed].get(name)) for name in names] for seed in seeds])


@dataclass(frozen=True)
class TeamMetrics(CommonMetrics):
    """Metrics of a team on tasks: questions, levels, evolution; and for a suite, the gains of evolution."""

    run_part: type[Result] | None = TeamRun
    suite_part: type[Result] | None = TeamSuite
    reference: str = "nothing"

    def of_run(self, evidence: RunEvidence) -> TeamRun | None:
        """Return the results of the questions so far."""
        latest = {answered["task"]: answered for answered in TEAM_ANSWERED.all(evidence.events)}
        rows = [
            QuestionRow.model_validate({name: data[name] for name in QuestionRow.model_fields if name in data})
            for data in sorted(map(dict, latest.values()), key=lambda data: str(data["id"]))
        ]
        levels = sorted({row.level for row in rows})
        parts = [*levels, 0] if len(levels) > 1 else levels
        if not rows:
            return None
        practised = {data["task"]: data for data in TEAM_PRACTISED.all(evidence.events)}.values()
        asked = sorted(latest.values(), key=lambda data: data["place"])
        course = [(p["id"], True, p["right"], p["evolution"]) for p in practised]
        course += [(a["id"], False, a["correct"], a["evolution"]) for a in asked if a["evolution"]]
        return TeamRun(
            questions=rows,
            levels=[_level(n, [r for r in rows if n in (0, r.level)]) for n in parts],
            evolution=_evolution(course) if course else None,
        )

    def of_suite(self, evidence: SuiteEvidence) -> TeamSuite:
        """Return the gains of evolution, by level."""
        return TeamSuite(gains=gains(evidence.runs, ranked=evidence.ranked))


def _evolution(course: Sequence[tuple[str, bool, bool, TeamEvolved]]) -> EvolutionPart:
    every = [evolved for *_, evolved in course]
    usage = sum((Usage(**evolved["usage"]) for evolved in every), NOTHING_USED)
    return EvolutionPart(
        mode=every[0]["mode"],
        commits=sum(evolved["commits"] for evolved in every),
        refusals=sum(evolved["refusals"] for evolved in every),
        rollbacks=sum(evolved["rollbacks"] for evolved in every),
        attempts=sum(evolved["attempts"] for evolved in every),
        calls=sum(evolved["calls"] for evolved in every),
        tokens=usage.tokens,
        cost_usd=usage.cost_usd,
        course=[
            CourseRow(
                id=name, practice=practice, right=right, edits=_edits(evolved),
                checks=[CheckRow.model_validate(dict(check)) for check in evolved["checks"]],
            )
            for name, practice, right, evolved in course
        ],
    )  # fmt: skip


def _edits(evolved: TeamEvolved) -> list[EditRow]:
    none: dict[str, Any] = {"parts": [], "versions": {}}
    decisions = [{name: one.get(name) for name in EditRow.model_fields} for one in evolved["decisions"]]
    return [EditRow.model_validate({n: none.get(n) if v is None else v for n, v in one.items()}) for one in decisions]


def _level(level: int, rows: Sequence[QuestionRow]) -> LevelRow:
    tried = [row for row in rows if row.status not in (MISSING, UNSCORED)]
    stated = [(row.confidence, row.correct) for row in tried if row.confidence is not None]
    right = sum(row.correct for row in tried)

    def mean(name: str) -> float | None:
        values = [getattr(row, name) for row in tried]
        return None if not values or None in values else sum(values) / len(values)

    return LevelRow(
        level=level,
        right=right,
        tried=len(tried),
        missing=sum(row.status == MISSING for row in rows),
        unscored=sum(row.status == UNSCORED for row in rows),
        calibration_error=calibration_error(stated) if stated else None,
        ci=wilson(right, len(tried)) if tried else None,
        shown=sum(not row.lacking for row in tried),
        **{name: mean(name) for name in ("steps", "hops", "model_calls", "tokens", "cost_usd", "seconds")},
    )


METRICS = TeamMetrics()


_SITE_OF = "questions/"


class TeamSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request no rollouts: teams run outside the engine, with the models of their file."""
        try:
            team = _team(config)
        except ConfigError:  # `check` names it.
            return Needs()
        evolves = team.evolution.mode != NONE
        roles: dict[Role, bool] = {
            "execution": config.gateway.execution in team.models_named(),
            "optimisation": evolves and not team.evolution.model,
        }
        tasks = config.views.heldout + config.of(TeamQuestionsSection).practice
        tries = 1 + team.evolution.attempts if evolves else 1
        return Needs(asks=team.models_named(), roles=roles, attempts=(tasks, tasks * tries))

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the team and the taskset."""
        if suite.tasksets[cell.taskset].info.group != "questions":
            raise ConfigError(
                f"a team answers questions, but the tasks of {cell.taskset} are not questions; use questions/…"
            )
        taskset = suite.tasksets[cell.taskset]
        check_sizes(taskset, {"views.heldout": ("heldout", cell.config.views.heldout)})
        kinds = str(taskset.info.public.get("answer_format", "")).split(", ")
        if {"judge", "hle"} & set(kinds) and not cell.config.gateway.judge:
            raise ConfigError(f"answers of {cell.taskset} are checked by a model; set gateway.judge")
        mode, section = team_of(cell).evolution.mode, cell.config.of(TeamQuestionsSection)
        if mode == "across" and section.concurrent != 1:
            raise ConfigError(
                f"team.concurrent is {section.concurrent}, but the team evolves across questions, so each starts with what "
                "the previous ones learned; set team.concurrent=1"
            )

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell = context.cell
        first = cell.taskset.partition("?")[0].removeprefix(_SITE_OF)
        settings, section = team_of(cell), cell.config.of(TeamQuestionsSection)
        team = TeamBench(
            settings,
            context.folder / "teams",
            SITES.load(first) if first in SITES else None,
            no_browser(),
            section.concurrent,
            frozenset(section.evolves),
            cell.config.engine.unsafe,
        )
        about = {
            "name": cell.label,
            "kind": "team",
            "method": cell.label,
            "options": {"evolution": settings.evolution.mode},
        }
        views = [ViewPlan("heldout", "heldout", cell.config.views.heldout)]
        if section.practice and settings.evolution.mode == "across":
            views.append(ViewPlan(PRACTICE, "train", section.practice))
        return Setup(
            evolver=Evolver(_nothing, True, {**about, "models": settings.models_named()}),
            judge=partial(judge, team=team),
            views=views,
            within="heldout",  # The session runs nothing, and a whole benchmark has no train questions.
        )


async def _nothing(session: Session) -> None:
    """No-op: a team is judged as it stands and spends no episodes."""


def team_of(cell: Cell) -> TeamSettings:
    """Return the configured team, with its execution model, its gateway and its mode of evolution.

    Raises:
        ConfigError: if the file is missing or invalid, or a team with external agents is to evolve.
    """
    return _team(cell.config)


def _team(config: Config) -> TeamSettings:
    section = config.of(TeamQuestionsSection)
    model = config.gateway.execution
    team = load_team(Path(section.file), {"model": model} if model else None, mode=section.evolution)
    return team.model_copy(update={"gateway": config.gateway})


def no_browser() -> str:
    """Return why no browser can be started on this machine; empty if one can."""
    if importlib.util.find_spec("playwright") is None:
        return "the extra browser is not installed: pip install 'heredity[browser]'"
    try:
        find_browser()
    except ConfigError as error:
        return str(error)
    return ""


EVOLUTION = Path("evolution", "team-versions.db")
"""The store of versions of a team that evolves across questions, in the run's folder."""


def winning_files(folder: Path, events: Sequence[Event]) -> Mapping[str, bytes]:
    """Return `answers.jsonl` (`id`, `answer`, in the order asked) and the team's current resources, under TYPE/NAME.

    Args:
        folder: the run's folder.
        events: its journal.

    Raises:
        DamagedRecordError: if the store of the team's versions is damaged.
    """
    answered = [
        event.data for event in events if event.kind == TEAM_ANSWERED.name and event.data["status"] in ("ok", UNSCORED)
    ]
    rows = [
        {"id": data["id"], "answer": data["answer"]} for data in sorted(answered, key=lambda data: int(data["place"]))
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    files = {"answers.jsonl": "".join(lines).encode("utf-8", "replace")} if rows else {}
    if (folder / EVOLUTION).exists():
        with Store(folder / EVOLUTION, create=False) as store:
            for version in store.list():
                part = part_of(store.tree(version), version.manifest)
                files |= {f"{version.type}/{version.name}/{path}": content for path, content in part.items()}
    return files


PROTOCOL = Protocol(
    name="team-questions",
    summary="a team of agents on held-out questions, by level, with findings from its record",
    setting=TeamSetting(),
    sections={
        "evolver": TeamEvolverSection,
        "budget": TeamBudgetSection,
        "limits": TeamLimitsSection,
        "solver": TeamSolverSection,
        "team": TeamQuestionsSection,
        "views": TeamViewsSection,
    },
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    measured=frozenset({TEAM_ANSWERED.name, TEAM_PRACTISED.name}),
    best=winning_files,
)
