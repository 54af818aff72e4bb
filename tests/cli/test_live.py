from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from heredity.cli.live import Lines, Live
from heredity.experiments.progress import RunProgress, seconds_left
from heredity.experiments.results import report_of
from heredity.methods import Budget


class Left:
    def __init__(self, episodes: int) -> None:
        self._episodes = episodes

    def remaining(self) -> Budget:
        return Budget(episodes=self._episodes)


def make_runs(count: int) -> list[RunProgress]:
    runs = [
        RunProgress(f"r{i}", "gymnasium/MountainCarContinuous-v0", "a-rather-long-name", i, 128) for i in range(count)
    ]
    for i, run in enumerate(runs[: count // 2]):
        run.begin()
        run.started, run.heldout = float(i), -100.25
        run.end("done")
    for run, state in zip(runs[count // 2 :], ("evolving", "judging", "failed"), strict=False):
        run.begin()
        run.session, run.rollouts, run.trained, run.state = Left(64), 10, 8, state
    return runs


def shown(runs: list[RunProgress], monkeypatch: pytest.MonkeyPatch, width: int, height: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", str(height))
    live = Live(runs, Path("runs/demo-20260101-120000"))
    console = Console(width=width, height=height)
    with console.capture() as captured:
        console.print(live._render())
    return captured.get().splitlines()


def test_24_runs_are_all_shown_on_a_large_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(make_runs(24), monkeypatch, 100, 40)
    assert len(lines) == 26
    assert lines[0].startswith("13 of 24 runs, 24 episodes + 6 judging, ")
    assert "MountainCarContinuous-v0" in lines[2]


@pytest.mark.parametrize("count", [24, 100])
def test_a_small_screen_is_not_overrun_and_shows_what_is_at_work(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    lines = shown(make_runs(count), monkeypatch, 80, 24)
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert f"{count - 21} not shown" in lines[0]
    states = [line.split()[-1] for line in lines[2:5]]
    assert set(states) == {"evolving", "judging", "failed"}
    assert lines[5].split()[-2:] == ["done", "-100.2"]
    assert int(lines[5].split()[2]) == count // 2 - 1, "what ended last comes first"


def test_lines_tell_how_each_run_ended(capsys: pytest.CaptureFixture[str]) -> None:
    runs = make_runs(4)
    with Lines(runs) as lines:
        for run in runs:
            lines.changed(run)
        runs[2].end("failed", "the disk is full")
        lines.changed(runs[2])
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("  ")[1] for line in err.splitlines()] == ["done", "done", "failed"]
    assert err.splitlines()[0].startswith("[2/4] r0  done  ")
    assert "  held-out -100.25, about " in err.splitlines()[0]
    assert err.splitlines()[-1].endswith("the disk is full")


def test_a_wait_for_a_model_is_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    runs = make_runs(24)
    lines = Lines(runs)
    for _ in range(8):  # calls that wait at the same time
        if runs[12].wait_for("lab/m failed (rate_limit): slow\ndown; asked again in 9000 s", 9000.0):
            lines.changed(runs[12])
    assert capsys.readouterr().err == "r12: lab/m failed (rate_limit): slow down; asked again in 9000 s\n"
    runs[13].wait_for("lab/m asked again", 9000.0)
    screen = shown(runs, monkeypatch, 80, 24)
    assert (len(screen), screen[-1]) == (23, "lab/m asked again")
    runs[13].wait_ends = 0.0
    assert "asked again" not in "".join(shown(runs, monkeypatch, 80, 24))


def test_a_run_that_is_paused_is_told_as_one_that_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    runs = make_runs(4)
    runs[2].end("paused", "lab/m does not answer")
    Lines(runs).changed(runs[2])
    assert "r2  paused  " in capsys.readouterr().err


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Live.suits()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert Live.suits()


def test_runs_by_commits_are_shown_in_their_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    runs = [RunProgress("r", "questions/mix/gsm8k+aime", "grpo", 0, 100)]
    console = Console(width=120)
    with console.capture() as captured:
        console.print(Live(runs, Path("runs/q"), report_of("resource-evolution").words)._render())
    lines = captured.get().splitlines()
    assert "0 rollouts" in lines[0]
    assert lines[1].split()[0] == "taskset"
    assert lines[2].startswith("gsm8k + aime")


def test_the_time_left_follows_from_the_pace_of_the_budget() -> None:
    runs = make_runs(2)
    runs[0].state, runs[1].state, runs[1].session = "done", "evolving", Left(64)
    # One of two runs is done, and of the other half of the four fifths that evolving takes.
    assert seconds_left(runs, 140.0) == pytest.approx(140.0 * 0.6 / 1.4)
    runs[0].state, runs[0].seconds, runs[1].session = "waiting", 0.0, Left(128)
    assert seconds_left(runs, 140.0) is None


def test_the_best_so_far_and_the_time_left_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = make_runs(4)
    runs[2].best = 123.5
    lines = shown(runs, monkeypatch, 120, 24)
    assert "left" in lines[0]
    assert "best so far" in lines[1]
    assert "123.5" in lines[4]


def test_before_there_are_runs_it_says_that_it_prepares(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds_left([], 3.0) is None
    (line,) = shown([], monkeypatch, 60, 24)
    assert line.startswith("preparing, ")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_names_of_columns_states_and_held_out_scores_are_whole_at_every_width(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    runs = make_runs(9)
    for run in runs:
        run.best = 1234.5
    lines = shown(runs, monkeypatch, width, 24)
    assert len(lines) <= 23
    assert max(map(len, lines)) <= width
    head = next(i for i, line in enumerate(lines) if "environment" in line)
    assert {"environment", "evolver", "held-out"} <= set(lines[head].split())
    assert sum("-100.2" in line.split() for line in lines) == 4
    assert {run.state for run in runs} <= set(" ".join(lines).split())
    assert width < 60 or sum("1234" in line for line in lines) == 9
    above = " ".join(" ".join(lines[:head]).split())
    assert above.startswith("5 of 9 runs, 24 episodes + 6 judging, ")
    assert " left" in above
