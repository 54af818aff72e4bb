from __future__ import annotations

from dataclasses import dataclass

from tests.session.fakes import FakeRunner, NumbersTaskset, program

from heredity.engine.runner import Job
from heredity.experiments.progress import CountingRunner, RunProgress, Silent
from heredity.methods import Budget
from heredity.sandbox.limits import Limits


@dataclass
class Left:
    """A session with so many episodes left."""

    episodes: int | None

    def remaining(self) -> Budget:
        return Budget(episodes=self.episodes)


def make_run() -> RunProgress:
    return RunProgress("r", "t", "random", 0, 10)


def test_what_is_used_is_read_from_the_session() -> None:
    run = make_run()
    assert run.used == 0
    run.begin()
    run.session = Left(7)
    assert run.used == 3
    run.end("done")
    assert run.used == 3, "a run may end before its budget does"


def test_a_run_resumed_after_its_session_has_used_it_all() -> None:
    run = make_run()
    run.begin()
    run.state = "judging"
    assert run.used == 10


async def test_attempts_are_counted_and_hidden_ones_show_that_the_run_is_judged() -> None:
    run, tasks = make_run(), NumbersTaskset()
    counting = CountingRunner(FakeRunner(), run)
    run.begin()
    for split, state in (("train", "evolving"), ("validation", "judging")):
        jobs = [Job(tasks.info, program("value 1"), task) for task in tasks.draw(split, 3, 1)]
        assert len([item async for item in counting.run(jobs, Limits())]) == 3
        assert run.state == state
    assert run.rollouts == 6
    await counting.close()


def test_who_watches_in_silence_remembers_names() -> None:
    with Silent() as silent:
        silent.changed(make_run())
    assert silent.seen == ["r"]
