from __future__ import annotations

import asyncio
import itertools
import json
import re
import statistics
from pathlib import Path
from typing import Any, cast

import pytest
from tests.kinds.code.sums import in_python, write
from typer.testing import CliRunner

from heredity.kinds.code.commands import app
from heredity.kinds.code.judge import Judge, Tests
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import Problem
from heredity.kinds.code.ranks import LEAST, Ranker, Usage, _noise, _placed, beats
from heredity.sandbox.native import Ended

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


class Measures:
    """A judge that runs nothing: a program's seconds and bytes are written in it; without any it fails."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def answers(self, *asked: Any) -> list[tuple[Any, Ended] | str]:
        _, _, source, cases, _ = asked
        self.ran.append(source)
        found = re.search(r"return sum|takes (\S+) (\S+)", source)
        if "fails" in source or found is None:
            return ["TLE: took too long"] * len(cases)
        seconds, peak = (float(found[1]), float(found[2])) if found[1] else (1.0, 1e6)
        return [(0, Ended(0, b"", "", seconds, seconds, int(peak)))] * len(cases)


def measured(folder: Path, *more: str) -> Problem:
    solutions = {f"solutions/s{i}.py": f"# takes {i} {i}e6\n" for i in range(2, LEAST + 1)}
    return write(folder, **solutions, **{f"solutions/more{i}.py": text for i, text in enumerate(more)})


async def test_a_stored_solution_that_fails_on_this_machine_is_left_out(tmp_path: Path) -> None:
    tests = Tests([[[1]], [[2]]], [1, 2], 1, 0.1, (0.1, 0.2))
    judge, problem = Measures(), measured(tmp_path / "sum", "fails")
    ranker = Ranker(cast("Judge", judge), repeats=2, heaviest=1)
    rank = await ranker.rank(problem, tests, LANGUAGES["python3"], "# takes 3.5 1e6\n")
    assert rank is not None
    assert rank.among == LEAST
    assert rank.noise is not None
    assert rank.noise[0].moved == 0.0
    assert json.dumps(rank.to_json())
    assert rank.to_json()["noise"]["time"]["furthest"] == 0.0
    assert judge.ran.count("fails") == 1, "it is not tried again"
    count = len(judge.ran)
    assert await ranker.rank(problem, tests, LANGUAGES["python3"], "fails") is None
    assert len(judge.ran) - count <= 2 * 2, "the stored ones are measured once"


async def test_programs_that_ask_at_the_same_time_share_what_is_measured(tmp_path: Path) -> None:
    tests = Tests([[[1]], [[2]]], [1, 2], 1, 0.1, (0.1, 0.2))
    judge, problem = Measures(), measured(tmp_path / "sum")
    ranker = Ranker(cast("Judge", judge), repeats=2, heaviest=1)
    sources = [f"# takes {seconds} 1e6\n" for seconds in (1.5, 2.5, 3.5)]
    ranks = await asyncio.gather(*(ranker.rank(problem, tests, LANGUAGES["python3"], one) for one in sources))
    places = [rank.arb for rank in ranks if rank]
    assert len(places) == 3
    assert places == sorted(places, reverse=True)
    assert judge.ran.count("# takes 7 7e6\n") == 2


async def test_without_enough_to_be_placed_among_nothing_is_measured(tmp_path: Path) -> None:
    judge, problem = Measures(), write(tmp_path / "sum")
    tests = Tests([[[1]]], [1], 1, 0.1, (0.1,))
    assert await Ranker(cast("Judge", judge)).rank(problem, tests, LANGUAGES["python3"], "# takes 1 1\n") is None
    assert await Ranker(cast("Judge", judge)).rank(problem, tests, LANGUAGES["cpp"], "// takes 1 1\n") is None
    assert judge.ran == []


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
    from tests.kinds.code.sums import SOLUTIONS

    from heredity.kinds.code.toolchains import missing

    if missing(LANGUAGES["cpp"]):
        pytest.skip(missing(LANGUAGES["cpp"]))
    # Each works on the large case alone: what it takes on the lightest counts as its start.
    burns = {f"solutions/s{i}.py": in_python(f"sum(range(numbers[0] // 2**40 * {i}00000))") for i in range(1, LEAST)}
    loop = SOLUTIONS["cpp"].format("for (volatile long i = numbers[0] >> 40 << 25; i > 0; --i);")
    reference = in_python("sum(range(numbers[0] // 2**40 * 500000))")
    problem = write(tmp_path / "sum", **burns, **{"solutions/reference.cpp": loop, "reference.py": reference})
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
