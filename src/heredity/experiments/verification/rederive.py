"""A run made again from its record: by the code that made it, with recorded rollouts, judgements and model replies.

The protocol's setting opens the run from its cell of the suite, the hidden cases are drawn again from the opened entropy, and
the session and the judge write a journal in memory. Rollouts are answered with the recorded trajectories, and judgements with
the recorded scores, so nothing is executed. The evolver is either a script of the recorded requests, or the recorded method
itself, which must make the same requests. Whatever this second journal has otherwise than the first is not what the rules
make of these rollouts.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import BudgetError, ClosedError, ConfigError, HeredityError, HostError, ProviderError
from heredity._core.ids import canonical_json
from heredity.configuration.config import Cell
from heredity.engine.engine import Engine
from heredity.engine.kind import KINDS
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.experiments.best import tree_files
from heredity.experiments.engine import plan_of
from heredity.methods import Decision, Trial
from heredity.models import Reply, Request
from heredity.protocols.contract import RunContext, Setup, SuiteContext
from heredity.protocols.registry import PROTOCOLS
from heredity.records import Blob, BlobStore, Committer, Event
from heredity.records.events import (
    BATCH_STARTED,
    CANDIDATE,
    CANDIDATE_DECIDED,
    CANDIDATE_PROBED,
    EVOLVER_FAILED,
    HEARTBEAT,
    JUDGING_SCORED,
    MODEL_CALLED,
    REFERENCE_SCORED,
    RUN_STARTED,
    SCHEDULE_PLANNED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    RunStarted,
    SubmissionAdmitted,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.sandbox.gpus import Lease
from heredity.sandbox.limits import Limits
from heredity.session.admission import journal_plan
from heredity.session.bench import Bench, Evolved, Judgements, JudgementStore, Made
from heredity.session.cases import HiddenCases, Opening
from heredity.session.rollouts import Rollouts
from heredity.session.run import RunPlan, start_of
from heredity.session.schedule import GATE_KEYS, REFUSED
from heredity.session.session import RunClock, Session, SessionRules
from heredity.session.session_log import decision_from_json
from heredity.session.views import Cases
from heredity.tasks import Task, Taskset, TasksetInfo
from heredity.tasks.registry import taskset


class NotRecordedError(HostError):
    """The run needs a rollout, a judgement or a reply that its record does not have."""


class NotDerivableError(HeredityError):
    """The run cannot be opened on this machine."""


@dataclass(frozen=True)
class Record:
    """The record of a run to make again.

    Attributes:
        cell: the run in the configuration of its suite.
        cells: all runs of the suite.
        events: its journal.
        blobs: its blobs.
        opened: its opened cases.
    """

    cell: Cell
    cells: Sequence[Cell]
    events: Sequence[Event]
    blobs: BlobStore
    opened: Mapping[str, Any]

    @functools.cached_property
    def started(self) -> RunStarted:
        """Data of the run's start."""
        return cast("RunStarted", self.events[0].data)


class _OpenedCases(HiddenCases):
    """The secret of a suite as far as it is opened: the entropy, and the salt of one commitment."""

    def opening_of(self, draws: Sequence[tuple[Taskset, str, int]]) -> Opening:
        """Return the opening of the cases that the entropy draws, under the published salt."""
        return Opening.of(self.salt.hex(), super().opening_of(draws).cases)


def opened_cases(opened: Mapping[str, Any]) -> HiddenCases:
    """Return the hidden cases that the opened entropy draws.

    Args:
        opened: the content of `opened.json`.
    """
    return _OpenedCases(int(opened["entropy"], 16), bytes.fromhex(opened["salt"]))


