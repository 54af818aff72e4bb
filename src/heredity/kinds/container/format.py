"""The Harbor task format, read from a folder: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`.

Supports schema version 1.4 and older forms: `version` for `schema_version`, `memory` and `storage` with units,
`allow_internet`. Unknown keys are tolerated, and listed in `ContainerTask.unknown_keys`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from heredity._core.errors import ConfigError
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import reading
from heredity.sandbox.containers.task import (
    NETWORK_MODES,
    AgentPart,
    Artifact,
    CollectHook,
    ContainerTask,
    EnvironmentPart,
    Healthcheck,
    NetworkPolicy,
    StepPart,
    VerifierPart,
)


class Section:
    """One table of a file.

    Args:
        file: the file, for messages.
        key: its dotted name in the file; empty for the whole file.
        values: the parsed values.
        unknown: collects the dotted names of unread keys.
    """

    def __init__(self, file: Path, key: str, values: Mapping[str, Any], unknown: list[str]) -> None:
        self.file = file
        self._key, self._values, self._unknown = key, values, unknown
        self._asked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Reject the value of a key.

        Raises:
            ConfigError: naming the file, the key, the value and the expected form.
        """
        given = repr(self._values.get(name))
        raise ConfigError(
            f"{self.file}: {self._name(name)} is {given if len(given) <= 100 else given[:100] + '…'}; "
            f"expected {expected}; correct it or leave the key out"
        )

    def text(self, name: str) -> str | None:
        """Return a text, or None if the key is absent."""
        return self._value(name, "a text", lambda value: isinstance(value, str))

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """Return one of some texts, or None if the key is absent."""
        return self._value(name, " or ".join(map(repr, choices)), lambda value: value in choices)

    def flag(self, name: str) -> bool | None:
        """Return true or false, or None if the key is absent."""
        return self._value(name, "true or false", lambda value: isinstance(value, bool))

    def positive(self, name: str) -> float | None:
        """Return a finite number above 0, or None if the key is absent."""
        number = self._value(name, "a finite number above 0", lambda value: _is_number(value) and value > 0)
        return None if number is None else float(number)

    def number(self, name: str) -> float | None:
        """Return a finite number, or None if the key is absent."""
        given = self._value(name, "a finite number", _is_number)
        return None if given is None else float(given)

    def numbers(self, name: str) -> float | dict[str, float] | None:
        """Return a finite number or a table of them, or None if the key is absent."""
        return self._value(
            name,
            "a finite number, or a table of finite numbers",
            lambda value: all(map(_is_number, value.values())) if isinstance(value, dict) else _is_number(value),
        )

    def count(self, name: str, least: int = 0) -> int | None:
        """Return a whole number of at least `least`, or None if the key is absent."""
        return self._value(
            name,
            f"a whole number, {least} or more",
            lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least,
        )

    def user(self, name: str = "user") -> str | None:
        """Return the name or the number of a user as a text, or None if the key is absent."""
        given = self._value(name, "a user's name or number", lambda value: type(value) in (str, int))
        return None if given is None else str(given)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if the key is absent."""
        given = self._value(name, "a list of texts", lambda value: isinstance(value, list) and _all_text(value))
        return tuple(given or ())

    def variables(self, name: str = "env") -> dict[str, str]:
        """Return a table of texts; empty if the key is absent."""
        given = self._value(
            name, "a table of texts", lambda value: isinstance(value, dict) and _all_text(list(value.values()))
        )
        return dict(given or {})

    def table(self, name: str) -> dict[str, Any]:
        """Return a table unchanged; empty if the key is absent."""
        return dict(self._value(name, "a table", lambda value: isinstance(value, dict)) or {})

    def items(self, name: str) -> tuple[Any, ...]:
        """Return a list unchanged; empty if the key is absent."""
        return tuple(self._value(name, "a list", lambda value: isinstance(value, list)) or ())

    def section(self, name: str) -> Section:
        """Return a table as a section; an empty one if the key is absent."""
        return Section(self.file, self._name(name), self.table(name), self._unknown)

    def sections(self, name: str) -> list[Section]:
        """Return a list of tables as sections; empty if the key is absent."""
        tables = self.items(name)
        if not all(isinstance(item, dict) for item in tables):
            self.refuse(name, "a list of tables")
        return self.entries(name, "")

    def entries(self, name: str, key: str) -> list[Section]:
        """Return a list of tables as sections; a text stands for a table with only this key."""
        entries = self.items(name)
        if not all(isinstance(entry, str | dict) for entry in entries):
            self.refuse(name, "a list of texts and tables")
        tables: list[dict[str, Any]] = [{key: entry} if isinstance(entry, str) else entry for entry in entries]
        return [
            Section(self.file, f"{self._name(name)}[{index}]", table, self._unknown)
            for index, table in enumerate(tables)
        ]

    def close(self) -> None:
        """List the keys that were not read."""
        self._unknown += [self._name(name) for name in self._values if name not in self._asked]

    def _name(self, name: str) -> str:
        return f"{self._key}.{name}" if self._key else name

    def _value(self, name: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._asked.add(name)
        if name not in self._values:
            return None
        if not fits(self._values[name]):
            self.refuse(name, expected)
        return self._values[name]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


SCHEMA_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
"""Supported versions of the format."""

_VERIFIERS = (PurePosixPath("/tests"), PurePosixPath("/logs/verifier"))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_STEP_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG])", re.IGNORECASE)
_MIB = {"K": 1 / 1024, "M": 1.0, "G": 1024.0}


def read_task(folder: Path) -> ContainerTask:
    """Read a task folder.

    Raises:
        ConfigError: if a file is missing or a value is wrong; the message names the file, the key, the value and the remedy.
    """
    folder = folder.expanduser().absolute()
    file = folder / "task.toml"
    unknown: list[str] = []
    top = Section(file, "", _parsed(file), unknown)
    schema = _schema_version(top)
    about = top.section("task")
    name = about.text("name")
    if name is not None and (_NAME.fullmatch(name) is None or ".." in name):
        about.refuse("name", "org/name, of letters, digits, dots, hyphens and underscores")
    agent, verifier = _agent(top.section("agent")), _verifier(top.section("verifier"))
    steps = tuple(_step(folder, section, agent, verifier) for section in top.sections("steps"))
    if len({step.name.casefold() for step in steps}) < len(steps):
        top.refuse("steps", "names that differ")
    solution = top.section("solution")
    task = ContainerTask(
        folder=folder,
        name=name or folder.name,
        schema_version=schema,
        instruction=steps[0].instruction if steps else _required(folder / "instruction.md"),
        version=about.text("version") or "",
        description=about.text("description") or "",
        keywords=about.texts("keywords"),
        metadata=top.table("metadata"),
        environment=_environment(top.section("environment")),
        agent=agent,
        verifier=verifier,
        solution_env=solution.variables(),
        steps=steps,
        step_rewards=top.choice("multi_step_reward_strategy", ("mean", "final")) or "mean",
        artifacts=_artifacts(top),
    )
    about.items("authors")
    top.text("source")
    for section in (about, solution, top):
        section.close()
    _check_files(task)
    object.__setattr__(task, "unknown_keys", tuple(unknown))
    return task


def _parsed(file: Path) -> dict[str, Any]:
    text = _required(file)
    with reading(file, "TOML", "correct that line"):
        return toml_table(text)


def _required(file: Path) -> str:
    with reading(file, "UTF-8 text", "add or correct it: every task of the Harbor format has it"):
        return read_text(file)


def _schema_version(top: Section) -> str:
    key = "schema_version" if "schema_version" in top else "version"
    version = top.text(key)
    if key == "schema_version":
        top.text("version")
    if version is not None and version not in SCHEMA_VERSIONS:
        top.refuse(key, f"one of {', '.join(SCHEMA_VERSIONS)}")
    return version or SCHEMA_VERSIONS[-1]


def _check_files(task: ContainerTask) -> None:
    if not (task.environment_folder / "Dockerfile").is_file() and not (
        task.compose_file or task.environment.docker_image
    ):
        raise ConfigError(
            f"{task.environment_folder} has neither a Dockerfile nor a compose file, and {task.folder / 'task.toml'} "
            "names no environment.docker_image; add one of them"
        )
    if not task.steps and not (task.tests_folder / "test.sh").is_file():
        raise ConfigError(f"{task.tests_folder / 'test.sh'} does not exist; a task needs it to be verified")
    if task.separate:
        _check_separate(task)


def _check_separate(task: ContainerTask) -> None:
    file, own = task.folder / "task.toml", task.verifier.environment
    if own is not None and own.docker_image is None and not (task.tests_folder / "Dockerfile").is_file():
        raise ConfigError(
            f"{file}: verifier.environment has no docker_image, and {task.tests_folder} no Dockerfile; add one of them, or leave "
            "verifier.environment out, so that the verifier runs in a fresh copy of the task's own environment"
        )
    for source in (PurePosixPath(artifact.source) for artifact in task.artifacts):
        for reserved in _VERIFIERS:
            if source.is_relative_to(reserved) or reserved.is_relative_to(source):
                raise ConfigError(
                    f"{file}: artifacts names {source}, and {reserved} is the verifier's own; name the agent's files elsewhere"
                )


def _network(section: Section) -> NetworkPolicy | None:
    mode, hosts = section.choice("network_mode", NETWORK_MODES), section.texts("allowed_hosts")
    if hosts and mode != "allowlist":
        section.refuse("allowed_hosts", 'it only beside network_mode = "allowlist"')
    return None if mode is None else NetworkPolicy(mode, hosts)


def _agent(section: Section) -> AgentPart:
    part = AgentPart(section.positive("timeout_sec"), section.user(), _network(section))
    section.close()
    return part


def _verifier(section: Section) -> VerifierPart:
    own = _environment(section.section("environment")) if "environment" in section else None
    mode = section.choice("environment_mode", ("shared", "separate"))
    if own is not None and mode == "shared":
        section.refuse("environment_mode", "'separate' beside an environment of the verifier's own")
    part = VerifierPart(
        timeout_s=section.positive("timeout_sec") or VerifierPart.timeout_s,
        env=section.variables(),
        user=section.user(),
        network=_network(section),
        environment_mode=mode or ("separate" if own else "shared"),
        environment=own,
        collect=tuple(map(_hook, section.sections("collect"))),
    )
    section.close()
    return part


def _hook(section: Section) -> CollectHook:
    command = section.text("command") or section.refuse("command", "a command for the shell")
    if section.user() not in (None, "root", "0"):
        section.refuse("user", "root: what others may do is not kept apart")
    _main_service(section)
    hook = CollectHook(command, section.positive("timeout_sec") or CollectHook.timeout_s)
    section.close()
    return hook


def _artifacts(parent: Section) -> tuple[Artifact, ...]:
    return tuple(map(_artifact, parent.entries("artifacts", "source")))


def _artifact(section: Section) -> Artifact:
    source = section.text("source") or section.refuse("source", "an absolute path")
    path = PurePosixPath(source)
    if not path.is_absolute() or ".." in path.parts:
        section.refuse("source", "an absolute path without ..")
    _main_service(section)
    # The target of a copy for people, which is not made here.
    section.text("destination")
    artifact = Artifact(path.as_posix(), section.texts("exclude"))
    section.close()
    return artifact


def _main_service(section: Section) -> None:
    if section.text("service") not in (None, "main"):
        section.refuse("service", "'main': there are no services beside it")


def _environment(section: Section) -> EnvironmentPart:
    internet, network = section.flag("allow_internet"), _network(section)
    if network is None:
        network = NetworkPolicy("no-network" if internet is False else "public")
    system = (section.text("os") or "linux").lower()
    if system not in ("linux", "windows"):
        section.refuse("os", "'linux' or 'windows'")
    part = EnvironmentPart(
        build_timeout_s=section.positive("build_timeout_sec") or EnvironmentPart.build_timeout_s,
        docker_image=section.text("docker_image"),
        os=system,
        cpus=section.positive("cpus"),
        memory_mb=section.count("memory_mb", 1) or _mebibytes(section, "memory"),
        storage_mb=section.count("storage_mb", 1) or _mebibytes(section, "storage"),
        gpus=section.count("gpus"),
        env=section.variables(),
        workdir=section.text("workdir"),
        network=network,
        mcp_servers=section.items("mcp_servers"),
        skills_dir=section.text("skills_dir"),
        healthcheck=_healthcheck(section),
    )
    section.items("gpu_types")
    section.table("tpu")
    section.close()
    return part


def _mebibytes(section: Section, name: str) -> int | None:
    written = section.text(name)
    if written is None:
        return None
    match = _SIZE.fullmatch(written.strip())
    if match is None:
        section.refuse(name, "a size such as '512M' or '2G'")
    return max(1, int(float(match[1]) * _MIB[match[2].upper()]))


def _healthcheck(parent: Section) -> Healthcheck | None:
    if "healthcheck" not in parent:
        return None
    section, usual = parent.section("healthcheck"), Healthcheck("")
    command = section.text("command") or section.refuse("command", "a command for the shell")
    start = section.number("start_period_sec")
    healthcheck = Healthcheck(
        command,
        section.positive("interval_sec") or usual.interval_s,
        section.positive("timeout_sec") or usual.timeout_s,
        usual.start_period_s if start is None else start,
        section.positive("start_interval_sec") or usual.start_interval_s,
        section.count("retries", 1) or usual.retries,
    )
    section.close()
    return healthcheck


def _step(folder: Path, section: Section, agent: AgentPart, verifier: VerifierPart) -> StepPart:
    name = section.text("name")
    if name is None or _STEP_NAME.fullmatch(name) is None:
        section.refuse("name", "the name of a folder below steps/")
    own_agent, own = _agent(section.section("agent")), section.section("verifier")
    own_verifier = _verifier(own)
    step = StepPart(
        name=name,
        instruction=_required(folder / "steps" / name / "instruction.md"),
        agent=AgentPart(
            own_agent.timeout_s or agent.timeout_s, own_agent.user or agent.user, own_agent.network or agent.network
        ),
        verifier=own_verifier if "timeout_sec" in own else replace(own_verifier, timeout_s=verifier.timeout_s),
        min_reward=section.numbers("min_reward"),
        healthcheck=_healthcheck(section),
        artifacts=_artifacts(section),
    )
    section.close()
    return step
