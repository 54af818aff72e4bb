"""The record of a run, checked: its journal, the opened cases, its blobs, and the scores and figures that follow from them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from heredity.errors import HeredityError
from heredity.experiments.results import RunResult, read_run
from heredity.experiments.sealed import OPENED, OPENED_VERSION
from heredity.experiments.verification.files import METRICS, differences, read_json
from heredity.experiments.verification.findings import Finding, failed, failed_on, not_checked, passed
from heredity.judging.bench import Evolved
from heredity.judging.cases import Opening
from heredity.judging.rollouts import outcome_of
from heredity.judging.session_log import SessionLog, score_to_json
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
from heredity.refusals import misfits
from heredity.resources import Candidate
from heredity.results.coverage import COVERAGE
from heredity.rollouts.trajectory import Trajectory, decode_many
from heredity.tasks import Task
from heredity.tasks.registry import taskset


class RunRecords:
    """The records of a run whose journal could be read.

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
        """The lines of the journal."""
        return self.chain.events

    @functools.cached_property
    def started(self) -> RunStarted:
        """What the run began with; empty if the first line does not say it."""
        return RUN_STARTED.first(self.events[:1]) or cast("RunStarted", {})

    @functools.cached_property
    def result(self) -> RunResult:
        """What the journal comes to."""
        return read_run(self.folder)

    @functools.cached_property
    def opened(self) -> Mapping[str, Any] | None:
        """The opened cases as they were published; None if they were not."""
        path = self.folder / OPENED
        return read_json(path) if path.exists() else None

    @functools.cached_property
    def candidates(self) -> Mapping[str, str]:
        """Digest of each candidate to its blob, what the run is compared with included."""
        own = {data["digest"]: data["blob"] for data in CANDIDATE.all(self.events)}
        references = REFERENCE_SCORED.all(self.events)
        compared = {data["candidate"]: data["candidate_blob"] for data in references if "candidate_blob" in data}
        return {**compared, **own}

    def candidate(self, digest: str) -> Candidate:
        """Read a candidate (see `BlobStore.get`)."""
        return Candidate.from_bytes(self.blobs.get(self.candidates[digest]))


def events_of_their_kinds(run: RunRecords) -> Finding:
    """Check that the data of every event is what its kind says, and that the session was closed before judging."""
    types = _types(str(run.started.get("protocol")))
    problems = [text for event in run.events if (text := _misfit(event, types))]
    problems += _disorder(run.events)
    return failed_on(problems, f"{len(run.events)} events, each as its kind says, judged after the session was closed")


def _types(protocol: str) -> Mapping[str, TypeAdapter[Any]]:
    own = PROTOCOLS.load(protocol).events if protocol in PROTOCOLS else {}
    return {kind: TypeAdapter(data) for kind, data in {**EVENTS, **own}.items()}


def _misfit(event: Event, types: Mapping[str, TypeAdapter[Any]]) -> str:
    if event.kind not in types:
        return f"line {event.seq + 1} is a {event.kind!r}, which no event of this protocol is"
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
    """Check that the run was judged to its end."""
    finished = RUN_FINISHED.first(run.events)
    if finished is None:
        last = run.events[-1].kind if run.events else "nothing"
        return failed(
            f"the run is unfinished, or its journal was cut: the last line is {last}, not {RUN_FINISHED.name}"
        )
    return passed(f"status {finished['status']}")


