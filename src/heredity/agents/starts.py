"""Starts of an outside agent until its session ends or a restart is ruled out; every start is journalled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from heredity.agents.launchers import AgentExit, CommandAgent
from heredity.methods import Budget
from heredity.records import read_journal
from heredity.records.agent_starts import Start, exit_words, seconds_of, starts_of
from heredity.records.events import AGENT_ENDED, AGENT_STARTED
from heredity.session.session import Session


async def run_starts(
    session: Session, journal: Path, agent: CommandAgent, start: Callable[[CommandAgent], Awaitable[AgentExit]]
) -> AgentExit | None:
    """Start an agent, and restart it as set by `agent.continuing`; return its last end, None if it was not started.

    After a kill of an earlier process, the journal gives the progress so far.

    Args:
        session: receives the agent's submissions.
        journal: the run's journal.
        agent: the agent; its time limit holds for all starts together.
        start: runs it once.

    Raises:
        Any exception of `start`.
    """
    ended: AgentExit | None = None
    while session.broken is None and session.closed is None and not session.remaining().exhausted:
        starts = starts_of(await asyncio.to_thread(read_journal, journal))
        wait, left = agent.continuing.wait(starts), _time_left(agent, starts, session.clock.now())
        if wait is None or left == 0:
            break
        if wait and await _ended_within(session, wait):
            break
        number = len(starts) + 1
        at_s = round(session.clock.now(), 3)
        await session.note(AGENT_STARTED.line({"start": number, "at_s": at_s, "wait_s": wait}))
        ended = await start(_started(agent, left, starts, session.remaining()))
        if session.broken is None:
            await session.note(AGENT_ENDED.line(ended.to_json()))
    return ended


def _time_left(agent: CommandAgent, starts: Sequence[Start], now_s: float) -> float | None:
    """Return the remaining time of an agent; None without a limit."""
    return None if agent.time_limit_s is None else max(0.0, agent.time_limit_s - seconds_of(starts, now_s))


async def _ended_within(session: Session, seconds: float) -> bool:
    try:
        await asyncio.wait_for(session.finished(), seconds)
    except TimeoutError:
        return False
    return True


def _started(agent: CommandAgent, left: float | None, starts: Sequence[Start], budget: Budget) -> CommandAgent:
    if not starts:
        return agent
    prompt = "\n\n".join(filter(None, (agent.prompt, what_remains(starts, agent.continuing.turns, budget))))
    environment = {**agent.environment, "HEREDITY_PROMPT": prompt, "HEREDITY_START": str(len(starts) + 1)}
    if agent.continuing.anew(starts):
        environment["HEREDITY_ANEW"] = "1"
    return replace(agent, command=agent.again or agent.command, environment=environment, time_limit_s=left)


def what_remains(starts: Sequence[Start], turns: int, budget: Budget) -> str:
    """Return the message to a restarted agent: the reason, and its remaining budget."""
    supplies = {"episodes": budget.episodes, "submissions": budget.submissions, "tokens": budget.tokens}
    left = [f"{amount} {name}" for name, amount in supplies.items() if amount is not None]
    left += [f"{budget.seconds:.0f} seconds"] if budget.seconds is not None else []
    submitted = sum(start.submissions for start in starts)
    return (
        f"This is start {len(starts) + 1} of at most {max(turns, len(starts) + 1)}: {exit_words(starts[-1].ended)}. Your files are "
        f"as you left them, and {submitted} submissions are on record. Left: {', '.join(left) or 'no limit'}. Go on from there."
    )
