"""Verification of a folder: every check of a run, or of a suite with its runs, and the card with the results."""

from __future__ import annotations

import asyncio
import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HeredityError, RecordError
from heredity._core.ids import digest_json
from heredity._core.outside import distrusting, json_value, read_bytes, resolved
from heredity._core.refusals import misfits, quoted, reading
from heredity.configuration.config import Cell
from heredity.engine.kind import KINDS
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.experiments.config import cells, read_toml, resolve
from heredity.experiments.engine import package_versions
from heredity.experiments.measured import remember_measured
from heredity.experiments.results import METRICS, RunResult, is_run, is_suite, read_run, results_of_suite
from heredity.experiments.sealed import OPENED, OPENED_VERSION
from heredity.experiments.sequence import EVENTS as SEQUENCE_EVENTS
from heredity.experiments.sequence import LOOKED, NAME, STARTED, STOPPED, SequenceRecord, read_sequence
from heredity.experiments.suite import looked, stopped_by
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
from heredity.experiments.verification.files import (
    mirror,
    rebuilt_files,
    strange_files,
    unnamed_blobs,
)
from heredity.experiments.verification.logs import Given, log_checks
from heredity.experiments.verification.order import disorder, excess, overdrawn
from heredity.experiments.verification.published import PUBLISHED, declared_starts, unchanged
from heredity.experiments.verification.rederive import NotDerivableError, Record, Rederivation, deviations, opened_cases
from heredity.experiments.verification.replay import replayed_candidates, replayed_method
from heredity.methods import Budget
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, Event, config_digest, load_config
from heredity.records.events import (
    CANDIDATE,
    CASES_JUDGED,
    EVENTS,
    JUDGING_SELECTED,
    MODEL_CALLED,
    REFERENCE_SCORED,
    RUN_FINISHED,
    RUN_STARTED,
    SUBMISSION_COMPLETED,
    RunStarted,
    closed,
)
from heredity.records.journal import Chain, read_chain
from heredity.resources import Candidate
from heredity.results.base import COVERAGE
from heredity.results.card import Card, Check, CheckStatus, Replayed, RunCard
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.session.bench import Evolved
from heredity.session.cases import Opening
from heredity.session.rollouts import outcome_of
from heredity.session.session_log import SessionLog, score_to_json
from heredity.tasks import Task
from heredity.tasks.registry import taskset


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
        cells: the runs of its suite by id; empty for a run without its suite.
    """

    def __init__(self, folder: Path, chain: Chain, cells: Mapping[str, Cell] | None = None) -> None:
        self.folder, self.chain, self.cells = folder, chain, cells or {}
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

    @functools.cached_property
    def cell(self) -> Cell:
        """The run in the configuration of its suite, or, for a run without its suite, in its own.

        Raises:
            ConfigError: if the suite has no such run.
        """
        if self.cells:
            if self.folder.name not in self.cells:
                raise ConfigError(f"suite.toml has no run {self.folder.name}")
            return self.cells[self.folder.name]
        config, started = resolve(load_config(self.folder)), self.started
        if len(config.run.tasksets) != 1 or len(config.run.seed_list) != 1:
            raise ConfigError("run.toml has several tasksets or seeds; a run has one of each")
        taskset, seed = config.run.tasksets[0], config.run.seed_list[0]
        return Cell(started["run_id"], taskset, seed, str(started["evolver"].get("name")), config)

    @functools.cached_property
    def record(self) -> Record:
        """The record from which the run can be made again.

        Raises:
            RecordError: if its cases are not opened.
        """
        if self.opened is None:
            raise RecordError(f"{OPENED} is missing")
        every = list(self.cells.values()) or [self.cell]
        return Record(self.cell, every, self.events, self.blobs, self.opened)

    def candidate(self, digest: str) -> Candidate:
        """Read a candidate (see `BlobStore.get`)."""
        return Candidate.from_bytes(self.blobs.get(self.candidates[digest]))


def events_of_their_kinds(run: RunRecords) -> Finding:
    """Check that every event has exactly the fields of its kind, and stands where the rules allow it."""
    types = _types(str(run.started.get("protocol")))
    problems = [text for event in run.events if (text := _misfit(event, types))]
    if not problems:
        problems += disorder(run.events)
    if not problems:
        problems += overdrawn(run.events, run.started["budget"])
        problems += excess(run.events, run.started["failure_return"], _floors(run))
    return failed_on(problems, f"{len(run.events)} events, each valid for its kind and in its place")


def _floors(run: RunRecords) -> dict[str, float | None]:
    """Return the score of a failure on every taskset of the run's views."""
    named = {str(event.data["taskset"]) for event in run.events if isinstance(event.data.get("taskset"), str)}
    return {name: score_to_json(taskset(name).info.failure_return) for name in named - {run.started["taskset"]}}