def commitment(run: RunRecords) -> Finding:
    """Check the opened cases against the commitment that the journal begins with."""
    opened = run.opened
    if opened is None:
        return not_checked(f"there is no {OPENED}: cases are published when no run that is judged on them is open")
    if opened.get("schema_version") != OPENED_VERSION:
        return failed(f"{OPENED} is of version {opened.get('schema_version')!r}; expected {OPENED_VERSION}")
    cases, committed = opened["cases"], run.started["commitment"]
    opening = Opening(opened["commitment"], opened["salt"], opened["digest"])
    if opening.commitment != committed:
        return failed(f"{OPENED} opens {opening.commitment}; the journal begins with {committed}")
    if not opening.fits(cases):
        return failed(f"the cases in {OPENED} are not those of the commitment {committed}")
    recorded = CASES_JUDGED.first(run.events)
    if recorded is None or recorded["commitment"] != committed:
        return failed(f"the journal was not closed with these cases: {CASES_JUDGED.name} is {recorded}")
    counts = {name: count for name, (_, _, count) in opened["views"].items()}
    problems = list(differences(counts, dict(run.started["views"]), "views"))
    return failed_on(problems, f"the {sum(counts.values())} opened cases are those of {committed[:12]}…")


def secrecy(run: RunRecords) -> Finding:
    """Say what is known of whether the cases were hidden while the evolver worked."""
    if run.started.get("cases_known"):
        return not_checked("the cases had been published before this run began; nobody can tell who had read them")
    return not_checked("records cannot show that nobody read the cases; that is the sandbox's and the owner's part")


def blobs(run: RunRecords) -> Finding:
    """Check every blob that the journal names against its digest, and every candidate against its own."""
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
    return failed_on(
        problems, f"{len(names)} blobs are what the journal names, {len(run.candidates)} candidates among them"
    )


def _readable(run: RunRecords, blob: str) -> bool:
    try:
        run.blobs.get(blob)
    except HeredityError:
        return False
    return True


def scores(run: RunRecords) -> Finding:
    """Compute every score whose trajectories are kept again from them."""
    problems: list[str] = []
    counted = without = 0
    for event in run.events:
        listed = _listed(event)
        if listed is None:
            continue
        if "blob" not in event.data:
            without += 1
            continue
        counted += len(listed["scores"])
        problems += [f"line {event.seq + 1}, {text}" for text in _misscored(run, event.data, listed)]
    rest = f"; {without} judged views keep no trajectories, and only --replay computes them again" if without else ""
    if not counted and not problems:
        return not_checked(f"no trajectories are kept{rest}")
    return failed_on(problems, f"{counted} scores follow from their trajectories{rest}")


def _listed(event: Event) -> dict[str, list[Any]] | None:
    """Return the scores, lengths and statuses that an event records; None of one without any."""
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
    """Select by the protocol's own rule, from what is recorded, and compare with what the run was judged by."""
    recorded, rule = JUDGING_SELECTED.first(run.events), PROTOCOLS.load(run.started["protocol"]).selection
    if recorded is None or rule is None:
        return not_checked("nothing was selected" if recorded is None else "the protocol offers no rule to select by")
    log = SessionLog()
    log.apply(run.events)
    coverage = run.started.get("coverage", COVERAGE)
    evolved = Evolved(list(log.submissions.values()), log.decisions, "finished", log.batches, coverage)
    chosen = rule(evolved, run.events)
    if chosen != recorded["candidate"]:
        return failed(f"the journal selected {recorded['candidate']}; the protocol's rule selects {chosen}")
    return passed("the protocol's rule selects the same from what is recorded")


def figures(run: RunRecords) -> Finding:
    """Compute metrics.json again from the journal, and compare it field by field."""
    path = run.folder / METRICS
    if not path.exists():
        return not_checked(f"there is no {METRICS}; `heredity report` makes it")
    computed = run.result.metrics.model_dump(mode="json")
    return failed_on(list(differences(read_json(path), computed)), f"every field of {METRICS} follows from the journal")


def configuration(run: RunRecords) -> Finding:
    """Check run.toml against the digest in the journal."""
    if not (run.folder / "run.toml").exists():
        return not_checked("there is no run.toml")
    given, recorded = config_digest(load_config(run.folder)), run.started["config_digest"]
    if given != recorded:
        return failed(f"run.toml is {given}; the run began with {recorded}")
    return passed("run.toml is what the run began with")


def _without_remedy(error: HeredityError) -> str:
    return str(error).partition(";")[0]
