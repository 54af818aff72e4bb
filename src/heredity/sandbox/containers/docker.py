"""Container tasks in containers of Docker or Podman. Only the engine's command line is needed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from heredity._core.errors import CandidateError, ConfigError, HostError, IsolationError
from heredity.sandbox.containers.archives import MOST_BYTES, packed, unpacked
from heredity.sandbox.containers.bubblewrap import CLOSED, LOGS, PYTHON, TESTS
from heredity.sandbox.containers.contract import (
    GUARD,
    HIJACKING,
    HOME,
    ContainerLimits,
    ExecResult,
    Image,
    Phase,
    Settled,
    verifiers_variables,
)
from heredity.sandbox.containers.replay import host_free
from heredity.sandbox.containers.task import ContainerTask

ENGINES = ("docker", "podman")
"""Supported engines, in order of preference."""

_TIMED_OUT = 124
_KILLED = 137
_MOST_LISTED = 100
_STEP_S = 120.0
_QUIET = (
    "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || "
    "[ \"$(tr '\\0' ' ' < /proc/$p/cmdline)\" = 'sleep infinity ' ] || kill -9 $p; done 2> /dev/null"
)
_CLOSED = "|".join(f"{path}|{path}/*" for path in (*CLOSED, "/dev"))
_UNLINK = f"""
to() {{ readlink -m -- "$1" 2> /dev/null || readlink -f "$1" 2> /dev/null || echo /proc; }}
closed() {{ case "$1" in /dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom) false;; {_CLOSED}) true;; *) false;; esac; }}
while IFS= read -r p; do
  if [ -L "$p" ]; then
    t=$(readlink "$p"); case "$t" in /*) ;; *) t="${{p%/*}}/$t";; esac
    closed "$(to "$p")" || closed "$(to "${{t%/*}}/")/${{t##*/}}" || continue
  elif [ ! -p "$p" ] && [ ! -S "$p" ] && [ ! -b "$p" ] && [ ! -c "$p" ]; then continue; fi
  rm -f -- "$p" && printf '%s\\n' "$p"
