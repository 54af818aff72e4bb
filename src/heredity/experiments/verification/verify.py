"""Verification of a folder: every check of a run, or of a suite with its runs, and the card with the results."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, HeredityError
from heredity._core.outside import resolved
from heredity.configuration.config import Config
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.kind import KINDS, Workers
from heredity.engine.runner import Job
from heredity.experiments.config import cells, read_toml, resolve
from heredity.experiments.measured import remember_measured
from heredity.experiments.results import is_run, is_suite, results_of_suite
from heredity.experiments.sequence import read_sequence
from heredity.experiments.verification import record
from heredity.experiments.verification.anchors import Anchor, anchored
from heredity.experiments.verification.cards import CARD, card_of, run_card
from heredity.experiments.verification.files import METRICS, differences, read_json, strange_files
from heredity.experiments.verification.findings import (
    UNREADABLE,
    Finding,
    check,
    failed,
    failed_on,
    not_checked,
    passed,
    skipped,
)
from heredity.experiments.verification.record import RunRecords
from heredity.records import load_config
from heredity.records.journal import read_chain
from heredity.resources import Candidate
from heredity.results.card import Card, Check, CheckStatus, RunCard
from heredity.results.run import RunResults
from heredity.results.status import Status
from heredity.results.suite import SuiteResults
from heredity.session.rollouts import Rollouts, outcome_of, policy_seed
from heredity.session.views import JUDGE_SEED
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.registry import taskset

_OF_THE_MACHINE = frozenset({Status.MISSING, Status.ROLLOUT_TIMEOUT, Status.INIT_TIMEOUT, Status.OOM})
"""Statuses that may differ on a faster or slower machine for the same rollout."""


@dataclass(frozen=True, slots=True)
class _JudgedRollout:
    """Judged rollout: its line, view and score."""

    line: int
    view: str
    job: Job
    score: float


async def replayed(run: RunRecords, most: int | None) -> Finding:
    """Rerun judged rollouts and compare their scores, which must be equal.

    Args:
        run: the run.
        most: number of rollouts, drawn at random each time so that they are unpredictable; None for all.

    Raises:
        IsolationError: if this machine cannot confine candidates.
        HostError: if the runner fails.
    """
    if run.opened is None:
        return not_checked("the cases are not published, so nothing can be replayed")
    own = taskset(run.started["taskset"]).info
    if run.started["execution"]:
        return not_checked(f"not comparable: these tasks are solved by the language model {run.started['execution']}")
    if reason := KINDS.load(own.kind).unrepeatable(run.folder):
        return not_checked(reason)
    if own.version != run.started["taskset_version"]:
        return not_checked(f"{own.name} is {own.version} here, and was {run.started['taskset_version']}")
    recorded = [rollout for rollout in _judged_rollouts(run, run.opened) if rollout.job.taskset.kind == own.kind]
    if not recorded:
        return not_checked("there are no judged rollouts")
    chosen = recorded if most is None else random.SystemRandom().sample(recorded, min(most, len(recorded)))
    config = resolve(load_config(run.folder))
    scores = await _scores(config, own, [rollout.job for rollout in chosen])
    problems = [
        f"line {rollout.line}: {rollout.job.task.id} scored {score:g} for {rollout.job.candidate.digest[:12]}…, "
        f"and the journal says {rollout.score:g}"
        for rollout, score in zip(chosen, scores, strict=True)
        if score is not None and score != rollout.score
    ]
    left_out = scores.count(None)
    rest = f"; {left_out} ran out of time or memory here and cannot be compared" if left_out else ""
    if left_out == len(chosen):
        return not_checked(f"all {left_out} rollouts ran out of time or memory here and cannot be compared")
    return failed_on(problems, f"{len(chosen) - left_out} of {len(recorded)} judged rollouts have the same score{rest}")


def _judged_rollouts(run: RunRecords, opened: Mapping[str, Any]) -> list[_JudgedRollout]:
    """Return every judged rollout that can be compared: on an opened view, of a stored candidate."""
    infos: dict[str, TasksetInfo] = {}
    candidates: dict[str, Candidate] = {}
    recorded: list[_JudgedRollout] = []
    for event in run.events:
        data = event.data
        if (
            not {"view", "candidate", "scores"} <= data.keys()
            or data["view"] not in opened["views"]
            or data.get("model")
        ):
            continue
        name, split, count = opened["views"][data["view"]]
        info = infos[name] = infos.get(name) or taskset(name).info
        digest = data["candidate"]
        candidate = candidates[digest] = candidates.get(digest) or run.candidate(digest)
        if KINDS.load(info.kind).candidates.refusal(candidate) is not None:
            continue
        cases, statuses = opened["cases"][name][split][:count], data.get("statuses") or ["ok"] * count
        for index, (case, score, status) in enumerate(zip(cases, data["scores"], statuses, strict=True)):
            if score is not None and status not in _OF_THE_MACHINE:
                task = Task(case["id"], split, index, case["spec"])
                job = Job(info, candidate, task, episode_index=index, policy_seed=policy_seed(JUDGE_SEED, task))
                recorded.append(_JudgedRollout(event.seq + 1, data["view"], job, score))
    return recorded


async def _scores(config: Config, info: TasksetInfo, jobs: Sequence[Job]) -> list[float | None]:
    settings = EngineSettings(
        solving=config.solver.solving(config.limits.episode_s), workers=Workers(lockstep=config.engine.lockstep)
    )
    async with Engine(settings, {info.kind}) as engine:
        trajectories = await Rollouts(engine, config.limits.limits()).all(jobs)
    outcomes = [outcome_of(job.task, t, job.taskset.failure_return) for job, t in zip(jobs, trajectories, strict=True)]
    return [None if outcome.status in _OF_THE_MACHINE else outcome.score for outcome in outcomes]


async def replay(run: RunRecords, most: int | None) -> Finding:
    """Replay a run as `replayed`, or report why this machine cannot."""
    try:
        return await replayed(run, most)
    except HeredityError as error:
        return not_checked(f"replay failed here: {error}")


Notify = Callable[[str], None]

_OF_RECORDS = (
    "ended",
    "commitment",
    "secrecy",
    "blobs",
    "scores",
    "selection",
    "figures",
    "configuration",
    "card",
    "replay",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of a verification in addition to the records.

    Attributes:
        replay: whether to rerun candidates: `most` judged rollouts of each run, or all.
        anchors: anchors of commitments or heads.
        authority: certificates for tokens.
    """

    replay: bool = False
    most: int | None = None
    anchors: Sequence[Anchor] = ()
    authority: Path | None = None


