"""`BubblewrapBackend`: task environments without Docker, made by replaying Dockerfiles on a private root.

The base image is not fetched: the host's programs stand in for it. So only images of a plain system are accepted.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import CandidateError, ConfigError, IsolationError
from heredity._core.outside import json_value, read_text, resolved
from heredity._core.refusals import reading
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers.bubblewrap import BubblewrapSandbox, system_path
from heredity.sandbox.containers.contract import ContainerLimits, Image, Phase
from heredity.sandbox.containers.task import ContainerTask

_PARSED = {"FROM", "COPY", "RUN", "WORKDIR", "ENV", "ARG"}
_VARIABLE = re.compile(r"\\\$|\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})")
_ASSIGNMENT = re.compile(r"""\s*([A-Za-z_]\w*)=((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*)""", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_MODE = re.compile(r"[0-7]{3,4}")


@dataclass(frozen=True)
class Copy:
    """A COPY line: `sources` are patterns below `environment/`, `target` is absolute; a target ending in `/` is a folder.

    `mode` is the permissions of files and folders, or None to keep theirs.
    """

    line: int
    sources: tuple[str, ...]
    target: str
    mode: int | None = None


@dataclass(frozen=True)
class Run:
    """A RUN line: a command for `/bin/sh -c`, its folder, and the variables set by then."""

    line: int
    command: str
    workdir: str
    env: Mapping[str, str]


@dataclass(frozen=True)
class Workdir:
    """A WORKDIR line: an absolute folder, created if missing."""

    line: int
    path: str


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile that can be replayed.

    Attributes:
        base: its base image, such as `"python:3.12-slim"`.
        steps: its instructions, in order.
        env: the variables of every command in the finished environment.
        workdir: the folder where commands start.
    """

    base: str
    steps: tuple[Copy | Run | Workdir, ...]
    env: Mapping[str, str]
    workdir: str


def read_dockerfile(file: Path, base_env: Mapping[str, str] | None = None) -> Dockerfile:
    """Read a Dockerfile.

    Args:
        file: the Dockerfile.
        base_env: variables that the base image sets (lines may refer to them).

    Raises:
        ConfigError: if it cannot be replayed; the message names the file, the line, the reason and what to do.
    """
    with reading(file, "UTF-8 text", "correct or replace it"):
        text = read_text(file)
    reader = _Reader(file, base_env or {})
    for number, line in _logical_lines(text):
        reader.take(number, line)
    if not reader.base:
        raise ConfigError(f"{file} has no FROM line; name the image that it begins from")
    return Dockerfile(reader.base, tuple(reader.steps), dict(reader.env), reader.workdir)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return instructions with the number of their first line: continued lines joined, comments and empty lines removed."""
    instructions: list[tuple[int, str]] = []
    started, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        started = number if not parts else started
        stripped = line.rstrip()
        parts.append(stripped.removesuffix("\\"))
        if not stripped.endswith("\\"):
            instructions.append((started, "".join(parts).strip()))
            parts = []
    if parts:
        instructions.append((started, "".join(parts).strip()))
    return instructions


@dataclass
class _Reader:
    file: Path
    base_env: Mapping[str, str]
    base: str = ""
    workdir: str = "/"
    steps: list[Copy | Run | Workdir] = field(default_factory=list[Copy | Run | Workdir])
    env: dict[str, str] = field(default_factory=dict[str, str])
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    _line: tuple[int, str] = (0, "")

    def take(self, number: int, line: str) -> None:
        """Process one instruction.

        Raises:
            ConfigError: if it cannot be replayed.
        """
        self._line = (number, line)
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        name, rest = word.upper(), rest.strip()
        if name not in _PARSED:
            self._refuse(f"{name:.40} lines cannot be replayed, only FROM, COPY, RUN, WORKDIR, ENV and ARG")
        if not self.base and name not in ("FROM", "ARG"):
            self._refuse("it stands before FROM")
        if not rest:
            self._refuse(f"{name} needs a value")
        getattr(self, f"_take_{name.lower()}")(rest)

    def _take_from(self, rest: str) -> None:
        if self.base:
            self._refuse("a build in several stages cannot be replayed")
        words = rest.split()
        if words[0].startswith("--"):
            self._refuse(f"{words[0].partition('=')[0]} cannot be replayed")
        if len(words) != 1 and not (len(words) == 3 and words[1].upper() == "AS"):
            self._refuse("expected FROM IMAGE, or FROM IMAGE AS NAME")
        self.base = self._filled(words[0])
        # Docker drops arguments declared before FROM, unless they are declared again.
        self.arguments = {}

    def _take_arg(self, rest: str) -> None:
        name, equals, value = rest.partition("=")
        if _NAME.fullmatch(name) is None:
            self._refuse("expected ARG NAME or ARG NAME=VALUE")
        if equals:
            self.arguments[name] = self._filled(self._unquoted(value))

    def _take_env(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        if "=" not in name:
            if _NAME.fullmatch(name) is None or not value:
                self._refuse("expected ENV NAME=VALUE …")
            self.env[name] = self._filled(value.strip())
            return
        variables, offset = dict[str, str](), 0
        while offset < len(rest):
            pair = _ASSIGNMENT.match(rest, offset)
            if pair is None or pair.end() == offset:
                if not rest[offset:].strip():
                    break
                self._refuse("expected ENV NAME=VALUE …, values with spaces in quotes")
            variables[pair[1]] = self._filled(self._unquoted(pair[2]))
            offset = pair.end()
        self.env |= variables

    def _take_workdir(self, rest: str) -> None:
        self.workdir = self._absolute(self._filled(self._unquoted(rest)))
        self.steps.append(Workdir(self._line[0], self.workdir))

    def _take_run(self, rest: str) -> None:
        if rest.startswith("--"):
            self._refuse(f"RUN {rest.split('=', maxsplit=1)[0].split(maxsplit=1)[0]} cannot be replayed")
        if "<<" in re.sub(r"'[^']*'|\"[^\"]*\"", "", rest):
            self._refuse(
                "a RUN line with a here-document cannot be replayed; put the script into environment/ and COPY it"
            )
        words = self._listed(rest)
        command = shlex.join(words) if words is not None else rest
        self.steps.append(Run(self._line[0], command, self.workdir, {**self.arguments, **self.env}))

    def _take_copy(self, rest: str) -> None:
        mode = None
        while rest.startswith("--"):
            option, _, rest = rest.partition(" ")
            name, _, value = option.partition("=")
            rest = rest.strip()
            if name == "--chmod" and _MODE.fullmatch(value):
                mode = int(value, 8)
            elif not (name == "--chown" and value in ("root", "root:root", "0", "0:0")):
                self._refuse(f"COPY {option} cannot be replayed, only --chmod=OCTAL and --chown=root:root")
        listed = self._listed(rest)
        words = [self._filled(word) for word in (listed if listed is not None else rest.split())]
        if len(words) < 2 or "<<" in rest:
            self._refuse("expected COPY SOURCE … TARGET")
        *sources, target = words
        if any(".." in PurePosixPath(source).parts for source in sources):
            self._refuse("a source lies outside environment/; put what is copied below it")
        slash = "/" if target.endswith(("/", "/.")) or target == "." else ""
        if len(sources) > 1 and not slash:
            self._refuse("several sources need a target that ends in /")
        path = self._absolute(target)
        self.steps.append(Copy(self._line[0], tuple(sources), path if path == "/" else path + slash, mode))

    def _absolute(self, path: str) -> str:
        # Two slashes at the front survive normpath.
        return "/" + posixpath.normpath(posixpath.join(self.workdir, path)).lstrip("/")

    def _listed(self, rest: str) -> list[str] | None:
        if not rest.startswith("["):
            return None
        try:
            words: Any = json_value(rest)
        except ValueError:
            return None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return None
        return [str(word) for word in words]

    def _unquoted(self, value: str) -> str:
        """Return a value without its quotes; a quoted or escaped `$` stays escaped until variables are filled in."""
        pieces = re.findall(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|(\\.|[^\\'\"]+)", value, re.DOTALL)
        if not value:
            return ""
        literal = [re.sub(r"\$", r"\\$", single) for single, _, _ in pieces]
        return "".join(
            quoted or re.sub(r"\\([^$])", r"\1", double or plain)
            for quoted, (_, double, plain) in zip(literal, pieces, strict=True)
        )

    def _filled(self, value: str) -> str:
        variables = {**self.base_env, **self.arguments, **self.env}

        def fill(match: re.Match[str]) -> str:
            if match[0] == "\\$":
                return "$"
            given, sign, other = variables.get(match[1] or match[2]), match[3], match[4]
            if sign == "+":
                return other if given else ""
            return given or other or "" if sign == "-" else given or ""

        return _VARIABLE.sub(fill, value)

    def _refuse(self, reason: str) -> NoReturn:
        number, line = self._line
        shown = line if len(line) <= 120 else line[:120] + "…"
        raise ConfigError(
            f"{self.file}:{number}: {reason} (line: {shown}); rewrite the line, or run the task with Docker or Podman"
        )


PLAIN_IMAGES = frozenset({"bash", "buildpack-deps", "debian", "python", "scratch", "ubuntu"})
"""Images for which the host's programs can stand in."""

_SKELETON = "mkdir -p /app /home /opt /root /srv /tmp /var/tmp /var/log /logs/agent && chmod 1777 /tmp /var/tmp"
_ROOT = (None, "root", "0")
_SHOWN = 1500
_DEFAULT = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class BubblewrapBackend:
    """Makes environments of tasks whose Dockerfile can be replayed; each is built once and kept until `close`.

    Args:
        limits: limits of one environment.

    Raises:
        IsolationError: if bubblewrap does not work here.
    """

    def __init__(self, limits: ContainerLimits | None = None) -> None:
        # Fail before starting anything that could not continue.
        reason = available()
        if reason is not None:
            raise IsolationError(f"container tasks cannot be isolated: {reason}")
        self.limits = limits or ContainerLimits()
        self._own = EngineFolder()
        self._folder = self._own.path
        self._built: dict[str, asyncio.Task[Image]] = {}

    async def build(self, task: ContainerTask) -> Image:
        """Return a task's environment in its initial state (the same one for the same task).

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
            # All waiting callers get the error; a later caller builds again.
            if building.done() and self._built.get(key) is building:
                del self._built[key]
            raise

    def sandbox(self, task: ContainerTask, image: Image, phase: Phase) -> BubblewrapSandbox:
        """Return a sandbox of an image, not yet started."""
        return BubblewrapSandbox(task, image, phase, self.limits, self._folder)

    async def discard(self, image: Image) -> None:
        """Remove an image saved by a sandbox."""
        await asyncio.to_thread(Path(image.name).unlink, missing_ok=True)

    async def close(self) -> None:
        """Remove all images."""
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
    """Check that a task's environment needs only a Dockerfile and the user root.

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
    """Return variables with their defaults filled in; no host variables are used.

    Raises:
        ConfigError: if a variable of the host is required without a default.
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
