"""`BubblewrapBackend`: task environments without Docker, made by replaying Dockerfiles on a private root.

The base image is not fetched: the host's own programs stand in for it. So only images that are a plain system are accepted.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from heredity.errors import CandidateError, ConfigError, IsolationError
from heredity.outside import resolved
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers.bubblewrap import BubblewrapSandbox, system_path
from heredity.sandbox.containers.contract import ContainerLimits, Image, Phase
from heredity.sandbox.engine_folder import EngineFolder
from heredity.tasks.containers import ContainerTask, Copy, Dockerfile, Run, Workdir, read_dockerfile

PLAIN_IMAGES = frozenset({"bash", "buildpack-deps", "debian", "python", "scratch", "ubuntu"})
"""Images that the host's own programs can stand in for."""

_SKELETON = "mkdir -p /app /home /opt /root /srv /tmp /var/tmp /var/log /logs/agent && chmod 1777 /tmp /var/tmp"
_ROOT = (None, "root", "0")
_SHOWN = 1500
_DEFAULT = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class BubblewrapBackend:
    """Makes environments of tasks whose Dockerfile can be replayed; each is built once and kept until `close`.

    Args:
        limits: what one environment may use.

    Raises:
        IsolationError: if bubblewrap does not work here.
    """

    def __init__(self, limits: ContainerLimits | None = None) -> None:
        # Nothing is begun that could not go on.
        reason = available()
        if reason is not None:
            raise IsolationError(f"container tasks cannot be isolated: {reason}")
        self.limits = limits or ContainerLimits()
        self._own = EngineFolder()
        self._folder = self._own.path
        self._built: dict[str, asyncio.Task[Image]] = {}

    async def build(self, task: ContainerTask) -> Image:
        """Return a task's environment as its agent finds it; the same one for the same task.

        Raises:
            ConfigError: if the task cannot be replayed, or a line of its Dockerfile fails; the message says why.
            IsolationError: if bubblewrap does not work here.
        """
        key = f"{task.environment_folder} {task.digest}"
        building = self._built.get(key)
        if building is None:
            building = self._built[key] = asyncio.create_task(self._build(task))
        try:
            return await asyncio.shield(building)
        except BaseException:
            # Everybody who waited gets the error; whoever asks later builds again.
            if building.done() and self._built.get(key) is building:
                del self._built[key]
            raise

    def sandbox(self, task: ContainerTask, image: Image, phase: Phase) -> BubblewrapSandbox:
        """Return a sandbox, not yet started, that begins from an image."""
        return BubblewrapSandbox(task, image, phase, self.limits, self._folder)

    async def discard(self, image: Image) -> None:
        """Forget an image that a sandbox left."""
        await asyncio.to_thread(Path(image.name).unlink, missing_ok=True)

    async def close(self) -> None:
        """Forget all images."""
        for building in self._built.values():
            building.cancel()
        await asyncio.gather(*self._built.values(), return_exceptions=True)
        self._built.clear()
        await asyncio.to_thread(self._own.remove)

    async def _build(self, task: ContainerTask) -> Image:
        check_replayable(task)
        dockerfile = read_dockerfile(task.environment_folder / "Dockerfile", {"PATH": system_path()})
        _check_base(task, dockerfile)
        env = {**dockerfile.env, **host_free(task, "environment.env", task.environment.env)}
        sandbox = self.sandbox(task, Image("", env, "/"), Phase(building=True))
        clock = asyncio.timeout(task.environment.build_timeout_s)
        try:
            async with clock:
                await sandbox.start()
                try:
                    await sandbox.exec(_SKELETON)
                    for step in dockerfile.steps:
                        await self._replay(task, sandbox, step)
                    workdir = task.environment.workdir or dockerfile.workdir
                    await sandbox.exec(f"mkdir -p {shlex.quote(workdir)}")
                    image = (await sandbox.settle()).image
                finally:
                    await sandbox.stop()
        except TimeoutError as error:
            if not clock.expired():
                raise
            raise ConfigError(
                f"{task.folder} was not built within {task.environment.build_timeout_s:g} seconds; "
                "raise environment.build_timeout_sec"
            ) from error
        except CandidateError as error:
            raise ConfigError(f"{task.folder} cannot be built: {error}; raise environment.storage_mb") from error
        return Image(image.name, env, workdir)

    async def _replay(self, task: ContainerTask, sandbox: BubblewrapSandbox, step: Copy | Run | Workdir) -> None:
        file = f"{task.environment_folder / 'Dockerfile'}:{step.line}"
        if isinstance(step, Copy):
            await self._copy(task, sandbox, step, file)
            return
        if isinstance(step, Workdir):
            done = await sandbox.exec(f"mkdir -p {shlex.quote(step.path)}")
        else:
            command = f"exec /bin/sh -c {shlex.quote(step.command)}"
            seconds = task.environment.build_timeout_s
            done = await sandbox.exec(command, timeout_s=seconds, env=step.env, workdir=step.workdir)
        if done.code != 0:
            output = (done.stdout + done.stderr).strip()[-_SHOWN:]
            raise ConfigError(
                f"{file}: the line failed with code {done.code} when it was replayed ({done.reason}), without a network "
                f"and with the host's /usr read-only: {output or 'no output'}; change it, or run the task with Docker or Podman"
            )

    async def _copy(self, task: ContainerTask, sandbox: BubblewrapSandbox, step: Copy, file: str) -> None:
        for pattern in step.sources:
            for source in _matching(task.environment_folder, pattern, file):
                target = step.target
                if source.is_file() and not target.endswith("/"):
                    quoted = shlex.quote(target)
                    is_folder = (await sandbox.exec(f"test -d {quoted}")).code == 0
                    target = f"{target}/" if is_folder else target
                await sandbox.upload(source, target, mode=step.mode)


