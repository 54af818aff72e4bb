"""Answers that take minutes: in a clock that skips the silence, whole and streamed, at the gateway and behind the broker."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

import openai

from heredity._core.errors import ProviderError
from heredity.models import Reply, Request, Sampling, streamed
from heredity.models.broker import Account, BrokerApp, serve_broker
from heredity.models.gateway import Gateway
from heredity.models.settings import GatewaySettings

from .endpoint import Answer, Asked, Endpoint, chunks, completion, endpoint

T = TypeVar("T")
ASK = Request.of("hi", sampling=Sampling(max_tokens=9))
TOKEN = "a-token-of-one-run-0001"


class Skipping(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Skips the wait for the next timer while a server is silent: `left` seconds at most."""

    skipped = left = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0 or self.left <= 0:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            step = min(timeout, self.left)
            self.skipped += step
            self.left -= step
        return ready


class Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.skipping = Skipping()
        super().__init__(self.skipping)

    def time(self) -> float:
        return super().time() + self.skipping.skipped


def run(main: Callable[[Endpoint], Awaitable[T]], silence_s: float, answer: Answer) -> T:
    """Run against a server that is silent for so long before it answers."""
    answer.hang_s = silence_s

    async def serve() -> T:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Loop)

        def decide(asked: Asked) -> Answer:
            loop.skipping.left = silence_s
            return answer

        async with endpoint() as server:
            server.decide = decide
            return await main(server)

    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(serve())  # pyright: ignore[reportArgumentType]


@contextmanager
def gateway_at(server: Endpoint, **table: Any) -> Iterator[Gateway]:
    settings = {"attempts": 1, "providers": {"openai": {"base_url": server.url, **table}}}
    yield Gateway(GatewaySettings.of(settings))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def answer_of(streaming: bool) -> Answer:
    return Answer(events=chunks({"content": "hel"}, {"content": "lo"})) if streaming else Answer(completion("hello"))


async def asked(server: Endpoint, streaming: bool, **table: Any) -> Reply:
    with gateway_at(server, **table) as opened:
        async with opened as gateway:
            model = gateway.model("openai/gpt-5")
            if not streaming:
                return await model.reply(ASK)
            reply = [delta.reply async for delta in streamed(model, ASK)][-1]
            assert reply is not None
            return reply


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("seconds", [75.0, 500.0])
def test_an_answer_that_takes_minutes_succeeds_by_default(seconds: float, streaming: bool) -> None:
    reply = run(lambda server: asked(server, streaming), seconds, answer_of(streaming))
    assert (reply.text, reply.attempts) == ("hello", 1)


@pytest.mark.parametrize("streaming", [False, True])
def test_an_attempt_ends_at_its_timeout_which_a_partial_table_raises(streaming: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        run(lambda server: asked(server, streaming), 700.0, answer_of(streaming))
    assert caught.value.kind == "timeout"
    reply = run(lambda server: asked(server, streaming, timeout_s=900.0), 700.0, answer_of(streaming))
    assert reply.text == "hello"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("seconds", [75.0, 500.0])
def test_an_answer_that_takes_minutes_succeeds_behind_the_broker(seconds: float, streaming: bool) -> None:
    async def program(server: Endpoint) -> str:
        with gateway_at(server) as opened:
            async with opened as gateway:
                app = BrokerApp({"m": gateway.model("openai/gpt-5")}, [Account("run", {"*": "m"}, token=TOKEN)])
                async with serve_broker(app) as at:
                    client = openai.AsyncOpenAI(base_url=f"{at.url}/v1", api_key=TOKEN, max_retries=0)
                    asking: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
                    async with client:
                        if not streaming:
                            whole = await client.chat.completions.create(**asking)
                            return whole.choices[0].message.content or ""
                        pieces = await client.chat.completions.create(**asking, stream=True)
                        return "".join([(c.choices[0].delta.content or "") async for c in pieces if c.choices])

    assert run(program, seconds, answer_of(streaming)) == "hello"