class _Journal:
    """A journal in memory; the judge finds measurements there that it cannot make."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append_many(self, items: Sequence[Line]) -> list[Event]:
        """Append events."""
        made = [Event(len(self.events) + i, 0.0, kind, data) for i, (kind, data) in enumerate(items)]
        self.events += made
        return made


class _Blobs(BlobStore):
    """The recorded blobs; nothing is written."""

    def put_many(self, blobs: Sequence[Blob]) -> None:
        """Require that the record has these blobs."""
        for blob in blobs:
            if not self.has(blob.digest):
                raise NotRecordedError(f"the blob {blob.digest[:12]}… follows from the record, which does not have it")


class _Records(Committer):
    """Records in memory."""

    def __init__(self, blobs: Path) -> None:
        self.journal, self.blobs = cast(Any, _Journal()), _Blobs(blobs)

    async def commit(self, events: Sequence[Line], blobs: Sequence[Blob] = ()) -> list[Event]:
        """Append events at once, so that they keep the order of their requests."""
        self.blobs.put_many(blobs)
        return self.journal.append_many(events)


_TRAIN = "train"
"""Stands for the tasks of a session, where those of judged views have the name of their taskset."""


class _Rollouts:
    """Runner that answers with recorded trajectories, in the order of their records."""

    def __init__(self, events: Sequence[Event], blobs: BlobStore) -> None:
        self._places: dict[tuple[str, str, str], deque[tuple[str, int]]] = defaultdict(deque)
        self._trained: set[str] = set()
        for event in events:
            data = event.data
            if data.get("blob") and isinstance(data.get("tasks"), list) and {"scores", "taskset"} <= data.keys():
                for position, task in enumerate(data["tasks"]):
                    self._places[data["taskset"], data["candidate"], task["id"]].append((data["blob"], position))

        @functools.lru_cache(maxsize=2)
        def decoded(blob: str) -> list[Trajectory]:
            return decode_many(blobs.get(blob))

        self._decoded = decoded

    def expect(self, candidate: str, tasks: Sequence[Task], blob: str) -> None:
        """Add the trajectories of a submission before it is made again."""
        for position, task in enumerate(tasks):
            self._trained.add(task.split)
            self._places[_TRAIN, candidate, task.id].append((blob, position))

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Yield the recorded trajectory of each job."""
        for position, job in enumerate(jobs):
            trained = job.task.split in self._trained
            places = self._places[_TRAIN if trained else job.taskset.name, job.candidate.digest, job.task.id]
            if not places:
                raise NotRecordedError(f"no trajectory of {job.candidate.digest[:12]}… on {job.task.id} is recorded")
            blob, place = places.popleft()
            trajectory = self._decoded(blob)[place]
            if (trajectory.candidate, trajectory.task_id) != (job.candidate.digest, job.task.id):
                raise NotRecordedError(f"the blob {blob[:12]}… has trajectories of other tasks or another candidate")
            if KINDS.load(job.taskset.kind).summed and (problem := _inconsistent(trajectory)):
                raise NotRecordedError(f"the blob {blob[:12]}… has a trajectory on {job.task.id} {problem}")
            yield position, trajectory

    async def close(self) -> None:
        """No-op."""


def _inconsistent(trajectory: Trajectory) -> str:
    """Return how a trajectory contradicts itself; empty if it does not."""
    rewards = trajectory.columns.get("reward")
    if rewards is None:
        return ""
    if len(rewards) != trajectory.length:
        return f"of {trajectory.length} steps with {len(rewards)} rewards"
    total = math.fsum(float(reward) for reward in rewards)
    if math.isfinite(total) and abs(total - trajectory.total_reward) > 1e-6 * max(1.0, abs(total)):
        return f"with the return {trajectory.total_reward:g}, where its rewards add up to {total:g}"
    return ""


@dataclass(frozen=True, slots=True)
class _Judgements(Judgements):
    """Judgements that answer with the recorded scores."""

    scored: Mapping[tuple[str, tuple[str, ...], str | None], Mapping[str, Any]] = field(
        default_factory=dict[tuple[str, tuple[str, ...], str | None], Mapping[str, Any]]
    )

    async def once(
        self,
        taskset: TasksetInfo,
        tasks: Sequence[Task],
        candidate: str,
        make: Callable[[], Awaitable[Made]],
        **changed: Any,
    ) -> tuple[Made, bool]:
        """Return the recorded judgement; one whose trajectories are recorded is made from them."""
        model = changed.get("gateway.execution")
        recorded = self.scored.get((candidate, tuple(task.id for task in tasks), model))
        if recorded is None:
            # References are chosen by judgements that are not recorded; the recorded choice, which comes last, wins.
            places = [place for place, (digest, _, _) in enumerate(self.scored, 1) if digest == candidate]
            recorded = _plain_scores([float(max(places, default=0))] * len(tasks))
        elif "blob" in recorded:
            return await make(), False
        return cast("Made", dict(recorded)), bool(recorded.get("recalled"))


