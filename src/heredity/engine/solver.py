"""Solvers: a candidate's prompts, memories and tools in a conversation with a language model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from heredity._core.errors import ConfigError
from heredity._core.plugins import Group
from heredity._core.spans import span
from heredity.engine.actor import ANSWER, SOLVER, Answer, Illustrated, Problem, Programs, ProvidedTool, Solving
from heredity.engine.conversation import Conversation, NoAnswerError
from heredity.engine.parts import Parts, fill, read_parts
from heredity.engine.program import Earlier, run_program
from heredity.engine.react import has_action, parse_action
from heredity.engine.tools import ARGUMENTS, Toolbox
from heredity.models import Image, Message, Model, Reply, ToolCall
from heredity.models.waiting import rollout_clock
from heredity.resources import Candidate
from heredity.results.status import AnswerStatus

Feedback = Callable[[str], Awaitable[str | None]]
"""Returns the feedback on an answer; None if the answer is right, which ends the rollout."""

DEFAULT_CRITIC = """\
Below are a question and somebody's answer to it. Find out whether the answer is right: check every step that it rests on, \
and whether it is given in the form that was asked for. Say what is wrong and where. If you find nothing wrong, say so. \
Do not give an answer of your own.

The question:
{{question}}

The answer to review:
{{answer}}"""

DEFAULT_REVISE = """\
Go over your answer once more before it counts. Correct what is wrong and keep what is right, then give the whole answer \
again, in the form that was asked for.

