"""Language models on this machine: `local/smollm2-135m`, or any folder that transformers can read; free and offline.

Nothing is loaded before the first request. Then one thread per model answers all waiting requests at once, in
batches.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import count
from typing import Any

from heredity._core.errors import ConfigError, ProviderError, UnknownNameError
from heredity._core.ids import generator
from heredity.models import local_weights
from heredity.models.contract import Delta, Message, Reply, Request, ToolCall, Usage
from heredity.models.local_decoding import Decoder, Row
from heredity.models.replies import WithoutThoughts, without_thoughts

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


def prompt_tokens(tokenizer: Any, request: Request, name: str) -> list[int]:
    """Return a request as prompt tokens, by the model's chat template.

    Raises:
        ConfigError: if the model has no chat template, or the request has parts that the template or a text model
            does not support: tools, required tool calls, pictures.
        ProviderError: kind `"request"`, if the template rejects the conversation.
    """
    import jinja2

    if any(message.images for message in request.messages):
        raise ConfigError(f"{name} reads text only; the request has pictures")
    tools = request.tools if request.tool_choice != "none" else ()
    _check_template(tokenizer, request, name, bool(tools))
    try:
        text = tokenizer.apply_chat_template(
            [_rendered(message) for message in request.messages],
            tools=[
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
                }
                for t in tools
            ]
            or None,
            add_generation_prompt=True,
            tokenize=False,
        )
    except (jinja2.TemplateError, ValueError, TypeError) as error:
        raise ProviderError(
            "request", f"the chat template of {name} rejects the conversation: {error}", transient=False
        ) from error
    return text_tokens(tokenizer, text)


def text_tokens(tokenizer: Any, text: str) -> list[int]:
    """Return a text as tokens; special tokens are not added, but recognised in the text."""
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def tool_calls(text: str, first: int) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a model's output into text and calls in the form `<tool_call>{"name": …, "arguments": …}</tool_call>`.

    Args:
        text: the model's whole answer.
        first: number of the first call; ids are `call-1`, `call-2` and so on over the conversation.

    Returns:
        The text without the calls, and the calls. A block that is not a call in JSON stays in the text.
    """
    calls: list[ToolCall] = []

    def take(match: re.Match[str]) -> str:
        try:
            wish = json.loads(match[1])
            name, arguments = wish["name"], wish.get("arguments", {})
        except (ValueError, TypeError, KeyError, RecursionError):
            return match[0]
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(ToolCall(f"call-{first + len(calls)}", str(name), written))
        return ""

    words = _CALL.sub(take, text)
    return (words.strip() if calls else words), tuple(calls)


def _check_template(tokenizer: Any, request: Request, name: str, tools: bool) -> None:
    if not tokenizer.chat_template:
        raise ConfigError(f"{name} has no chat template; choose a model that was tuned for conversations")
    template = str(tokenizer.get_chat_template(tools=list(request.tools) if tools else None))
    if tools and not re.search(r"\btools\b", template):
        raise ConfigError(
            f"{name} cannot call tools: its chat template has no place for them; send the request without"
        )
    if request.tool_choice not in ("auto", "none"):
        raise ConfigError(f"tool_choice is {request.tool_choice!r}; {name} can only be given 'auto' or 'none'")


