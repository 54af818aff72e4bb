"""Speed of attempts: rollouts of policies, submissions over HTTP, verdicts of the program judge, steps of worlds."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.http import serve
from heredity._core.ids import generator
from heredity._core.workers import process_pool
from heredity.agents.app import SessionApp
from heredity.agents.terms import Briefing, RunTerms
from heredity.agents.workspace import Workspace
from heredity.engine.runner import Job
from heredity.engine.space_numbers import starter_program
from heredity.engine.trajectory import Trajectory, encode_many
from heredity.kinds.code.judge import Judge, Tests, Verdict
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.kinds.policy.environments.taskset import make_from_spec
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.kinds.world.env import WorldEnv
from heredity.kinds.world.episode import sample_action
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import World, sound_worlds, world
from heredity.methods import Budget
from heredity.records import Committer, RunFolder
from heredity.records.blobs import BlobStore
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.sandbox.native import NativeRuns
from heredity.session.cases import HiddenCases
from heredity.session.session import Session, SessionRules
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset

BALANCE = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return 1 if 3.0 * obs[2] + obs[3] + 0.1 * obs[1] + 0.05 * obs[0] > 0 else 0
"""
"""A controller that keeps CartPole's pole up for all 500 steps."""

_SWING = """
import numpy as np

class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        size = action_space.shape[0]
        self.table = np.sin(np.arange(64)[:, None] * 0.2 + np.arange(size)[None, :]).astype(np.float32) * 0.5

    def reset(self, episode_index):
        self.t = 0

    def act(self, obs):
        self.t += 1
        return self.table[self.t % 64]
"""

