"""Setup and judge of world generation: the best build faces all gates from hidden seeds, and is admitted without findings."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, Field
from typing_extensions import TypedDict

from heredity._core.bounds import Cases, Count
from heredity._core.errors import ConfigError, RecordError
from heredity.agents.terms import Briefing, RunTerms
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import EVERY_KEY, BudgetSection, Section, ViewsSection
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import slug
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.kinds.world.building import LEVELS
from heredity.kinds.world.gates.contract import CERTIFICATE
from heredity.kinds.world.themes import PREFIX
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.world_generation.author import WorldAuthor, guide
from heredity.records import Blob, Event
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED, RUN_STARTED, EventKind, RunStarted, by_name
from heredity.resources import Candidate, SourceTree
from heredity.results.status import Status
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, load_candidate, require
from heredity.session.rollouts import encodable, outcome_of, policy_seed
from heredity.session.session_log import Submission
from heredity.session.views import JUDGE_SEED, ViewPlan, ViewScores

MOST_REPAIRS = 40
"""Default number of builds per run."""


class BuildBudgetSection(BudgetSection):
    """`[budget]`: the author's budget.

    Attributes:
        episodes: builds of the whole run, 40 by default; alias `builds`.
        max_per_submit: 1: a submission is a build.
        train_cases: 1: every build meets the same gates from the same seed.
    """

    episodes: Annotated[Count, Field(validation_alias=AliasChoices("episodes", "builds", "rollouts"))] = MOST_REPAIRS  # pyright: ignore[reportIncompatibleVariableOverride]
    max_per_submit: Count = 1
    train_cases: Cases = 1

    def agree(self, config: Config) -> None:
        """Reject settings that builds do not use."""
        for key in ("min_per_submit", "max_per_submit", "train_cases"):
            if getattr(self, key) != 1:
                raise ValueError(f"budget.{key} is {getattr(self, key)}; a submission is always one build: remove it")


class GateViewsSection(ViewsSection):
    """`[views]`: final runs of all gates.

    Attributes:
        heldout: number of hidden seeds; a world is admitted if none has findings.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 1

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of other judges."""
        why = "all gates judge the best build, from views.heldout seeds"
        return {"validation": why, "coverage": why}


class GenerationSection(Section):
    """`[generation]`: handling of worlds.

    Attributes:
        library: true to write admitted worlds into `library/` in the suite's folder.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    library: bool = True


def task_text(terms: RunTerms) -> str:
    """Return the theme in Markdown, for `GET /task` and `TASK.md`."""
    return terms.taskset.description


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, how to build, how to read findings, and how to write a world."""
    digits = "N" * terms.width
    world, gates = terms.taskset.public["world"], ", ".join(terms.taskset.public["gates"])
    return f"""# Make a world named `{world}`

`TASK.md` holds a theme. Write a small text world on it as `system/world.yaml`, with `meta.name` `{world}`. Begin with
`system/design.md`, a page that says what the world is; both are kept with every build.

You may build **{terms.episode_budget} times**. A build makes the levels and executes the gates {gates}:

```sh
heredity submit --episodes 0
```

What was found stands in `feedback/submit_{digits}/episodes/ep_{digits}/stdout.txt`; the score is the share of these gates that
passed. Mend what was found and build again until all of them pass, then end with `heredity finish`. The last of the best builds
then meets all gates from seeds that nobody knows, with others that tell you nothing: players of different strength, and the worlds
that there are already. It is admitted if nothing is found.

Nothing but rules is built: no code is run, and `levels.json` is made from the rules. There is no network.

{guide()}"""


BRIEFING = Briefing(agent_text, task_text, SourceTree({}))


LIBRARY = "library"
"""Folder of a suite's admitted worlds."""


class GenerationSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request nothing beyond builds."""
        builds = config.budget.episodes or 0
        return Needs(episodes=builds, proposals=(2, 3 * builds))

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the theme, and that the author has a model."""
        if not cell.taskset.startswith(PREFIX):
            raise ConfigError(
                f"world generation runs on themes, but {cell.taskset} is not a theme; use themes/FILE#NAME"
            )
        if cell.evolver.method == WorldAuthor.name and not cell.config.gateway.optimisation:
            raise ConfigError(
                "the author needs a model; set gateway.optimisation, such as openai/gpt-5, or offline/world-author to try it"
            )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell, info = context.cell, context.taskset.info
        shelf = _shelf(context) if cell.config.of(GenerationSection).library else None
        about = {key: info.public[key] for key in ("world", "theme", "source", "reviewed", "gates")}
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=partial(judge, world=info.public["world"], shelf=shelf),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            record={RECORD: about},
        )


def _shelf(context: RunContext) -> Path:
    """Return the folder for an admitted world; several authors or seeds get separate folders."""
    cells = context.suite.cells
    several = len({(cell.label, cell.seed) for cell in cells}) > 1
    home = context.suite.folder / LIBRARY
    return home / f"{slug(context.cell.label)}-s{context.cell.seed}" if several else home


RECORD = "generation"
"""Key of the additional fields in `run.started`."""


class GenerationStarted(RunStarted):
    """Description of a run, with the world to build."""

    generation: Mapping[str, Any]


class GatesExecuted(TypedDict):
    """All gates on the selected world, from one hidden seed; `reports` has `gate`, `passed`, `findings`, `figures` of each.

    `certificate` and `levels` are blobs, null if no world was built.
    """

    candidate: str
    task: str
    passed: bool
    status: str
    reports: Sequence[Mapping[str, Any]]
    certificate: str | None
    levels: str | None


class WorldAdmitted(TypedDict):
    """A world without findings; `digest` is that of its certificate."""

    candidate: str
    world: str
    digest: str


GATES_EXECUTED = EventKind("gates.executed", GatesExecuted)
WORLD_ADMITTED = EventKind("world.admitted", WorldAdmitted)

EVENTS = by_name(EventKind(RUN_STARTED.name, GenerationStarted), GATES_EXECUTED, WORLD_ADMITTED)


def shelve(folder: Path, files: SourceTree, levels: bytes, certificate: bytes) -> None:
    """Write an admitted world; keep an identical one, and replace a different one with the same name.

    Args:
        folder: the world's folder, with its name.
        files: the author's files.
        levels: its `levels.json`.
        certificate: its `certificate.json`.

    Raises:
        RecordError: if the disk is full or fails.
    """
    part = folder.with_name(f".part-{folder.name}")
    try:
        if (folder / CERTIFICATE).exists() and (folder / CERTIFICATE).read_bytes() == certificate:
            return
        shutil.rmtree(part, ignore_errors=True)
        files.write_to(part)
        (part / LEVELS).write_bytes(levels)
        (part / CERTIFICATE).write_bytes(certificate)
        shutil.rmtree(
            folder, ignore_errors=True
        )  # Left by a killed process without a certificate, or from another theme.
        os.rename(part, folder)
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error.strerror}; make room and resume") from error


