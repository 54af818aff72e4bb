"""What a suite runs next: everything at once, or seed after seed until two entries are told apart.

After each seed the two are compared by a test that holds at every stopping time (`heredity.analysis.anytime`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from heredity.analysis.suite_comparisons import sequential_look
from heredity.analysis.suite_table import taskset_scores
from heredity.configuration.config import Cell
from heredity.errors import RecordError
from heredity.experiments.results import is_run, metrics_of, read_run
from heredity.experiments.sequence import LOOKED, NAME, STOPPED, SequenceLooked, SequenceRecord, read_sequence
from heredity.records.journal import Journal
from heredity.results.run import RunResults, RunStatus
from heredity.results.sequence import Stop


def compared_cells(folder: Path, cells: Sequence[Cell]) -> list[Cell]:
    """Return the runs that a suite makes: all of them, or those of the two entries that its rule compares."""
    sequence = read_sequence(folder)
    return list(cells) if sequence is None else [cell for cell in cells if cell.label in sequence.labels]


def blocks(folder: Path, cells: Sequence[Cell]) -> Generator[list[Cell]]:
    """Yield the runs that are to be made next, until there are none; a suite without a rule makes all at once.

    Seed after seed, what is not finished of it is yielded; when that was run the two entries are compared. A seed that could not
    be finished ends the sequence for now: resuming goes on with it.

    Args:
        folder: the suite's, which the caller has locked.
        cells: as `compared_cells` gave them.

    Raises:
        RecordError: if the sequence cannot be read or written.
    """
    if read_sequence(folder) is None:
        yield list(cells)
        return
    with closing(Journal.open(folder / NAME)) as journal:
        sequence, runs = SequenceRecord.of(journal.events), _Runs(folder, cells)
        for seed in sequence.rule["seeds"]:
            if sequence.stopped is not None:
                return
            if unfinished := runs.unfinished(seed):
                yield unfinished
            if runs.unfinished(seed):
                return
            if seed not in (look["seed"] for look in sequence.looks):
                look = runs.look(seed, sequence.labels)
                decided = look["p"] is not None and look["p"] <= sequence.rule["level"]
                ended = Stop.DECIDED if decided else Stop.MOST_SEEDS if seed == sequence.rule["seeds"][-1] else None
                journal.append_many([LOOKED.line(look), *([STOPPED.line({"reason": ended})] if ended else [])])
                journal.sync()
                sequence = SequenceRecord.of(journal.events)


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of a sequence; those that are finished are read once."""

    folder: Path
    cells: Sequence[Cell]
    read: dict[str, RunResults] = field(default_factory=dict[str, RunResults])

    def unfinished(self, seed: int) -> list[Cell]:
        """Return the runs of a seed that are still to be made, or to be continued."""
        return [cell for cell in self.cells if cell.seed == seed and not self._finished(cell)]

    def look(self, seed: int, pair: tuple[str, str]) -> SequenceLooked:
        """Compare the two entries by all seeds up to this one."""
        finished = [(self.read[c.id], c.label) for c in self.cells if c.seed <= seed and self._finished(c)]
        tasksets = taskset_scores([run for run, _ in finished], [label for _, label in finished], metrics_of)
        look, scale = sequential_look(tasksets, pair)
        return {
            "seed": seed,
            "pairs": 0 if look is None else look.seeds,
            "difference": None if look is None else look.difference,
            "ci": None if look is None else look.interval,
            "p": None if look is None else look.p,
            "scale": scale,
        }

    def _finished(self, cell: Cell) -> bool:
        path = self.folder / "runs" / cell.id
        if cell.id not in self.read and is_run(path):
            # A damaged record is reported by the run that meets it.
            with suppress(RecordError):
                run = read_run(path).metrics
                if run.status is not RunStatus.UNFINISHED:
                    self.read[cell.id] = run
        return cell.id in self.read