@functools.cache
def _types(protocol: str) -> Mapping[str, TypeAdapter[Any]]:
    own = PROTOCOLS.load(protocol).events if protocol in PROTOCOLS else {}
    return {kind: TypeAdapter(closed(data)) for kind, data in {**EVENTS, **own}.items()}


def _misfit(event: Event, types: Mapping[str, TypeAdapter[Any]]) -> str:
    if event.kind not in types:
        return f"line {event.seq + 1} is a {event.kind!r}, unknown in this protocol"
    try:
        types[event.kind].validate_python(event.data, strict=True)
    except ValidationError as error:
        return f"line {event.seq + 1}, {event.kind}: {misfits(error)}"
    return ""


def ended(run: RunRecords) -> Finding:
    """Check that the run was fully judged."""
    finished = RUN_FINISHED.first(run.events)
    if finished is None:
        last = run.events[-1].kind if run.events else "nothing"
        return failed(
            f"the run is unfinished, or its journal was cut: the last line is {last}, not {RUN_FINISHED.name}"
        )
    return passed(f"status {finished['status']}")


_OPENED_KEYS = {"schema_version", "views", "entropy", "commitment", "salt", "digest", "cases"}


def commitment(run: RunRecords) -> Finding:
    """Check that the opened entropy draws the opened cases, and that these open the commitment at the journal's start."""
    opened = run.opened
    if opened is None:
        return failed(f"{OPENED} is missing: publish the folder after every run judged on its cases has ended")
    if opened.get("schema_version") != OPENED_VERSION:
        return failed(f"{OPENED} has version {opened.get('schema_version')!r}; expected {OPENED_VERSION}")
    if {*opened} != _OPENED_KEYS:
        return failed(f"{OPENED} has other fields than {', '.join(sorted(_OPENED_KEYS))}")
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
    draws = [(taskset(name), split, count) for name, split, count in opened["views"].values()]
    drawn = opened_cases(opened).opening_of(draws)
    if drawn.digest != opened["digest"]:
        problems.append("the opened entropy draws other cases")
    return failed_on(
        problems, f"the {sum(counts.values())} opened cases are drawn from the entropy and match {committed[:12]}…"
    )


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
    keys = ("blob", "candidate_blob", "certificate", "levels")
    names = {event.data[key] for event in run.events for key in keys if event.data.get(key)}
    for name in sorted(names):
        try:
            run.blobs.get(name)
        except HeredityError as error:
            problems.append(_without_remedy(error))
    for digest, blob in run.candidates.items():
        if _readable(run, blob) and run.candidate(digest).digest != digest:
            problems.append(f"the blob {blob} holds another candidate than {digest}")
    problems += _misreported(run)
    problems += unnamed_blobs(run.folder, frozenset(names))
    return failed_on(problems, f"{len(names)} blobs match the journal, {len(run.candidates)} candidates among them")


def _misreported(run: RunRecords) -> Iterator[str]:
    """Yield calls of the method's model whose event says something else than the stored request and reply."""
    places: dict[str, set[int]] = {}
    for event in run.events:
        data = MODEL_CALLED.of(event)
        if data is None or not _readable(run, data["blob"]):
            continue
        places.setdefault(data["request"], set()).add(data["place"])
        answer = json_value(run.blobs.get(data["blob"]))
        reply, error = answer.get("reply"), answer.get("error")
        if digest_json(answer["request"]) != data["request"]:
            yield f"line {event.seq + 1}: the stored request is another"
        if (error and error["kind"]) != data["error"] or (reply and reply["usage"]) != data["usage"]:
            yield f"line {event.seq + 1}: the stored reply has another usage or error"
        if reply and reply["model"] != data["model"]:
            yield f"line {event.seq + 1}: the stored reply is of another model"
    for request, taken in places.items():
        if taken != set(range(len(taken))):
            yield f"calls of the request {request[:12]}… are missing"


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
        return failed(f"{METRICS} is missing; create it with `heredity report`")
    computed = run.result.metrics.model_dump(mode="json")
    return failed_on(list(differences(read_json(path), computed)), f"every field of {METRICS} follows from the journal")