{{feedback}}"""


async def revision(
    parts: Parts, conversation: Conversation, question: str, text: str, feedback: Feedback | None
) -> str | None:
    """Return the message after an answer that is not the last; None if there is nothing to improve.

    Args:
        parts: may override the prompts, with `prompt/critic` and `prompt/revise`.
        conversation: makes the (separate) request for a critique.
        question: the question as sent.
        text: the answer.
        feedback: returns the feedback of public tests or of the verdict.

    Raises:
        NoAnswerError: if the critic returns nothing.
        ConfigError: if the settings require feedback and `feedback` is missing.
        ProviderError: if the request for a critique fails.
    """
    words = parts.prompts.get("revise", DEFAULT_REVISE)
    note: str | None = ""
    if conversation.settings.feedback == "self":
        note = await _critique(parts, conversation, question, text)
    elif conversation.settings.feedback != "none":
        if feedback is None:
            raise ConfigError(
                f"feedback {conversation.settings.feedback!r} needs something that gives it; use none or self"
            )
        note = await feedback(text)
    return None if note is None else fill(words, {"feedback": note}).strip()


async def _critique(parts: Parts, conversation: Conversation, question: str, text: str) -> str:
    words = fill(parts.prompts.get("critic", DEFAULT_CRITIC), {"question": question, "answer": text})
    asked = (Message("user", words),)
    return (await conversation.ask(asked, asked)).text.strip()


SOLVERS = Group[Callable[[Candidate], "Solver"]](
    "heredity.solvers", "form of solver", "a callable of a candidate that returns a solver", callable
)
"""Builders of other solvers: the entry NAME builds candidates with the part `agent/NAME`."""


def build(candidate: Candidate) -> Solver:
    """Build the solver that a candidate describes, without running any of the candidate.

    Raises:
        ConfigError: if a part is malformed or unknown to solvers; the message names it.
    """
    for name in candidate.parts:
        type_, _, own = name.partition("/")
        if type_ == "agent" and name != SOLVER and own in SOLVERS:
            return SOLVERS.load(own)(candidate)
    parts = read_parts(candidate)
    return Written(parts) if ANSWER in candidate.parts else Solver(parts)


@dataclass(frozen=True)
class Solver:
    """An actor that answers questions (ReAct: reason, call tools, answer).

    Attributes:
        parts: its parts.
    """

    parts: Parts

    @property
    def needs_programs(self) -> bool:
        """True if it needs the sandbox for programs."""
        return self.parts.program is not None or any(tool.tree is not None for tool in self.parts.tools)

    async def solve(
        self, problem: Problem, model: Model, settings: Solving, programs: Programs | None, seed: int | None = None
    ) -> Answer:
        """Answer a problem without external feedback. Raises as `attempt`."""
        return await self.attempt(problem, Conversation(model, settings, seed), programs)

    async def attempt(
        self,
        problem: Problem,
        conversation: Conversation,
        programs: Programs | None,
        feedback: Feedback | None = None,
        provided: Sequence[ProvidedTool] = (),
    ) -> Answer:
        """Answer a problem in a conversation, which keeps its messages even when this raises.

        Args:
            problem: the problem.
            conversation: a new conversation.
            programs: runs tools and programs (None if the candidate has none).
            feedback: returns feedback on answers between rounds, where the settings say `"public"` or `"verdict"`.
                Its time is not counted as the solver's.
            provided: tools that the task provides.

        Raises:
            ConfigError: if programs or feedback are needed and missing, or a tool has the name of a provided one.
            ProviderError: if a model call fails (through no fault of the candidate).
            BudgetError: if the budget does not allow a model call.
            HostError: if the sandbox fails.
            IsolationError: if a program cannot be confined.
        """
        if self.needs_programs and programs is None:
            raise ConfigError("the candidate has programs, and there is no sandbox to run them in; give programs")
        seconds, toolbox = conversation.settings.seconds, Toolbox(self.parts.tools, programs, conversation, provided)
        clock = None
        try:
            async with rollout_clock(seconds) as clock:
                await self._rounds(problem, toolbox, feedback and _off(clock, feedback))
        except NoAnswerError as error:
            return conversation.answer(error.status, str(error))
        except TimeoutError:
            if clock is None or not clock.expired():
                raise
            return conversation.answer(AnswerStatus.TIMEOUT, f"no answer within {seconds:g} seconds")
        return conversation.answer()

    async def _rounds(self, problem: Problem, toolbox: Toolbox, feedback: Feedback | None) -> None:
        conversation, question, words = (
            toolbox.conversation,
            self.parts.question(problem),
            self.parts.system_for(toolbox.specs),
        )
        images = tuple(Image(*image) for image in problem.images)
        system = [Message("system", words)] if words else []
        context, unrecorded = list[Message](), [*system, Message("user", question, images)]
        earlier = Earlier()
        for number in range(1, conversation.settings.rounds + 1):
            with span("round", kind="round", number=number) as step:
                if self.parts.program is not None:
                    text = await run_program(self.parts, problem, toolbox, earlier)
                else:
                    text = await self._converse(context, unrecorded, toolbox)
                step.set(text=text)
            conversation.rounds.append(text)
            if number == conversation.settings.rounds:
                return
            words = await revision(self.parts, conversation, question, text, feedback)
            if words is None:
                return
            unrecorded, earlier = [Message("user", words)], Earlier(number, text, words)

    async def _converse(self, context: list[Message], unrecorded: list[Message], toolbox: Toolbox) -> str:
        """Call the model, run the tools it calls and return their results until a reply calls none: that is the answer."""
        conversation, native = toolbox.conversation, self.parts.style == "tools"
        tools = toolbox.specs if native else ()
        fruitless, before = 0, None
        for _ in range(conversation.settings.max_turns):
            context += unrecorded
            reply = await conversation.ask(context, unrecorded, tools)
            context.append(reply.message)
            acts = reply.finish != "refusal" and (reply.tool_calls if native else has_action(reply.text))
            unrecorded = await (_tool_results if native else _observation)(reply, toolbox) if acts else []
            if not unrecorded:
                conversation.check_answer(reply.text)
                return reply.text
            asked = [(call.name, call.arguments) for call in reply.tool_calls] or reply.text
            turn = asked, [(message.content, message.images) for message in unrecorded]
            fruitless = fruitless + 1 if turn == before or all(map(_refused, unrecorded)) else 0
            if fruitless == _MOST_FRUITLESS:
                detail = f"its last {fruitless} turns called tools wrongly, or again the same way with the same result"
                raise NoAnswerError(AnswerStatus.TURNS, detail)
            before = turn
        raise NoAnswerError(AnswerStatus.TURNS, f"no answer within {conversation.settings.max_turns} model calls")


_MOST_FRUITLESS = 8
"""Maximum fruitless turns in a row: each one costs money."""


def _refused(result: Message) -> bool:
    return result.content.removeprefix("<observation>\n").startswith(f"error: {ARGUMENTS}: ")


@dataclass(frozen=True)
class Written(Solver):
    """An actor with a fixed answer (`prompt/answer`), given as it stands without calling a model."""

    @property
    def needs_programs(self) -> bool:
        """False: it runs nothing."""
        return False

    async def attempt(
        self,
        problem: Problem,
        conversation: Conversation,
        programs: Programs | None,
        feedback: Feedback | None = None,
        provided: Sequence[ProvidedTool] = (),
    ) -> Answer:
        """Give the fixed answer, once, for any number of rounds; never raises."""
        text = self.parts.prompts["answer"]
        conversation.conclude(text)
        conversation.rounds.append(text)
        return conversation.answer()


async def _tool_results(reply: Reply, toolbox: Toolbox) -> list[Message]:
    results = await toolbox.answer_all(reply.tool_calls)
    results_shown = [Message("tool", str(r), tool_call_id=c.id) for c, r in zip(reply.tool_calls, results, strict=True)]
    pictures = tuple(Image(*picture) for result in results for picture in _pictures(result))
    return [*results_shown, Message("user", "What the tools show:", pictures)] if pictures else results_shown


def _pictures(result: str) -> tuple[tuple[str, bytes], ...]:
    return result.pictures if isinstance(result, Illustrated) else ()


async def _observation(reply: Reply, toolbox: Toolbox) -> list[Message]:
    if not toolbox.specs:
        return []
    action = parse_action(reply.text)
    if isinstance(action, str):
        result = f"error: {action}"
    else:
        result = await toolbox.answer(ToolCall("", action.name, json.dumps(dict(action.params))))
    pictures = tuple(Image(*picture) for picture in _pictures(result))
    return [Message("user", f"<observation>\n{result}\n</observation>", pictures)]


def _off(clock: asyncio.Timeout, feedback: Feedback) -> Feedback:
    """Return the feedback with the rollout's clock stopped while it runs: a judge may be slow."""

    async def stopped(text: str) -> str | None:
        now = asyncio.get_running_loop().time
        left = (clock.when() or now()) - now()
        clock.reschedule(None)
        try:
            return await feedback(text)
        finally:
            clock.reschedule(now() + left)

    return stopped