async def judge(
    bench: Bench, evolved: Evolved, reference: Reference | None = None, *, world: str, shelf: Path | None = None
) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        bench: the judge's inputs.
        evolved: the closed session.
        reference: unused: a world has no baseline.
        world: name of the world.
        shelf: folder for admitted worlds; None to write none.

    Raises:
        HostError: if the runner fails, or no process could build; resume the run to continue judging.
        RecordError: if the disk is full or fails.
    """
    best, reason = _best(evolved.submissions)
    submit_id, digest = (best.submit_id, best.candidate) if best else (None, None)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": digest, "reason": reason}))
    heldout = None if digest is None else await _scored(bench, digest, submit_id)
    if heldout is not None and digest is not None and all(score == 1.0 for score in heldout.scores):
        await _admitted(bench, digest, world, shelf)
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, digest, reason, {}, heldout)


async def _scored(bench: Bench, digest: str, submit_id: int | None) -> ViewScores:
    """Execute all gates on every hidden task; scores and findings are journalled together."""
    view = bench.view("heldout")
    recorded = bench.scored(JUDGING_SCORED, view=view.name, candidate=digest)
    if recorded is not None:
        return require(ViewScores.from_json(recorded), "executions of all gates")
    candidate = load_candidate(bench, digest)
    jobs = [
        Job(bench.taskset, candidate, task, episode_index=index, policy_seed=policy_seed(JUDGE_SEED, task))
        for index, task in enumerate(view.tasks)
    ]
    trajectories = await bench.rollouts.all(jobs)
    outcomes = [outcome_of(job.task, t, 0.0) for job, t in zip(jobs, trajectories, strict=True)]
    missing = [outcome.failure.message for outcome in outcomes if outcome.status == Status.MISSING and outcome.failure]
    scores = ViewScores(
        scores=tuple(outcome.score for outcome in outcomes),
        lengths=tuple(outcome.length for outcome in outcomes),
        statuses=tuple(outcome.status for outcome in outcomes),
        seconds=sum(t.seconds for t in trajectories),
        why=encodable(missing[0]) if missing else "",
    )
    executed = [_executed(digest, trajectory) for trajectory in trajectories]
    lines = [GATES_EXECUTED.line(data) for data, _ in executed]
    lines.append(
        JUDGING_SCORED.line({"view": view.name, "candidate": digest, "submit_id": submit_id, **scores.to_json()})
    )
    await bench.records.commit(lines, [blob for _, blobs in executed for blob in blobs])
    return require(scores, "executions of all gates")


def _executed(digest: str, trajectory: Trajectory) -> tuple[GatesExecuted, list[Blob]]:
    blobs = {name: Blob.of(data) for name, data in trajectory.media.items() if data not in (b"", b"null")}
    certificate, levels = blobs.get(CERTIFICATE), blobs.get(LEVELS)
    data: GatesExecuted = {
        "candidate": digest,
        "task": trajectory.task_id,
        "passed": trajectory.status == Status.OK and trajectory.total_reward == 1.0,
        "status": trajectory.status,
        "reports": reports_of(trajectory),
        "certificate": certificate and certificate.digest,
        "levels": levels and levels.digest,
    }
    return data, list(blobs.values())


def reports_of(trajectory: Trajectory) -> list[dict[str, object]]:
    """Return the gates' results from a build's trajectory."""
    columns = trajectory.columns
    rows = zip(
        *(columns[name] for name in ("action", "reward", "info/findings", "info/figures")),
        strict=True,
    )
    return [
        {"gate": str(gate), "passed": bool(passed), "findings": list(findings), "figures": dict(figures)}
        for gate, passed, findings, figures in rows
    ]


async def _admitted(bench: Bench, digest: str, world: str, shelf: Path | None) -> None:
    executed = bench.recorded(GATES_EXECUTED, candidate=digest)
    if executed is None or executed["certificate"] is None or executed["levels"] is None:
        return
    certificate = bench.records.blobs.get(executed["certificate"])
    data: WorldAdmitted = {"candidate": digest, "world": world, "digest": str(json.loads(certificate)["digest"])}
    await bench.journal_once(WORLD_ADMITTED.line(data))
    if shelf is not None:
        candidate: Candidate = load_candidate(bench, digest)
        shelve(shelf / world, candidate.agent, bench.records.blobs.get(executed["levels"]), certificate)


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the best build, from the submissions alone (see `Selection`)."""
    best, _ = _best(evolved.submissions)
    return best.candidate if best else None


def _best(submissions: Sequence[Submission]) -> tuple[Submission | None, str]:
    """Return the build that passed most of the visible gates, the last among equals, and the reason."""
    ended = [(s.feedback().mean, s.submit_id, s) for s in submissions if s.status is not None]
    scored = [entry for entry in ended if entry[0] == entry[0]]
    if not scored:
        return None, "nothing was built"
    mean, _, best = max(scored, key=lambda entry: entry[:2])
    return best, f"the last of the builds that passed {mean:.0%} of the visible gates, of {len(scored)} builds"
