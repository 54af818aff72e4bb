"""The conversation of one rollout: its messages and its usage."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from heredity._core.errors import CandidateError, ProviderError
from heredity.engine.actor import Answer, Solving
from heredity.models import Message, Model, Reply, Request, Sampling, ToolCall, ToolSpec, Usage
from heredity.models.contract import NOTHING_USED
from heredity.results.status import AnswerStatus

_OWN_FAULTS = ("empty", "context")
"""Provider errors that a candidate can cause; they count as its own, or it could erase its bad rollouts."""


class NoAnswerError(CandidateError):
    """Ends a rollout without an answer; `status` is the reason."""

    def __init__(self, status: AnswerStatus, detail: str) -> None:
        self.status = status
        super().__init__(detail)


@dataclass(slots=True)
class Turn:
    """Messages to the solver and its reply; the reply is None until it arrives."""

    messages_shown: tuple[Message, ...]
    reply: Message | None = None


@dataclass(slots=True)
class Conversation:
    """The record of one rollout's messages.

    Attributes:
        model: the model to call.
        settings: settings of the rollout.
        seed: passed to the model (None omits it).
        turns: all turns, in order.
        rounds: the final words of every round so far.
        notes: further notes, tracebacks among them.
        last: the last reply; None until there is one.
        usage: of all replies so far; `calls`: number of model calls; `tool_calls`: number of tool calls.
    """

    model: Model
    settings: Solving
    seed: int | None = None
    turns: list[Turn] = field(default_factory=list[Turn])
    rounds: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    last: Reply | None = None
    usage: Usage = NOTHING_USED
    calls: int = 0
    tool_calls: int = 0

    async def ask(
        self, context: Sequence[Message], unrecorded: Sequence[Message], tools: Sequence[ToolSpec] = ()
    ) -> Reply:
        """Call the model and record the messages and its reply.

        Args:
            context: all messages for the model, new ones last.
            unrecorded: those not recorded yet.
            tools: tools that the model may call.

        Raises:
            NoAnswerError: if the model returns nothing, or the conversation is too long for it.
            ProviderError: if the call fails for other reasons.
            BudgetError: if the budget does not allow the call.
        """
        turn = Turn(tuple(map(_encodable, unrecorded)))
        self.turns.append(turn)
        settings = self.settings
        sampling = Sampling(temperature=settings.temperature, max_tokens=settings.max_tokens, seed=self.seed)
        try:
            reply = await self.model.reply(Request(tuple(map(_encodable, context)), tuple(tools), sampling))
        except ProviderError as error:
            if error.kind in _OWN_FAULTS:
                raise NoAnswerError(AnswerStatus.EMPTY, f"{error.kind}: {error}") from error
            raise
        self.calls += 1
        self.usage += reply.usage
        if reply.finish == "length":
            self.notes.append(f"reply {self.calls} was cut at the token limit")
        reply = replace(reply, text=encodable(reply.text), tool_calls=self._with_unique_ids(reply.tool_calls))
        turn.reply = reply.message
        self.last = reply
        return reply

    def check_answer(self, text: str) -> None:
        """Check that an answer is not an unusable last reply (also of a program's conversation).

        Raises:
            NoAnswerError: if the last reply refuses, is empty or was cut at the token limit, and the answer is its text.
        """
        reply = self.last
        if reply is None or text.strip() != reply.text.strip():
            return
        if reply.finish == "refusal":
            raise NoAnswerError(AnswerStatus.REFUSAL, f"the model refused: {reply.text[:200]}")
        if not text.strip():
            cut = " and was cut at the token limit" if reply.finish == "length" else ""
            raise NoAnswerError(AnswerStatus.EMPTY, f"the reply holds neither words nor tool calls{cut}")
        if reply.finish == "length":
            raise NoAnswerError(AnswerStatus.LENGTH, f"the answer was cut at the token limit: …{reply.text[-200:]}")

    def conclude(self, text: str) -> None:
        """Record an answer that a program phrased itself, unless it is the model's last reply."""
        last = self.turns[-1].reply if self.turns else None
        if last is None or last.content != text:
            self.turns.append(Turn((), Message("assistant", text)))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return tuple(m for turn in self.turns for m in (*turn.messages_shown, turn.reply) if m is not None)

    def answer(self, status: AnswerStatus = AnswerStatus.OK, detail: str = "") -> Answer:
        """Return the answer so far; its text is empty if the rollout ends without one."""
        text = self.rounds[-1] if self.rounds and status == AnswerStatus.OK else ""
        rounds, notes = tuple(self.rounds), tuple(self.notes)
        return Answer(text, rounds, self.messages, self.usage, self.calls, self.tool_calls, status, detail, notes)

    def _with_unique_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Give calls with a missing or duplicate id a unique one: each result must match its call."""
        seen: set[str] = set()
        named: list[ToolCall] = []
        for index, call in enumerate(calls):
            own = encodable(call.id) if call.id and encodable(call.id) not in seen else f"call-{self.calls}-{index}"
            seen.add(own)
            named.append(ToolCall(own, encodable(call.name), _encodable_arguments(call.arguments)))
        return tuple(named)


def encodable(text: str) -> str:
    """Replace lone surrogates, which tools and models may emit and UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _encodable_arguments(text: str) -> str:
    """Replace lone surrogates in JSON text, also those that it escapes; other texts stay as they are."""
    if _SURROGATE.search(text):
        with suppress(ValueError, RecursionError):
            value = json.dumps(json.loads(text), ensure_ascii=False)
            text = text if encodable(value) == value else value
    return encodable(text)


def _encodable(message: Message) -> Message:
    safe = encodable(message.content)
    return message if safe == message.content else replace(message, content=safe)
