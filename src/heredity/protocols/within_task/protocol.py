"""Evolution within a task (Autogenesis, sections 3.2.3 and 5.1): up to R rounds of edits of one answer, and of its prompt."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from heredity._core.errors import BudgetError, ClosedError, ConfigError, HostError
from heredity._core.ids import digest_json, seed_sequence
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import ModelLimitsSection
from heredity.engine.trajectory import decode_many
from heredity.experiments.evolvers import initial_candidate
from heredity.methods import SessionContract, Trial
from heredity.methods.loop import Optimizer, Recipe
from heredity.methods.operators.dialogue import together
from heredity.methods.operators.evidence import last_info
from heredity.methods.proposals import LoopOptions
from heredity.methods.registry import METHODS, method
from heredity.models import Model
from heredity.models.contract import NOTHING_USED, Usage
from heredity.protocols.contract import Evolver, Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.protocols.within_task.events import (
    EVENTS,
    WITHIN_ENDED,
    WITHIN_JUDGED,
    WITHIN_PROPOSED,
    WITHIN_SAMPLED,
    WithinSampled,
)
from heredity.protocols.within_task.programs import METRICS, TaskAccount, accounts_of, journal_programs
from heredity.protocols.within_task.report import REPORT
from heredity.protocols.within_task.rounds import (
    Given,
    Metered,
    Rules,
    Seen,
    TaskRounds,
    Told,
    WithinBudgetSection,
    WithinSection,
    WithinViewsSection,
    feedback_on,
    last_answer,
    replies_in,
)
from heredity.records import Blob, BlobStore, Event, read_journal
from heredity.records.events import (
    JUDGING_SCORED,
    JUDGING_SELECTED,
    REFERENCE_SCORED,
    SUBMISSION_COMPLETED,
    JudgingScored,
    ReferenceScored,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.session.session import Session
from heredity.session.session_log import score_to_json
from heredity.session.views import ViewPlan, ViewScores, check_sizes, clusters_of


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage of rounds: tokens, None if a provider does not report them, and number of model calls."""

    tokens: int | None
    calls: int


def wanted(spent: Spent, first: Spent, most: int) -> int:
    """Return the number of samples to buy so that they use at least the spent tokens, plus one for short samples."""
    whole, per_sample = (spent.tokens, first.tokens) if spent.tokens and first.tokens else (spent.calls, first.calls)
    return min(most, max(1, math.ceil(whole / per_sample) + 1)) if per_sample else 1


async def sample(
    session: SessionContract, initial: Candidate, task: int, feedback: Told, spent: Spent, count: int
) -> WithinSampled:
    """Buy samples of a task and choose among the first ones that use at least the spent tokens.

    Raises:
        BudgetError, ClosedError: if the budget is spent.
    """
    trial = Trial(initial, [task], count, note="independent samples")
    (answer,) = await session.submit([trial], f"task-{task}/samples")
    answers = [replies_in(outcome) for outcome in answer.outcomes]
    seen = [feedback_on(outcome, feedback) for outcome in answer.outcomes]
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
    """Return how many samples, in order, it takes to use at least the spent tokens; all if they do not reach it."""
    usage: Usage = NOTHING_USED
    calls = 0
    for number, one in enumerate(answers, 1):
        usage, calls = usage + one.usage, calls + one.calls
        enough = calls >= spent.calls if usage.tokens is None or spent.tokens is None else usage.tokens >= spent.tokens
        if enough:
            return number
    return len(answers)


def choose(answers: Sequence[Given], seen: Sequence[Seen], feedback: Told) -> tuple[int, str]:
    """Return the position of the sample chosen by visible feedback, and the reason.

    Without scores, choose the most frequent answer (self-consistency); with scores the best, the earliest among equals.
    """
    answered = [i for i, one in enumerate(answers) if one.status == Status.OK]
    if not answered:
        return 0, "none gives an answer"
    if feedback in ("none", "self"):
        votes = Counter(_answer(answers[i]) for i in answered)
        best = max(votes.values())
        first = next(i for i in answered if votes[_answer(answers[i])] == best)
        return first, f"{best} of {len(answers)} samples agree"
    chosen = max(answered, key=lambda i: (-math.inf if seen[i].score is None else seen[i].score, -i))
    return chosen, f"best visible score of {len(answers)} samples"


def _answer(answer: Given) -> str:
    return " ".join((answer.extracted or answer.text).split()).casefold()


_KINDS = (WITHIN_PROPOSED, WITHIN_ENDED, WITHIN_SAMPLED)
_PLACE = ("task", "round", "stage", "draw")


