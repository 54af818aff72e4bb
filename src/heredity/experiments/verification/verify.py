"""Verification of a folder: every check of a run, or of a suite with its runs, and the card with the results."""

from __future__ import annotations

import asyncio
import functools
import math
import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from heredity._core.errors import ConfigError, HeredityError, RecordError
from heredity._core.outside import json_value, read_bytes, resolved
from heredity._core.refusals import misfits, quoted, reading
from heredity.configuration.config import Config
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.kind import KINDS, Workers
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.experiments.config import cells, read_toml, resolve
from heredity.experiments.measured import MEASURED, remember_measured
from heredity.experiments.results import RunResult, is_run, is_suite, read_run, results_of_suite
from heredity.experiments.sealed import OPENED, OPENED_VERSION
from heredity.experiments.sequence import read_sequence
from heredity.experiments.transparency.statements import RECEIPTS
from heredity.experiments.verification.cards import (
    CARD,
    UNREADABLE,
    Finding,
    card_of,
    check,
    failed,
    failed_on,
    not_checked,
    passed,
    run_card,
    skipped,
)
from heredity.experiments.verification.logs import Given, log_checks
from heredity.experiments.verification.published import PUBLISHED, declared_starts, unchanged
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, Event, config_digest, load_config
from heredity.records.events import (
    CANDIDATE,
    CASES_JUDGED,
    EVENTS,
    JUDGING_SELECTED,
    REFERENCE_SCORED,
    RUN_FINISHED,
    RUN_STARTED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    RunStarted,
)
from heredity.records.journal import Chain, read_chain
from heredity.resources import Candidate
from heredity.results.base import COVERAGE
from heredity.results.card import Card, Check, CheckStatus, RunCard
from heredity.results.run import RunResults
from heredity.results.status import Status
from heredity.results.suite import SuiteResults
from heredity.session.bench import Evolved
from heredity.session.cases import Opening
from heredity.session.rollouts import Rollouts, outcome_of, policy_seed
from heredity.session.session_log import SessionLog, score_to_json
from heredity.session.views import JUDGE_SEED
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.registry import taskset

METRICS = "metrics.json"
MOST_BYTES = {
    "journal.jsonl": 4 << 30,
    "run.toml": 16 << 20,
    "suite.toml": 16 << 20,
    MEASURED: 16 << 20,
    METRICS: 256 << 20,
    OPENED: 1 << 30,
    CARD: 64 << 20,
    RECEIPTS: 256 << 20,
    PUBLISHED: 64 << 20,
}
"""Files that are read, in addition to blobs and runs' folders, each with its maximum size in bytes."""
MOST_BLOB_BYTES = 4 << 30


def strange_files(folder: Path) -> Iterator[str]:
    """Yield problems with the files of a run or a suite that are to be read: links, devices, pipes, excessive size.

    Raises:
        OSError: if a folder cannot be listed.
    """
    yield from _strange_folder(folder)
    for name, most in MOST_BYTES.items():
        path = folder / name
        if os.path.lexists(path):
            yield from _strange_file(path, most)
    for name in ("blobs", "runs"):
        if os.path.lexists(folder / name):
            yield from _strange_folder(folder / name)
    if (folder / "blobs").is_dir() and not (folder / "blobs").is_symlink():
        yield from _strange_blobs(folder / "blobs")


def _strange_blobs(folder: Path) -> Iterator[str]:
    for inner in sorted(folder.iterdir()):
        problems = list(_strange_folder(inner))
        yield from problems
        for path in () if problems else sorted(inner.iterdir()):
            yield from _strange_file(path, MOST_BLOB_BYTES)


def _strange_folder(path: Path) -> Iterator[str]:
    if not stat.S_ISDIR(path.lstat().st_mode):
        yield f"{path} is not a plain folder"


