"""Winners as plain files: a run's `best/` holds its final candidate, a suite's `best/` the winner on each taskset.

The files have the layout that `evolver.initial` reads, so a winner can be run, edited, shared or evolved further. They
are
derived from the journal, and `heredity report` rewrites them: copy them before editing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heredity._core.errors import RecordError
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, read_journal
from heredity.records.events import CANDIDATE
from heredity.resources import Candidate
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

BEST = "best"

_LINKED = 64 << 20
"""Size in bytes from which a file is hard-linked instead of copied, so that weights are stored once."""


@dataclass(frozen=True)
class Winner:
    """Winner on a taskset.

    Attributes:
        taskset: name of the taskset.
        evolver: label of the winning evolver: the one with the best held-out mean over its seeds.
        run: results of its best run: the one with the best validation mean or, without validation, the best
            held-out mean.
        folder: folder of its files.
        changed: text files that differ from the initial candidate, by path; empty for a single program.
    """

    taskset: str
    evolver: str
    run: RunResults
    folder: Path
    changed: Mapping[str, str]


def best_files(folder: Path, run: RunResults) -> dict[str, bytes | Path]:
    """Return the files of the candidate that a run ended with, by their paths; none if it ended with none.

    Args:
        folder: the run's folder.
        run: its results.

    Returns:
        The content of each, or the file that has it.

    Raises:
        RecordError: if the journal cannot be read.
    """
    candidates = _Candidates(folder)
    candidate = candidates.load(run.selected.candidate) if run.selected else None
    files: dict[str, bytes | Path] = {} if candidate is None else {**tree_files(candidate)}
    if run.protocol is not None and (more := PROTOCOLS.load(run.protocol).best) is not None:
        files |= more(folder, candidates.events)
    return files


def write_best(folder: Path, run: RunResults) -> None:
    """Write the final candidate of a run into its `best/`; a run without one gets no such folder.

    Args:
        folder: the run's folder.
        run: its results.

    Raises:
        RecordError: if a file cannot be read or written.
    """
    files = best_files(folder, run)
    with _replacing(folder / BEST) as target:
        for path, content in files.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                _copy_file(str(content), str(target / path))
            else:
                (target / path).write_bytes(content)


def write_suite_best(folder: Path, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Winner]:
    """Write the winner on each taskset into a suite's `best/`; with several tasksets, each gets a subfolder.

    An evolver whose runs all failed has no winner.

    Args:
        folder: the suite's folder; its runs have `best/` folders already.
        suite: results of the suite.
        runs: results of its runs.

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
                leaders.append((taskset.taskset, cell.evolver, max(ended, key=_selection_score)))
                break
    chosen: list[Winner] = []
    with _replacing(folder / BEST) as target:
        for taskset, evolver, run in leaders:
            own = str(run.run_id).partition("--")[0] if len(leaders) > 1 else ""
            _copy(folder / "runs" / str(run.run_id) / BEST, target / own)
            changed = _Candidates(folder / "runs" / str(run.run_id)).changed(run)
            chosen.append(Winner(taskset, evolver, run, folder / BEST / own, changed))
    return chosen


def _selection_score(run: RunResults) -> float:
    """Return the score by which a run of an evolver is chosen: the held-out score only if nothing was validated."""
    scores = (run.selected and run.selected.validation_mean, run.heldout and run.heldout.mean)
    return next((score for score in scores if score is not None), float("-inf"))


class _Candidates:
    """Candidates of a run, read from its journal and blobs."""

    def __init__(self, folder: Path) -> None:
        self.events = read_journal(folder / "journal.jsonl")
        self._blobs, made = BlobStore(folder / "blobs"), [e.data for e in self.events if e.kind == CANDIDATE.name]
        self._names = {data["digest"]: data["blob"] for data in made}
        self._first = made[0]["digest"] if made else ""

    def load(self, digest: str) -> Candidate | None:
        """Return a candidate, or None if its blob is damaged or missing."""
        with contextlib.suppress(KeyError, RecordError):
            return Candidate.from_bytes(self._blobs.get(self._names[digest]))
        return None

    def changed(self, run: RunResults) -> dict[str, str]:
        first, last = self.load(self._first), self.load(run.selected.candidate) if run.selected else None
        if first is None or last is None or _is_program(last):
            return {}
        before, changed = tree_files(first), dict[str, str]()
        for path, content in tree_files(last).items():
            with contextlib.suppress(UnicodeDecodeError):
                if before.get(path) != content:
                    changed[path] = content.decode()
        return changed


def _is_program(candidate: Candidate) -> bool:
    return len(candidate.parts) == 1 and all("/" not in name for name in candidate.parts)


def tree_files(candidate: Candidate) -> dict[str, bytes]:
    """Return a candidate's files in the layout it is read from: a program at the top, resources below TYPE/NAME.

    Models are left out: such a resource only names weights, which its protocol stores.
    """
    if _is_program(candidate):
        (tree,) = candidate.parts.values()
        return dict(tree)
    parts = {name: tree for name, tree in candidate.parts.items() if not name.startswith("model/")}
    return {f"{name}/{path}": data for name, tree in parts.items() for path, data in tree.items()}


@contextlib.contextmanager
def _replacing(target: Path) -> Generator[Path]:
    """Yield an empty folder that replaces `target` at the end, unless it is still empty.

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