def configuration(run: RunRecords) -> Finding:
    """Check that run.toml is the run of its suite.toml, and the one that the journal began with."""
    if not (run.folder / "run.toml").exists():
        return failed("run.toml is missing")
    given = load_config(run.folder)
    digest, recorded = config_digest(given), run.started["config_digest"]
    if digest != recorded:
        return failed(f"run.toml is {digest}; the run started with {recorded}")
    cell, started = run.cell, run.started
    planned = cell.config.model_dump(exclude_none=True, exclude={"engine": {"gpus", "parallel_runs", "workers"}})
    if run.cells and config_digest(planned) != digest:
        problems = list(differences(given, planned))
        return failed(f"run.toml is not this run of suite.toml: {problems[0] if problems else digest}")
    expected = {
        "run_id": cell.id,
        "protocol": cell.config.run.protocol,
        "taskset": cell.taskset,
        "seed": cell.seed,
        "execution": cell.config.gateway.execution,
    }
    wrong = [
        f"{name} is {started[name]!r}, not {value!r}" for name, value in expected.items() if started[name] != value
    ]
    info = taskset(cell.taskset).info
    about = {"family": info.family, "group": info.group, "failure_return": score_to_json(info.failure_return)}
    wrong += [
        f"{name} is {started[name]!r}, and {value!r} here" for name, value in about.items() if started[name] != value
    ]
    if started["taskset_version"] != info.version and started["packages"] == package_versions():
        wrong.append(f"taskset_version is {started['taskset_version']!r}; with these packages it is {info.version!r}")
    wrong += [f"budget.{name} is unknown" for name in {*started["budget"]} - {*Budget.__dataclass_fields__}]
    return failed_on(
        wrong, "run.toml is the one that the run started with" + (", and a run of suite.toml" if run.cells else "")
    )


def derivation(run: RunRecords) -> Finding:
    """Make the run again from its record, and compare every event: charges, scores, decisions, selection, references."""
    made = Rederivation(run.record, method=False)
    try:
        again = asyncio.run(made.run())
    except NotDerivableError as error:
        return not_checked(str(error))
    except HeredityError as error:
        return failed(f"the run cannot be made again from its record: {_without_remedy(error)}")
    problems = list(deviations(run.events, again, frozenset()))
    return failed_on(
        problems, f"{len(again)} events follow from the rollouts, the judgements and the rules of the protocol"
    )


def _without_remedy(error: HeredityError) -> str:
    return str(error).partition(";")[0]


Notify = Callable[[str], None]