def _plain_scores(scores: Sequence[float | None]) -> dict[str, Any]:
    statuses = ["missing" if score is None else "ok" for score in scores]
    return {"scores": list(scores), "lengths": [0] * len(scores), "statuses": statuses, "seconds": 0.0}


def _scored(events: Sequence[Event], opened: Mapping[str, Any]) -> dict[Any, Mapping[str, Any]]:
    """Return the recorded judgements by candidate, tasks and model."""
    ids = {
        view: tuple(case["id"] for case in opened["cases"][name][split][:count])
        for view, (name, split, count) in opened["views"].items()
    }
    scored: dict[Any, Mapping[str, Any]] = {}
    for event in events:
        data = event.data
        if not {"view", "candidate", "scores"} <= data.keys():
            continue
        tasks = tuple(task["id"] for task in data["tasks"]) if "tasks" in data else ids.get(data["view"], ())
        key = (data["candidate"], tasks, data.get("model"))
        if event.kind == REFERENCE_SCORED.name:
            compared = {"comparisons": data["comparisons"]} if "comparisons" in data else {}
            scored.setdefault(key, {**_plain_scores(data["scores"]), **compared})
        else:
            scored[key] = data
    return scored


class _Clock(RunClock):
    """The recorded readings of a run's clock."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = 0.0

    def now(self) -> float:
        """Return the last recorded reading."""
        return self.reading

    def tick(self) -> float:
        """Return the last recorded reading."""
        return self.reading


class _Replies:
    """Model that answers with the recorded replies."""

    def __init__(self, name: str, events: Sequence[Event], blobs: BlobStore) -> None:
        self.name, self._blobs = name, blobs
        self._calls = {(data["request"], data["place"]): data for data in MODEL_CALLED.all(events)}
        self._asked: Counter[str] = Counter()

    async def reply(self, request: Request) -> Reply:
        """Return the recorded reply to this request.

        Raises:
            NotRecordedError: if there is none.
            ProviderError: if the recorded call failed.
        """
        place = self._asked[request.digest]
        self._asked[request.digest] += 1
        call = self._calls.get((request.digest, place))
        if call is None:
            raise NotRecordedError("the method asks its model for something that is not in the record")
        answer = json.loads(self._blobs.get(call["blob"]))
        if "error" in answer:
            error = answer["error"]
            raise ProviderError(error["kind"], error["message"], transient=error["transient"])
        return Reply.from_json(answer["reply"])


class _Engine:
    """Stands in for the engine when a setting opens a run: nothing is executed."""

    def __init__(self, runner: _Rollouts, isolation: str) -> None:
        self._runner, self.isolation = runner, isolation

    def under(self, execution: str = "") -> _Rollouts:
        """Return the recorded rollouts."""
        return self._runner


class Rederivation:
    """A run that is made again from its record.

    Attributes:
        record: the first journal and its surroundings.
    """

    def __init__(self, record: Record, *, method: bool) -> None:
        """Prepare the run.

        Args:
            record: the first journal and its surroundings.
            method: run the recorded method; otherwise repeat its requests.

        Raises:
            ConfigError: if the method cannot be run here.
        """
        self.record, self._method = record, method
        self._records = _Records(record.blobs.root)
        self._runner = _Rollouts(record.events, record.blobs)
        self._clock = _Clock()
        self._opening: Opening | None = None

    @property
    def events(self) -> Sequence[Event]:
        """The second journal."""
        return self._records.journal.events

    async def run(self) -> Sequence[Event]:
        """Make the run again and return its events.

        Raises:
            HeredityError: if the record does not hold what the run needs, or the run cannot be opened here.
        """
        with EngineFolder() as scratch:
            return await self._run(scratch)

    async def _run(self, scratch: Path) -> Sequence[Event]:
        record, cell = self.record, self.record.cell
        own = taskset(cell.taskset)
        hidden = opened_cases(record.opened)
        setting = PROTOCOLS.load(cell.config.run.protocol).setting
        opened = with_initial(cell, record, scratch)
        needs = setting.needs(cell.config)
        tasksets = {name: taskset(name) for name in (cell.taskset, *needs.tasksets)}
        judgements, name = self._judgements(hidden, scratch), cell.config.gateway.optimisation
        context = RunContext(
            opened,
            SuiteContext(scratch, record.cells, tasksets, ()),
            cast(Engine, _Engine(self._runner, record.started["isolation"])),
            hidden,
            judgements,
            Lease({}),
            cast(Any, _Replies(name, record.events, record.blobs)) if name else None,
        )
        try:
            setup = await setting.open(context)
        except NotRecordedError:
            raise
        except (HeredityError, AttributeError) as error:
            raise NotDerivableError(f"the run cannot be opened here: {error}") from error
        plan = plan_of(cell, record.started["suite_id"], setup, record.started["isolation"])
        cases = Cases(hidden, own, plan.train_tasks, plan.views, disjoint=plan.disjoint, within=plan.within)
        start = start_of(replace(plan, packages=record.started["packages"]), own.info, cases.opening)
        await self._records.commit([RUN_STARTED.line(start)])
        if plan.batches is not None:
            await journal_plan(self._records, plan.batches, cases.train)
        await self._evolve(setup, plan, own.info, cases, judgements)
        return self.events

    def _judgements(self, hidden: HiddenCases, scratch: Path) -> _Judgements:
        rollouts = Rollouts(self._runner, Limits(), retries=0)
        store = JudgementStore(scratch / "judgements.jsonl", hidden)
        return _Judgements(store, rollouts, {}, _scored(self.record.events, self.record.opened))

    async def _evolve(
        self, setup: Setup, plan: RunPlan, info: TasksetInfo, cases: Cases, judgements: _Judgements
    ) -> None:
        record = self.record
        session = Session(
            self._records,
            self._runner,
            taskset=info,
            tasks=cases.train,
            rules=SessionRules(
                budget=plan.budget,
                seed=plan.seed,
                limits=plan.limits,
                min_episodes=plan.min_episodes,
                max_episodes=plan.max_episodes,
                retries=0,
                plan=plan.batches,
                probe=self._probe if plan.batches is not None and plan.batches.schedule.gate else None,
            ),
            clock=self._clock,
        )
        script = _Script(record, session, self._runner, cases.train, self._clock)
        await (self._again(setup, session, script) if self._method else script.play())
        reason = next(data["reason"] for data in SESSION_CLOSED.all(record.events))
        await session.close(reason)
        seeded = PROTOCOLS.load(record.started["protocol"]).measured | _AFTERWARDS
        late = [e for e in script.after if e.kind in seeded or (e.kind == EVOLVER_FAILED.name and not script.judged(e))]
        await self._records.commit([(event.kind, event.data) for event in late])
        failed = EVOLVER_FAILED.first(self.events) is not None
        evolved = Evolved(
            session.snapshot(),
            session.decisions,
            "failed" if failed else "finished",
            session.batches_started,
            plan.coverage,
        )
        bench = Bench(
            records=self._records,
            rollouts=Rollouts(self._runner, plan.limits, retries=0),
            taskset=info,
            views=cases.views,
            opening=cases.opening,
            train=cases.train,
            others=defaultdict(lambda: Rollouts(self._runner, plan.limits, retries=0)),
            judgements=setup.judgements or judgements,
            final=True,
        )
        await setup.judge(bench, evolved, setup.reference)

    async def _again(self, setup: Setup, session: Session, script: _Script) -> None:
        script.expect_all()
        working = asyncio.create_task(_awaited(setup.evolver.evolve(session)))
        await asyncio.wait({working})
        failure = working.exception()
        if isinstance(failure, HostError):
            raise failure
        if failure is not None and not isinstance(failure, ClosedError | BudgetError):
            message = f"{type(failure).__name__}: {failure}"
            await self._records.commit([EVOLVER_FAILED.line({"message": message, "traceback": ""})])

    async def _probe(self, candidate: Candidate) -> str:
        for data in CANDIDATE_PROBED.all(self.record.events):
            if data["candidate"] == candidate.digest:
                return data["problem"]
        raise NotRecordedError(f"the contract gate's probe of {candidate.digest[:12]}… is not recorded")


_AFTERWARDS = frozenset(
    {"agent.ended", "agent.usage", "agent.tool", "run.resumed", "gpu.leased", "code.revised", "texts.met", "model.called",
     "checkpoint.kept", "checkpoint.dropped", "settings.overridden", "reply.unused"}
)  # fmt: skip
"""Kinds of events that may come after the end of the session and are not the judge's."""


