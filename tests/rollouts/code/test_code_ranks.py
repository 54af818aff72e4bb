from __future__ import annotations

import asyncio
import itertools
import json
import statistics
from pathlib import Path

import pytest
from sums import in_python, write
from typer.testing import CliRunner

from heredity.cli.code import app
from heredity.rollouts.code.judge import Judge
from heredity.rollouts.code.ranks import LEAST, Ranker, Usage, _noise, _placed, beats
from heredity.tasks.code.languages import LANGUAGES

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_rank_is_interpolated_and_falls_with_what_is_taken() -> None:
    others = [1.0, 2.0, 4.0, 8.0]
    assert beats(1.0, others) == 87.5
    assert beats(8.0, others) == 12.5
    assert beats(3.0, others) == beats(2.0, others) - 12.5 == 50.0
    assert beats(0.0, others) == 100.0
    assert 0 < beats(1e9, others) < 0.001
    values = [0.1 * i for i in range(1, 200)]
    ranks = [beats(value, others) for value in values]
    assert all(one >= other for one, other in itertools.pairwise(ranks))
    assert beats(3.0, [3.0] * 12) == pytest.approx(95.8, abs=0.1)


async def test_noise_counts_how_often_a_place_moves_and_how_far() -> None:
    steady = {str(i): [float(i)] * 3 for i in range(1, 13)}
    assert _noise(steady).moved == _noise(steady).furthest == 0.0
    swapped = _noise({**steady, "1": [1.0, 1.0, 2.5], "2": [2.0, 2.0, 1.5]})
    assert swapped.moved == pytest.approx(2 / 36)
    assert swapped.furthest > 5


async def test_a_rank_says_what_single_repeats_give() -> None:
    others = [Usage((float(i),) * 3, (100.0,) * 3) for i in range(1, 13)]
    rank = _placed(Usage((3.0, 6.0, 4.0), (50.0, 50.0, 50.0)), others, transferred=False)
    assert rank.arb == beats(4.0, [float(i) for i in range(1, 13)])
    assert rank.arb_range == (beats(6.0, list(range(1, 13))), beats(3.0, list(range(1, 13))))
    assert rank.among == LEAST


@pytest.mark.slow
async def test_programs_are_placed_among_those_that_are_stored(judge: Judge, tmp_path: Path) -> None:
    burns = {f"solutions/s{i}.py": in_python(f"sum(range({2 * i}00000))") for i in range(1, LEAST)}
    problem = write(tmp_path / "sum", **burns)
    tests, python = await judge.tests(problem, "s"), LANGUAGES["python3"]
    ranker = Ranker(judge, repeats=1)
    slow = await ranker.rank(problem, tests, python, in_python("sum(range(9000000))"))
    fast = await ranker.rank(problem, tests, python, in_python("pass"))
    assert slow is not None
    assert fast is not None
    assert fast.arb > 60 > 10 > slow.arb
    assert (fast.among, fast.transferred) == (LEAST, False)
    few = write(tmp_path / "few")
    assert await ranker.rank(few, await judge.tests(few, "s"), python, in_python("pass")) is None


@pytest.mark.slow
async def test_in_another_language_ratios_to_the_reference_are_compared(judge: Judge, tmp_path: Path) -> None:
    from sums import SOLUTIONS

    from heredity.rollouts.code.toolchains import missing

    if missing(LANGUAGES["cpp"]):
        pytest.skip(missing(LANGUAGES["cpp"]))
    burns = {f"solutions/s{i}.py": in_python(f"sum(range({i}00000))") for i in range(1, LEAST)}
    port = {"solutions/reference.cpp": SOLUTIONS["cpp"].format("for (volatile int i = 0; i < 30000000; ++i);")}
    problem = write(tmp_path / "sum", **burns, **port, **{"reference.py": in_python("sum(range(500000))")})
    tests = await judge.tests(problem, "s")
    rank = await Ranker(judge).rank(problem, tests, LANGUAGES["cpp"], SOLUTIONS["cpp"].format(""))
    assert rank is not None
    assert rank.transferred
    assert rank.arb > 90


@pytest.mark.slow
async def test_a_command_says_how_steady_ranks_are(tmp_path: Path) -> None:
    burns = {f"solutions/s{i}.py": in_python(f"sum(range({i}00000))") for i in range(1, LEAST)}
    write(tmp_path / "sum", **burns)
    done = await asyncio.to_thread(
        CliRunner().invoke, app, ["ranks", str(tmp_path / "sum"), "--repeats", "2", "--json"]
    )
    found = json.loads(done.output)
    assert statistics.median(found["solutions"]["python3"]["solutions/s11.py"]["seconds"]) > 0
    assert 0 <= found["noise"]["python3"]["time"]["moved"] <= 1
    assert found["rank"] is None
