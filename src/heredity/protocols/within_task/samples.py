"""Best of k at equal tokens: as many independent answers as the rounds of a task would have bought, chosen by what can be seen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from heredity.evolution import SessionContract, Trial
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.protocols.within_task.events import WithinSampled
from heredity.protocols.within_task.sections import Told
from heredity.protocols.within_task.seen import Given, Seen, given, seen_of
from heredity.resources import Candidate
from heredity.results.status import Status


@dataclass(frozen=True, slots=True)
class Spent:
    """What rounds used: tokens, None where a provider does not say; and how often models were asked."""

    tokens: int | None
    calls: int


def wanted(spent: Spent, first: Spent, most: int) -> int:
    """Return how many samples are to be bought so that they use at least what was spent, one more for those that are short."""
    whole, per_sample = (spent.tokens, first.tokens) if spent.tokens and first.tokens else (spent.calls, first.calls)
    return min(most, max(1, math.ceil(whole / per_sample) + 1)) if per_sample else 1


async def sample(
    session: SessionContract, initial: Candidate, task: int, feedback: Told, spent: Spent, count: int
) -> WithinSampled:
    """Buy samples of a task and choose among the first of them that use at least what was spent.

    Raises:
        BudgetError, ClosedError: if the budget is spent.
    """
    trial = Trial(initial, [task], count, note="independent samples")
    (answer,) = await session.submit([trial], f"task-{task}/samples")
    answers = [given(outcome) for outcome in answer.outcomes]
    seen = [seen_of(outcome, feedback) for outcome in answer.outcomes]
    taken = covering(answers, spent)
    chosen, why = choose(answers[:taken], seen[:taken], feedback)
    usage = sum((s.usage for s in answers[:taken]), NOTHING_USED)
    return {
        "task": task,
        "submit_id": answer.submit_id,
        "taken": taken,
        "chosen": chosen,
        "why": why,
        "tokens": usage.tokens,
        "calls": sum(s.calls for s in answers[:taken]),
        "cost_usd": usage.cost_usd,
    }


def covering(answers: Sequence[Given], spent: Spent) -> int:
    """Return how many of the samples, in order, use at least as many tokens as were spent: all, where they do not."""
    usage: Usage = NOTHING_USED
    calls = 0
    for number, one in enumerate(answers, 1):
        usage, calls = usage + one.usage, calls + one.calls
        enough = calls >= spent.calls if usage.tokens is None or spent.tokens is None else usage.tokens >= spent.tokens
        if enough:
            return number
    return len(answers)


def choose(answers: Sequence[Given], seen: Sequence[Seen], feedback: Told) -> tuple[int, str]:
    """Return the position of the sample that is chosen by what can be seen, and why.

    Without a score the answer that most samples give (self-consistency); with one the best, and of equals the earliest.
    """
    answered = [i for i, one in enumerate(answers) if one.status == Status.OK]
    if not answered:
        return 0, "none gives an answer"
    if feedback in ("none", "self"):
        votes = Counter(_answer(answers[i]) for i in answered)
        best = max(votes.values())
        first = next(i for i in answered if votes[_answer(answers[i])] == best)
        return first, f"{best} of {len(answers)} samples say the same"
    chosen = max(answered, key=lambda i: (-math.inf if seen[i].score is None else seen[i].score, -i))
    return chosen, f"the best that is seen of {len(answers)} samples"


def _answer(answer: Given) -> str:
    return " ".join((answer.extracted or answer.text).split()).casefold()