async def _awaited(work: Awaitable[None]) -> None:
    await work


class _Script:
    """Repeats the recorded requests, commits and batches of a session in their order."""

    def __init__(
        self, record: Record, session: Session, runner: _Rollouts, train: Sequence[Task], clock: _Clock
    ) -> None:
        self._record, self._session, self._runner, self._train, self._clock = record, session, runner, train, clock
        events = record.events
        end = next((e.seq for e in events if e.kind == SESSION_CLOSED.name), len(events))
        self._events, self.after = events[1:end], events[end + 1 :]
        self._judging = next((e.seq for e in self.after if e.kind.startswith(("judging.", "snapshot"))), len(events))
        self._blobs = {d["submit_id"]: d["blob"] for d in SUBMISSION_COMPLETED.all(events)}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._lineage: dict[str, tuple[tuple[str, ...], str]] = {}

    def judged(self, event: Event) -> bool:
        """Report whether an event after the session is the judge's."""
        return event.seq > self._judging

    def expect_all(self) -> None:
        """Offer the trajectories of all submissions."""
        for data in SUBMISSION_ADMITTED.all(self._events):
            self._expect(data)

    async def play(self) -> None:
        """Repeat the session.

        Raises:
            HeredityError: if a recorded request is refused, or needs a rollout that is not recorded.
        """
        batches = self._session.batches()
        for index, event in enumerate(self._events):
            data = event.data
            if event.kind == HEARTBEAT.name:
                self._clock.reading = data["clock_s"]
            elif event.kind == SUBMISSION_ADMITTED.name:
                await self._admit(index, cast("SubmissionAdmitted", data))
            elif event.kind == SUBMISSION_COMPLETED.name:
                await self._settle(data["key"], data["submit_id"])
            elif event.kind == BATCH_STARTED.name:
                await anext(batches)
            elif event.kind == CANDIDATE_DECIDED.name:
                await self._decide(data)
            elif event.kind not in (CANDIDATE.name, SCHEDULE_PLANNED.name, CANDIDATE_PROBED.name):
                await self._session.note((event.kind, data))
        await asyncio.gather(*self._tasks.values())

    async def _admit(self, index: int, data: SubmissionAdmitted) -> None:
        self._expect(data)
        if data["position"][0] != 0 or data["key"].startswith(GATE_KEYS):
            return
        trials: list[Trial] = []
        self._clock.reading = data["at_s"]
        before = self._events[index - 1] if index else None
        lines = [*([before] if before is not None and before.kind == CANDIDATE.name else []), *self._events[index:]]
        for event in lines:
            admitted = SUBMISSION_ADMITTED.of(event)
            if made := CANDIDATE.of(event):
                self._lineage[made["digest"]] = (tuple(made["parents"]), made["note"])
            elif admitted is not None and admitted["key"] == data["key"]:
                parents, note = self._lineage.get(admitted["candidate"], ((), ""))
                trials.append(Trial(self._candidate(admitted["candidate"]), list(admitted["tasks"]), 1, parents, note))
                if len(trials) == data["position"][1]:
                    break
        task = self._tasks[data["key"]] = asyncio.create_task(self._session.submit(trials, data["key"]))
        admitted_before = len(self._session.snapshot())
        while len(self._session.snapshot()) == admitted_before and not task.done():  # noqa: ASYNC110 - at its next step
            await asyncio.sleep(0)

    def _candidate(self, digest: str) -> Candidate:
        blob = next((d["blob"] for d in CANDIDATE.all(self._record.events) if d["digest"] == digest), None)
        if blob is None:
            raise NotRecordedError(f"the candidate {digest[:12]}… was submitted and never made")
        return Candidate.from_bytes(self._record.blobs.get(blob))

    def _expect(self, data: SubmissionAdmitted) -> None:
        blob = self._blobs.get(data["submit_id"])
        if blob is not None:
            self._runner.expect(data["candidate"], [self._train[i] for i in data["tasks"]], blob)

    async def _settle(self, key: str, submit_id: int) -> None:
        ids = [d["submit_id"] for d in SUBMISSION_ADMITTED.all(self._events) if d["key"] == key]
        if key in self._tasks and submit_id == ids[-1]:
            await self._tasks[key]

    async def _decide(self, data: Mapping[str, Any]) -> None:
        decision = decision_from_json(cast(Any, data))
        refused = decision.reason.startswith(REFUSED)
        gates = {d["submit_id"] for d in SUBMISSION_ADMITTED.all(self._events) if d["key"].startswith(GATE_KEYS)}
        kept = tuple(i for i in decision.submissions if i not in gates)
        asked: Decision = replace(decision, accepted=decision.accepted or refused, submissions=kept)
        made = next((d for d in CANDIDATE.all(self._events) if d["digest"] == asked.candidate), None)
        if refused and made is not None:
            asked = replace(asked, reason=made["note"])
        await self._session.commit(asked, self._candidate(asked.candidate))