_OF_RECORDS = (
    "ended",
    "configuration",
    "commitment",
    "secrecy",
    "blobs",
    "derivation",
    "scores",
    "selection",
    "figures",
    "card",
    "pages",
    "replay",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of a verification in addition to the records.

    Attributes:
        candidates: whether to play candidates again: `most` rollouts of each run, or all.
        methods: whether to run built-in methods again from their seeds.
        logs: logs to check against, and the keys and certificates to trust.
    """

    candidates: bool = False
    methods: bool = False
    most: int | None = None
    logs: Given = field(default_factory=Given)


@dataclass(frozen=True, slots=True)
class _Verified:
    checks: list[Check]
    card: RunCard | None = None
    results: RunResults | None = None
    replays: Sequence[Replayed] = ()


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
    alone = is_run(folder)
    strange = check(
        "files", None, lambda: failed_on(list(strange_files(folder, suite=not alone)), "plain files inside the folder")
    )
    if strange.status is CheckStatus.FAILED:
        return card_of(None, [], [strange])
    with distrusting(folder), EngineFolder() as scratch:
        if alone:
            verified = _run(folder, asked, {}, scratch)
            cards = [verified.card] if verified.card else []
            checks = [*verified.checks, *_logs(folder, [folder], asked, cards)]
            return card_of(None, cards, checks).model_copy(update={"replays": list(verified.replays)})
        return _suite(folder, asked, notify, strange, scratch)


def is_published(folder: Path) -> bool:
    """Report whether a folder is marked as published, so that what cannot be checked is no pass."""
    return (folder / PUBLISHED).is_file()


def unproven(card: Card) -> list[str]:
    """Return the claims of a card that were neither shown nor refuted: checks not made, held-out scores not replayed."""
    asked = {check.name for check in card.checks if check.name in ("anchor", "secrecy", "replay")}
    claims = [
        f"{c.name}: {c.reason}" for c in card.checks if c.status is CheckStatus.NOT_CHECKED and c.name not in asked
    ]
    rows = [row for row in card.replays if row.what == "candidates" and row.split != "train"]
    claims += [
        f"{row.run}: {left} of {row.recorded} rollouts on {row.split} are exempt ({'; '.join(row.exempt)})"
        for row in rows
        if (left := sum(row.exempt.values()))
    ]
    return claims


def _run(folder: Path, asked: Asked, planned: Mapping[str, Cell], scratch: Path) -> _Verified:
    name = folder.name
    files = check("files", name, partial(_files_of_run, folder))
    if files.status is CheckStatus.FAILED:
        why = "this folder has invalid files"
        return _Verified([files, *skipped(("journal", "events", *_OF_RECORDS), name, why)])
    runs: list[RunRecords] = []
    checks = [files, check("journal", name, partial(_journal, folder, runs, planned))]
    if not runs:
        return _Verified([*checks, *skipped(("events", *_OF_RECORDS), name, "the journal is invalid")])
    run = runs[0]
    checks.append(check("events", name, partial(events_of_their_kinds, run)))
    if checks[-1].status is CheckStatus.FAILED:
        return _Verified([*checks, *skipped(_OF_RECORDS, name, "the journal has invalid events")])
    works: list[tuple[str, Callable[[RunRecords], Finding]]] = [
        ("ended", ended),
        ("configuration", configuration),
        ("commitment", commitment),
        ("secrecy", secrecy),
        ("blobs", blobs),
    ]
    checks += [check(what, name, partial(work, run)) for what, work in works]
    if any(done.name == "commitment" and done.status is CheckStatus.FAILED for done in checks):
        checks += skipped(("derivation",), name, "the cases are not opened, so tasks cannot be drawn again")
    else:
        checks.append(check("derivation", name, partial(derivation, run)))
    derived = checks[-1].status is CheckStatus.PASSED
    for what, work in (("scores", scores), ("selection", selection)):
        checks.append(check(what, name, (lambda: passed("derived")) if derived else partial(work, run)))
    works = [("figures", figures), ("card", _card_of_run), ("pages", partial(_pages_of_run, scratch))]
    checks += [check(what, name, partial(work, run)) for what, work in works]
    replays: list[Replayed] = []
    checks.append(_replay(run, name, asked, replays))
    try:
        results = run.result.metrics
    except UNREADABLE:  # the check `figures` reports why
        return _Verified(checks, replays=replays)
    return _Verified(checks, run_card(results, run.chain), results, replays)


def _files_of_run(folder: Path) -> Finding:
    strange = list(strange_files(folder, suite=False))
    if not strange:
        remember_measured(folder.parents[1])
    return failed_on(strange, "plain files inside the folder")


def _journal(folder: Path, runs: list[RunRecords], planned: Mapping[str, Cell]) -> Finding:
    chain = read_chain(folder / "journal.jsonl")
    if not chain.events:
        return failed("the journal is empty")
    runs.append(RunRecords(folder, chain, planned))
    if chain.torn_bytes:
        return failed(f"the journal ends in an incomplete line of {chain.torn_bytes} bytes")
    return passed(f"{len(chain.events)} lines, one chain; its head is {chain.head}")


def _card_of_run(run: RunRecords) -> Finding:
    if not (run.folder / CARD).exists():
        return failed(f"{CARD} is missing; create it with `heredity report`")
    return _same_card(run.folder, card_of(None, [run_card(run.result.metrics, run.chain)]))


def _pages_of_run(scratch: Path, run: RunRecords) -> Finding:
    return _pages(rebuilt_files(run.folder, run.result.metrics, [], scratch))


def _pages(problems: Iterable[str]) -> Finding:
    left = [problem for problem in problems if not problem.startswith((METRICS, CARD))]
    return failed_on(
        left, "the report, tables, best candidate and lineage follow from the records; there are no other files"
    )


_MADE_BY_CHECKS = {"checks", "replays", "unproven"}
"""Fields of a card that a verification fills in."""


def _same_card(folder: Path, computed: Card) -> Finding:
    """Compare a published card with the records; only the checks that it lists are not claims of the records."""
    published = read_json(folder / CARD)
    claim = computed.model_dump(mode="json", exclude=_MADE_BY_CHECKS)
    given = {name: value for name, value in published.items() if name not in _MADE_BY_CHECKS}
    problems = list(differences(given, claim))
    if any(published.get(name) for name in _MADE_BY_CHECKS):
        problems.append("it lists checks; only their own makers can vouch for them")
    return failed_on(problems, f"{CARD} follows from the records")


def _replay(run: RunRecords, name: str, asked: Asked, replays: list[Replayed]) -> Check:
    if not asked.candidates and not asked.methods:
        why = "not requested; --replay=candidates plays candidates again, --replay=methods runs methods again"
        return skipped(("replay",), name, why)[0]
    return check("replay", name, lambda: asyncio.run(_replayed(run, asked, replays)))


async def _replayed(run: RunRecords, asked: Asked, replays: list[Replayed]) -> Finding:
    if run.opened is None:
        return failed("the cases are not published, so nothing can be replayed")
    rows: list[Replayed] = []
    problems: list[str] = []
    if asked.candidates:
        try:
            kept = KINDS.load(taskset(run.cell.taskset).info.kind).unrepeatable(run.folder)
            rows, problems = await replayed_candidates(run.record, asked.most, kept)
        except HeredityError as error:
            return not_checked(f"candidates cannot be played here: {error}")
    if asked.methods:
        row, more = await replayed_method(run.record)
        rows, problems = [*rows, row], [*problems, *more]
    replays += rows
    equal, recorded = sum(row.equal for row in rows), sum(row.recorded for row in rows)
    exempt = sum(count for row in rows for count in row.exempt.values())
    reasons = "; ".join(dict.fromkeys(reason for row in rows for reason in row.exempt))
    rest = f", {exempt} exempt: {reasons}" if exempt else ""
    if problems:
        return failed_on(problems, "")
    if not equal:
        return not_checked(
            f"0 of {recorded} replayed{rest}" if recorded else "nothing is recorded that could be replayed"
        )
    return passed(f"{equal} of {recorded} replayed and equal{rest}")


def _suite(folder: Path, asked: Asked, notify: Notify, files: Check, scratch: Path) -> Card:
    verified: list[_Verified] = []
    planned: dict[str, Cell] = {}
    remember_measured(folder)
    plan = check("plan", None, partial(_planned, folder, planned))
    mirror(folder, scratch, {"suite.toml", "measured.json", "sequence.jsonl"})
    folders = sorted(path for path in (folder / "runs").iterdir() if is_run(path) or path.is_symlink())
    for path in folders:
        notify(path.name)
        verified.append(_run(path, asked, planned, scratch))
    cards = [one.card for one in verified if one.card]
    results = [one.results for one in verified if one.results and one.results.run_id]
    computed: list[SuiteResults] = []
    checks = [
        files,
        plan,
        check("runs", None, lambda: _all_runs(folder, cards)),
        *([check("sequence", None, lambda: _sequence(folder, results, planned))] if (folder / NAME).exists() else ()),
        check("copies", None, lambda: _copies(folder, folders)),
        check("figures", None, lambda: _suite_figures(folder, results, computed)),
        check("card", None, lambda: _card_of_suite(folder, cards, computed)),
        check("pages", None, lambda: _pages_of_suite(folder, computed, results, scratch)),
        *_logs(folder, folders, asked, cards),
        *(one for run in verified for one in run.checks),
    ]
    card = card_of(computed[0] if computed else None, cards, checks)
    return card.model_copy(update={"replays": [row for one in verified for row in one.replays]})


def _planned(folder: Path, planned: dict[str, Cell]) -> Finding:
    """Read the runs that suite.toml asks for."""
    if not (folder / "suite.toml").exists():
        return failed("suite.toml is missing, so the expected runs are unknown")
    planned |= {cell.id: cell for cell in cells(resolve(read_toml(folder / "suite.toml")))}
    return passed(f"suite.toml asks for {len(planned)} runs, each with a seed of its own")


def _sequence(folder: Path, results: Sequence[RunResults], planned: Mapping[str, Cell]) -> Finding:
    """Compute every look of a sequential suite again, and whether it had to go on."""
    events = read_chain(folder / NAME).events
    types = {kind: TypeAdapter(closed(data)) for kind, data in SEQUENCE_EVENTS.items()}
    if problems := [text for event in events if (text := _misfit(event, types))]:
        return failed_on(problems, "")
    sequence, rule = SequenceRecord.of(events), STARTED.of(events[0])
    if rule is None:
        return failed(f"{NAME} does not begin with its rule")
    finished = [(run, planned[str(run.run_id)]) for run in results if str(run.run_id) in planned]
    runs = {label: [cell.id for cell in planned.values() if cell.label == label] for label in sequence.labels}
    problems = list(differences(dict(rule["runs"]), runs, "runs"))
    expected: list[str] = [STARTED.name]
    for seed, recorded in zip(rule["seeds"], sequence.looks, strict=False):
        some = [(run, cell.label) for run, cell in finished if cell.seed <= seed and cell.label in sequence.labels]
        look = looked(seed, some, sequence.labels)
        problems += differences(_plain(recorded), _plain(look), f"look of seed {seed}")
        expected += [LOOKED.name, *([STOPPED.name] if stopped_by(look, rule) else [])]
    if [event.kind for event in events] != expected:
        problems.append("its looks do not end where the rule ends them")
    return failed_on(problems, f"{len(sequence.looks)} looks follow from the runs and the rule")


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    return json.loads(json.dumps(value))


def _copies(folder: Path, folders: Sequence[Path]) -> Finding:
    """Check that no two runs have the same measured times: one would be a copy of the other under another name."""
    seen: dict[tuple[float, ...], str] = {}
    problems: list[str] = []
    for path in folders:
        events = read_chain(path / "journal.jsonl").events
        times = tuple(data["seconds"] for data in SUBMISSION_COMPLETED.all(events))
        if len(times) > 1 and any(times) and times in seen:
            problems.append(f"{path.name} has the rollout times of {seen[times]} to the microsecond")
        seen.setdefault(times, path.name)
    return failed_on(problems, "no two runs have the same rollout times")


def _pages_of_suite(
    folder: Path, computed: Sequence[SuiteResults], runs: Sequence[RunResults], scratch: Path
) -> Finding:
    if not computed:
        return failed("the figures could not be computed")
    known = {*(path.name for path in (folder / "runs").iterdir())} - {run.run_id for run in runs}
    strays = [f"runs/{name} is no run of this suite" for name in sorted(known)]
    return _pages([*strays, *rebuilt_files(folder, computed[0], runs, scratch)])


def _all_runs(folder: Path, cards: Sequence[RunCard]) -> Finding:
    """Check that the suite has the runs of its configuration, each once, with the same cases for all runs of a taskset."""
    if not (folder / "suite.toml").exists():
        return failed("suite.toml is missing, so the expected runs are unknown")
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
        return failed(f"{METRICS} is missing; create it with `heredity report`")
    problems = list(differences(read_json(folder / METRICS), computed[0].model_dump(mode="json")))
    return failed_on(problems, f"every field of {METRICS} follows from the journals")


def _card_of_suite(folder: Path, cards: Sequence[RunCard], computed: Sequence[SuiteResults]) -> Finding:
    if not (folder / CARD).exists():
        return failed(f"{CARD} is missing; create it with `heredity report`")
    if not computed:
        return failed("the figures could not be computed")
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