_WANDER = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        self.t = 0

    def act(self, obs):
        self.t += 1
        return (2, 2, 0, 2, 1, 2, 3, 5)[(self.t * 7 + int(obs["direction"])) % 8]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement: a policy in an environment for a number of episodes."""

    name: str
    environment: str
    policy: str
    episodes: int


CASES = (
    Case("cartpole", "CartPole-v1", BALANCE, 128),
    Case("reacher", "Reacher-v5", _SWING, 32),
    Case("halfcheetah", "HalfCheetah-v5", _SWING, 16),
    Case("minigrid_doorkey", "MiniGrid-DoorKey-16x16-v0", _WANDER, 32),
)
FIGURES = ("wall_ratio_vs_raw", "us_per_step", "ms_per_episode", "raw_us_per_step", "overhead_ms_per_episode")
_ALL = slice(None)
MODES = {"lockstep": 32, "isolated": 1}


def measure_rollouts(repeats: int = 5, cases: tuple[Case, ...] = CASES) -> dict[str, Any]:
    """Run every case in both modes and return the figures.

    The baseline is the obvious loop in one process: `gymnasium.make`, `reset`, `act`, `step`, without isolation or
    recording. Ours confines the same policy, uses all cores, checks every action, records every step as columns and
    writes them to synced blobs.

    In the mode `lockstep` a policy process plays a batch of episodes concurrently. In `isolated`, the default of a
    run, each episode has a fresh process.

    `floor_ratio` is the limit of the machine: the plain loop in one process per core, each with its share of the
    episodes, over the plain loop in one. Cores that share a physical core add little.

    Args:
        repeats: number of timings of each side, alternating; the ratio is the median of the pairs.
        cases: measurements to run.
    """
    return asyncio.run(_rollout_times(repeats, cases))


async def _rollout_times(repeats: int, cases: tuple[Case, ...]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    runners = {mode: EpisodeRunner(lockstep=lockstep) for mode, lockstep in MODES.items()}
    try:
        for case in cases:
            results[case.name] = await _case(case, runners, repeats)
    finally:
        for runner in runners.values():
            await runner.close()
    return {"baseline": "one process: gymnasium.make, reset, act, step; no isolation, no record", "results": results}


async def _case(case: Case, runners: dict[str, EpisodeRunner], repeats: int) -> dict[str, Any]:
    tasks = taskset(f"gymnasium/{case.environment}")
    jobs = _jobs(case, tasks)
    raw = _RawLoop(case)
    row: dict[str, Any] = {"episodes": case.episodes}
    with _blobs() as blobs, _Floor(case) as floor:
        for runner in runners.values():
            await _ours(runner, jobs, blobs)
        timed: dict[str, list[float]] = {"raw": [], "floor": [], **{mode: [] for mode in runners}}
        for _ in range(repeats):
            timed["raw"].append(raw.run())
            timed["floor"].append(floor.run())
            for mode, runner in runners.items():
                timed[mode].append(await _ours(runner, jobs, blobs))
    row["steps"], row["floor_ratio"] = raw.steps, round(_ratio(timed["floor"], timed["raw"]), 3)
    row |= {mode: _figures(timed[mode], timed["raw"], raw.steps, case.episodes) for mode in runners}
    best = row["lockstep"]
    return {**row, "mode": "lockstep", **{k: best[k] for k in ("wall_ratio_vs_raw", "us_per_step", "ms_per_episode")}}


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(o / t for o, t in zip(ours, theirs, strict=True))


def _figures(ours: list[float], raw: list[float], steps: int, episodes: int) -> dict[str, float]:
    mine, plain = statistics.median(ours), statistics.median(raw)
    return {
        "wall_ratio_vs_raw": round(_ratio(ours, raw), 3),
        "us_per_step": round(mine / steps * 1e6, 2),
        "ms_per_episode": round(mine / episodes * 1e3, 3),
        "raw_us_per_step": round(plain / steps * 1e6, 2),
        "overhead_ms_per_episode": round((mine - plain) / episodes * 1e3, 3),
    }


def _jobs(case: Case, tasks: Taskset) -> list[Job]:
    candidate = Candidate.program(SourceTree({"policy.py": case.policy}))
    drawn = tasks.draw("train", case.episodes, 7)
    return [Job(tasks.info, candidate, task, episode_index=i, policy_seed=i) for i, task in enumerate(drawn)]


async def _ours(runner: EpisodeRunner, jobs: list[Job], blobs: BlobStore) -> float:
    start = time.perf_counter()
    trajectories: list[Trajectory] = [t async for _, t in runner.run(jobs, Limits())]
    blobs.put(encode_many(trajectories))
    seconds = time.perf_counter() - start
    failed = [t for t in trajectories if t.failure]
    if failed:
        raise RuntimeError(f"{len(failed)} episodes failed: {failed[0].failure}")
    return seconds


class _RawLoop:
    """Baseline: the same policy, seeds and environment in one plain loop."""

    def __init__(self, case: Case) -> None:
        tasks = taskset(f"gymnasium/{case.environment}")
        scope: dict[str, Any] = {}
        exec(compile(case.policy, "policy.py", "exec"), scope)
        self._env = make_from_spec(tasks.info.spec)
        self._make = lambda: scope["Policy"](self._env.observation_space, self._env.action_space, {})
        self._seeds = [t.spec["seed"] for t in tasks.draw("train", case.episodes, 7)]
        self.steps = 0

    def run(self, share: slice = _ALL) -> float:
        """Play a share of the episodes; return the seconds it took."""
        env = self._env
        steps = 0
        start = time.perf_counter()
        for index, seed in enumerate(self._seeds[share]):
            policy = self._make()
            policy.reset(index)
            observation, _ = env.reset(seed=seed)
            done = False
            while not done:
                observation, _, terminated, truncated, _ = env.step(policy.act(observation))
                steps += 1
                done = terminated or truncated
        self.steps = steps
        return time.perf_counter() - start


class _Floor:
    """The plain loop in one process per core, each with its share of the episodes."""

    def __init__(self, case: Case) -> None:
        self._count = len(os.sched_getaffinity(0))
        self._pool = process_pool(self._count, _prepare, (case,))

    def __enter__(self) -> Self:
        self.run()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def run(self) -> float:
        """Play every episode; return the seconds it took."""
        start = time.perf_counter()
        shares = [slice(first, None, self._count) for first in range(self._count)]
        list(self._pool.map(_play, shares))
        return time.perf_counter() - start


_prepared: list[_RawLoop] = []


def _prepare(case: Case) -> None:
    _prepared[:] = [_RawLoop(case)]


def _play(share: slice) -> float:
    return _prepared[0].run(share)


@contextmanager
def _blobs() -> Generator[BlobStore]:
    with EngineFolder() as folder:
        store = BlobStore(folder / "blobs")
        store.put(b"the folder is there before the clock starts")
        yield store


_BRIEFING = Briefing(lambda _: "", lambda _: "", SourceTree({}))
"""Nobody reads it here."""


def measure_submissions(submissions: int = 200) -> dict[str, Any]:
    """Submit one CartPole episode at a time and return the figures, times in milliseconds.

    The time includes every layer of a real run: the HTTP server, the session with its journal (each line synced
    before it counts), a fresh confined process for the policy, CartPole, the trajectory's blob and the feedback
    folder on disk. The baseline is the same policy and episode in a plain loop in this process.

    Two programs are submitted: the uniformly random starter, like a typical first submission (`p50_ms`), and a
    controller that balances for all 500 steps (`full_episode.p50_ms`).
    """
    starter = starter_program(taskset("gymnasium/CartPole-v1").info.public)
    first = asyncio.run(_submission_times(submissions, starter))
    whole = asyncio.run(_submission_times(submissions, SourceTree({"policy.py": BALANCE})))
    return {"baseline": "the balancing episodes in a plain loop in one process", **first, "full_episode": whole}


async def _submission_times(submissions: int, program: SourceTree) -> dict[str, Any]:
    tasks = taskset("gymnasium/CartPole-v1")
    candidate = Candidate.program(program)
    with EngineFolder() as root:
        hidden_cases = HiddenCases.create(root / "sealed")
        train = hidden_cases.tasks(tasks, "train", 32)
        terms = RunTerms(taskset=tasks.info, train_tasks=32, episode_budget=submissions + 5)
        workspace = Workspace(root / "run" / "workspace", terms, _BRIEFING)
        workspace.prepare(candidate.agent)
        with RunFolder.open(root / "run") as folder:
            async with EpisodeRunner(workers=1) as runner:
                session = Session(
                    Committer(folder.journal, folder.blobs),
                    runner,
                    taskset=tasks.info,
                    tasks=train,
                    rules=SessionRules(budget=Budget(episodes=submissions + 5), seed=0),
                    publisher=workspace.publisher,
                )
                app = SessionApp(session, workspace, initial=candidate)
                async with serve(app.asgi) as endpoints:
                    times, steps = await _submit_many(endpoints.url, submissions)
                await session.close("finished")
        raw = _raw(tasks.info.spec, [t.spec["seed"] for t in train])
    return {
        "submissions": submissions,
        "p50_ms": round(statistics.median(times), 3),
        "p95_ms": round(float(np.percentile(times, 95)), 3),
        "mean_ms": round(statistics.fmean(times), 3),
        "steps_per_episode": round(statistics.fmean(steps), 1),
        "raw_p50_ms": round(raw, 3),
        "p50_ratio_vs_raw": round(statistics.median(times) / raw, 3),
    }


async def _submit_many(url: str, count: int) -> tuple[list[float], list[int]]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    times: list[float] = []
    steps: list[int] = []
    for number in range(count + 3):
        body = json.dumps({"env_instances": [number % 32]}).encode()
        head = (
            f"POST {parts.path.rstrip('/')}/submit HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        start = time.perf_counter()
        writer.write(head.encode() + body)
        reply = await _reply(reader)
        seconds = time.perf_counter() - start
        if reply["status"] != "ok":
            raise RuntimeError(f"submission {number} was answered {reply}")
        if number >= 3:
            times.append(seconds * 1e3)
            steps.append(reply["summary"]["episode_lengths"][0])
    writer.close()
    return times, steps


async def _reply(reader: asyncio.StreamReader) -> dict[str, Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    size = int(head.split("content-length:")[1].split("\r\n")[0])
    answer: dict[str, Any] = json.loads(await reader.readexactly(size))
    return answer


def _raw(spec: Any, seeds: list[int]) -> float:
    scope: dict[str, Any] = {}
    exec(compile(BALANCE, "policy.py", "exec"), scope)
    env = make_from_spec(spec)
    times: list[float] = []
    for seed in seeds:
        start = time.perf_counter()
        policy = scope["Policy"](env.observation_space, env.action_space, {})
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            observation, _, terminated, truncated, _ = env.step(policy.act(observation))
            done = terminated or truncated
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


PROBLEM, LANGUAGE = "two-gates", "cpp"


def measure_judge(seconds: float = 3.0, repeats: int = 3, workers: int | None = None) -> dict[str, Any]:
    """Time verdicts and the baseline alternately and return the figures; rates are medians.

    A verdict here covers one case of a small compiled program: a new sandbox, the program, and its answer read and
    compared. The baseline is the same binary on the same input without a sandbox, with the same concurrency.

    Args:
        seconds: approximate time for each side in each repeat.
        repeats: number of timings of each side.
        workers: maximum concurrent programs (default one per core).

    Raises:
        ConfigError: if g++ is missing.
    """
    return asyncio.run(_verdict_rates(seconds, repeats, workers or len(os.sched_getaffinity(0))))


async def _verdict_rates(seconds: float, repeats: int, workers: int) -> dict[str, Any]:
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
    def run_once(_: int) -> None:
        with Popen([binary], stdin=PIPE, stdout=PIPE) as process:
            process.communicate(text)

    began = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run_once, range(count)))
    return count / (time.monotonic() - began)


SECONDS = 0.3
_ACTIONS = 512
RULES = Path(str(files("heredity.library") / "rules"))
"""Worlds of the library rewritten only in rules, a folder each."""
EPISODES = 30
"""Steps in a round."""


def measure_worlds(seconds: float = SECONDS, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Time every world.

    A step of `WorldEnv` checks an action, applies the rules, and renders the observation with the text skin. The
    actions are drawn in advance, well typed but random. The baseline is the same loop over an environment of a few
    lines (count, compare, format a text), timed alternately with every world. `ratio` is the time of a world's step
    over the baseline's.

    Args:
        seconds: time for steps, and again for resets, of each world.
        names: the worlds (default all).
    """
    results = {name: _world(name, seconds) for name in names or sound_worlds()[0]}
    rows = list(results.values())
    return {
        "baseline": "one bare loop: an environment that counts its steps and formats one line",
        "median_steps_per_s": round(statistics.median(row["steps_per_s"] for row in rows)),
        "median_reset_ms": round(statistics.median(row["reset_ms"] for row in rows), 4),
        "median_ratio": round(statistics.median(row["ratio"] for row in rows), 2),
        "slowest": min(results, key=lambda name: results[name]["steps_per_s"]),
        "results": results,
    }