def with_initial(cell: Cell, record: Record, scratch: Path) -> Cell:
    """Return a run whose initial candidate exists here: a folder that is not on this machine is written from the record."""
    folder = cell.evolver.initial
    if folder is None or Path(folder).exists():
        return cell
    reference = next((d for d in REFERENCE_SCORED.all(record.events) if "candidate_blob" in d), None)
    made = next(iter(CANDIDATE.all(record.events)), None)
    blob = reference["candidate_blob"] if reference else made["blob"] if made else None
    if blob is None:
        raise ConfigError(f"evolver.initial, {folder}, is not on this machine")
    target = scratch / "initial"
    for path, content in tree_files(Candidate.from_bytes(record.blobs.get(blob))).items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(content)
    evolver = cell.evolver.model_copy(update={"initial": str(target)})
    return replace(cell, config=cell.config.model_copy(update={"evolver": evolver}))


_IGNORED: Mapping[str, frozenset[str]] = {
    RUN_STARTED.name: frozenset({"packages", "plugins", "isolation", "cases_known", "taskset_version"}),
    SUBMISSION_ADMITTED.name: frozenset({"at_s"}),
    SUBMISSION_COMPLETED.name: frozenset({"seconds"}),
    EVOLVER_FAILED.name: frozenset({"traceback"}),
    "snapshot.assessed": frozenset({"recalled"}),
}
"""Fields that depend on the machine, the time or an installation, by kind of event."""

