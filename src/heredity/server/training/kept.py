"""Copies of submitted checkpoints: of each run the best is kept, of the others what they were."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from heredity.errors import RecordError
from heredity.posttraining.models.checkpoint import Checkpoint, candidate_of, snapshot

Note = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Journals an event."""


class KeptCheckpoints:
    """The checkpoints of one run, each in a folder that is named by its digest.

    Attributes:
        root: their folder, inside the run's.
    """

    def __init__(self, root: Path, note: Note, known: Mapping[str, str] | None = None) -> None:
        """Keep checkpoints below `root`.

        Args:
            root: the folder.
            note: journals what is kept and dropped.
            known: what an earlier process has kept: digest of the candidate to that of its checkpoint.
        """
        self.root, self._note = root, note
        self._digests = dict(known or {})

    def keep(self, folder: Path, checkpoint: Checkpoint) -> Path:
        """Copy a checkpoint, until it is known whether it is the best.

        Raises:
            CandidateError: if it changes while it is copied.
            RecordError: if the disk is full or fails.
        """
        try:
            path = snapshot(folder, self.root, checkpoint)
        except OSError as error:
            raise RecordError(f"the checkpoint cannot be kept in {self.root}: {error.strerror}") from error
        self._digests[candidate_of(checkpoint).digest] = checkpoint.digest
        return path

    def fresh_folder(self) -> Path:
        """Return a path below the root at which nothing is yet.

        Raises:
            RecordError: if the root cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".merging-", dir=self.root)) / "merged"
        except OSError as error:
            raise RecordError(f"{self.root} cannot be written: {error.strerror}") from error

    async def keep_best(self, best: str | None, latest: str) -> None:
        """Journal that the best checkpoint is kept and forget the weights of all others.

        Args:
            best: digest of the best candidate so far, if there is one.
            latest: digest of the candidate that was graded last.
        """
        if best == latest:
            await self._note("checkpoint.kept", {"digest": self._digests[latest], "candidate": latest})
        for candidate, digest in list(self._digests.items()):
            if candidate != best:
                del self._digests[candidate]
                await self.drop(digest, "another one is better")
        await asyncio.to_thread(self._tidy)

    async def drop(self, digest: str, why: str) -> None:
        """Forget the weights of a checkpoint; its digest and metadata stay in the journal."""
        await asyncio.to_thread(shutil.rmtree, self.root / digest, True)
        await self._note("checkpoint.dropped", {"digest": digest, "why": why})

    def _tidy(self) -> None:
        for leftover in self.root.glob(".merging-*"):
            shutil.rmtree(leftover, ignore_errors=True)