done
"""
"""Removes, from the paths that it reads, links to the verifier's or the kernel's files, pipes, sockets and devices."""

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def engine() -> str:
    """Return the first engine that answers.

    Raises:
        ConfigError: if none does.
    """
    for name in ENGINES:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if (
                subprocess.run(
                    [name, "version"], capture_output=True, timeout=20, check=False, start_new_session=True
                ).returncode
                == 0
            ):
                return name
    installed = [name for name in ENGINES if shutil.which(name)]
    raise ConfigError(
        f"neither Docker nor Podman answers (installed: {', '.join(installed) or 'none'}); start one, or use bubblewrap"
    )


@dataclass(frozen=True, slots=True)
class _Output:
    code: int
    stdout: str
    stderr: str


async def _run(
    *words: str,
    seconds: float | None = _STEP_S,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
) -> _Output:
    given, pipe = stdin or asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=given, stdout=stdout or pipe, stderr=pipe, start_new_session=True
    )
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate()
    except (TimeoutError, asyncio.CancelledError):
        process.kill()
        await process.wait()
        raise
    return _Output(process.returncode or 0, (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace"))


class DockerSandbox:
    """A container of one image.

    Args:
        engine: the engine's command.
        task: limits its resources.
        image: its initial content.
        phase: its purpose.
        limits: further limits.
    """

    def __init__(self, engine: str, task: ContainerTask, image: Image, phase: Phase, limits: ContainerLimits) -> None:
        self._engine, self._task, self._image, self._phase, self._limits = engine, task, image, phase, limits
        self._name = f"heredity-{uuid.uuid4().hex[:12]}"

    async def start(self) -> None:
        """Start the container.

        Raises:
            IsolationError: if the engine refuses.
        """
        shared = self._task.build_folder is None
        bounds = ["--memory", str(self._limits.memory(self._task)), "--pids-limit", str(self._limits.processes)]
        if self._task.environment.network.mode == "no-network":
            bounds += ["--network", "none"]
        if self._phase.verifying:
            bounds += ["--tmpfs", LOGS, "--tmpfs", f"{GUARD}:exec", *(["--tmpfs", f"{TESTS}:exec"] if shared else [])]
        words = ["run", "--detach", "--init", "--name", self._name, *bounds, "--entrypoint", "sleep"]
        output = await _run(self._engine, *words, self._image.name, "infinity")
        if output.code != 0:
            raise IsolationError(f"{self._engine} did not start a container: {output.stderr.strip()[-500:]}")
        await self.exec(f"mkdir -p {LOGS} /logs/agent", workdir="/")
        if self._phase.verifying:
            await self.exec(f"mkdir -p {HOME} {GUARD}/python && chmod 700 {HOME}", workdir="/")
            script = await asyncio.to_thread((PYTHON / "sitecustomize.py").read_text)
            await self.exec(f"printf %s {shlex.quote(script)} > {GUARD}/python/sitecustomize.py", workdir="/")

    async def exec(
        self, command: str, *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None, workdir: str | None = None
    ) -> ExecResult:
        """Run a command with bash and wait for it; `timeout` inside the container bounds it.

        Raises:
            HostError: if the engine does not answer.
        """
        part = self._task.verifier if self._phase.verifying else self._task.agent
        variables = {**self._image.env, **self._phase.env, **(env or {})}
        clean: list[str] = []
        if self._phase.verifying:
            # The engine takes variables from the image too.
            clean = ["env", *(f"--unset={name}" for name in HIJACKING if name not in self._phase.env)]
            variables = verifiers_variables(variables, {**self._phase.env, **(env or {})}, _SYSTEM_PATH)
        words = ["exec", *(word for name, value in variables.items() for word in ("--env", f"{name}={value}"))]
        words += ["--user", part.user] if part.user is not None else []
        words += ["--workdir", workdir or self._image.workdir] if workdir or self._image.workdir else []
        started = time.monotonic()
        bounded = [*clean, "timeout", "--signal", "KILL", str(timeout_s), "bash", "-c", command]
        try:
            output = await _run(self._engine, *words, self._name, *bounded, seconds=timeout_s + _STEP_S)
        except TimeoutError as error:
            raise HostError(f"{self._engine} did not answer for {timeout_s + _STEP_S:g} seconds; restart it") from error
        seconds = time.monotonic() - started
        timed_out = output.code in (_TIMED_OUT, _KILLED) and seconds >= timeout_s
        most = self._limits.output_bytes
        reason = "timeout" if timed_out else "exited"
        return ExecResult(output.code, _bounded(output.stdout, most), _bounded(output.stderr, most), reason, seconds)

    async def upload(self, source: Path, target: str, *, mode: int | None = None) -> None:
        """Copy a file to a path, or a folder's content into a folder.

        Raises:
            CandidateError: if the engine refuses.
        """
        folder = await asyncio.to_thread(source.is_dir)
        parent, _, name = (
            (target.rstrip("/"), "", source.name) if folder or target.endswith("/") else target.rpartition("/")
        )
        quoted_parent = shlex.quote(parent or "/")
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(packed, source, name, file)
            file.seek(0)
            output = await self._piped(f"mkdir -p {quoted_parent} && tar -C {quoted_parent} -xf -", stdin=file)
        if output.code != 0:
            raise CandidateError(f"nothing can be put into {target} of the container: {output.stderr.strip()[-500:]}")
        if mode is not None:
            await self.exec(f"chmod {mode:o} {shlex.quote(target)}", workdir="/")

    async def download(self, source: str, target: Path) -> None:
        """Fetch a file to a path, or a folder's content into a folder: files and folders only, no links.

        Raises:
            CandidateError: if the source does not exist.
        """
        quoted = shlex.quote(source)
        kind = await self.exec(f"test ! -L {quoted} && (test -f {quoted} || test -d {quoted})", workdir="/")
        if kind.code != 0:
            raise CandidateError(f"{source} of the container is neither a file nor a folder")
        folder = (await self.exec(f"test -d {quoted}", workdir="/")).code == 0
        parent, _, name = (source, "", ".") if folder else source.rpartition("/")
        most, what = MOST_BYTES + 1, f"{source} of the container"
        command = f"tar -C {shlex.quote(parent or '/')} -cf - -- {shlex.quote(name)} | head -c {most}"
        with tempfile.TemporaryFile() as file:
            output = await self._piped(command, stdout=file)
            if output.code != 0 or file.seek(0, os.SEEK_END) >= most:
                raise CandidateError(f"{what} cannot be fetched: {output.stderr.strip()[-500:] or 'it is too large'}")
            file.seek(0)
            await asyncio.to_thread(unpacked, file, target, what, folder=folder)

    async def _piped(self, command: str, *, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None) -> _Output:
        """Run a command of ours as root, with an archive as its input or its output.

        The engine's `cp` does not reach mounts in memory, such as the folders of a verifier.
        """
        words = (*(("--interactive",) if stdin else ()), "--user", "0", "--workdir", "/", self._name)
        # The image's settings of the shell and the loader must not affect commands of root.
        clean = ("env", *(f"--unset={name}" for name in HIJACKING), f"PATH={_SYSTEM_PATH}")
        bounded = (*clean, "timeout", "--signal", "KILL", str(_STEP_S), "bash", "-o", "pipefail", "-c", command)
        return await _run(self._engine, "exec", *words, *bounded, seconds=2 * _STEP_S, stdin=stdin, stdout=stdout)

    async def settle(self) -> Settled:
        """End all of its processes and save its disk; only `stop` may follow.

        Raises:
            CandidateError: if the engine cannot save it.
        """
        top = await _run(self._engine, "top", self._name, "-eo", "args")
        running = tuple(line.strip() for line in top.stdout.splitlines()[1:] if "sleep infinity" not in line)
        await self.quiet()
        listing = await self.exec(f"find {LOGS} {TESTS} -mindepth 1 2>/dev/null; rm -rf {LOGS} {TESTS}", workdir="/")
        unlinked = await self._unlink()
        await _run(self._engine, "kill", self._name)
        name = f"heredity-left:{self._name}"
        output = await _run(self._engine, "commit", self._name, name, seconds=None)
        if output.code != 0:
            raise CandidateError(f"the container cannot be kept: {output.stderr.strip()[-500:]}")
        return Settled(replace(self._image, name=name), running, (*listing.stdout.splitlines(), *unlinked))

    async def _unlink(self) -> list[str]:
        """Remove the files named by `_UNLINK` among those changed since the image; return them.

        Raises:
            CandidateError: if that fails.
        """
        changed = await _run(self._engine, "diff", self._name)
        paths = [line[2:] for line in changed.stdout.splitlines() if line.startswith(("A ", "C "))]
        with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as removed:
            file.write("\n".join([*paths, ""]).encode())
            file.seek(0)
            output = await self._piped(_UNLINK, stdin=file, stdout=removed)
            if changed.code or output.code:
                reason = (changed.stderr + output.stderr).strip()[-500:]
                raise CandidateError(f"the links in the container cannot be looked at: {reason}")
            removed.seek(0)
            return removed.read().decode("utf-8", "replace").splitlines()[:_MOST_LISTED]

    async def quiet(self) -> None:
        """End all of its processes except the one that keeps it running."""
        await self.exec(_QUIET, workdir="/")

    async def stop(self) -> None:
        """End all of its processes, and remove it."""
        await _run(self._engine, "rm", "--force", "--volumes", self._name)


class DockerBackend:
    """Makes environments of tasks with Docker or Podman; each is built once and kept until `close`.

    Storage is not limited, because most engines cannot. Compose files, several steps and tool servers are refused.

    Args:
        engine: the engine's command.
        limits: limits of one environment.
    """

    def __init__(self, engine: str, limits: ContainerLimits | None = None) -> None:
        self._engine, self.limits = engine, limits or ContainerLimits()
        self._turn, self._built = asyncio.Lock(), dict[str, Image]()

    async def build(self, task: ContainerTask) -> Image:
        """Return a task's environment in its initial state; the same one for the same task.

        Raises:
            ConfigError: if it cannot be built; the message quotes the engine.
        """
        environment = task.environment
        if task.steps or task.compose_file or environment.mcp_servers or environment.gpus or environment.os != "linux":
            raise ConfigError(
                f"{task.folder} needs steps, a compose file, servers of tools, GPUs or Windows, which are not run yet; "
                "leave the task out"
            )
        key = f"{task.environment_folder.name}-{task.digest[:16]}"
        async with self._turn:
            if key not in self._built:
                self._built[key] = await self._image(task, f"heredity-task:{key}")
            return self._built[key]

    async def _image(self, task: ContainerTask, tag: str) -> Image:
        name = task.environment.docker_image or tag
        words = (
            ("pull", name) if task.environment.docker_image else ("build", "--tag", name, str(task.environment_folder))
        )
        try:
            output = await _run(self._engine, *words, seconds=task.environment.build_timeout_s)
        except TimeoutError as error:
            raise ConfigError(f"{task.folder} was not built in time; raise environment.build_timeout_sec") from error
        if output.code != 0:
            raise ConfigError(f"{self._engine} cannot build {task.folder}: {output.stderr.strip()[-1500:]}; correct it")
        env = host_free(task, "environment.env", task.environment.env)
        return Image(name, env, task.environment.workdir or await self._workdir(name))

    async def _workdir(self, name: str) -> str:
        output = await _run(self._engine, "image", "inspect", "--format", "{{.Config.WorkingDir}}", name)
        return output.stdout.strip() or "/"

    def sandbox(self, task: ContainerTask, image: Image, phase: Phase) -> DockerSandbox:
        """Return a sandbox of an image, not yet started."""
        return DockerSandbox(self._engine, task, image, phase, self.limits)

    async def discard(self, image: Image) -> None:
        """Remove an image saved by a sandbox."""
        await _run(self._engine, "image", "rm", "--force", image.name)

    async def close(self) -> None:
        """Remove all images built here; pulled ones stay."""
        for image in self._built.values():
            if image.name.startswith("heredity-task:"):
                await self.discard(image)
        self._built.clear()


def _bounded(text: str, most: int) -> str:
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def open_docker() -> DockerBackend:
    """Return the backend of the first engine that answers; raises ConfigError if none does."""
    return DockerBackend(engine())
