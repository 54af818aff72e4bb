"""A model that counts what it uses, for the account of one task."""

from __future__ import annotations

from heredity.errors import ProviderError
from heredity.gateway import Model, Reply, Request
from heredity.gateway.contract import NOTHING_USED, Usage


class Metered:
    """Passes requests on, and remembers what they used until that is taken."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model, self._used, self._calls = model, NOTHING_USED, 0

    async def reply(self, request: Request) -> Reply:
        """Answer a request; raises as the model does. A call that fails counts as a call of which the use is not known."""
        self._calls += 1
        try:
            reply = await self._model.reply(request)
        except ProviderError:
            self._used += Usage()
            raise
        self._used += reply.usage
        return reply

    def taken(self) -> tuple[Usage, int]:
        """Return what was used since this was asked last, and in how many calls."""
        taken = self._used, self._calls
        self._used, self._calls = NOTHING_USED, 0
        return taken
