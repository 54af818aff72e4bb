"""What a task of the Harbor format is: frozen values, read from a folder by `heredity.tasks.containers.format`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

NETWORK_MODES = ("no-network", "public", "allowlist")
"""What `network_mode` may be."""

_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")


@dataclass(frozen=True)
class NetworkPolicy:
    """What may be reached: `mode` is one of `NETWORK_MODES`, `hosts` those of an allow-list."""

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
    """`[environment]`: where the agent works.

    Attributes:
        build_timeout_s: wall seconds for building it.
        docker_image: a prebuilt image that takes the place of the Dockerfile.
        os: `"linux"` or `"windows"`.
        cpus: processors, or None if the task does not say.
        memory_mb: memory in MiB, or None.
        storage_mb: disk in MiB, or None.
        gpus: accelerators, or None.
        env: variables; values may name variables of the host as `${NAME}` or `${NAME:-default}`.
        workdir: where commands start, instead of the Dockerfile's last WORKDIR.
        network: what may be reached; Harbor's default is everything.
        mcp_servers: the servers of tools that the agent is to be given, as they are written.
        skills_dir: a folder of skills in the environment.
        healthcheck: what must succeed before the agent starts.
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
    """`[agent]`: wall seconds for the agent (None: no bound), its user, and a network policy of its own."""

    timeout_s: float | None = None
    user: str | None = None
    network: NetworkPolicy | None = None


@dataclass(frozen=True)
class Artifact:
    """What a separate verifier gets of the agent's environment, at the same path: a file, or a folder's content.

    Attributes:
        source: absolute path.
        exclude: patterns of what is left out; each stands for the end of a path below the source.
    """

    source: str
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class CollectHook:
    """A command that is run in the agent's environment when the agent is done, before artifacts are taken; in wall seconds."""

    command: str
    timeout_s: float = 60.0


@dataclass(frozen=True)
class VerifierPart:
    """`[verifier]`: wall seconds for `tests/test.sh`, its variables and user, and where it runs.

    `environment_mode` is `"shared"` or `"separate"`; a separate verifier has an environment of its own.
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
    """One of `[[steps]]`: a stage of a task with an instruction and a verifier of its own, in `steps/NAME/`.

    `min_reward` is what a step must reach for the next one to begin: a number for the reward of that name, or one each.
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
        folder: where it is, absolute.
        name: `"org/name"`, or the folder's name if the file does not say.
        schema_version: of the format.
        instruction: what the agent is told; of a task in steps, that of the first.
        version: of the task; empty if it does not say.
        description: for people.
        keywords: to search by.
        metadata: whatever its author keeps about it.
        environment: where the agent works.
        agent: the agent's bounds.
        verifier: the verifier's bounds.
        solution_env: variables for `solution/solve.sh`.
        steps: the stages of a task in steps; empty for all others.
        step_rewards: how the rewards of steps become one: `"mean"` or `"final"`.
        artifacts: what a separate verifier gets of the agent's environment.
        unknown_keys: dotted names of keys that the format does not know.
        build_folder: the folder with the Dockerfile, where it is another than `environment/`.
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
        """The folder with the Dockerfile and what it copies."""
        return self.build_folder or self.folder / "environment"

    @property
    def tests_folder(self) -> Path:
        """The folder with `test.sh`."""
        return self.folder / "tests"

    @property
    def solution_folder(self) -> Path | None:
        """The folder with `solve.sh`, or None if there is no solution."""
        solution = self.folder / "solution"
        return solution if (solution / "solve.sh").is_file() else None

    @property
    def compose_file(self) -> Path | None:
        """The compose file of a task with several containers, or None."""
        return next((path for name in _COMPOSE if (path := self.environment_folder / name).is_file()), None)

    @property
    def separate(self) -> bool:
        """Whether the verifier runs in an environment of its own, of which the agent has touched the artifacts alone."""
        return self.verifier.environment_mode == "separate"

    @property
    def verifier_task(self) -> ContainerTask:
        """The task as its verifier's environment is made of it; the task itself where the verifier shares the agent's.

        A Dockerfile in `tests/` makes the environment, and puts there what it needs, or else the image that the verifier's
        part names; where there is neither, it is the task's own as it was before the agent.
        """
        if not self.separate:
            return self
        environment = self.verifier.environment or self.environment
        own = (self.tests_folder / "Dockerfile").is_file() or self.verifier.environment is not None
        return replace(self, environment=environment, build_folder=self.tests_folder if own else None)

    @cached_property
    def digest(self) -> str:
        """Digest of every file of the folder with its path: it changes whenever the task does."""
        return digest_folder(self.folder)


def digest_folder(folder: Path) -> str:
    """Return one digest of the paths, contents, links and executable bits below a folder; `__pycache__` does not count."""
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