_UNORDERED = frozenset(
    {SUBMISSION_COMPLETED.name, JUDGING_SCORED.name, MODEL_CALLED.name, "snapshot.assessed", "candidate.probed"}
)
"""Kinds of events whose order depends on the speed of concurrent work."""


def deviations(recorded: Sequence[Event], again: Sequence[Event], left_out: frozenset[str]) -> Iterator[str]:
    """Yield what a journal has otherwise than the same run made again.

    Args:
        recorded: the first journal.
        again: the second.
        left_out: kinds of events that only the first can have.
    """
    left_out = left_out | {HEARTBEAT.name}
    first, second = (_by_kind(events, left_out) for events in (recorded, again))
    for kind in sorted({*first, *second}):
        ours, theirs = second.get(kind, []), first.get(kind, [])
        if kind in _UNORDERED:
            ours, theirs = sorted(ours, key=lambda row: row[1]), sorted(theirs, key=lambda row: row[1])
        if len(ours) != len(theirs):
            yield f"{kind}: {len(theirs)} events are recorded, and {len(ours)} follow from the record"
        for (line, given, value), (_, computed, other) in zip(theirs, ours, strict=False):
            if given != computed:
                yield f"line {line}, {kind}: {_difference(value, other)}"


_Row = tuple[int, bytes, Mapping[str, Any]]


def _by_kind(events: Sequence[Event], left_out: frozenset[str]) -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for event in events:
        if event.kind not in left_out:
            ignored = _IGNORED.get(event.kind, frozenset())
            data = {name: value for name, value in event.data.items() if name not in ignored}
            rows.setdefault(event.kind, []).append((event.seq + 1, canonical_json(data), data))
    return rows


def _difference(recorded: Mapping[str, Any], computed: Mapping[str, Any]) -> str:
    for name in sorted({*recorded, *computed}):
        given, expected = (
            canonical_json(data[name]).decode() if name in data else "absent" for data in (recorded, computed)
        )
        if given != expected:
            return f"{name} is {given[:80]}, and {expected[:80]} follows from the record"
    return "differs"
