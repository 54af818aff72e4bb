"""Solvers: a candidate's prompts, memories and tools in a conversation with a language model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heredity.actors.contract import ANSWER, SOLVER, Answer, Illustrated, Problem, Programs, ProvidedTool, Solving
from heredity.actors.conversation import Conversation, NoAnswerError
from heredity.actors.parts import Parts, read_parts
from heredity.actors.program import Earlier, run_program
from heredity.actors.react import has_action, parse_action
from heredity.actors.rounds import Feedback, revision
from heredity.actors.tools import ARGUMENTS, Toolbox
from heredity.errors import ConfigError
from heredity.gateway import Image, Message, Model, Reply, ToolCall
from heredity.gateway.waiting import rollout_clock
from heredity.plugins import Group
from heredity.resources import Candidate
from heredity.results.status import AnswerStatus
from heredity.spans import span

SOLVERS = Group[Callable[[Candidate], "Solver"]](
    "heredity.solvers", "form of solver", "a callable of a candidate that returns a solver", callable
)
"""What candidates describe beside a conversation with one model: one with the part `agent/NAME` is built by the entry NAME."""


def build(candidate: Candidate) -> Solver:
    """Build the solver that a candidate describes. Nothing of the candidate is run.

    Raises:
        ConfigError: if a part cannot be built, or is none that a solver has; the message names it.
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
        parts: what it is made of.
    """

    parts: Parts

    @property
    def needs_programs(self) -> bool:
        """Whether anything of it has to be run in a sandbox."""
        return self.parts.program is not None or any(tool.tree is not None for tool in self.parts.tools)

    async def solve(
        self, problem: Problem, model: Model, settings: Solving, programs: Programs | None, seed: int | None = None
    ) -> Answer:
        """Answer a problem, without feedback from outside. Raises as `attempt`."""
        return await self.attempt(problem, Conversation(model, settings, seed), programs)

    async def attempt(
        self,
        problem: Problem,
        conversation: Conversation,
        programs: Programs | None,
        feedback: Feedback | None = None,
        provided: Sequence[ProvidedTool] = (),
    ) -> Answer:
        """Answer a problem in a conversation, which holds what was said also when this raises.

        Args:
            problem: what is asked.
            conversation: a new conversation.
            programs: runs tools and programs; None if the candidate has none.
            feedback: tells of answers between rounds, where the settings say `"public"` or `"verdict"`. The time that it
                takes is not the solver's.
            provided: tools that the place of the task provides.

        Raises:
            ConfigError: if programs or feedback are needed and not given, or a tool has the name of one that is provided.
            ProviderError: if the model gives no answer through no fault of the candidate.
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
        """Ask, run what the reply calls for, tell the results, until a reply calls for nothing: that is the answer."""
        conversation, native = toolbox.conversation, self.parts.style == "tools"
        tools = toolbox.specs if native else ()
        fruitless, before = 0, None
        for _ in range(conversation.settings.max_turns):
            context += unrecorded
            reply = await conversation.ask(context, unrecorded, tools)
            _check_words(reply)
            context.append(reply.message)
            unrecorded = await (_tool_results(reply, toolbox) if native else _observation(reply, toolbox))
            if not unrecorded:
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
"""How many turns in a row may lead nowhere: each is paid for."""


def _refused(result: Message) -> bool:
    return result.content.removeprefix("<observation>\n").startswith(f"error: {ARGUMENTS}: ")


@dataclass(frozen=True)
class Written(Solver):
    """An actor whose answer is written already (`prompt/answer`): it is given as it stands, and no model is asked."""

    @property
    def needs_programs(self) -> bool:
        """Whether anything has to be run in a sandbox: nothing has."""
        return False

    async def attempt(
        self,
        problem: Problem,
        conversation: Conversation,
        programs: Programs | None,
        feedback: Feedback | None = None,
        provided: Sequence[ProvidedTool] = (),
    ) -> Answer:
        """Give the answer that is written, once, whatever the settings say of rounds; nothing is raised."""
        text = self.parts.prompts["answer"]
        conversation.conclude(text)
        conversation.rounds.append(text)
        return conversation.answer()


def _check_words(reply: Reply) -> None:
    if reply.finish == "refusal":
        raise NoAnswerError(AnswerStatus.REFUSAL, f"the model refused: {reply.text[:200]}")
    if not reply.text.strip() and not reply.tool_calls:
        cut = " and was cut at the limit of tokens" if reply.finish == "length" else ""
        raise NoAnswerError(AnswerStatus.EMPTY, f"the reply holds neither words nor tool calls{cut}")


async def _tool_results(reply: Reply, toolbox: Toolbox) -> list[Message]:
    results = await toolbox.answer_all(reply.tool_calls)
    results_shown = [Message("tool", str(r), tool_call_id=c.id) for c, r in zip(reply.tool_calls, results, strict=True)]
    pictures = tuple(Image(*picture) for result in results for picture in _pictures(result))
    return [*results_shown, Message("user", "What the tools show:", pictures)] if pictures else results_shown


def _pictures(result: str) -> tuple[tuple[str, bytes], ...]:
    return result.pictures if isinstance(result, Illustrated) else ()


async def _observation(reply: Reply, toolbox: Toolbox) -> list[Message]:
    if not toolbox.specs or not has_action(reply.text):
        return []
    action = parse_action(reply.text)
    if isinstance(action, str):
        result = f"error: {action}"
    else:
        result = await toolbox.answer(ToolCall("", action.name, json.dumps(dict(action.params))))
    pictures = tuple(Image(*picture) for picture in _pictures(result))
    return [Message("user", f"<observation>\n{result}\n</observation>", pictures)]


def _off(clock: asyncio.Timeout, feedback: Feedback) -> Feedback:
    """Return the feedback with the rollout's clock stopped while it is made: a judge may be slow."""

    async def stopped(text: str) -> str | None:
        now = asyncio.get_running_loop().time
        left = (clock.when() or now()) - now()
        clock.reschedule(None)
        try:
            return await feedback(text)
        finally:
            clock.reschedule(now() + left)

    return stopped
