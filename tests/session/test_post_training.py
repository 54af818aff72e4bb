from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heredity.methods import Budget, Trial
from heredity.protocols.post_training.analysis import posttraining_metrics
from heredity.protocols.post_training.protocol import judge
from heredity.records import read_journal
from heredity.session import RunPlan, Session, ViewPlan, run_evolution
from heredity.session.bench import Reference
from heredity.session.views import ViewScores

from .labelled import Knowing, LabelledTaskset, conditions, prompt

PLAN = RunPlan(
    run_id="r",
    suite_id="s",
    evolver={"name": "agent", "kind": "agent"},
    seed=1,
    budget=Budget(seconds=60.0),
    judge=judge,
    views=(ViewPlan("heldout", "heldout", 4),),
    train_tasks=4,
    protocol="post-training",
)


def submitting(*texts: str) -> Any:
    async def evolve(session: Session) -> None:
        for number, text in enumerate(texts):
            await session.submit([Trial(prompt(text), range(4))], f"checkpoint/{number}")

    return evolve


def events(path: Path, kind: str) -> list[dict[str, Any]]:
    return [dict(e.data) for e in read_journal(path / "journal.jsonl") if e.kind == kind]


async def test_the_best_graded_checkpoint_is_scored_on_the_slice_that_was_never_graded(tmp_path: Path) -> None:
    base = Reference(prompt("nothing"), None, "base", graded=(0.0, 0.0, 0.0, 0.0))
    verdict = await run_evolution(tmp_path, PLAN, conditions(reference=base), submitting("x", "x y", "y", "y x"))
    assert verdict.candidate == prompt("x y").digest
    assert verdict.submit_id == 2
    assert verdict.heldout is not None
    assert verdict.heldout.mean == 1.0
    assert verdict.reference == (0.0,) * 4
    (baseline,) = events(tmp_path, "baseline.scored")
    assert baseline == {"candidate": prompt("nothing").digest, "view": "graded", "scores": [0.0] * 4}
    (scored,) = events(tmp_path, "judging.scored")
    assert scored["view"] == "heldout"


async def test_a_run_without_a_graded_checkpoint_is_a_result_too(tmp_path: Path) -> None:
    verdict = await run_evolution(tmp_path, PLAN, conditions(), submitting())
    assert (verdict.candidate, verdict.reason) == (None, "no checkpoint was graded")


async def test_grading_is_repeated_with_other_seeds_and_continues_where_it_stopped(tmp_path: Path) -> None:
    seeds: list[int] = []

    class Watching(Knowing):
        async def run(self, jobs: Any, limits: Any) -> Any:
            seeds.extend(job.policy_seed for job in jobs if job.task.split == "train")
            async for item in super().run(jobs, limits):
                yield item

    plan = replace(PLAN, judge=partial(judge, repeats=2))
    await run_evolution(tmp_path, plan, conditions(Watching()), submitting("x"))
    assert [e["repeat"] for e in events(tmp_path, "grading.repeated")] == [1, 2]
    assert len(set(seeds)) == 12
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if b"grading.repeated" in line)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[: first + 1]))
    await run_evolution(tmp_path, plan, conditions(), submitting("x"))
    assert [e["repeat"] for e in events(tmp_path, "grading.repeated")] == [1, 2]


DIED = "it was killed by SIGKILL, out of memory most likely"


@dataclass
class Checkpoints(Knowing):
    """Models in processes, one of which died once, whose answers are compared with references."""

    async def run(self, jobs: Any, limits: Any) -> Any:
        async for position, made in super().run(jobs, limits):
            info = {"info/winner": ["a"], "info/length": [7], "info/reference_length": [9]}
            yield position, replace(made, stderr=DIED if position > 1 else "", columns={**made.columns, **info})


class Models(LabelledTaskset):
    @property
    def info(self) -> Any:
        return replace(super().info, kind="model")


async def test_the_journal_says_why_another_process_went_on_and_what_was_compared(tmp_path: Path) -> None:
    compared = {"graded": ((0.0, 8, 9),) * 4, "heldout": ((0.5, 8, 9), None, None, None)}
    base = Reference(prompt("nothing"), (0.0,) * 4, "base", graded=(0.0,) * 4, comparisons=compared)
    judged = conditions(Checkpoints(), taskset=Models(), reference=base)
    verdict = await run_evolution(tmp_path, PLAN, judged, submitting("x"))
    (completed,) = events(tmp_path, "submission.completed")
    assert completed["restarts"] == [DIED]
    (scored,) = events(tmp_path, "judging.scored")
    assert (scored["restarts"], scored["comparisons"]) == ([DIED], [[1.0, 7, 9]] * 4)
    assert verdict.heldout == ViewScores.from_json(scored)
    assert events(tmp_path, "baseline.scored")[0]["comparisons"] == [[0.0, 8, 9]] * 4
    assert events(tmp_path, "reference.scored")[0]["comparisons"] == [[0.5, 8, 9], None, None, None]
    (row,) = posttraining_metrics([event.to_json() for event in read_journal(tmp_path / "journal.jsonl")]).iterations
    assert row.restarts == [DIED]


async def test_a_journal_of_other_attempts_says_nothing_of_processes_and_comparisons(tmp_path: Path) -> None:
    await run_evolution(
        tmp_path, PLAN, conditions(reference=Reference(prompt("nothing"), None, "base")), submitting("x")
    )
    for kind in ("submission.completed", "judging.scored", "reference.scored"):
        (data,) = events(tmp_path, kind)
        assert not {"restarts", "comparisons"} & data.keys()
