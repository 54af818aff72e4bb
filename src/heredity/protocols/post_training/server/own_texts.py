"""The record of hidden items that stand in an agent's own files, which is looked for while its checkpoints are graded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from heredity.posttraining.tasks.overlap import HiddenTexts, Met, OwnTexts
from heredity.protocols.post_training.events import TEXTS_MET, TextsMet
from heredity.records.journal import Line


class TextWatch:
    """Journals which hidden items an agent's files hold: at first, whenever there are more, and at the end.

    The agent is told nothing of it: it would learn which items are hidden.

    Args:
        root: its workspace.
        hidden: the texts of hidden items.
        given: names at the top of the workspace that are the host's own.
        note: journals a line.
        recorded: what is recorded already.
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
        """Look through what has changed; `at_s` is what the run's clock shows, `last` whether nothing will change any more.

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
