"""The conversation of one rollout: everything that is said, and what it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from heredity.actors.contract import Answer, Solving
from heredity.errors import CandidateError, ProviderError
from heredity.gateway import Message, Model, Reply, Request, Sampling, ToolCall, ToolSpec, Usage
from heredity.gateway.contract import NOTHING_USED
from heredity.results.status import AnswerStatus

_OWN_FAULTS = ("empty", "context")
"""Provider errors that a candidate can bring about; as anybody else's fault they would let it erase its bad rollouts."""


class NoAnswerError(CandidateError):
    """A rollout ends without an answer; `status` says how."""

    def __init__(self, status: AnswerStatus, detail: str) -> None:
        self.status = status
        super().__init__(detail)


@dataclass(slots=True)
class Turn:
    """What the solver was told, and what it replied; None while, or if, there is no reply."""

    messages_shown: tuple[Message, ...]
    reply: Message | None = None


@dataclass(slots=True)
class Conversation:
    """What is said in one rollout.

    Attributes:
        model: who is asked.
        settings: how the rollout goes.
        seed: passed to the model; None leaves it.
        turns: everything that was said, in order.
        rounds: the final words of every round so far.
        notes: what else is worth knowing, tracebacks among them.
        usage: of all replies so far; `calls`: how many; `tool_calls`: how many tools were called.
    """

    model: Model
    settings: Solving
    seed: int | None = None
    turns: list[Turn] = field(default_factory=list[Turn])
    rounds: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    usage: Usage = NOTHING_USED
    calls: int = 0
    tool_calls: int = 0

    async def ask(
        self, context: Sequence[Message], unrecorded: Sequence[Message], tools: Sequence[ToolSpec] = ()
    ) -> Reply:
        """Ask the model and put on record what it was told and what it replied.

        Args:
            context: all that the model is shown, what is new at the end.
            unrecorded: what of it has not been on record yet.
            tools: what the model may call.

        Raises:
            NoAnswerError: if the model has no words for this conversation, or it is too long for the model.
            ProviderError: if no answer is to be had for other reasons.
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
            self.notes.append(f"reply {self.calls} was cut at the limit of tokens")
        reply = replace(reply, text=encodable(reply.text), tool_calls=self._named(reply.tool_calls))
        turn.reply = reply.message
        return reply

    def conclude(self, text: str) -> None:
        """Put an answer on record that a program gave in its own words, unless it is what the model said last."""
        last = self.turns[-1].reply if self.turns else None
        if last is None or last.content != text:
            self.turns.append(Turn((), Message("assistant", text)))

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything that was said, in order."""
        return tuple(m for turn in self.turns for m in (*turn.messages_shown, turn.reply) if m is not None)

    def answer(self, status: AnswerStatus = AnswerStatus.OK, detail: str = "") -> Answer:
        """Return what the rollout gave so far; a rollout that ends without an answer has no text."""
        text = self.rounds[-1] if self.rounds and status == AnswerStatus.OK else ""
        rounds, notes = tuple(self.rounds), tuple(self.notes)
        return Answer(text, rounds, self.messages, self.usage, self.calls, self.tool_calls, status, detail, notes)

    def _named(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Give calls without an id, or with one that is taken, an id of their own: each result must find its call."""
        seen: set[str] = set()
        named: list[ToolCall] = []
        for index, call in enumerate(calls):
            own = call.id if call.id and call.id not in seen else f"call-{self.calls}-{index}"
            seen.add(own)
            named.append(ToolCall(own, encodable(call.name), encodable(call.arguments)))
        return tuple(named)


def encodable(text: str) -> str:
    """Return `text` with what UTF-8 has no bytes for replaced: tools and models may give lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _encodable(message: Message) -> Message:
    safe = encodable(message.content)
    return message if safe == message.content else replace(message, content=safe)
