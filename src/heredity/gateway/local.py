"""Language models on this machine: `local/smollm2-135m`, or any folder that transformers can read; free and offline.

Nothing is loaded before the first request. Then one thread per model answers everything that is waiting at once, in batches.
"""

# pyright: reportMissingImports=false
# torch and transformers are installed by the extra `local` alone.

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import count
from typing import Any

from heredity.errors import ConfigError, ProviderError, UnknownNameError
from heredity.gateway import local_weights
from heredity.gateway.contract import Delta, Reply, Request, Usage
from heredity.gateway.local_chat import prompt_tokens, text_tokens, tool_calls
from heredity.gateway.local_decoding import Decoder, Row
from heredity.ids import generator

EXTRAS = {"local": local_weights.NEEDED}
check_model = local_weights.check_there

_GATHER_S = 0.004
"""How long a batch waits for requests that come at the same time; a tenth of what one token takes."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """How a local model works.

    Attributes:
        threads: processor threads; None leaves it to torch. Answers are reproducible for the same number.
        batch: most requests that are answered at once.
        batch_tokens: most tokens of prompts in a batch, padding included; a longer prompt is answered alone.
        exact: whether an answer must be the one that the request gets alone (see docs/models.md); costs next to nothing.
        prefix_tokens: how many tokens of earlier prompts to remember, to save time on prompts that begin alike; 50 kB each.
        max_tokens: most tokens of a reply whose request does not say.
        seed: entropy of the draws for requests that are sampled without a seed.
    """

    threads: int | None = None
    batch: int = 16
    batch_tokens: int = 4096
    exact: bool = True
    prefix_tokens: int = 4096
    max_tokens: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"threads": 1, "batch": 1, "batch_tokens": 1, "prefix_tokens": 0, "max_tokens": 1, "seed": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise ConfigError(f"{name} of a local model is {value}; expected {bound} or more")


@dataclass(slots=True, eq=False)
class _Job:
    """A request on its way: `ask` makes its row once the model is there; `error` is why that failed."""

    ask: Callable[[Decoder, Any], Row]
    row: Row | None = None
    error: ProviderError | ConfigError | None = None
    abandoned: bool = False


@dataclass(slots=True)
class _Loaded:
    decoder: Decoder
    tokenizer: Any


class Local:
    """A language model in this process.

    Greedy at temperature 0, and where the request leaves the temperature open. Above that it samples: with the request's seed
    always the same answer; without one, another answer each time the same request comes, the same ones in every process.

    Args:
        source: a bundled model (`"smollm2-135m"`) or the path of a transformers folder with safetensors.
        settings: how it works.
        load: gives the model of a source, on the model's own thread.
    """

    def __init__(
        self,
        source: str,
        settings: LocalSettings | None = None,
        *,
        load: Callable[[str], local_weights.Weights] | None = None,
    ) -> None:
        self.source, self.settings = source, settings or LocalSettings()
        self._load = load or local_weights.load
        self._executor: ThreadPoolExecutor | None = None
        self._loaded: _Loaded | None = None
        self._waiting: deque[_Job] = deque()
        self._asked: dict[str, count[int]] = {}

    @property
    def name(self) -> str:
        """`local/` and the source."""
        return f"local/{self.source}"

    async def reply(self, request: Request) -> Reply:
        """Answer a request; `usage` counts the model's own tokens and costs nothing.

        Raises:
            ProviderError: kind `"context"` if the prompt is too long, `"request"` if the chat template rejects it.
            ConfigError: if the model cannot be loaded, or the request has what it cannot take (tools, pictures).
            MissingExtraError: if a package is not installed.
        """
        return await self._answer(request, None)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request as it is written (see `reply`)."""
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[str | None]()

        def emit(piece: str | None) -> None:
            # The loop is gone when nobody listens any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(pieces.put_nowait, piece)

        answer = asyncio.create_task(self._answer(request, emit))
        answer.add_done_callback(lambda _: emit(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield Delta(piece)
            yield Delta(reply=await answer)
        finally:
            answer.cancel()

    async def scores(self, prompt: Request | str, continuations: Sequence[str]) -> list[float]:
        """Return the log-probability, in nats, of each continuation after the prompt: sums over its tokens, 0 or less.

        Args:
            prompt: a request (by the chat template, up to where the answer begins), or plain text that is not touched.
            continuations: texts that are not empty. Prompt and continuation are split into tokens separately, so after plain
                text a continuation should begin where a word does, such as `" yes"`.

        Raises:
            ConfigError: if there is no prompt or a continuation is empty; otherwise as `reply`.
        """
        if not prompt or not all(continuations):
            raise ConfigError("scores need a prompt and continuations that are not empty")
        return await self._on_thread(self._score, prompt, list(continuations))

    async def close(self) -> None:
        """Give the memory back; requests that wait are cancelled. A later request loads the model again."""
        executor, self._executor = self._executor, None
        if executor:
            await asyncio.to_thread(executor.shutdown, wait=True, cancel_futures=True)
        self._waiting.clear()
        self._loaded = None

    async def _answer(self, request: Request, emit: Callable[[str], None] | None) -> Reply:
        began = time.perf_counter()
        noise = noise_of(request, self._asked, self.settings.seed)
        job = _Job(lambda decoder, tokenizer: self._row(request, noise, emit, (decoder, tokenizer)))
        self._waiting.append(job)
        try:
            row = await self._on_thread(self._work, job)
        finally:
            job.abandoned = True
            if job.row:
                job.row.abandoned = True
        return replied(request, row, self.name, time.perf_counter() - began)

    async def _on_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, f"heredity-{self.name}")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *given)

    # --- on the model's thread

    def _model(self) -> _Loaded:
        if self._loaded is None:
            weights = self._load(self.source)
            if self.settings.threads:
                import torch

                torch.set_num_threads(self.settings.threads)
            decoder = Decoder(
                weights.model,
                weights.tokenizer,
                exact=self.settings.exact,
                prefix_tokens=self.settings.prefix_tokens,
            )
            self._loaded = _Loaded(decoder, weights.tokenizer)
        return self._loaded

    def _work(self, job: _Job) -> Row:
        """Answer a job, and with it what else is waiting; the others then find themselves answered."""
        if job.error is None and (job.row is None or job.row.finish is None):
            loaded = self._model()
            time.sleep(_GATHER_S)
            try:
                if rows := self._batch(job, loaded):
                    loaded.decoder.write(rows)
            except (RuntimeError, MemoryError) as error:
                raise ProviderError("server", f"{self.name} failed: {error}", transient=True) from error
        if job.row is None:
            raise job.error or ProviderError("connection", f"a request to {self.name} was given up", transient=False)
        return job.row

    def _batch(self, first: _Job, loaded: _Loaded) -> list[Row]:
        """Return the rows of a job and of as many others as fit in a batch, in the order of arrival."""
        rows: list[Row] = []
        widest = 0
        with contextlib.suppress(ValueError):
            self._waiting.remove(first)
        self._waiting.appendleft(first)
        while self._waiting and len(rows) < self.settings.batch:
            job = self._waiting[0]
            row = None if job.abandoned else self._prepared(job, loaded)
            if row:
                widest = max(widest, len(row.prompt))
                if rows and widest * (len(rows) + 1) > self.settings.batch_tokens:
                    break
                rows.append(row)
            self._waiting.popleft()
        return rows

    def _prepared(self, job: _Job, loaded: _Loaded) -> Row | None:
        try:
            job.row = job.row or job.ask(loaded.decoder, loaded.tokenizer)
        except (ProviderError, ConfigError) as error:
            job.error = error
        return job.row

    def _row(
        self,
        request: Request,
        noise: Callable[[], Any],
        emit: Callable[[str], None] | None,
        loaded: tuple[Decoder, Any],
    ) -> Row:
        decoder, tokenizer = loaded
        row = row_of(request, tokenizer, decoder.context, self.settings.max_tokens, self.name)
        row.noise, row.emit = (noise if row.temperature else None), emit
        return row

    def _score(self, prompt: Request | str, continuations: Sequence[str]) -> list[float]:
        loaded = self._model()
        if isinstance(prompt, Request):
            start = prompt_tokens(loaded.tokenizer, prompt, self.name)
        else:
            start = text_tokens(loaded.tokenizer, prompt)
        ends = [text_tokens(loaded.tokenizer, continuation) for continuation in continuations]
        size = self.settings.batch
        parts = [loaded.decoder.scores(start, ends[i : i + size]) for i in range(0, len(ends), size)]
        return [score for part in parts for score in part]