@dataclass(frozen=True)
class WithinEvolver:
    """Evolves the answers to tasks (deterministic given the models and checks, so it is resumed by running it again).

    Attributes:
        rules: rules of the rounds.
        section: concurrency and samples.
        initial: the candidate of the first answers.
        tasks: number of tasks.
        seed: the run's seed.
        model: proposes edits and assesses answers.
        folder: the run's folder.
    """

    rules: Rules
    section: WithinSection
    initial: Candidate
    tasks: int
    seed: int
    model: Model
    folder: Path

    async def evolve(self, session: Session) -> None:
        """Work on all tasks until they are finished or the budget is spent."""
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
    """Events of this protocol, journalled once across resumes, and the usage they record."""

    def __init__(self, session: Session, folder: Path) -> None:
        self._session = session
        path = folder / "journal.jsonl"
        self._lines: dict[tuple[object, ...], Line] = {}
        for event in read_journal(path) if path.exists() else ():
            if (line := _line_of(event)) is not None:
                self._lines.setdefault(_key(line), line)

    async def note(self, line: Line) -> None:
        """Journal an event unless it is recorded."""
        if _key(line) not in self._lines:
            self._lines[_key(line)] = line
            await self._session.note(line)

    def spent(self, task: int, *, first: bool = False) -> Spent:
        """Return the usage of a task's rounds, or of its first answer only."""
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


ONE_SHOT = "one-shot"
BEST_OF_K = "best-of-k"


async def judge(
    bench: Bench, evolved: Evolved, reference: Reference | None = None, *, initial: Candidate, rounds: int
) -> Verdict:
    """Judge a closed session and finish the run's journal.

    Args:
        bench: the judge's inputs.
        evolved: the closed session; the evolver's status is kept.
        reference: unused: a run is compared with its first answers.
        initial: the candidate of the first answers.
        rounds: maximum rounds of a task.

    Raises:
        HostError: if every answer is missing.
        RecordError: if the disk is full or fails.
    """
    view, events = bench.view("heldout"), bench.records.journal.events
    by_task = {account.task: account for account in accounts_of(events)}
    accounts = [by_task.get(task.index) or TaskAccount(task.index) for task in view.tasks]
    digest = digest_json([account.candidate for account in accounts])
    reason = "the last commit of each task, by visible feedback"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": None, "candidate": digest, "reason": reason}))
    scores = _scores([account.final for account in accounts], [account.committed_status for account in accounts])
    data: JudgingScored = {
        "view": view.name,
        "candidate": digest,
        "submit_id": None,
        **scores.to_json(),
        **clusters_of(view.tasks),
    }
    if all(math.isnan(score) for score in scores.scores):
        raise HostError("no task could be answered; fix the cause and start the suite again in another folder")
    await bench.journal_once(JUDGING_SCORED.line(data))
    arms = {ONE_SHOT: [a.first for a in accounts], BEST_OF_K: [a.best_of_k for a in accounts]}
    for name, listed in arms.items():
        if name == ONE_SHOT or any(score is not None for score in listed):
            await _compared_with(bench, name, listed, initial)
    await journal_programs(bench, evolved, accounts, rounds)
    await conclude(bench, evolved.status)
    first = tuple(_number(score) for score in arms[ONE_SHOT])
    return Verdict(evolved.status, None, digest, reason, {}, require(scores, "tasks"), first)


async def _compared_with(bench: Bench, name: str, scores: Sequence[float | None], initial: Candidate) -> None:
    view = bench.view("heldout")
    if bench.recorded(REFERENCE_SCORED, name=name, view=view.name) is not None:
        return
    blob = Blob.of(initial.to_bytes())
    data: ReferenceScored = {
        "name": name,
        "view": view.name,
        "candidate": initial.digest,
        "candidate_blob": blob.digest,
        "scores": [score_to_json(_number(score)) for score in scores],
        **clusters_of(view.tasks),
    }
    await bench.records.commit([REFERENCE_SCORED.line(data)], [blob])


def _scores(scores: Sequence[float | None], statuses: Sequence[str]) -> ViewScores:
    missing = sum(score is None for score in scores)
    return ViewScores(
        scores=tuple(_number(score) for score in scores),
        lengths=(1,) * len(scores),
        statuses=tuple(statuses),
        seconds=0.0,
        why=f"{missing} tasks were not answered" if missing else "",
    )


def _number(score: float | None) -> float:
    return math.nan if score is None else score


_VIEW = "heldout"
_OF_THE_PROTOCOL = (
    "target",
    "rounds",
    "patience",
    "batch",
    "repeats",
    "canaries",
    "confirm",
    "protect",
    "tolerance",
    "min_gain",
)
"""Optimizer options that the protocol sets."""


class WithinSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request rollouts only; their number depends on the rounds."""
        within, tasks = config.of(WithinSection), config.views.heldout
        candidates = int(config.evolver.options.get("candidates", 1))
        edits = within.rounds * candidates * (2 if within.mode == "both" else 1)
        samples = min(within.most_samples, 4 * edits) if within.best_of_k else 0
        return Needs(
            attempts=(tasks * (1 + bool(samples)), tasks * (1 + edits + samples)),
            proposals=(0, 3 * tasks * edits),
            roles={"optimisation": True},
        )

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the optimizer and its model, and that the tasks support the configured feedback."""
        config, info = cell.config, suite.tasksets[cell.taskset].info
        within = config.of(WithinSection)
        check_sizes(suite.tasksets[cell.taskset], {"views.heldout": ("heldout", cell.config.views.heldout)})
        recipe_of(cell)
        initial_candidate(cell, info)
        if not config.gateway.optimisation:
            raise ConfigError(
                "gateway.optimisation is not set, so no model proposes edits; set it, for example to the model of gateway.execution"
            )
        if info.public.get("answer_format") is None:
            raise ConfigError(f"the tasks of {cell.taskset} are not answered in words; use questions/… or code/…")
        if config.solver.rounds != 1:
            raise ConfigError("solver.rounds sets rounds within a rollout; leave it at 1 and set within.rounds")
        if within.feedback == "public" and not info.public.get("public_tests"):
            raise ConfigError(f"{cell.taskset} has no public tests; set within.feedback to none, self or verdict")
        if within.best_of_k and config.solver.temperature == 0:
            raise ConfigError(
                "samples at temperature 0 are identical; set solver.temperature or within.best_of_k = false"
            )

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell = context.cell
        config, info = cell.config, context.taskset.info
        within, count = config.of(WithinSection), config.views.heldout
        recipe, options = recipe_of(cell)
        assert context.model is not None, "checked"
        rules = Rules(within.mode, within.feedback, within.rounds, recipe, options)
        initial = initial_candidate(cell, info)
        evolver = WithinEvolver(rules, within, initial, count, cell.seed, context.model, context.folder)
        name = cell.evolver.method
        return Setup(
            evolver=Evolver(
                evolver.evolve,
                True,
                {"name": cell.label, "kind": "method", "method": name, "options": cell.evolver.options},
            ),
            judge=partial(judge, initial=initial, rounds=within.rounds),
            views=(ViewPlan(_VIEW, "heldout", count),),
            within=_VIEW,
            record={"within": within.model_dump(), "oracle": within.feedback == "verdict"},
        )


def recipe_of(cell: Cell) -> tuple[Recipe, LoopOptions]:
    """Return the operators of the configured optimizer, and their options.

    Raises:
        ConfigError: if the method is not an optimizer, or an option is invalid or set by the protocol.
    """
    name, given = cell.evolver.method, cell.evolver.options
    able = ", ".join(other for other in METHODS.names() if isinstance(METHODS.load(other)(), Optimizer))
    if name is None:
        raise ConfigError(f"evolution within a task needs an optimizer; set evolver.method to one of {able}")
    chosen = method(name, given)
    if not isinstance(chosen, Optimizer):
        raise ConfigError(f"the method {name!r} cannot work within a task; set evolver.method to one of {able}")
    for option in _OF_THE_PROTOCOL:
        if option in given:
            raise ConfigError(f"the option {option} has no effect within a task; remove it and see [within]")
    return chosen.recipe(given)


def answers(folder: Path, events: Sequence[Event]) -> Mapping[str, bytes]:
    """Return the last committed answer of each task: `answers/task-0.md`, and so on.

    Args:
        folder: the run's folder.
        events: its journal.

    Raises:
        RecordError: if an answer's record is damaged or missing.
    """
    blobs = BlobStore(folder / "blobs")
    records = {e.data["submit_id"]: e.data["blob"] for e in events if e.kind == SUBMISSION_COMPLETED.name}
    proposed = (e.data for e in events if e.kind == WITHIN_PROPOSED.name)
    committed = {data["task"]: data["submit_id"] for data in proposed if data["accepted"]}
    files: dict[str, bytes] = {}
    for task, submit_id in sorted(committed.items()):
        if submit_id in records:
            (trajectory, *_) = decode_many(blobs.get(records[submit_id]))
            reply = last_answer(trajectory) or str(last_info(trajectory, "extracted") or "")
            files[f"answers/task-{task}.md"] = reply.encode("utf-8", "replace") + b"\n"
    return files


PROTOCOL = Protocol(
    name="within-task",
    summary="rounds on one task, committed by what the agent sees, against one-shot and best-of-k",
    setting=WithinSetting(),
    sections={
        "budget": WithinBudgetSection,
        "limits": ModelLimitsSection,
        "views": WithinViewsSection,
        "within": WithinSection,
    },
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    measured=frozenset({WITHIN_JUDGED.name}),
    best=answers,
)
