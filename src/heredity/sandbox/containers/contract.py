"""Sandboxes for container tasks: what runs commands in a task's environment, and what makes such environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from heredity.errors import ConfigError
from heredity.tasks.containers import ContainerTask

AGENT_S = 3600.0
"""Wall seconds for an agent where the task sets no bound."""


@dataclass(frozen=True, slots=True)
class ContainerLimits:
    """What one environment may use; a task that asks for less gets less, one that asks for more does not get more.

    Attributes:
        memory_bytes: memory of all processes together.
        disk_bytes: size of everything that is written, in memory.
        processes: most processes at once.
        files: most files, folders and links that an environment may have when it is kept.
        output_bytes: how much of stdout and of stderr of a command is kept, half from its beginning and half from its end.
    """

    memory_bytes: int = 2 << 30
    disk_bytes: int = 1 << 30
    processes: int = 512
    files: int = 100_000
    output_bytes: int = 256 << 10

    def __post_init__(self) -> None:
        for name in ("memory_bytes", "disk_bytes", "processes", "files", "output_bytes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected 1 or more")

    def memory(self, task: ContainerTask) -> int:
        """Return the bytes of memory for a task."""
        return min(self.memory_bytes, (task.environment.memory_mb or 1 << 20) << 20)

    def disk(self, task: ContainerTask) -> int:
        """Return the bytes of disk for a task."""
        return min(self.disk_bytes, (task.environment.storage_mb or 1 << 20) << 20)


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a command ended.

    Attributes:
        code: its exit code; 128 + N when signal N ended it.
        stdout: what it printed, with a note in the middle where it was too much.
        stderr: likewise.
        reason: `"exited"`, `"timeout"`, `"memory"` or `"processes"` (ended for using too much), `"not_started"`.
        seconds: wall time.
    """

    code: int
    stdout: str
    stderr: str
    reason: str = "exited"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Image:
    """An environment at rest, from which sandboxes start.

    Attributes:
        name: what its backend knows it by.
        env: variables of every command.
        workdir: where commands start.
    """

    name: str
    env: Mapping[str, str]
    workdir: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What was found when everything in a sandbox was ended.

    Attributes:
        image: what is left on its disk.
        processes: command lines of the processes that were still running.
        discarded: what lay where the verifier's own files go, links to there or to the kernel's files, pipes, sockets and devices;
            none of it is in the image.
        disk_full: whether the disk had no room left.
        exceeded: the last bound that ended its processes, `"memory"` or `"processes"`, or nothing.
    """

    image: Image
    processes: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    disk_full: bool = False
    exceeded: str = ""


@dataclass(frozen=True, slots=True)
class Phase:
    """What a sandbox is for.

    Attributes:
        building: whether an image is made in it: what it has at `/tests` then is the image's.
        verifying: whether it is the verifier's: `/logs/verifier` and its home are then fresh mounts, and nothing that an image
            or an agent says makes a program load other code than its own (`verifiers_variables`).
        env: variables beyond the image's.
    """

    building: bool = False
    verifying: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])


HIJACKING = (
    *("BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH", "IFS"),
    *("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH", "LOCPATH"),
    *("PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTEST_ADDOPTS"),
    *("PYTEST_PLUGINS", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS"),
    *("GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "EDITOR", "VISUAL", "PAGER"),
)
"""Variables that make a program load or start others. An image's own do not reach the verifier; those of `verifier.env` do."""

GUARD = "/run/heredity"
"""Where a sandbox keeps what is its own: nothing there is in any image."""

HOME = f"{GUARD}/home"
"""The verifier's home."""

_GIT = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "safe.directory=*")


def verifiers_variables(image: Mapping[str, str], own: Mapping[str, str], system: str) -> dict[str, str]:
    """Return the variables of a verifier: clean, but for what its task gives it.

    Python finds its own modules and packages first, and the folder it works in last (`guard/sitecustomize.py`).

    Args:
        image: those of its image.
        own: those that its task gives it.
        system: PATH of folders that an agent cannot write to.
    """
    variables = {name: value for name, value in {**image, **own}.items() if name in own or name not in HIJACKING}
    settings = [setting.split("=", 1) for setting in _GIT]
    return {
        **variables,
        "HOME": HOME,
        "PATH": f"{system}:{own['PATH']}" if "PATH" in own else system,
        "PYTHONNOUSERSITE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": f"{GUARD}/python",
        "HEREDITY_PYTHONPATH": variables.get("PYTHONPATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{index}": key for index, (key, _) in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{index}": value for index, (_, value) in enumerate(settings)},
    }


class ContainerSandbox(Protocol):
    """An environment in which commands run. One command runs at a time; what it leaves running goes on."""

    async def start(self) -> None:
        """Make it ready for commands.

        Raises:
            IsolationError: if this machine cannot.
            CandidateError: if the image cannot be restored.
        """
        ...

    async def exec(
        self, command: str, *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None, workdir: str | None = None
    ) -> ExecResult:
        """Run a command with bash and wait for it.

        Raises:
            HostError: if the sandbox is gone.
        """
        ...

    async def upload(self, source: Path, target: str, *, mode: int | None = None) -> None:
        """Put a file at a path, or a folder's content into a folder.

        Raises:
            CandidateError: if there is no room for it, or something is in its way.
        """
        ...

    async def download(self, source: str, target: Path) -> None:
        """Fetch a file to a path, or a folder's content into a folder: files and folders only, no links.

        Raises:
            CandidateError: if there is nothing there, or too much.
        """
        ...

    async def quiet(self) -> None:
        """End every process in it."""
        ...

    async def stop(self) -> None:
        """End everything in it, and forget it."""
        ...


class KeptSandbox(ContainerSandbox, Protocol):
    """A sandbox whose content can be kept."""

    async def settle(self) -> Settled:
        """End every process in it and keep what is on its disk; only `stop` may follow.

        Raises:
            CandidateError: if there is too much to be kept.
        """
        ...


class Backend(Protocol):
    """Makes environments of tasks."""

    async def build(self, task: ContainerTask) -> Image:
        """Return a task's environment as its agent finds it; the same one for the same task.

        Raises:
            ConfigError: if the task cannot be run by this backend; the message says why.
            IsolationError: if this machine cannot isolate it.
        """
        ...

    def sandbox(self, task: ContainerTask, image: Image, phase: Phase) -> KeptSandbox:
        """Return a sandbox, not yet started, that begins from an image."""
        ...

    async def discard(self, image: Image) -> None:
        """Forget an image that a sandbox left."""
        ...

    async def close(self) -> None:
        """Forget all images."""
        ...