def row_of(request: Request, tokenizer: Any, context: int, max_tokens: int, name: str) -> Row:
    """Return what a request asks of a model as the row to be written, without draws.

    Args:
        request: what is asked.
        tokenizer: the model's.
        context: most tokens of a prompt and its answer together.
        max_tokens: most tokens of a reply whose request does not say.
        name: the model's, for messages.

    Raises:
        ProviderError: kind `"context"` if the prompt is too long, `"request"` if the chat template rejects it.
        ConfigError: if the request has what the model cannot take.
    """
    prompt, sampling = prompt_tokens(tokenizer, request, name), request.sampling
    room = context - len(prompt)
    if room < 1:
        raise ProviderError(
            "context",
            f"the prompt has {len(prompt)} tokens; {name} takes {context} with its answer; shorten it",
            transient=False,
        )
    limit = min(sampling.max_tokens or max_tokens, room)
    return Row(prompt, limit, sampling.stop, sampling.temperature or 0.0, sampling.top_p or 1.0)


def noise_of(request: Request, asked: dict[str, count[int]], seed: int) -> Callable[[], Any]:
    """Return what makes the generator of a request's draws: by the request's seed, else by `seed` and how often it came before.

    Args:
        request: what is asked.
        asked: how often each request that is sampled without a seed came before; is counted up.
        seed: entropy for those.
    """
    digest, own = request.digest, request.sampling.seed
    if own is not None:
        return lambda: generator(abs(own), "gateway", "local", digest)
    nth = next(asked.setdefault(digest, count())) if request.sampling.temperature else 0
    return lambda: generator(seed, "gateway", "local", digest, nth)


def replied(request: Request, row: Row, name: str, seconds: float) -> Reply:
    """Return a row that was written as the reply to its request; `usage` counts the model's own tokens."""
    text, calls = row.text, ()
    if request.tools and request.tool_choice != "none":
        text, calls = tool_calls(text, sum(len(message.tool_calls) for message in request.messages) + 1)
    finish = "tool_calls" if calls else row.finish or "stop"
    usage = Usage(len(row.prompt), len(row.tokens), 0, 0.0)
    return Reply(text, calls, finish, usage, model=name, seconds=seconds)


def open_model(rest: str, settings: object | None = None) -> Local:
    """Open `local/REST`.

    Args:
        rest: a bundled model or a path.
        settings: `LocalSettings`, a mapping of its fields, or None.

    Raises:
        ConfigError: if a setting is unknown or out of its range.
    """
    if isinstance(settings, Mapping):
        names = [f.name for f in fields(LocalSettings)]
        for key in settings:
            if key not in names:
                raise UnknownNameError("setting of a local model", str(key), names)
        settings = LocalSettings(**settings)
    return Local(rest, settings if isinstance(settings, LocalSettings) else None)
