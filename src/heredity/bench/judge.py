"""Verdicts per second of the program judge: a small compiled program on a small case, on all cores.

A verdict here covers one case: a new sandbox, the program, and its answer read and compared. The baseline is the same
binary on the same input without a sandbox, with the same concurrency.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity.kinds.code.judge import Judge
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.kinds.code.verdicts import Tests, Verdict
from heredity.sandbox.native import NativeRuns

PROBLEM, LANGUAGE = "two-gates", "cpp"


def measure(seconds: float = 3.0, repeats: int = 3, workers: int | None = None) -> dict[str, Any]:
    """Time both sides alternately and return the figures; rates are medians.

    Args:
        seconds: approximate time for each side in each repeat.
        repeats: number of timings of each side.
        workers: maximum concurrent programs (default one per core).

    Raises:
        ConfigError: if g++ is missing.
    """
    return asyncio.run(_measure(seconds, repeats, workers or len(os.sched_getaffinity(0))))


async def _measure(seconds: float, repeats: int, workers: int) -> dict[str, Any]:
    asked, language = problem(PROBLEM), LANGUAGES[LANGUAGE]
    example = asked.examples[0]
    source = next(source for one, source in asked.accepted.values() if one is language)
    text = asked.signature.encoded(example.case).encode()
    rates: dict[str, list[float]] = {"verdicts": [], "bare": [], "cpu_ms": []}
    with EngineFolder() as folder:
        async with NativeRuns(workers) as runs:
            judge = Judge(runs, folder)
            began = time.monotonic()
            await _judged(judge, source, 1)
            compiled_s = time.monotonic() - began
            binary = await asyncio.to_thread(_binary, folder)
            count = 8 * workers
            for _ in range(repeats + 1):  # The first run calibrates the number that fills the time.
                before = _processor_s()
                rates["verdicts"].append(await _rate(judge, source, count, workers))
                used = _processor_s() - before
                rates["cpu_ms"].append(1e3 * used / (count // workers * workers))
                rates["bare"].append(await asyncio.to_thread(_bare, binary, text, count, workers))
                count = max(count, int(rates["verdicts"][0] * seconds))
    verdicts, bare, cpu_ms = (statistics.median(values[1:]) for values in rates.values())
    return {
        "baseline": "the same binary on the same input without a sandbox",
        "language": language.name,
        "workers": workers,
        "compiled_s": round(compiled_s, 2),
        "verdicts_per_s": round(verdicts, 1),
        "cpu_ms_per_verdict": round(cpu_ms, 1),
        "bare_per_s": round(bare, 1),
        "ratio_to_bare": round(verdicts / bare, 3),
        "load": round(os.getloadavg()[0], 1),
    }


async def _judged(judge: Judge, source: str, cases: int) -> None:
    asked = problem(PROBLEM)
    example = asked.examples[0]
    tests = Tests([example.case] * cases, [example.answer] * cases, cases, 0.01)
    judgement = await judge.judge(asked, LANGUAGES[LANGUAGE], source, tests)
    if judgement.verdict is not Verdict.PASSED:
        raise RuntimeError(f"the solution of the benchmark got {judgement.verdict.value}: {judgement.message}")


async def _rate(judge: Judge, source: str, count: int, workers: int) -> float:
    began = time.monotonic()
    await asyncio.gather(*(_judged(judge, source, count // workers) for _ in range(workers)))
    return count // workers * workers / (time.monotonic() - began)


def _processor_s() -> float:
    """Return the CPU seconds of this process, its children, and all processes they have waited for, to about 10 ms."""
    ticks = 0
    for child in Path("/proc/self/task").glob("*/children"):
        for pid in child.read_text().split():
            # After the name in brackets: user and system time of the process, then of those it waited for.
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _binary(folder: Path) -> str:
    return str(next(folder.glob("*/main")))


def _bare(binary: str, text: bytes, count: int, workers: int) -> float:
    def one(_: int) -> None:
        with Popen([binary], stdin=PIPE, stdout=PIPE) as process:
            process.communicate(text)

    began = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, range(count)))
    return count / (time.monotonic() - began)
