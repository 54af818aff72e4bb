"""Checks of a run's record: its journal, opened cases, blobs, and the scores and figures derived from them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from heredity._core.errors import HeredityError
from heredity._core.refusals import misfits
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.experiments.results import RunResult, read_run
from heredity.experiments.sealed import OPENED, OPENED_VERSION
from heredity.experiments.verification.files import METRICS, differences, read_json
from heredity.experiments.verification.findings import Finding, failed, failed_on, not_checked, passed
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
from heredity.records.journal import Chain
from heredity.resources import Candidate
from heredity.results.coverage import COVERAGE
from heredity.session.bench import Evolved
from heredity.session.cases import Opening
from heredity.session.rollouts import outcome_of
from heredity.session.session_log import SessionLog, score_to_json
from heredity.tasks import Task
from heredity.tasks.registry import taskset


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