def check_replayable(task: ContainerTask) -> None:
    """Check that nothing but a Dockerfile is needed to make a task's environment, and nobody but root to work in it.

    Raises:
        ConfigError: if the task needs more; the message names all of it.
    """
    environment = task.environment
    wanted = {
        "several steps": bool(task.steps),
        "a compose file": task.compose_file is not None,
        f"the prebuilt image {environment.docker_image}": environment.docker_image is not None,
        "Windows": environment.os != "linux",
        "GPUs": bool(environment.gpus),
        "servers of tools (environment.mcp_servers)": bool(environment.mcp_servers),
        "a health check": environment.healthcheck is not None,
        "another user than root": task.agent.user not in _ROOT or task.verifier.user not in _ROOT,
        "a .dockerignore file": (task.environment_folder / ".dockerignore").exists(),
    }
    if reasons := [what for what, needed in wanted.items() if needed]:
        raise ConfigError(
            f"{task.folder} cannot be run without Docker: it needs {', '.join(reasons)}; run it with Docker or Podman"
        )


def host_free(task: ContainerTask, key: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables with their defaults filled in; none is taken from the host.

    Raises:
        ConfigError: if one asks for a variable of the host and gives no default.
    """

    def fill(match: re.Match[str]) -> str:
        if match[2] is None:
            raise ConfigError(
                f"{task.folder / 'task.toml'}: {key} asks for the host's variable {match[1]}, and nothing of the host is "
                f"handed into a sandbox; give a default, such as ${{{match[1]}:-none}}"
            )
        return match[2]

    return {name: _DEFAULT.sub(fill, value) for name, value in variables.items()}


def _check_base(task: ContainerTask, dockerfile: Dockerfile) -> None:
    image = dockerfile.base.partition("@")[0].removeprefix("docker.io/").removeprefix("library/").partition(":")[0]
    if image not in PLAIN_IMAGES:
        raise ConfigError(
            f"{task.environment_folder / 'Dockerfile'} begins from {dockerfile.base}, whose content is not on this machine; "
            f"only {', '.join(sorted(PLAIN_IMAGES))} can be stood in for; run the task with Docker or Podman"
        )


def _matching(context: Path, pattern: str, file: str) -> list[Path]:
    name = posixpath.normpath(pattern.lstrip("/") or ".")
    paths = [context] if name == "." else sorted(context.glob(name))
    for path in paths:
        if not resolved(path).is_relative_to(resolved(context)):
            raise ConfigError(f"{file}: {path} leads out of {context}; copy the file itself there")
    if not paths:
        raise ConfigError(f"{file}: nothing in {context} matches {pattern!r}; correct the line or add the file")
    return paths