def _world(name: str, seconds: float) -> dict[str, float]:
    env = WorldEnv(name)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(_ACTIONS)]
    levels = [{"level": level.id} for level in env.world.shipped["test"]]
    bare = _steps(_Bare(), actions, levels, seconds / 4)
    step = _steps(env, actions, levels, seconds)
    resets = _resets(env, levels, seconds / 4)
    return {
        "steps_per_s": round(1 / step),
        "reset_ms": round(resets * 1e3, 4),
        "bare_steps_per_s": round(1 / bare),
        "ratio": round(step / bare, 2),
    }


def _steps(env: Any, actions: Sequence[Any], levels: Sequence[dict[str, Any]], seconds: float) -> float:
    """Return the seconds of one step, excluding resets."""
    count, elapsed, episode = 0, 0.0, 0
    while elapsed < seconds:
        env.reset(options=levels[episode % len(levels)])
        episode += 1
        done = False
        started = time.perf_counter()
        while not done:
            _, _, terminated, truncated, _ = env.step(actions[count % len(actions)])
            count += 1
            done = terminated or truncated
        elapsed += time.perf_counter() - started
    return elapsed / count


def _resets(env: WorldEnv, levels: Sequence[dict[str, Any]], seconds: float) -> float:
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        env.reset(options=levels[count % len(levels)])
        count += 1
    return (time.perf_counter() - started) / count