def _rendered(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        value["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _arguments(c.arguments)}}
            for c in message.tool_calls
        ]
    if message.tool_call_id:
        value["tool_call_id"] = message.tool_call_id
    return value


def _arguments(text: str) -> Any:
    # Templates write arguments out as JSON; text that is not JSON is passed on unchanged.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# pyright: reportMissingImports=false
# Only the extra `local` installs torch and transformers.


EXTRAS = {"local": local_weights.NEEDED}
check_model = local_weights.check_there

_GATHER_S = 0.004
"""Seconds that a batch waits for simultaneous requests; a tenth of the time of one token."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Settings of a local model.

    Attributes:
        threads: CPU threads; None leaves it to torch. Answers are reproducible for the same number.
        batch: upper limit on requests answered at once.
        batch_tokens: upper limit on prompt tokens in a batch, padding included; a longer prompt is answered alone.
        exact: give each request the answer it would get alone (see docs/models.md); costs next to nothing.
        prefix_tokens: number of tokens of earlier prompts to remember, to save time on prompts with a common prefix;
            50 kB each.
        max_tokens: default limit on the tokens of a reply.
        seed: entropy for sampling requests without a seed.
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
    """A pending request: `ask` makes its row once the model is loaded; `error` is the reason for a failed load."""

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

    Greedy at temperature 0, and where the request does not set the temperature. Above 0 it samples. With a seed, a
    request always gets the same answer; without one, each repetition gets another answer, the same in every process.

    Args:
        source: a bundled model (`"smollm2-135m"`) or the path of a transformers folder with safetensors.
        settings: the settings.
        load: loads the model of a source, on the model's thread.
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
            ConfigError: if the model cannot be loaded, or does not support a part of the request (tools, pictures).
            MissingExtraError: if a package is not installed.
        """
        return await self._answer(request, None)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request as a stream (see `reply`)."""
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[str | None]()

        def emit(piece: str | None) -> None:
            # The loop is closed when no consumer is left.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(pieces.put_nowait, piece)

        answer = asyncio.create_task(self._answer(request, emit))
        answer.add_done_callback(lambda _: emit(None))
        shown = WithoutThoughts()
        try:
            while (piece := await pieces.get()) is not None:
                if text := shown.add(piece):
                    yield Delta(text)
            if text := shown.rest():
                yield Delta(text)
            yield Delta(reply=await answer)
        finally:
            answer.cancel()

    async def scores(self, prompt: Request | str, continuations: Sequence[str]) -> list[float]:
        """Return the log-probability, in nats, of each continuation after the prompt: sums over its tokens, 0 or less.

        Args:
            prompt: a request (rendered by the chat template, up to the answer), or plain text used unchanged.
            continuations: non-empty texts. Prompt and continuation are split into tokens separately, so after plain
                text a continuation should begin where a word does, such as `" yes"`.

        Raises:
            ConfigError: if the prompt or a continuation is empty; otherwise as `reply`.
        """
        if not prompt or not all(continuations):
            raise ConfigError("scores need a prompt and continuations that are not empty")
        return await self._on_thread(self._score, prompt, list(continuations))

    async def close(self) -> None:
        """Free the memory; waiting requests are cancelled. A later request loads the model again."""
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
        """Answer a job together with other waiting ones, which then find themselves answered."""
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
        """Return the rows of a job and of all others that fit in the batch, in the order of arrival."""
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
    """Return a request as a row to decode, without draws.

    Args:
        request: the request.
        tokenizer: the model's.
        context: upper limit on the tokens of a prompt and its answer together.
        max_tokens: default limit on the tokens of a reply.
        name: the model's, for messages.

    Raises:
        ProviderError: kind `"context"` if the prompt is too long, `"request"` if the chat template rejects it.
        ConfigError: if the model does not support a part of the request.
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
    """Return the entropy for a request's generator: its seed, or `seed` and the number of earlier repetitions.

    Args:
        request: the request.
        asked: number of earlier repetitions of each request sampled without a seed; updated.
        seed: entropy for those.
    """
    digest, own = request.digest, request.sampling.seed
    if own is not None:
        return lambda: generator(abs(own), "gateway", "local", digest)
    nth = next(asked.setdefault(digest, count())) if request.sampling.temperature else 0
    return lambda: generator(seed, "gateway", "local", digest, nth)


def replied(request: Request, row: Row, name: str, seconds: float) -> Reply:
    """Return a finished row as the reply to its request; `usage` counts the model's tokens.

    Thoughts in `<think>` tags before the text are the reasoning.
    """
    (thoughts, text), calls = without_thoughts(row.text), ()
    if request.tools and request.tool_choice != "none":
        text, calls = tool_calls(text, sum(len(message.tool_calls) for message in request.messages) + 1)
    finish = "tool_calls" if calls else row.finish or "stop"
    usage = Usage(len(row.prompt), len(row.tokens), 0, 0.0)
    return Reply(text, calls, finish, usage, model=name, seconds=seconds, reasoning=thoughts)


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
