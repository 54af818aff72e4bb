"""An outside agent, started until its session has ended or it is not to be started again; every start is journalled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from heredity.evolution import Budget
from heredity.judging.session import Session
from heredity.launchers import AgentExit, CommandAgent
from heredity.launchers.starts import Start, exit_words, seconds_of, starts_of
from heredity.records import read_journal
from heredity.records.events import AGENT_ENDED, AGENT_STARTED


async def run_starts(
    session: Session, journal: Path, agent: CommandAgent, start: Callable[[CommandAgent], Awaitable[AgentExit]]
) -> AgentExit | None:
    """Start an agent, and start it again as `agent.continuing` says; return how it last ended, None if it was not started.

    Where an earlier process was killed, its journal says how far this has come.

    Args:
        session: what the agent submits to.
        journal: the run's journal.
        agent: what to run; its time limit holds for all starts together.
        start: runs it once.

    Raises:
        Whatever `start` raises.
    """
    ended: AgentExit | None = None
    while session.broken is None and session.closed is None and not session.remaining().exhausted:
        starts = starts_of(await asyncio.to_thread(read_journal, journal))
        wait, left = agent.continuing.wait(starts), _left(agent, starts, session.clock.now())
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


def _left(agent: CommandAgent, starts: Sequence[Start], now_s: float) -> float | None:
    """Return how much of an agent's own time is left; None where that has no limit."""
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
    """Say to an agent that is started again why, and what is left of its budget."""
    supplies = {"episodes": budget.episodes, "submissions": budget.submissions, "tokens": budget.tokens}
    left = [f"{amount} {name}" for name, amount in supplies.items() if amount is not None]
    left += [f"{budget.seconds:.0f} seconds"] if budget.seconds is not None else []
    submitted = sum(start.submissions for start in starts)
    return (
        f"This is start {len(starts) + 1} of at most {max(turns, len(starts) + 1)}: {exit_words(starts[-1].ended)}. Your files are "
        f"as you left them, and {submitted} submissions are on record. Left: {', '.join(left) or 'no limit'}. Go on from there."
    )