@dataclass(frozen=True, slots=True)
class _Verified:
    checks: list[Check]
    card: RunCard | None = None
    results: RunResults | None = None


def verify(folder: Path, asked: Asked | None = None, notify: Notify = lambda name: None) -> Card:
    """Check the claims of a run or a suite.

    Args:
        folder: folder of a run or a suite, from any source.
        asked: further options.
        notify: called with the name of each run before it is checked.

    Raises:
        ConfigError: if the folder holds neither.
    """
    asked, folder = asked or Asked(), resolved(folder)
    if not is_run(folder) and not is_suite(folder):
        raise ConfigError(f"{folder} holds neither a run nor a suite; give a published folder")
    strange = check("files", None, lambda: failed_on(list(strange_files(folder)), "plain files inside the folder"))
    if strange.status is CheckStatus.FAILED:
        return card_of(None, [], [strange])
    if is_run(folder):
        verified = _run(folder, asked)
        cards = [verified.card] if verified.card else []
        return card_of(None, cards, [*verified.checks, *_anchors(asked, cards, 1)])
    return _suite(folder, asked, notify, strange)


def cards_of(folder: Path) -> list[RunCard]:
    """Return the cards of a run, or of the started runs of a suite, in any state.

    Raises:
        ConfigError: if the folder holds neither.
        RecordError: if a journal cannot be read.
    """
    if not is_run(folder) and not is_suite(folder):
        raise ConfigError(f"{folder} holds neither a run nor a suite; give one, such as runs/demo-20260101-120000")
    folders = [folder] if is_run(folder) else sorted(p for p in (folder / "runs").iterdir() if is_run(p))
    runs = [RunRecords(path, read_chain(path / "journal.jsonl")) for path in folders]
    return [run_card(run.result.metrics, run.chain) for run in runs if run.started]


def _run(folder: Path, asked: Asked) -> _Verified:
    name = folder.name
    files = check("files", name, partial(_files_of_run, folder))
    if files.status is CheckStatus.FAILED:
        why = "this folder has invalid files"
        return _Verified([files, *skipped(("journal", "events", *_OF_RECORDS), name, why)])
    runs: list[RunRecords] = []
    checks = [files, check("journal", name, partial(_journal, folder, runs))]
    if not runs:
        return _Verified([*checks, *skipped(("events", *_OF_RECORDS), name, "the journal is invalid")])
    run = runs[0]
    checks.append(check("events", name, partial(record.events_of_their_kinds, run)))
    if checks[-1].status is CheckStatus.FAILED:
        return _Verified([*checks, *skipped(_OF_RECORDS, name, "the journal has invalid events")])
    works: list[tuple[str, Callable[[RunRecords], Finding]]] = [
        ("ended", record.ended),
        ("commitment", record.commitment),
        ("secrecy", record.secrecy),
        ("blobs", record.blobs),
        ("scores", record.scores),
        ("selection", record.selection),
        ("figures", record.figures),
        ("configuration", record.configuration),
        ("card", _card_of_run),
    ]
    checks += [check(what, name, partial(work, run)) for what, work in works]
    checks.append(_replay(run, name, asked))
    try:
        results = run.result.metrics
    except UNREADABLE:  # the check `figures` reports why
        return _Verified(checks)
    return _Verified(checks, run_card(results, run.chain), results)