def _strange_file(path: Path, most: int) -> Iterator[str]:
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        yield f"{path} is not a plain file"
    elif about.st_size > most:
        yield f"{path} has {about.st_size} bytes; expected at most {most}"


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that is one JSON object.

    Raises:
        RecordError: if it is missing, or not a JSON object.
    """
    with reading(path, "JSON", "restore it from a copy", RecordError):
        value: Any = json_value(read_bytes(path))
    if not isinstance(value, dict):
        raise RecordError(f"{path} is {quoted(value)}; expected one JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


def differences(published: Any, computed: Any, path: str = "") -> Iterator[str]:
    """Yield each field in which two JSON values differ, with the published and the computed value.

    Numbers that agree to nine digits are equal, as the last digits depend on the machine.
    """
    if isinstance(published, dict) and isinstance(computed, dict):
        names: list[str] = sorted({*published, *computed})  # pyright: ignore[reportUnknownArgumentType]
        for name in names:
            inner = f"{path}.{name}" if path else name
            if name not in published or name not in computed:
                yield f"{inner} is {'missing' if name in computed else 'unknown'}"
            else:
                yield from differences(published[name], computed[name], inner)
    elif isinstance(published, list) and isinstance(computed, list):
        if len(published) != len(computed):  # pyright: ignore[reportUnknownArgumentType]
            yield f"{path} has {len(published)} entries, and {len(computed)} were computed"  # pyright: ignore[reportUnknownArgumentType]
        for index, pair in enumerate(zip(published, computed, strict=False)):  # pyright: ignore[reportUnknownArgumentType]
            yield from differences(*pair, f"{path}[{index}]")
    elif not _equal(published, computed):
        yield f"{path} is {_shorten(published)}, and {_shorten(computed)} was computed"


def _equal(one: Any, other: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers):
        return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return type(one) is type(other) and one == other


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class RunRecords:
    """Records of a run with a readable journal.

    Attributes:
        folder: the run's folder.
        chain: its journal.
        blobs: its blobs.
    """

    def __init__(self, folder: Path, chain: Chain) -> None:
        self.folder, self.chain = folder, chain
        self.blobs = BlobStore(folder / "blobs")

    @property
    def events(self) -> Sequence[Event]:
        """Lines of the journal."""
        return self.chain.events

    @functools.cached_property
    def started(self) -> RunStarted:
        """Data of the run's start; empty if the first line does not hold it."""
        return RUN_STARTED.first(self.events[:1]) or cast("RunStarted", {})

    @functools.cached_property
    def result(self) -> RunResult:
        """Results of the journal."""
        return read_run(self.folder)

    @functools.cached_property
    def opened(self) -> Mapping[str, Any] | None:
        """Opened cases as published; None if they are not."""
        path = self.folder / OPENED
        return read_json(path) if path.exists() else None

    @functools.cached_property
    def candidates(self) -> Mapping[str, str]:
        """Digest of each candidate to its blob, including the references of the run."""
        own = {data["digest"]: data["blob"] for data in CANDIDATE.all(self.events)}
        references = REFERENCE_SCORED.all(self.events)
        compared = {data["candidate"]: data["candidate_blob"] for data in references if "candidate_blob" in data}
        return {**compared, **own}

    def candidate(self, digest: str) -> Candidate:
        """Read a candidate (see `BlobStore.get`)."""
        return Candidate.from_bytes(self.blobs.get(self.candidates[digest]))


def events_of_their_kinds(run: RunRecords) -> Finding:
    """Check that the data of every event fits its kind, and that the session closed before judging."""
    types = _types(str(run.started.get("protocol")))
    problems = [text for event in run.events if (text := _misfit(event, types))]
    problems += _disorder(run.events)
    return failed_on(problems, f"{len(run.events)} events, each valid for its kind, judged after the session closed")


def _types(protocol: str) -> Mapping[str, TypeAdapter[Any]]:
    own = PROTOCOLS.load(protocol).events if protocol in PROTOCOLS else {}
    return {kind: TypeAdapter(data) for kind, data in {**EVENTS, **own}.items()}


def _misfit(event: Event, types: Mapping[str, TypeAdapter[Any]]) -> str:
    if event.kind not in types:
        return f"line {event.seq + 1} is a {event.kind!r}, unknown in this protocol"
    try:
        types[event.kind].validate_python(event.data, strict=True)
    except ValidationError as error:
        return f"line {event.seq + 1}, {event.kind}: {misfits(error)}"
    return ""


def _disorder(events: Sequence[Event]) -> Iterator[str]:
    if not events or events[0].kind != RUN_STARTED.name:
        yield f"line 1 is not {RUN_STARTED.name}"
    closed = next((event.seq for event in events if event.kind == SESSION_CLOSED.name), len(events))
    for event in events:
        if event.seq and event.kind == RUN_STARTED.name:
            yield f"line {event.seq + 1} is another {event.kind}"
        if event.seq > closed and event.kind in (SUBMISSION_ADMITTED.name, SUBMISSION_COMPLETED.name):
            yield f"line {event.seq + 1} is {event.kind} after the session was closed"
        if event.seq < closed and event.kind == CASES_JUDGED.name:
            yield f"line {event.seq + 1} is {event.kind} before the session was closed"


