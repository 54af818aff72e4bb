"""Record of hidden items in an agent's files, searched while its checkpoints are graded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from heredity.kinds.checkpoint.tasks.overlap import HiddenTexts, Met, OwnTexts
from heredity.protocols.post_training.events import TEXTS_MET, TextsMet
from heredity.records.journal import Line


class TextWatch:
    """Journals the hidden items found in an agent's files: first, whenever there are more, and at the end.

    The agent is not told: it would learn which items are hidden.

    Args:
        root: its workspace.
        hidden: the texts of hidden items.
        given: top-level names in the workspace written by the host.
        note: journals a line.
        recorded: the record so far.
    """

    def __init__(
        self,
        root: Path,
        hidden: HiddenTexts,
        given: Sequence[str],
        note: Callable[[Line], Awaitable[None]],
        recorded: Sequence[TextsMet] = (),
    ) -> None:
        self._texts, self._sizes, self._note = OwnTexts(root, hidden, given), hidden.sizes, note
        self._last: TextsMet | None = recorded[-1] if recorded else None
        if self._last:
            for view, positions in self._last["views"].items():
                self._texts.met.items.setdefault(view, set()).update(positions)
            self._texts.met.files += self._last["files"]
        self._turn = asyncio.Lock()

    async def look(self, at_s: float, *, last: bool = False) -> None:
        """Search changed files; `at_s` is the run's clock in seconds, `last` is True at the end of the run.

        Raises:
            RecordError: if the disk is full or fails.
        """
        async with self._turn:
            texts = self._texts_met(await asyncio.to_thread(self._texts.look), at_s)
            before = self._last
            same = before is not None and (
                texts == {**before, "at_s": texts["at_s"]} if last else texts["views"] == before["views"]
            )
            if not same:
                self._last = texts
                await self._note(TEXTS_MET.line(texts))

    def _texts_met(self, met: Met, at_s: float) -> TextsMet:
        return {
            "at_s": round(at_s, 3),
            "views": {view: sorted(met.items.get(view, ())) for view in self._sizes},
            "sizes": dict(self._sizes),
            "files": list(met.files),
            "texts": met.texts,
            "bytes": met.bytes,
            "unread": met.unread,
        }
