"""Tasks of the Harbor format: frozen values, read from a folder by `heredity.kinds.container.format`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

NETWORK_MODES = ("no-network", "public", "allowlist")
"""Values of `network_mode`."""

_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")


@dataclass(frozen=True)
class NetworkPolicy:
    """Network access: `mode` is one of `NETWORK_MODES`, `hosts` those of an allow-list."""

    mode: str
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Healthcheck:
    """A command that must succeed before the agent starts; times in seconds."""

    command: str
    interval_s: float = 5.0
    timeout_s: float = 30.0
    start_period_s: float = 0.0
    start_interval_s: float = 5.0
    retries: int = 3


@dataclass(frozen=True)
class EnvironmentPart:
    """`[environment]`: the agent's environment.

    Attributes:
        build_timeout_s: wall seconds for building it.
        docker_image: a prebuilt image that replaces the Dockerfile.
        os: `"linux"` or `"windows"`.
        cpus: processors, or None if unspecified.
        memory_mb: memory in MiB, or None.
        storage_mb: disk in MiB, or None.
        gpus: accelerators, or None.
        env: variables; values may name variables of the host as `${NAME}` or `${NAME:-default}`.
        workdir: initial folder of commands, replacing the Dockerfile's last WORKDIR.
        network: network access (Harbor's default is unrestricted).
        mcp_servers: tool servers for the agent, unparsed.
        skills_dir: a folder of skills in the environment.
        healthcheck: a command that must succeed before the agent starts.
    """

    build_timeout_s: float = 600.0
    docker_image: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    workdir: str | None = None
    network: NetworkPolicy = NetworkPolicy("public")
    mcp_servers: tuple[Mapping[str, Any], ...] = ()
    skills_dir: str | None = None
    healthcheck: Healthcheck | None = None


@dataclass(frozen=True)
class AgentPart:
    """`[agent]`: wall seconds for the agent (None for no limit), its user, and its network policy."""

    timeout_s: float | None = None
    user: str | None = None
    network: NetworkPolicy | None = None


@dataclass(frozen=True)
class Artifact:
    """A file or a folder's content of the agent's environment, copied to the same path for a separate verifier.

    Attributes:
        source: absolute path.
        exclude: patterns of excluded files; each matches the end of a path below the source.
    """

    source: str
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class CollectHook:
    """A command run in the agent's environment when the agent is done, before artifacts are taken; in wall seconds."""

    command: str
    timeout_s: float = 60.0


@dataclass(frozen=True)
class VerifierPart:
    """`[verifier]`: wall seconds for `tests/test.sh`, its variables and user, and its environment.

    `environment_mode` is `"shared"` or `"separate"`; a separate verifier has another environment than the agent.
    """

    timeout_s: float = 600.0
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str | None = None
    network: NetworkPolicy | None = None
    environment_mode: str = "shared"
    environment: EnvironmentPart | None = None
    collect: tuple[CollectHook, ...] = ()


@dataclass(frozen=True)
class StepPart:
    """One of `[[steps]]`: a stage of a task with a separate instruction and verifier, in `steps/NAME/`.

    `min_reward` is the minimum for continuing with the next step: a number for the reward of that name, or one each.
    """

    name: str
    instruction: str
    agent: AgentPart
    verifier: VerifierPart
    min_reward: float | Mapping[str, float] | None = None
    healthcheck: Healthcheck | None = None
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True)
class ContainerTask:
    """A task folder.

    Attributes:
        folder: its absolute path.
        name: `"org/name"`, or the folder's name if the file has none.
        schema_version: of the format.
        instruction: the agent's instruction; for a task in steps, that of the first.
        version: of the task; empty if unspecified.
        description: for people.
        keywords: search terms.
        metadata: the author's data about it.
        environment: the agent's environment.
        agent: the agent's limits.
        verifier: the verifier's limits.
        solution_env: variables for `solution/solve.sh`.
        steps: the stages of a task in steps; empty for all others.
        step_rewards: aggregation of the steps' rewards: `"mean"` or `"final"`.
        artifacts: files of the agent's environment for a separate verifier.
        unknown_keys: dotted names of keys unknown to the format.
        build_folder: the folder with the Dockerfile, if it is not `environment/`.
    """

    folder: Path
    name: str
    schema_version: str
    instruction: str
    version: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    environment: EnvironmentPart = field(default_factory=EnvironmentPart)
    agent: AgentPart = field(default_factory=AgentPart)
    verifier: VerifierPart = field(default_factory=VerifierPart)
    solution_env: Mapping[str, str] = field(default_factory=dict[str, str])
    steps: tuple[StepPart, ...] = ()
    step_rewards: str = "mean"
    artifacts: tuple[Artifact, ...] = ()
    unknown_keys: tuple[str, ...] = ()
    build_folder: Path | None = None

    @property
    def environment_folder(self) -> Path:
        """The folder with the Dockerfile and its files."""
        return self.build_folder or self.folder / "environment"

    @property
    def tests_folder(self) -> Path:
        """The folder with `test.sh`."""
        return self.folder / "tests"

    @property
    def solution_folder(self) -> Path | None:
        """The folder with `solve.sh`, or None without a solution."""
        solution = self.folder / "solution"
        return solution if (solution / "solve.sh").is_file() else None

    @property
    def compose_file(self) -> Path | None:
        """The compose file of a task with several containers, or None."""
        return next((path for name in _COMPOSE if (path := self.environment_folder / name).is_file()), None)

    @property
    def separate(self) -> bool:
        """True if the verifier runs in a separate environment, in which only the artifacts come from the agent."""
        return self.verifier.environment_mode == "separate"

    @property
    def verifier_task(self) -> ContainerTask:
        """The task of the verifier's environment; the task itself where the verifier shares the agent's.

        A Dockerfile in `tests/` makes the environment and installs its requirements, or else the image named in the
        verifier's part; without either, it is the task's environment from before the agent.
        """
        if not self.separate:
            return self
        environment = self.verifier.environment or self.environment
        own = (self.tests_folder / "Dockerfile").is_file() or self.verifier.environment is not None
        return replace(self, environment=environment, build_folder=self.tests_folder if own else None)

    @cached_property
    def digest(self) -> str:
        """Digest of every file of the folder with its path: changes whenever the task does."""
        return digest_folder(self.folder)


def digest_folder(folder: Path) -> str:
    """Return one digest of the paths, contents, links and executable bits below a folder, ignoring `__pycache__`."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.parts or (path.is_dir() and not path.is_symlink()):
            continue
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            kind, data = "link", os.readlink(path).encode()
        else:
            kind, data = "x" if path.stat().st_mode & 0o100 else "-", path.read_bytes()
        total.update(f"{kind} {len(name)} {name} {len(data)} ".encode() + data)
    return total.hexdigest()
