"""One episode of a policy program in the sandbox, filmed by the environment worker."""

from __future__ import annotations

import io
from pathlib import Path

from heredity._core.errors import CandidateError, HostError, MissingExtraError, RecordError
from heredity.cli.signals import run_interruptibly
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.environments.video import DEFAULT_FPS, Playback, write_video
from heredity.kinds.policy.kind import KIND as EPISODES
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.results.status import FailureSource
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, Taskset
from heredity.tasks.registry import taskset


def play_policy(env_id: str, folder: Path, video: Path, *, seed: int = 0, steps: int | None = None) -> Playback:
    """Play one episode of a policy program and write it as a video.

    Args:
        env_id: the environment, as for `environment_spec`.
        folder: the program, a folder with policy.py in it.
        video: output file; its suffix is one of `heredity.kinds.policy.environments.video.SUFFIXES`.
        seed: of the episode, and of the policy's own generators.
        steps: maximum number of steps; None plays to the end.

    Raises:
        ConfigError: if the folder holds no policy program.
        CandidateError: if the policy fails (the message has its traceback).
        HostError: if the environment fails or cannot be rendered.
        IsolationError: if this machine cannot isolate policies.
        MissingExtraError: if a dependency is not installed.
        RecordError: if the video cannot be written.
    """
    candidate = EPISODES.candidates.read(folder)
    tasks = taskset(f"gymnasium/{env_id.removeprefix('gymnasium/')}")
    as_mp4 = video.suffix.lower() == ".mp4"
    task = Task(f"played/{seed}", "train", 0, {"seed": seed, "options": {}})
    options = {"video": True} if as_mp4 else {"frames": 1}
    job = Job(tasks.info, candidate, task, policy_seed=seed, options=options)
    played = run_interruptibly(_attempt(job, Limits(steps=steps)))
    _check(played, tasks)
    written = _write_mp4(played, video) if as_mp4 else _write_frames(played, video)
    ended = bool(played.columns["truncated"][-1]) if played.length else False
    truncated = ended and (steps is None or played.length < steps)
    return Playback(str(written), played.length + 1, played.length, played.total_reward, played.terminated, truncated)


async def _attempt(job: Job, limits: Limits) -> Trajectory:
    async with EpisodeRunner(1) as runner:
        trajectories = [trajectory async for _, trajectory in runner.run([job], limits)]
    return trajectories[0]


def _check(played: Trajectory, tasks: Taskset) -> None:
    failure = played.failure
    if failure is None:
        return
    where = f" at step {failure.step_index}" if failure.step_index is not None else ""
    if played.failure_source is FailureSource.CANDIDATE:
        trace = failure.traceback.strip()
        raise CandidateError(
            f"the policy failed{where}: {failure.category}: {failure.message}" + f"\n{trace}" * bool(trace)
        )
    if "MissingExtraError" in failure.message or "DependencyNotInstalled" in failure.message:
        raise MissingExtraError(f"filming {tasks.info.name}", "video")
    raise HostError(f"{tasks.info.name} failed{where}: {failure.message}")


def _write_mp4(played: Trajectory, video: Path) -> Path:
    try:
        video.parent.mkdir(parents=True, exist_ok=True)
        video.write_bytes(played.media["video.mp4"])
    except OSError as error:
        raise RecordError(f"{video} could not be written: {error.strerror}; choose another --video path") from error
    return video


def _write_frames(played: Trajectory, video: Path) -> Path:
    import imageio.v3 as iio

    frames = [iio.imread(io.BytesIO(data)) for _, data in sorted(played.media.items())]
    return write_video(frames, video, DEFAULT_FPS)
