"""A judge that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable

from heredity.models import Reply, Request, Usage


class Scripted:
    """Answers with the given texts in turn, or with what a function makes of each request."""

    name = "scripted"

    def __init__(self, *texts: str | Callable[[Request], str], finish: str = "stop") -> None:
        self.texts, self.finish, self.asked = list(texts), finish, list[Request]()

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        said = self.texts[min(len(self.asked), len(self.texts)) - 1]
        text = said if isinstance(said, str) else said(request)
        return Reply(text, finish=self.finish, usage=Usage(10, 2, 0, 0.5))  # type: ignore[arg-type]
