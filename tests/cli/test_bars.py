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


def test_what_takes_long_says_so_where_nobody_watches(spoken: Spoken) -> None:
    with bars.working("checking the machine"):
        spoken.wait_for(r"^checking the machine, \d+ s\n")
    before = spoken.getvalue()
    with bars.working("checking the machine", quiet=True):
        pass
    assert spoken.getvalue() == before


def test_a_bar_says_how_far_it_is_where_nobody_watches(spoken: Spoken) -> None:
    with bars.bar("worlds", 3) as advance:
        advance()
        spoken.wait_for(r"worlds: 1 of 3, \d+ s\n")


def test_runs_say_how_far_they_are_where_nobody_watches(spoken: Spoken) -> None:
    runs: list[RunProgress] = []
    with Lines(runs):
        spoken.wait_for(r"preparing, \d+ s\n")
        runs += [RunProgress("a", "gymnasium/CartPole-v1", "random", seed, 8) for seed in range(2)]
        runs[0].begin()
        runs[0].rollouts = 5
        spoken.wait_for(r"0 of 2 runs, 5 episodes, \d+ s")
