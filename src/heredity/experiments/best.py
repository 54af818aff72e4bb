"""Winners as plain files: `best/` of a run holds the candidate it ended with, `best/` of a suite the winner on each taskset.

The files are in the layout that `evolver.initial` reads, so a winner can be run, edited, shared or evolved further. They are
derived from the journal and written anew by `heredity report`: copy them before editing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heredity.errors import RecordError
from heredity.posttraining.models.checkpoint import PART as WEIGHTS
from heredity.posttraining.models.checkpoint import checkpoint_of
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, read_journal
from heredity.records.events import CANDIDATE
from heredity.resources import Candidate
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

BEST = "best"

_LINKED = 64 << 20
"""Bytes from which a file is linked rather than copied, so that weights take their place on the disk once."""


@dataclass(frozen=True)
class Winner:
    """The winner on a taskset.

    Attributes:
        taskset: the taskset's name.
        evolver: label of the evolver that found it: the one with the best held-out mean over its seeds.
        run: results of the run it comes from: of that evolver's, the one with the best validation mean, or without
            validation the best held-out mean.
        folder: where its files are.
        changed: the text files in which it differs from what the run began with, by path; empty for a single program.
    """

    taskset: str
    evolver: str
    run: RunResults
    folder: Path
    changed: Mapping[str, str]


def write_best(folder: Path, run: RunResults) -> None:
    """Write the candidate that a run ended with into its `best/`; a run that ended with none has no such folder.

    Args:
        folder: the run's folder.
        run: its results.

    Raises:
        RecordError: if a file cannot be read or written.
    """
    candidates = _Candidates(folder)
    candidate = candidates.load(run.selected.candidate) if run.selected else None
    files = {} if candidate is None or WEIGHTS in candidate.parts else _files(candidate)
    if run.protocol is not None and (more := PROTOCOLS.load(run.protocol).best) is not None:
        files |= more(folder, candidates.events)
    with _replaced(folder / BEST) as target:
        if candidate is not None and WEIGHTS in candidate.parts:
            weights = folder / "models" / checkpoint_of(candidate).digest
            if weights.is_dir():
                _copy(weights, target)
        for path, content in files.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content)


def write_suite_best(folder: Path, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Winner]:
    """Write the winner on each taskset into a suite's `best/`: of several tasksets, each into a folder of its own.

    Evolvers all of whose runs failed have no winner.

    Args:
        folder: the suite's folder, whose runs have their own `best/`.
        suite: its results.
        runs: those of its runs.

    Raises:
        RecordError: if a file cannot be read or written.
    """
    by_id = {str(run.run_id): run for run in runs if (folder / "runs" / str(run.run_id) / BEST).is_dir()}
    leaders: list[tuple[str, str, RunResults]] = []
    for taskset in suite.tasksets:
        cells = [cell for cell in taskset.cells if not (cell.reference or cell.failed)]
        for cell in sorted(cells, key=lambda cell: -cell.mean):
            ended = [by_id[str(seed.run_id)] for seed in cell.seeds if str(seed.run_id) in by_id]
            if ended:
                leaders.append((taskset.taskset, cell.evolver, max(ended, key=_validated)))
                break
    chosen: list[Winner] = []
    with _replaced(folder / BEST) as target:
        for taskset, evolver, run in leaders:
            own = str(run.run_id).partition("--")[0] if len(leaders) > 1 else ""
            _copy(folder / "runs" / str(run.run_id) / BEST, target / own)
            changed = _Candidates(folder / "runs" / str(run.run_id)).changed(run)
            chosen.append(Winner(taskset, evolver, run, folder / BEST / own, changed))
    return chosen


def _validated(run: RunResults) -> float:
    """Return what the runs of an evolver are chosen by: held-out scores only where nothing was validated."""
    scores = (run.selected and run.selected.validation_mean, run.heldout and run.heldout.mean)
    return next((score for score in scores if score is not None), float("-inf"))


class _Candidates:
    """The candidates of a run, read from its journal and blobs."""

    def __init__(self, folder: Path) -> None:
        self.events = read_journal(folder / "journal.jsonl")
        self._blobs, made = BlobStore(folder / "blobs"), [e.data for e in self.events if e.kind == CANDIDATE.name]
        self._names = {data["digest"]: data["blob"] for data in made}
        self._first = made[0]["digest"] if made else ""

    def load(self, digest: str) -> Candidate | None:
        """Return a candidate, or None if its blob is damaged or gone."""
        with contextlib.suppress(KeyError, RecordError):
            return Candidate.from_bytes(self._blobs.get(self._names[digest]))
        return None

    def changed(self, run: RunResults) -> dict[str, str]:
        first, last = self.load(self._first), self.load(run.selected.candidate) if run.selected else None
        if first is None or last is None or _is_program(last):
            return {}
        before, changed = _files(first), dict[str, str]()
        for path, content in _files(last).items():
            with contextlib.suppress(UnicodeDecodeError):
                if before.get(path) != content:
                    changed[path] = content.decode()
        return changed


def _is_program(candidate: Candidate) -> bool:
    return len(candidate.parts) == 1 and all("/" not in name for name in candidate.parts)


def _files(candidate: Candidate) -> dict[str, bytes]:
    """Return a candidate's files in the layout it is read from: a program at the top, resources below TYPE/NAME."""
    if _is_program(candidate):
        (tree,) = candidate.parts.values()
        return dict(tree)
    return {f"{name}/{path}": data for name, tree in candidate.parts.items() for path, data in tree.items()}


@contextlib.contextmanager
def _replaced(target: Path) -> Generator[Path]:
    """Give an empty folder that takes the place of `target` in the end, unless nothing was put into it.

    Raises:
        RecordError: if it cannot be written.
    """
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        yield partial
        shutil.rmtree(target, ignore_errors=True)
        if any(partial.iterdir()):
            partial.rename(target)
    except OSError as error:
        raise RecordError(f"{target} could not be written: {error.strerror}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_file)


def _copy_file(source: str, target: str) -> None:
    if Path(source).stat().st_size >= _LINKED:
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)