def ended(run: RunRecords) -> Finding:
    """Check that the run was fully judged."""
    finished = RUN_FINISHED.first(run.events)
    if finished is None:
        last = run.events[-1].kind if run.events else "nothing"
        return failed(
            f"the run is unfinished, or its journal was cut: the last line is {last}, not {RUN_FINISHED.name}"
        )
    return passed(f"status {finished['status']}")


def commitment(run: RunRecords) -> Finding:
    """Check the opened cases against the commitment at the start of the journal."""
    opened = run.opened
    if opened is None:
        return not_checked(f"{OPENED} is missing: cases are published after every run judged on them has ended")
    if opened.get("schema_version") != OPENED_VERSION:
        return failed(f"{OPENED} has version {opened.get('schema_version')!r}; expected {OPENED_VERSION}")
    cases, committed = opened["cases"], run.started["commitment"]
    opening = Opening(opened["commitment"], opened["salt"], opened["digest"])
    if opening.commitment != committed:
        return failed(f"{OPENED} opens {opening.commitment}; the journal begins with {committed}")
    if not opening.fits(cases):
        return failed(f"the cases in {OPENED} do not match the commitment {committed}")
    recorded = CASES_JUDGED.first(run.events)
    if recorded is None or recorded["commitment"] != committed:
        return failed(f"the journal was not closed with these cases: {CASES_JUDGED.name} is {recorded}")
    counts = {name: count for name, (_, _, count) in opened["views"].items()}
    problems = list(differences(counts, dict(run.started["views"]), "views"))
    return failed_on(problems, f"the {sum(counts.values())} opened cases match {committed[:12]}…")


def secrecy(run: RunRecords) -> Finding:
    """Report whether the cases are known to have been hidden while the evolver worked."""
    if run.started.get("cases_known"):
        return not_checked("the cases were published before this run started and may have been read")
    return not_checked(
        "records cannot prove that the cases were not read; the sandbox and the owner have to ensure that"
    )


def blobs(run: RunRecords) -> Finding:
    """Check every blob that the journal names against its digest, and every candidate against its digest."""
    problems: list[str] = []
    names = {event.data[key] for event in run.events for key in ("blob", "candidate_blob") if event.data.get(key)}
    for name in sorted(names):
        try:
            run.blobs.get(name)
        except HeredityError as error:
            problems.append(_without_remedy(error))
    for digest, blob in run.candidates.items():
        if _readable(run, blob) and run.candidate(digest).digest != digest:
            problems.append(f"the blob {blob} holds another candidate than {digest}")
    return failed_on(problems, f"{len(names)} blobs match the journal, {len(run.candidates)} candidates among them")


def _readable(run: RunRecords, blob: str) -> bool:
    try:
        run.blobs.get(blob)
    except HeredityError:
        return False
    return True


def scores(run: RunRecords) -> Finding:
    """Recompute every score whose trajectories are stored."""
    problems: list[str] = []
    counted = without = 0
    for event in run.events:
        listed = _score_columns(event)
        if listed is None:
            continue
        if "blob" not in event.data:
            without += 1
            continue
        counted += len(listed["scores"])
        problems += [f"line {event.seq + 1}, {text}" for text in _misscored(run, event.data, listed)]
    rest = f"; {without} judged views have no stored trajectories and need --replay" if without else ""
    if not counted and not problems:
        return not_checked(f"no trajectories are stored{rest}")
    return failed_on(problems, f"{counted} scores follow from their trajectories{rest}")


def _score_columns(event: Event) -> dict[str, list[Any]] | None:
    """Return the scores, lengths and statuses that an event records; None for an event without scores."""
    data = event.data
    if event.kind == SUBMISSION_COMPLETED.name:
        return {f"{name}s" if name != "status" else "statuses": [o[name] for o in data["outcomes"]] for name in _EACH}
    return {name: list(data[name]) for name in _LISTS if name in data} if "scores" in data and "view" in data else None


_EACH, _LISTS = ("score", "length", "status"), ("scores", "lengths", "statuses")


