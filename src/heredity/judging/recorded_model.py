"""A language model whose replies are recorded, so that a method which asks it can be resumed.

A method is resumed by running it again. A model would answer otherwise the second time; what it answered the first time
is in the journal, and is given again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from heredity.errors import OutageError, ProviderError
from heredity.gateway import Model, Reply, Request, Usage
from heredity.records import Blob, Committer
from heredity.records.events import MODEL_CALLED, REPLY_UNUSED, ModelCalled, ReplyUnused


class Pay(Protocol):
    """What pays for calls."""

    def __call__(self, usage: Usage, *, fresh: bool) -> None:
        """Count what a call used; one that is not fresh was made in an earlier process."""
        ...


class RecordedModel:
    """A model for a method: recorded, replayed, and paid for by the run's budget.

    Equal requests are told apart by how often each was made, so the order of different ones does not matter.
    """

    def __init__(self, model: Model, records: Committer, admit: Callable[[], None], pay: Pay) -> None:
        """Continue from what the journal says was asked before.

        Args:
            model: what answers.
            records: where calls are recorded.
            admit: raises if the budget is spent.
            pay: told what every call used, replayed ones included.
        """
        self.name = model.name
        self._model, self._records, self._admit, self._pay = model, records, admit, pay
        calls = MODEL_CALLED.all(records.journal.events)
        self._recorded = {(call["request"], call["place"]): call for call in calls}
        self._asked: Counter[str] = Counter()
        self._unused = {(data["request"], data["place"]) for data in REPLY_UNUSED.all(records.journal.events)}

    async def reply(self, request: Request) -> Reply:
        """Answer a request, from the journal if it was asked before.

        Raises:
            ProviderError: if the model gives no answer to this request, also if it gave none the first time.
            OutageError: if it cannot be asked now; that is not on record, and the request is made anew when the run is resumed.
            ClosedError: if the budget is spent; nothing is asked.
        """
        occurrence = self._asked[request.digest]
        self._asked[request.digest] += 1
        self._admit()
        recorded = self._recorded.get((request.digest, occurrence))
        answer = (
            json.loads(self._records.blobs.get(recorded["blob"])) if recorded else await self._ask(request, occurrence)
        )
        if "error" in answer:
            error = answer["error"]
            raise ProviderError(error["kind"], error["message"], transient=error["transient"])
        reply = Reply.from_json(answer["reply"])
        self._pay(reply.usage, fresh=recorded is None)
        return reply

    async def unused(self, request: Request, why: str) -> None:
        """Put on record, once, that nothing of the reply to a request could be used."""
        occurrence = self._asked[request.digest] - 1
        if (request.digest, occurrence) in self._unused:
            return
        self._unused.add((request.digest, occurrence))
        data: ReplyUnused = {"request": request.digest, "place": occurrence, "why": why}
        await self._records.commit([REPLY_UNUSED.line(data)])

    async def _ask(self, request: Request, occurrence: int) -> dict[str, Any]:
        model, failure, usage = self.name, None, None
        answer: dict[str, Any] = {"request": request.to_json()}
        try:
            reply = await self._model.reply(request)
        except ProviderError as error:
            if error.outage:
                raise OutageError(str(error)) from error
            failure = error.kind
            answer["error"] = {"kind": failure, "message": str(error), "transient": error.transient}
        else:
            answer["reply"] = reply.to_json()
            model, usage = reply.model, reply.usage.to_json()
        blob = Blob.of(json.dumps(answer, ensure_ascii=True).encode())
        data: ModelCalled = {
            "request": request.digest,
            "place": occurrence,
            "purpose": request.purpose,
            "model": model,
            "blob": blob.digest,
            "error": failure,
            "usage": usage,
        }
        await self._records.commit([MODEL_CALLED.line(data)], [blob])
        return answer
