"""Rounds: what a solver is told between two answers to the same question (Autogenesis' Solution-Evo, section 3.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from heredity.actors.conversation import Conversation
from heredity.actors.parts import Parts, fill
from heredity.errors import ConfigError
from heredity.gateway import Message

Feedback = Callable[[str], Awaitable[str | None]]
"""Told the words of an answer, returns what the solver is told of it; None if it is right, which ends the rollout."""

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
    """Return what the solver is told after an answer that is not its last; None if there is nothing to improve.

    Args:
        parts: may have words of their own for it, `prompt/critic` and `prompt/revise`.
        conversation: where a critique is asked for, in a request of its own.
        question: the question as it was asked.
        text: the answer.
        feedback: what tells of public tests or of the verdict.

    Raises:
        NoAnswerError: if the critic has nothing to say.
        ConfigError: if the settings ask for feedback and nothing gives it.
        ProviderError: if the critic cannot be asked.
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
