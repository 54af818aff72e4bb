from __future__ import annotations

import io
import re
import time
from types import SimpleNamespace

import pytest

from heredity.cli import bars
from heredity.cli.live import Lines
from heredity.experiments.progress import RunProgress


class Spoken(io.StringIO):
    """Standard error that is no terminal, and can be waited for."""

    def wait_for(self, pattern: str) -> None:
        while not re.search(pattern, self.getvalue()):
            time.sleep(0.001)


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> Spoken:
    stream = Spoken()
    monkeypatch.setattr(bars, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(bars, "_SILENT_S", 0.001)
    return stream


def test_a_command_says_what_it_is_at_where_nobody_watches(spoken: Spoken) -> None:
    with bars.heartbeat("heredity run"):
        spoken.wait_for(r"heredity run: at work, \d+ s\n")
        with bars.working("checking the machine"):
            spoken.wait_for(r"checking the machine, \d+ s\n$")
        with bars.bar("worlds", 3) as advance:
            advance()
            spoken.wait_for(r"worlds: 1 of 3, \d+ s\n")


def test_what_waits_for_a_person_or_shows_itself_says_nothing(spoken: Spoken) -> None:
    with bars.activity(), bars.heartbeat("heredity view"):
        time.sleep(0.05)
    with bars.heartbeat("heredity run", quiet=True):
        time.sleep(0.05)
    assert spoken.getvalue() == ""


def test_runs_say_how_far_they_are_where_nobody_watches(spoken: Spoken) -> None:
    runs: list[RunProgress] = []
    with bars.heartbeat("heredity run"), Lines(runs):
        spoken.wait_for(r"preparing, \d+ s\n")
        runs += [RunProgress("a", "gymnasium/CartPole-v1", "random", seed, 8) for seed in range(2)]
        runs[0].begin()
        runs[0].rollouts = runs[0].trained = 5
        spoken.wait_for(r"0 of 2 runs, 5 episodes, \d+ s")
