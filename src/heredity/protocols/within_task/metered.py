"""A model that counts its usage, for the account of one task."""

from __future__ import annotations

from heredity._core.errors import ProviderError
from heredity.models import Model, Reply, Request
from heredity.models.contract import NOTHING_USED, Usage


class Metered:
    """Forwards requests and accumulates their usage until it is taken."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model, self._used, self._calls = model, NOTHING_USED, 0

    async def reply(self, request: Request) -> Reply:
        """Answer a request; raises as the model does. A failed call counts as a call with unknown usage."""
        self._calls += 1
        try:
            reply = await self._model.reply(request)
        except ProviderError:
            self._used += Usage()
            raise
        self._used += reply.usage
        return reply

    def taken(self) -> tuple[Usage, int]:
        """Return the usage and number of calls since the last call of this method."""
        taken = self._used, self._calls
        self._used, self._calls = NOTHING_USED, 0
        return taken
