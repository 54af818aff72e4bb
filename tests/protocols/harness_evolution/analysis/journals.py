"""Writes journals of harness evolution as a run does; what rollouts score is made up, from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.ids import digest_json, generator
from heredity.analysis.contract import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.protocols.harness_evolution.protocol import METRICS
from heredity.records import Blob, Journal
from heredity.records.blobs import BlobStore
from heredity.resources import Candidate, SourceTree
from heredity.results.run import RunResults

Json = dict[str, Any]
NOTHING = {"input_tokens": 900, "output_tokens": 80, "cached_tokens": 0, "cost_usd": None}
VIEWS = {"update_validation": 12, "id": 16, "ood": 10}
DOMAINS = ("code", "data", "system")


def harness(version: int, middleware: str = "") -> Candidate:
    """Return a harness: each version says one thing more."""
    said = "Look before you write.\n" + "".join(f"Lesson {i}: check the result.\n" for i in range(version))
    parts = {
        "prompt/system": SourceTree({"prompt.md": said}),
        "agent/solver": SourceTree({"agent.py": "def solve(problem, host):\n    return host.run(problem)\n"}),
    }
    if middleware:
        parts["agent/solver"] = SourceTree(
            {"agent.py": "def solve(problem, host): ...\n", "middleware/guard.py": middleware}
        )
    return Candidate(parts)


def labelled(split: str, count: int, sources: Sequence[str] = ("shell-tasks", "quiz")) -> list[Json]:
    """Return so many tasks of a split, with their labels."""
    return [
        {"id": f"{split}/{i}", "domain": DOMAINS[i % 3], "source_benchmark": sources[i % len(sources)]}
        for i in range(count)
    ]


@dataclass
class Told:
    """What a run is to be like.

    Attributes:
        skill: chance of success of the harness after each batch, from 0 batches on; None repeats the harness before.
        broken: after which batches the harness fails with an error on everything.
        refusals: what the contract gate refuses, by batch.
        costs: whether submissions tell the cost of each rollout.
    """

    evolver: str = "ahe"
    seed: int = 0
    skill: Sequence[float | None] = (0.3, 0.45, None, 0.55, 0.7)
    broken: Sequence[int] = ()
    batch_size: int = 5
    gate: bool = False
    refusals: Mapping[int, str] | None = None
    sources: Sequence[str] = ("shell-tasks", "quiz")
    models: Sequence[str] = ()
    costs: bool = True
    finished: bool = True
    views: Mapping[str, int] | None = None
    taskset: str = "tasks/shell"
    execution: str | None = "own/worker"


class HarnessJournal:
    """The events of one run, its candidates, and the folder that holds them."""

    def __init__(self, design: Told) -> None:
        self.told = design
        self.events: list[tuple[str, Json]] = []
        self.candidates: dict[str, Candidate] = {}
        self.draws = generator(design.seed, "tests", "harness", design.evolver)
        self.count = len(design.skill) - 1
        self.train = labelled("train", self.count * design.batch_size, design.sources)
        self.submitted = 0
        self._write()

    @property
    def lines(self) -> list[Json]:
        """The journal as mappings."""
        return [{"seq": i, "at": 0.0, "kind": kind, "data": data} for i, (kind, data) in enumerate(self.events)]

    def load(self, digest: str) -> Candidate:
        """Return a candidate."""
        return self.candidates[digest]

    def results(self) -> RunResults:
        """Return what the run came to."""
        return run_results(RunEvidence(self.lines, self.load), METRICS)

    def save(self, folder: Path) -> Path:
        """Write the folder of the run and return it."""
        blobs = BlobStore(folder / "blobs")
        blobs.put_many([Blob.of(candidate.to_bytes()) for candidate in self.candidates.values()])
        journal = Journal.open(folder / "journal.jsonl", now=lambda: 1_790_000_000.0)
        journal.append_many(self.events)
        journal.sync()
        journal.close()
        return folder

    def add(self, kind: str, **data: Any) -> None:
        """Write an event."""
        self.events.append((kind, data))

    def _write(self) -> None:
        self._start()
        harnesses = self._evolve()
        if not self.told.finished:
            return
        self.add("session.closed", reason="finished")
        self._judge(harnesses)
        self.add("run.finished", status="finished")

    def _start(self) -> None:
        design = self.told
        taskset = design.taskset.rsplit("/", 1)[-1]
        self.add(
            "run.started",
            run_id=f"{taskset}--{design.evolver}--b{design.batch_size}-gate-{design.gate}--s{design.seed}",
            suite_id="harnesses",
            protocol="harness-evolution",
            taskset=design.taskset,
            taskset_version="1",
            family="container",
            group="containers",
            evolver={"name": design.evolver, "kind": "method", "options": {}},
            seed=design.seed,
            budget={},
            views={"validation": 12, "heldout": 16},
            failure_return=0.0,
            isolation="namespaces",
            packages={"heredity": "0.1"},
            commitment="c" * 64,
            config_digest="d" * 64,
            **({} if design.execution is None else {"execution": design.execution}),
        )
        size = design.batch_size
        batches = [
            {"number": n, "epoch": 1, "tasks": list(range((n - 1) * size, n * size))} for n in range(1, self.count + 1)
        ]
        plan = {"seed": design.seed, "train": len(self.train), "batch_size": size, "epochs": 1, "batches": batches}
        more = {"updates": 1, "persistence": "persistent", "assess": 1, "gate": design.gate}
        canaries = {"canaries": 2 if design.gate else 0, "canary_tasks": [0, 1] if design.gate else []}
        digest = digest_json(plan)
        self.add("schedule.planned", schema_version=1, digest=digest, **plan, **more, **canaries, tasks=self.train)

    def _know(self, candidate: Candidate, *parents: str) -> str:
        if candidate.digest not in self.candidates:
            self.candidates[candidate.digest] = candidate
            blob = Blob.of(candidate.to_bytes()).digest
            self.add("candidate", digest=candidate.digest, blob=blob, parents=list(parents), note="one lesson more")
        return candidate.digest

    def _evolve(self) -> list[str]:
        """Run the batches; return the digest of the harness after each, from 0 batches on."""
        current = self._know(harness(0))
        after = [current]
        for number in range(1, self.count + 1):
            tasks = list(range((number - 1) * self.told.batch_size, number * self.told.batch_size))
            self.add(
                "batch.started",
                number=number,
                epoch=1,
                tasks=tasks,
                candidate=current if number > 1 else None,
                reset=False,
            )
            self._submit(current, tasks, number - 1, f"batch-{number}")
            if number == 1:
                self._decide(current, "", accepted=True, reason="the initial candidate")
            self.add(
                "model.called", request="r", place=0, purpose="engineer", model="m", blob="b", error=None, usage=NOTHING
            )
            current = self._update(number, current)
            after.append(current)
        return after

    def _update(self, number: int, current: str) -> str:
        reason = (self.told.refusals or {}).get(number)
        if reason is not None:
            bad = self._know(harness(50 + number, "def after_model(reply): pass\n"), current)
            self.add("candidate.probed", candidate=bad, problem=reason)
            self._decide(bad, current, accepted=False, reason=f"contract gate: {reason}")
        if self.told.skill[number] is None:
            return current
        made = self._know(harness(number, "X = 1\n" if number in self.told.broken else ""), current)
        if self.told.gate:
            self.add("candidate.probed", candidate=made, problem="")
            self._submit(made, [0, 1], number, f"gate/{number}")
        self._decide(made, current, accepted=True, reason="written from the batch's failures")
        return made

    def _decide(self, candidate: str, baseline: str, *, accepted: bool, reason: str) -> None:
        given = {"candidate": candidate, "baseline": baseline, "accepted": accepted, "reason": reason}
        self.add("candidate.decided", **given, submissions=[], difference=None, interval=None, pairs=0, tolerance=0.0)

    def _submit(self, candidate: str, tasks: Sequence[int], batch: int, key: str) -> None:
        self.submitted += 1
        charge = len(tasks)
        named = {"submit_id": self.submitted, "key": key, "candidate": candidate}
        self.add(
            "submission.admitted", **named, request="r", position=[0, 1], tasks=list(tasks), charge=charge,
            remaining=None, at_s=float(self.submitted),
        )  # fmt: skip
        rollouts = self._rollouts("train", charge, batch)
        outcomes = [
            {"task": task, "score": score, "length": 3, "status": status, "failure": failure}
            for task, score, status, failure in zip(
                tasks, rollouts["scores"], rollouts["statuses"], rollouts["failures"], strict=True
            )
        ]
        spent = {"costs": rollouts["costs"], "rollout_seconds": rollouts["seconds"]} if self.told.costs else {}
        self.add(
            "submission.completed", **named, status="ok", failure=None, outcomes=outcomes, blob=None, seconds=1.0,
            invalid_steps=[0] * charge, usage=NOTHING, **spent,
        )  # fmt: skip

    def _skill(self, batch: int) -> float:
        return next(skill for skill in reversed(self.told.skill[: batch + 1]) if skill is not None)

    def _rollouts(self, view: str, count: int, batch: int) -> Json:
        chance = self._skill(batch) - (0.1 if view == "ood" else 0.0)
        broken = batch in self.told.broken
        solved = [not broken and bool(draw < chance) for draw in self.draws.random(count)]
        failure = {"category": "hook_error", "message": "after_model gave None", "traceback": "", "step_index": 0}
        return {
            "scores": [float(s) for s in solved],
            "lengths": [3] * count,
            "statuses": ["hook_error" if broken else "ok"] * count,
            "failures": [failure if broken else None] * count,
            "errors": ["hook_error: after_model gave None" if broken else None] * count,
            "seconds": [2.0] * count,
            "costs": [
                {"input_tokens": 1000 + 100 * batch, "output_tokens": 50, "cost_usd": 0.002, "tool_calls": 3}
                for _ in range(count)
            ],
        }

    def _judge(self, harnesses: Sequence[str]) -> None:
        roles = {0: "A_0", self.count: "A_T"}
        points = [
            {"name": f"E_{n}", "batch": n, "candidate": digest, "role": roles.get(n)}
            for n, digest in enumerate(harnesses)
        ]
        trained = {task["id"]: i // self.told.batch_size + 1 for i, task in enumerate(self.train)}
        self.add("snapshots.frozen", points=points, trained=trained)
        sizes = VIEWS if self.told.views is None else self.told.views
        first = {digest: n for n, digest in reversed(list(enumerate(harnesses)))}
        tasks = {view: labelled(view, count) for view, count in sizes.items()} | {"replay": self.train}
        for model in (None, *self.told.models):
            for view, listed in tasks.items():
                for digest, batch in first.items():
                    if model is None or (view in ("id", "ood") and digest in (harnesses[0], harnesses[-1])):
                        self._assess(view, digest, listed, batch, model)
        chosen = self._assessed("id", harnesses[-1])
        self.add("judging.selected", submit_id=None, candidate=harnesses[-1], reason="the last snapshot")
        self.add(
            "judging.scored", view="heldout", candidate=harnesses[-1], submit_id=None, scores=chosen["scores"],
            lengths=chosen["lengths"], statuses=chosen["statuses"], seconds=1.0,
        )  # fmt: skip
        self.add(
            "reference.scored", name="initial", view="heldout", scores=self._assessed("id", harnesses[0])["scores"]
        )
        self.add("cases.judged", commitment="c" * 64)

    def _assess(self, view: str, digest: str, tasks: list[Json], batch: int, model: str | None) -> None:
        rollouts = self._rollouts(view, len(tasks), batch)
        del rollouts["failures"]
        named = {"view": view, "candidate": digest, "taskset": self.told.taskset, "model": model}
        self.add("snapshot.assessed", **named, tasks=tasks, **rollouts, blob="b" * 64)

    def _assessed(self, view: str, digest: str) -> Json:
        return next(
            data for kind, data in self.events
            if kind == "snapshot.assessed" and (data["view"], data["candidate"], data["model"]) == (view, digest, None)
        )  # fmt: skip