def _misscored(run: RunRecords, data: Mapping[str, Any], listed: Mapping[str, list[Any]]) -> list[str]:
    named = data.get("taskset", run.started["taskset"])
    own = run.started["failure_return"] if named == run.started["taskset"] else taskset(named).info.failure_return
    floor = -math.inf if own is None else own
    if data["blob"] is None:
        wrong = [score for score in listed["scores"] if score != score_to_json(floor)]
        return [f"scores: {wrong[0]} without any trajectory; expected {floor}"] if wrong else []
    trajectories = decode_many(run.blobs.get(data["blob"]))
    problems = [
        f"trajectories are of another candidate than {data['candidate']}" for _ in _strangers(data, trajectories)
    ]
    if "tasks" in data and [t.task_id for t in trajectories] != [task["id"] for task in data["tasks"]]:
        problems.append("trajectories are of other tasks")
    outcomes = [outcome_of(Task(t.task_id, "", 0, {}), t, floor) for t in trajectories]
    computed = {
        "scores": [score_to_json(outcome.score) for outcome in outcomes],
        "lengths": [outcome.length for outcome in outcomes],
        "statuses": [str(outcome.status) for outcome in outcomes],
    }
    return [*problems[:1], *differences(dict(listed), {name: computed[name] for name in listed})]


def _strangers(data: Mapping[str, Any], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    return [t for t in trajectories if t.candidate != data["candidate"]]


def selection(run: RunRecords) -> Finding:
    """Repeat the protocol's selection from the records, and compare it with the one that was judged."""
    recorded, rule = JUDGING_SELECTED.first(run.events), PROTOCOLS.load(run.started["protocol"]).selection
    if recorded is None or rule is None:
        return not_checked("nothing was selected" if recorded is None else "the protocol has no selection rule")
    log = SessionLog()
    log.apply(run.events)
    coverage = run.started.get("coverage", COVERAGE)
    evolved = Evolved(list(log.submissions.values()), log.decisions, "finished", log.batches, coverage)
    chosen = rule(evolved, run.events)
    if chosen != recorded["candidate"]:
        return failed(f"the journal selected {recorded['candidate']}; the protocol's rule selects {chosen}")
    return passed("the protocol's rule selects the same candidate from the records")


def figures(run: RunRecords) -> Finding:
    """Recompute metrics.json from the journal, and compare it field by field."""
    path = run.folder / METRICS
    if not path.exists():
        return not_checked(f"{METRICS} is missing; create it with `heredity report`")
    computed = run.result.metrics.model_dump(mode="json")
    return failed_on(list(differences(read_json(path), computed)), f"every field of {METRICS} follows from the journal")


def configuration(run: RunRecords) -> Finding:
    """Check run.toml against the digest in the journal."""
    if not (run.folder / "run.toml").exists():
        return not_checked("run.toml is missing")
    given, recorded = config_digest(load_config(run.folder)), run.started["config_digest"]
    if given != recorded:
        return failed(f"run.toml is {given}; the run started with {recorded}")
    return passed("run.toml is the one that the run started with")


def _without_remedy(error: HeredityError) -> str:
    return str(error).partition(";")[0]


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
        logs: logs to check against, and the keys and certificates to trust.
    """

    replay: bool = False
    most: int | None = None
    logs: Given = field(default_factory=Given)


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
        return card_of(None, cards, [*verified.checks, *_logs(folder, [folder], asked, cards)])
    return _suite(folder, asked, notify, strange)


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
    checks.append(check("events", name, partial(events_of_their_kinds, run)))
    if checks[-1].status is CheckStatus.FAILED:
        return _Verified([*checks, *skipped(_OF_RECORDS, name, "the journal has invalid events")])
    works: list[tuple[str, Callable[[RunRecords], Finding]]] = [
        ("ended", ended),
        ("commitment", commitment),
        ("secrecy", secrecy),
        ("blobs", blobs),
        ("scores", scores),
        ("selection", selection),
        ("figures", figures),
        ("configuration", configuration),
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
        *_logs(folder, folders, asked, cards),
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


def _logs(folder: Path, runs: Sequence[Path], asked: Asked, cards: Sequence[RunCard]) -> list[Check]:
    if len(cards) < len(runs):
        return skipped(("anchor",), None, "a run cannot be read, so its commitment and head are unknown")
    alone = is_run(folder)
    if not (folder / PUBLISHED).exists():
        return log_checks(runs, asked.logs, {}, alone=alone)
    try:
        published = read_json(folder / PUBLISHED)
        declared = declared_starts(published)
    except RecordError as error:
        return [check("published", None, partial(failed, str(error))), *log_checks(runs, asked.logs, {}, alone=alone)]
    checks = log_checks(runs, asked.logs, declared, alone=alone)
    return [check("published", None, partial(unchanged, folder, published)), *checks]