class _Bare:
    """A minimal environment."""

    def __init__(self) -> None:
        self._t = 0

    def reset(self, *, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self._t = 0
        return "step 0", {}

    def step(self, action: dict[str, Any]) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._t += 1
        paid = 1.0 if action["action"] == "" else 0.0
        return f"step {self._t}", paid, False, self._t >= 50, {}


def measure_rules(rounds: int = 7, names: Sequence[str] = ()) -> dict[str, Any]:
    """Time worlds written only in rules against their originals: steps with observations, in CPU time.

    Both play the same actions on the same levels, alternating, so that other load on the machine slows both.
    `ratio` is the median over rounds of the rules' speed over the library's.

    Args:
        rounds: number of timings of each side; ratios are medians of pairs.
        names: the worlds (default all rewritten ones).
    """
    rows = {name: _compare(name, rounds) for name in names or sorted(folder.name for folder in RULES.iterdir())}
    ratios = [row["ratio"] for row in rows.values()]
    return {
        "worlds": len(rows),
        "ratio_min": min(ratios),
        "ratio_median": round(statistics.median(ratios), 2),
        "ratio_max": max(ratios),
        "by_world": rows,
    }


def _compare(name: str, rounds: int) -> dict[str, Any]:
    own, twin = world(name), World(RULES / name)
    levels, rng = own.shipped["test"], generator(0, "world-rules", name)
    kinds, most = own.description.actions, own.description.max_steps
    scripts = [[sample_action(rng, kinds).to_json() for _ in range(most)] for _ in range(EPISODES)]
    times: list[tuple[float, float]] = []
    steps = 0
    for _ in range(rounds + 1):  # the first round warms up
        steps, by_hand = _play_scripts(own, levels, scripts)
        again, by_rules = _play_scripts(twin, levels, scripts)
        assert steps == again, f"{name}: the two end differently"
        times.append((by_hand, by_rules))
    python, rules = (statistics.median(column) for column in zip(*times[1:], strict=True))
    folder = Path(str(own.folder))
    return {
        "lines_of_python": sum(_lines((folder / f"{part}.py").read_text()) for part in ("dynamics", "levels")),
        "lines_of_rules": _lines((RULES / name / "world.yaml").read_text().split("\nrules:\n")[1]),
        "steps_per_s_python": round(steps / python),
        "steps_per_s_rules": round(steps / rules),
        "ratio": round(statistics.median(a / b for a, b in times[1:]), 2),
    }


def _lines(text: str) -> int:
    """Return the number of nonempty lines."""
    return sum(bool(line.strip()) for line in text.splitlines())


def _play_scripts(played: World, levels: Sequence[Any], scripts: Sequence[Sequence[Any]]) -> tuple[int, float]:
    """Return the steps of some episodes and their CPU seconds."""
    skin, steps, spent = played.description.skin, 0, 0.0
    for number, script in enumerate(scripts):
        episode = played.start(levels[number % len(levels)].data)
        started = time.process_time()
        for action in script:
            episode.step(action)
            look(skin, "text", episode.observe())
            steps += 1
            if episode.done:
                break
        spent += time.process_time() - started
    return steps, spent
