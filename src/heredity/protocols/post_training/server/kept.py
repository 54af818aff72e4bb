"""Copies of submitted checkpoints: the weights of the run's best, and metadata of the others."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path

from heredity._core.errors import CandidateError, RecordError
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of, inspect, snapshot
from heredity.protocols.post_training.events import CHECKPOINT_DROPPED, CHECKPOINT_KEPT
from heredity.records import Event
from heredity.records.events import JUDGING_SELECTED
from heredity.records.journal import Line

Note = Callable[[Line], Awaitable[None]]
"""Journals an event."""


FOLDER = "models"
"""Folder of a run's checkpoints."""


def selected_weights(folder: Path, events: Sequence[Event]) -> Mapping[str, Path]:
    """Return the files of a run's final checkpoint, by name; empty if its weights are not kept.

    Args:
        folder: the run's folder.
        events: its journal.
    """
    selected = {data["candidate"] for data in JUDGING_SELECTED.all(events)}
    for kept in CHECKPOINT_KEPT.all(events):
        weights = folder / FOLDER / kept["digest"]
        if kept["candidate"] in selected and weights.is_dir():
            return {str(path.relative_to(weights)): path for path in weights.rglob("*") if path.is_file()}
    return {}


class KeptCheckpoints:
    """The checkpoints of one run, each in a folder named by its digest.

    Attributes:
        root: their folder, inside the run's.
    """

    def __init__(self, root: Path, note: Note, noted: Collection[str] = ()) -> None:
        """Keep checkpoints under `root`.

        Args:
            root: the folder.
            note: journals kept and dropped checkpoints.
            noted: digests of candidates already recorded as kept.
        """
        self.root, self._note, self._noted = root, note, set(noted)
        self._there: dict[str, Checkpoint] = {}

    def find(self) -> None:
        """Find the weights left by an earlier process, and remove incomplete copies."""
        self.tidy()
        for folder in self.root.glob("*"):
            try:
                self._learn(inspect(folder))
            except CandidateError:
                shutil.rmtree(folder, ignore_errors=True)

    def of(self, candidate: str) -> Checkpoint | None:
        """Return the checkpoint of a candidate, by the candidate's digest; None if its weights are not stored."""
        return self._there.get(candidate)

    def keep(self, folder: Path, checkpoint: Checkpoint, base: Path) -> None:
        """Keep a checkpoint until it is known whether it is the best: a merged one is moved, any other is copied.

        Raises:
            CandidateError: if it changes while it is copied.
            RecordError: if the disk is full or fails.
        """
        try:
            target = self.root / checkpoint.digest
            if not folder.is_relative_to(self.root):
                snapshot(folder, self.root, checkpoint, base)
            elif not target.is_dir():
                folder.rename(target)
        except OSError as error:
            raise RecordError(f"the checkpoint cannot be kept in {self.root}: {error.strerror}") from error
        self._learn(checkpoint)

    def fresh_folder(self) -> Path:
        """Return an unused path under the root, removed by `tidy`.

        Raises:
            RecordError: if the root cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".merging-", dir=self.root)) / "merged"
        except OSError as error:
            raise RecordError(f"{self.root} cannot be written: {error.strerror}") from error

    async def keep_best(self, best: str | None) -> None:
        """Journal that the best checkpoint is kept and delete the weights of all others.

        Args:
            best: digest of the best candidate so far, if there is one.
        """
        checkpoint = self._there.get(best or "")
        if best and checkpoint and best not in self._noted:
            self._noted.add(best)
            await self._note(
                CHECKPOINT_KEPT.line({"digest": checkpoint.digest, "candidate": best, "bytes": checkpoint.bytes})
            )
        for candidate in [other for other in self._there if other != best]:
            await self.drop(candidate, "another one is better" if best else "it has no score")

    async def drop(self, candidate: str, why: str) -> None:
        """Delete the weights of a candidate; its digest and metadata stay in the journal."""
        digest = self._there.pop(candidate).digest
        await asyncio.to_thread(shutil.rmtree, self.root / digest, True)
        await self._note(CHECKPOINT_DROPPED.line({"digest": digest, "candidate": candidate, "why": why}))

    def tidy(self) -> None:
        """Remove merged and partially copied checkpoints."""
        for leftover in self.root.glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def _learn(self, checkpoint: Checkpoint) -> None:
        self._there[candidate_of(checkpoint).digest] = checkpoint
