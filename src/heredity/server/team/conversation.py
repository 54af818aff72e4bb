"""A team as a language model: a conversation in, the answer of the team to its last message out."""

from __future__ import annotations

import asyncio

from heredity.errors import ConfigError, ProviderError, RecordError, RejectedError
from heredity.gateway import Message, Model, Reply, Request
from heredity.server.team.office import Office
from heredity.server.team.task_run import TaskRun
from heredity.team.messages import Outcome

TEAM = "team"


def models_of(office: Office) -> dict[str, Model]:
    """Return the models that a team offers: `"team"`, and `"team/AGENT"` for each of its agents alone."""
    agents = {f"{TEAM}/{name}": TeamModel(office, name) for name in office.agents}
    return {TEAM: TeamModel(office), **agents}


class TeamModel:
    """A model whose replies are the answers of a team, each a task of its own; raises as `Model` does.

    A caller that hangs up cancels its task.

    Args:
        office: the team's tasks.
        agent: the agent that answers alone; the whole team if empty.
    """

    def __init__(self, office: Office, agent: str = "") -> None:
        self._office, self._agent = office, agent
        self._ending: set[asyncio.Task[TaskRun]] = set()

    @property
    def name(self) -> str:
        """What the model is called."""
        return f"{TEAM}/{self._agent}" if self._agent else TEAM

    async def reply(self, request: Request) -> Reply:
        """Return the answer of the team.

        Raises:
            ProviderError: if it has none, or is asked for what it does not do; the message says so.
        """
        if request.tools:
            raise ProviderError(
                "request", "a team uses its own tools, and none of who asks it; leave `tools` out", transient=False
            )
        if any(message.images for message in request.messages):
            raise ProviderError(
                "request", "a team is given words and no pictures; leave the pictures out", transient=False
            )
        try:
            run = self._office.start(as_task(request.messages), agent=self._agent)
        except (ConfigError, RejectedError) as error:
            raise ProviderError("request", str(error), transient=False) from error
        try:
            result = await run.ended()
        except RecordError as error:
            raise ProviderError("server", str(error), transient=False) from error
        except asyncio.CancelledError:
            if not self._office.closing:
                ending = asyncio.create_task(self._office.cancel(run.id))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
            raise
        if result.outcome is not Outcome.OK:
            raise ProviderError("request", f"there is no answer ({result.outcome}): {result.error}", transient=False)
        return Reply(result.answer, usage=run.view.used, model=self.name, seconds=result.seconds)


def as_task(messages: tuple[Message, ...]) -> str:
    """Return a conversation as a task: its last message alone if it is the first, else what was said before it as well."""
    words = {
        "system": "Instructions",
        "user": "Asked before",
        "assistant": "Answered before",
        "tool": "Result of a tool",
    }
    turns = [message for message in messages if message.content.strip()]
    if not turns or turns[-1].role != "user":
        raise ProviderError("request", "the last message has to be the user's, and not empty", transient=False)
    earlier = [f"{words[message.role]}:\n{message.content}" for message in turns[:-1]]
    return "\n\n".join([*earlier, f"Asked now:\n{turns[-1].content}" if earlier else turns[-1].content])
