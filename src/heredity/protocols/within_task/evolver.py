"""What works on the tasks of a run: first every task is answered once, then each evolves, then each is sampled as often."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heredity.errors import BudgetError, ClosedError
from heredity.evolution.operators.dialogue import together
from heredity.gateway import Model
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.ids import seed_sequence
from heredity.judging.session import Session
from heredity.protocols.within_task.events import WITHIN_ENDED, WITHIN_PROPOSED, WITHIN_SAMPLED
from heredity.protocols.within_task.metered import Metered
from heredity.protocols.within_task.rounds import Rules, TaskRounds
from heredity.protocols.within_task.samples import Spent, sample, wanted
from heredity.protocols.within_task.sections import WithinSection
from heredity.records import Event, read_journal
from heredity.records.journal import Line
from heredity.resources import Candidate

_KINDS = (WITHIN_PROPOSED, WITHIN_ENDED, WITHIN_SAMPLED)
_PLACE = ("task", "round", "stage", "draw")


@dataclass(frozen=True)
class WithinEvolver:
    """Evolves the answers to tasks, deterministically in what models and checks say: it is resumed by running it again.

    Attributes:
        rules: of the rounds.
        section: how many tasks at once, and whether there are samples.
        initial: the candidate that answers first.
        tasks: how many tasks there are.
        seed: the run's.
        model: what proposes edits and assesses.
        folder: the run's.
    """

    rules: Rules
    section: WithinSection
    initial: Candidate
    tasks: int
    seed: int
    model: Model
    folder: Path

    async def evolve(self, session: Session) -> None:
        """Work on all tasks until they are over or the budget is spent."""
        recorded, ledger = session.recorded(self.model), _Ledger(session, self.folder)
        rounds = [
            TaskRounds(session, ledger.note, self.rules, Metered(recorded), self.initial, task, self._seed(task))
            for task in range(self.tasks)
        ]
        for step in (_begin, self._evolve):
            await self._for_all(rounds, step)
        if self.section.best_of_k:
            await self._for_all(rounds, lambda one: self._sample(session, ledger, one))

    async def _for_all(self, rounds: Sequence[TaskRounds], step: Callable[[TaskRounds], Awaitable[None]]) -> None:
        places = asyncio.Semaphore(self.section.concurrent)

        async def guarded(one: TaskRounds) -> None:
            async with places:
                try:
                    await step(one)
                except (BudgetError, ClosedError):
                    return

        await together(guarded(one) for one in rounds)

    async def _evolve(self, one: TaskRounds) -> None:
        if one.first is not None:
            await one.evolve()

    async def _sample(self, session: Session, ledger: _Ledger, one: TaskRounds) -> None:
        if one.first is None:
            return
        spent, first = ledger.spent(one.task), ledger.spent(one.task, first=True)
        count = wanted(spent, first, self.section.most_samples)
        made = await sample(session, self.initial, one.task, self.rules.feedback, spent, count)
        await ledger.note(WITHIN_SAMPLED.line(made))

    def _seed(self, task: int) -> int:
        return int(seed_sequence(self.seed, "within-task", task).generate_state(1)[0])


async def _begin(one: TaskRounds) -> None:
    await one.begin()


class _Ledger:
    """Events of this protocol, each journalled once however often the run is resumed, and what they say was spent."""

    def __init__(self, session: Session, folder: Path) -> None:
        self._session = session
        path = folder / "journal.jsonl"
        self._lines: dict[tuple[object, ...], Line] = {}
        for event in read_journal(path) if path.exists() else ():
            if (line := _line_of(event)) is not None:
                self._lines.setdefault(_key(line), line)

    async def note(self, line: Line) -> None:
        """Journal an event unless it is on record."""
        if _key(line) not in self._lines:
            self._lines[_key(line)] = line
            await self._session.note(line)

    def spent(self, task: int, *, first: bool = False) -> Spent:
        """Return what the rounds of a task used, or its first answer alone."""
        tokens: Usage = NOTHING_USED
        calls = 0
        for (kind, its, *position), line in self._lines.items():
            if kind == WITHIN_PROPOSED.name and its == task and (not first or position[0] == 0):
                tokens += Usage(line[1]["tokens"], 0, 0, 0.0)
                calls += int(line[1]["calls"])
        return Spent(tokens.tokens, calls)


def _line_of(event: Event) -> Line | None:
    return (event.kind, event.data) if event.kind in {kind.name for kind in _KINDS} else None


def _key(line: Line) -> tuple[object, ...]:
    kind, data = line
    return (kind, *(data[name] for name in _PLACE if name in data))
