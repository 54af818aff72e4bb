"""A folder, verified: every check of a run, or of a suite with its runs, and the card that says what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from heredity.errors import ConfigError
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
from heredity.experiments.verification.replay import replay
from heredity.outside import resolved
from heredity.records.journal import read_chain
from heredity.results.card import Card, Check, CheckStatus, RunCard
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

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
    """What a verification is to look at beside the records.

    Attributes:
        replay: whether candidates are played again; `most` judged rollouts of each run, or all.
        anchors: where commitments or heads are to be found.
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
    """Check what a run or a suite claims.

    Args:
        folder: a run's or a suite's, from anywhere.
        asked: what else to look at.
        notify: is given the name of each run before it is checked.

    Raises:
        ConfigError: if the folder holds neither.
    """
    asked, folder = asked or Asked(), resolved(folder)
    if not is_run(folder) and not is_suite(folder):
        raise ConfigError(f"{folder} holds neither a run nor a suite; give a published folder")
    strange = check("files", None, lambda: failed_on(list(strange_files(folder)), "plain files of its own"))
    if strange.status is CheckStatus.FAILED:
        return card_of(None, [], [strange])
    if is_run(folder):
        verified = _run(folder, asked)
        cards = [verified.card] if verified.card else []
        return card_of(None, cards, [*verified.checks, *_anchors(asked, cards, 1)])
    return _suite(folder, asked, notify, strange)


def cards_of(folder: Path) -> list[RunCard]:
    """Return the cards of a run, or of the runs of a suite, that have begun, whatever state they are in.

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
        why = "files of this folder are not what they should be"
        return _Verified([files, *skipped(("journal", "events", *_OF_RECORDS), name, why)])
    runs: list[RunRecords] = []
    checks = [files, check("journal", name, partial(_journal, folder, runs))]
    if not runs:
        return _Verified([*checks, *skipped(("events", *_OF_RECORDS), name, "the journal cannot be relied on")])
    run = runs[0]
    checks.append(check("events", name, partial(record.events_of_their_kinds, run)))
    if checks[-1].status is CheckStatus.FAILED:
        return _Verified([*checks, *skipped(_OF_RECORDS, name, "the journal's events are not what they say")])
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
    except UNREADABLE:  # of which `figures` has said why
        return _Verified(checks)
    return _Verified(checks, run_card(results, run.chain), results)


def _files_of_run(folder: Path) -> Finding:
    strange = list(strange_files(folder))
    if not strange:
        remember_measured(folder.parents[1])
    return failed_on(strange, "plain files of its own")


def _journal(folder: Path, runs: list[RunRecords]) -> Finding:
    chain = read_chain(folder / "journal.jsonl")
    if not chain.events:
        return failed("the journal is empty")
    runs.append(RunRecords(folder, chain))
    if chain.torn_bytes:
        return failed(f"the journal ends in a torn line, of {chain.torn_bytes} bytes")
    return passed(f"{len(chain.events)} lines, one chain; its head is {chain.head}")


def _card_of_run(run: RunRecords) -> Finding:
    if not (run.folder / CARD).exists():
        return not_checked(f"there is no {CARD}; `heredity report` makes it")
    return _same_card(run.folder, card_of(None, [run_card(run.result.metrics, run.chain)]))


def _same_card(folder: Path, computed: Card) -> Finding:
    """Compare a published card with what the records come to; who made it with which version is no claim."""
    published = read_json(folder / CARD)
    claim = computed.model_dump(mode="json", exclude={"heredity", "checks"})
    given = {name: value for name, value in published.items() if name not in ("heredity", "checks")}
    return failed_on(list(differences(given, claim)), f"{CARD} is what the records come to")


def _replay(run: RunRecords, name: str, asked: Asked) -> Check:
    if not asked.replay:
        return skipped(("replay",), name, "not asked for; --replay plays candidates again")[0]
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
    """Check that the suite has the runs that its configuration asks for, each once, all of a taskset on the same cases."""
    if not (folder / "suite.toml").exists():
        return not_checked("there is no suite.toml, so nobody knows which runs there should be")
    every, sequence = cells(resolve(read_toml(folder / "suite.toml"))), read_sequence(folder)
    if sequence is not None:
        seeds = {look["seed"] for look in sequence.looks}
        every = [cell for cell in every if cell.label in sequence.labels and cell.seed in seeds]
    planned = [cell.id for cell in every]
    there = [str(card.run_id) for card in cards]
    problems = [f"{name} is missing" for name in planned if name not in there]
    problems += [f"{name} is not of this suite" for name in there if name not in planned]
    problems += [f"{name} is there {there.count(name)} times" for name in dict.fromkeys(there) if there.count(name) > 1]
    commitments: dict[str | None, set[str | None]] = {}
    for card in cards:
        commitments.setdefault(card.taskset, set()).add(card.commitment)
    problems += [
        f"runs on {name} were judged on {len(some)} sets of cases"
        for name, some in commitments.items()
        if len(some) > 1
    ]
    return failed_on(problems, f"the {len(planned)} runs of suite.toml, those of a taskset on the same cases")


def _suite_figures(folder: Path, results: Sequence[RunResults], computed: list[SuiteResults]) -> Finding:
    computed.append(results_of_suite(folder, results))
    if not (folder / METRICS).exists():
        return not_checked(f"there is no {METRICS}; `heredity report` makes it")
    problems = list(differences(read_json(folder / METRICS), computed[0].model_dump(mode="json")))
    return failed_on(problems, f"every field of {METRICS} follows from the journals")


def _card_of_suite(folder: Path, cards: Sequence[RunCard], computed: Sequence[SuiteResults]) -> Finding:
    if not (folder / CARD).exists():
        return not_checked(f"there is no {CARD}; `heredity report` makes it")
    if not computed:
        return not_checked("the figures could not be computed")
    return _same_card(folder, card_of(computed[0], cards))


def _anchors(asked: Asked, cards: Sequence[RunCard], runs: int) -> list[Check]:
    if not asked.anchors:
        return skipped(("anchor",), None, "none was given; --anchor names what shows that this existed at some time")
    if len(cards) < runs:
        return skipped(("anchor",), None, "a run cannot be read, so its commitment and head are not known")
    return [check("anchor", None, partial(anchored, anchor, cards, asked.authority)) for anchor in asked.anchors]
