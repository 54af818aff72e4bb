"""Cards of runs and suites, made from results and the heads of journals."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgpack

from heredity import __version__
from heredity._core.errors import HeredityError, RecordError
from heredity.analysis.suite_results import common_organisation
from heredity.records.journal import Chain, read_chain
from heredity.records.run_folder import write_atomic
from heredity.results.card import Card, Check, CheckStatus, Figure, RunCard
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

Finding = tuple[CheckStatus, str]

_MOST_NAMED = 3
UNREADABLE = (
    HeredityError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
    StopIteration, AssertionError, struct.error, msgpack.exceptions.UnpackException,
)  # fmt: skip
"""Exceptions that untrusted records may cause; any other is a bug in Heredity."""


def passed(what: str) -> Finding:
    """Return a finding that the claim holds."""
    return CheckStatus.PASSED, what


def failed(what: str) -> Finding:
    """Return a finding that the claim does not hold."""
    return CheckStatus.FAILED, what


def not_checked(why: str) -> Finding:
    """Return a finding that nothing was checked, with the reason."""
    return CheckStatus.NOT_CHECKED, why


def failed_on(problems: Sequence[str], otherwise: str) -> Finding:
    """Return a failure with the first of several problems, or a pass if there are none."""
    if not problems:
        return passed(otherwise)
    more = len(problems) - _MOST_NAMED
    return failed("; ".join(problems[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else ""))


def check(name: str, run: str | None, work: Callable[[], Finding]) -> Check:
    """Make a check. Records that make it impossible fail it, as they cannot support the claim."""
    try:
        status, reason = work()
    except UNREADABLE as error:
        status, reason = failed(f"{type(error).__name__}: {error}")
    return Check(name=name, run=run, status=status, reason=" ".join(reason.encode("utf-8", "replace").decode().split()))


def skipped(names: Sequence[str], run: str | None, why: str) -> list[Check]:
    """Return checks that were not made, all for one reason."""
    return [Check(name=name, run=run, status=CheckStatus.NOT_CHECKED, reason=why) for name in names]


CARD = "card.json"


def run_card(results: RunResults, chain: Chain) -> RunCard:
    """Return a run's card, with the claims that it is checked against."""
    heldout, reference, gain = results.heldout, results.reference, results.gain
    figures: list[Figure] = []
    if heldout is not None:
        figures.append(Figure(name="held-out mean", value=heldout.mean, ci=heldout.ci, n=heldout.n))
    if reference is not None:
        scored = sum(score is not None for score in reference.heldout_scores)
        name = f"held-out mean of the reference ({reference.name})"
        figures.append(Figure(name=name, value=reference.heldout_mean, ci=None, n=scored))
    if gain is not None:
        figures.append(Figure(name="gain", value=gain.difference, ci=gain.ci, n=gain.pairs))
    return RunCard(
        run_id=results.run_id,
        suite_id=results.suite_id,
        protocol=results.protocol,
        status=results.status,
        taskset=results.taskset,
        taskset_version=results.taskset_version,
        isolation=results.isolation,
        packages=results.packages,
        config_digest=results.config_digest,
        commitment=results.commitment,
        head=chain.head,
        events=len(chain.events),
        candidates=list(dict.fromkeys(row.candidate for row in results.submissions)),
        selected=results.selected.candidate if results.selected else None,
        figures=figures,
        times=results.times,
        organisation=results.organisation,
    )


def card_of(suite: SuiteResults | None, runs: Sequence[RunCard], checks: Sequence[Check] = ()) -> Card:
    """Return the card of a run, or of a suite with its runs."""
    figures: list[Figure] = []
    for taskset in suite.tasksets if suite else ():
        for cell in taskset.cells:
            name = f"held-out mean of {cell.evolver} on {taskset.taskset}"
            figures.append(Figure(name=name, value=cell.mean, ci=cell.ci, n=cell.cases))
    for entry in suite.leaderboard if suite else ():
        name = f"interquartile mean of {entry.evolver}"
        figures.append(Figure(name=name, value=entry.iqm, ci=entry.iqm_ci, n=entry.runs))
    organisation = common_organisation(run.organisation for run in runs)
    return Card(heredity=__version__, figures=figures, runs=list(runs), checks=list(checks), organisation=organisation)


def write_card(folder: Path, metrics: RunResults | SuiteResults, runs: Sequence[RunResults]) -> None:
    """Write the card of a run or of a suite into its folder.

    Args:
        folder: folder of a run or a suite.
        metrics: its results.
        runs: for a suite, the results of its runs.

    Raises:
        RecordError: if a journal cannot be read, or the card cannot be written.
    """
    if isinstance(metrics, RunResults):
        card = card_of(None, [run_card(metrics, read_chain(folder / "journal.jsonl"))])
    else:
        chains = dict(_chains(folder / "runs"))
        card = card_of(metrics, [run_card(run, chains[run.run_id]) for run in runs if run.run_id in chains])
    save_card(folder / CARD, card)


def _chains(folder: Path) -> Iterator[tuple[str | None, Chain]]:
    for path in sorted(folder.glob("*/journal.jsonl")):
        try:
            chain = read_chain(path)
        except RecordError:
            continue  # left out of the results too
        yield next((str(event.data.get("run_id")) for event in chain.events[:1]), None), chain


def save_card(path: Path, card: Card) -> None:
    """Write a card.

    Raises:
        RecordError: if it cannot be written.
    """
    write_atomic(path, json.dumps(card.model_dump(mode="json"), indent=1, allow_nan=False).encode() + b"\n")