def _files_of_run(folder: Path) -> Finding:
    strange = list(strange_files(folder))
    if not strange:
        remember_measured(folder.parents[1])
    return failed_on(strange, "plain files inside the folder")


def _journal(folder: Path, runs: list[RunRecords]) -> Finding:
    chain = read_chain(folder / "journal.jsonl")
    if not chain.events:
        return failed("the journal is empty")
    runs.append(RunRecords(folder, chain))
    if chain.torn_bytes:
        return failed(f"the journal ends in an incomplete line of {chain.torn_bytes} bytes")
    return passed(f"{len(chain.events)} lines, one chain; its head is {chain.head}")


def _card_of_run(run: RunRecords) -> Finding:
    if not (run.folder / CARD).exists():
        return not_checked(f"{CARD} is missing; create it with `heredity report`")
    return _same_card(run.folder, card_of(None, [run_card(run.result.metrics, run.chain)]))


def _same_card(folder: Path, computed: Card) -> Finding:
    """Compare a published card with the records; its author and version are not claims."""
    published = read_json(folder / CARD)
    claim = computed.model_dump(mode="json", exclude={"heredity", "checks"})
    given = {name: value for name, value in published.items() if name not in ("heredity", "checks")}
    return failed_on(list(differences(given, claim)), f"{CARD} follows from the records")


def _replay(run: RunRecords, name: str, asked: Asked) -> Check:
    if not asked.replay:
        return skipped(("replay",), name, "not requested; --replay reruns candidates")[0]
    return check("replay", name, lambda: asyncio.run(replay(run, asked.most)))


def _suite(folder: Path, asked: Asked, notify: Notify, files: Check) -> Card:
    verified: list[_Verified] = []
    folders = sorted(path for path in (folder / "runs").iterdir() if is_run(path) or path.is_symlink())
    for path in folders:
        notify(path.name)
        verified.append(_run(path, asked))
    cards = [one.card for one in verified if one.card]
    results = [one.results for one in verified if one.results and one.results.run_id]
    computed: list[SuiteResults] = []
    checks = [
        files,
        check("runs", None, lambda: _all_runs(folder, cards)),
        check("figures", None, lambda: _suite_figures(folder, results, computed)),
        check("card", None, lambda: _card_of_suite(folder, cards, computed)),
        *_anchors(asked, cards, len(folders)),
        *(one for run in verified for one in run.checks),
    ]
    return card_of(computed[0] if computed else None, cards, checks)


def _all_runs(folder: Path, cards: Sequence[RunCard]) -> Finding:
    """Check that the suite has the runs of its configuration, each once, with the same cases for all runs of a taskset."""
    if not (folder / "suite.toml").exists():
        return not_checked("suite.toml is missing, so the expected runs are unknown")
    every, sequence = cells(resolve(read_toml(folder / "suite.toml"))), read_sequence(folder)
    if sequence is not None:
        seeds = {look["seed"] for look in sequence.looks}
        every = [cell for cell in every if cell.label in sequence.labels and cell.seed in seeds]
    planned = [cell.id for cell in every]
    there = [str(card.run_id) for card in cards]
    problems = [f"{name} is missing" for name in planned if name not in there]
    problems += [f"{name} does not belong to this suite" for name in there if name not in planned]
    problems += [f"{name} appears {there.count(name)} times" for name in dict.fromkeys(there) if there.count(name) > 1]
    commitments: dict[str | None, set[str | None]] = {}
    for card in cards:
        commitments.setdefault(card.taskset, set()).add(card.commitment)
    problems += [
        f"runs on {name} were judged on {len(some)} sets of cases"
        for name, some in commitments.items()
        if len(some) > 1
    ]
    return failed_on(problems, f"the {len(planned)} runs of suite.toml, with the same cases for all runs of a taskset")


def _suite_figures(folder: Path, results: Sequence[RunResults], computed: list[SuiteResults]) -> Finding:
    computed.append(results_of_suite(folder, results))
    if not (folder / METRICS).exists():
        return not_checked(f"{METRICS} is missing; create it with `heredity report`")
    problems = list(differences(read_json(folder / METRICS), computed[0].model_dump(mode="json")))
    return failed_on(problems, f"every field of {METRICS} follows from the journals")


def _card_of_suite(folder: Path, cards: Sequence[RunCard], computed: Sequence[SuiteResults]) -> Finding:
    if not (folder / CARD).exists():
        return not_checked(f"{CARD} is missing; create it with `heredity report`")
    if not computed:
        return not_checked("the figures could not be computed")
    return _same_card(folder, card_of(computed[0], cards))


def _anchors(asked: Asked, cards: Sequence[RunCard], runs: int) -> list[Check]:
    if not asked.anchors:
        return skipped(("anchor",), None, "none given; --anchor names a proof that this existed at some time")
    if len(cards) < runs:
        return skipped(("anchor",), None, "a run cannot be read, so its commitment and head are unknown")
    return [check("anchor", None, partial(anchored, anchor, cards, asked.authority)) for anchor in asked.anchors]
