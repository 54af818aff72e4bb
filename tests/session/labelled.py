"""Labelled tasks and a runner for them: what a candidate's prompt names, it solves; `broken` fails by its own code."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from heredity._core.ids import generator
from heredity.engine.runner import Job
from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods import Budget, Decision, Trial
from heredity.protocols.harness_evolution.judge import judge
from heredity.protocols.harness_evolution.terms import HarnessTerms, ood_views
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.session import Conditions, HiddenCases, RunPlan, Session, ViewPlan
from heredity.session.schedule import Schedule, draw_plan
from heredity.tasks import Task, TasksetInfo

SECRET = HiddenCases(987654321, b"t" * 32)
DOMAINS = ("x", "y")


@dataclass(frozen=True)
class LabelledTaskset:
    """Tasks of two domains, by turns; those of the split `ood` are of a third."""

    name: str = "fake/labelled"
    same: bool = False

    @property
    def info(self) -> TasksetInfo:
        return TasksetInfo(self.name, "1", "question", {}, {}, "labelled", failure_return=0.0, family="fake")

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        salt = "same" if self.same else split
        numbers = generator(entropy, self.name, salt).integers(0, 2**31, size=count)
        domains = ("z",) if split == "ood" else DOMAINS
        return tuple(
            Task(f"{split}/{i}", split, i, {"n": int(n)}, {"domain": domains[i % len(domains)]})
            for i, n in enumerate(numbers)
        )


@dataclass
class Knowing:
    """Solves the tasks whose domain the prompt names."""

    tried: list[tuple[str, str]] = field(default_factory=list)
    worth: float = 1.0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            text = text_of(job.candidate)
            self.tried.append((text, job.task.id))
            cost = {"input_tokens": 10.0, "output_tokens": 2.0}
            columns = {"reward": [1.0]}
            score = self.worth * (job.task.attributes["domain"] in text.split())
            made = Trajectory(job.task.id, job.candidate.digest, "ok", "none", score, 1, True, columns, cost=cost)
            if text == "broken":
                failure = Failure("act_error", "ContractError: before_model returned None")
                made = replace(made, status="act_error", failure_source="candidate", total_reward=0.0, failure=failure)
            yield position, made

    async def close(self) -> None:
        """Nothing was started."""


def prompt(text: str) -> Candidate:
    return Candidate({"prompt/system": SourceTree({"prompt.md": text})})


def text_of(candidate: Candidate) -> str:
    return candidate.parts["prompt/system"].text("prompt.md")


def terms(schedule: Schedule | None = None, *, train: int = 6, seed: int = 3, **more: Any) -> HarnessTerms:
    return HarnessTerms(draw_plan(schedule or Schedule(batch_size=2), train, seed), **{"ood": 3, "replay": 4, **more})


def views_of(of: HarnessTerms, *others: LabelledTaskset) -> tuple[ViewPlan, ...]:
    ood = ood_views(LabelledTaskset(), others) if of.ood else {}
    far = (ViewPlan(name, split, of.ood, taskset) for name, (taskset, split) in ood.items())
    return (ViewPlan("id", "heldout", 4), ViewPlan("update_validation", "validation", 4), *far)


def run_plan(of: HarnessTerms, **changes: Any) -> RunPlan:
    plan = RunPlan(
        run_id="r",
        suite_id="s",
        evolver={"name": "writing", "kind": "method", "options": {}},
        seed=3,
        budget=Budget(),
        judge=partial(judge, of),
        views=views_of(of),
        train_tasks=of.plan.train,
        replay=True,
        protocol="harness-evolution",
        batches=of.plan,
        disjoint=True,
    )
    return replace(plan, **changes)


def conditions(runner: Knowing | None = None, **changes: Any) -> Conditions:
    return replace(Conditions(LabelledTaskset(), runner or Knowing(), SECRET), **changes)


def writing(*texts: str, start: str = "nothing") -> Callable[[Session], Any]:
    """A method that attempts each batch and then writes the next of some prompts, whatever came of it."""

    async def evolve(session: Session) -> None:
        current = prompt(start)
        await session.commit(Decision(current.digest, "", True, "the initial candidate"), current)
        left = list(texts)
        async for batch in session.batches():
            if batch.reset:
                current = prompt(start)
            await session.submit([Trial(current, batch.tasks)], f"batch/{batch.number}")
            if left:
                made = prompt(left.pop(0))
                asked = Decision(made.digest, current.digest, True, "written")
                kept = await session.commit(asked, made)
                current = made if kept.accepted else current

    return evolve


async def probe(candidate: Candidate) -> str:
    """A contract: prompts that begin with `unloadable` do not load."""
    return "prompt/system does not load" if text_of(candidate).startswith("unloadable") else ""
