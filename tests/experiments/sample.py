"""Small suites in a real sandbox, and what must be equal between two runs of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from heredity.bench.stores import facts
from heredity.configuration.config import Config
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.sandbox.isolation import resolve as resolve_isolation

__all__ = ["SOURCE", "command", "config", "facts", "heredity", "isolated", "run", "write_suite"]

SOURCE = Path(__file__).parents[2] / "src"

_TOML = """
[run]
tasksets = ["gymnasium/CartPole-v1"]
{run}
[evolver]
{evolver}
[budget]
episodes = {episodes}
[views]
validation = 2
heldout = 3
[engine]
workers = 1
"""


def config(**sections: dict[str, Any]) -> Config:
    """A run of seconds; sections are merged into it."""
    data: dict[str, dict[str, Any]] = {
        "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "small"},
        "evolver": {"method": "best-of-n"},
        "budget": {"episodes": 6},
        "views": {"validation": 2, "heldout": 3},
        "engine": {"workers": 1},
    }
    for name, section in sections.items():
        data[name] = {**data.get(name, {}), **section}
    return resolve(data)


def run(folder: Path, chosen: Config | None = None) -> SuiteResult:
    """Run or continue a suite."""
    return asyncio.run(run_suite(folder, open_suite(folder, chosen)))


def write_suite(folder: Path, *, episodes: int = 6, run: str = "", evolver: str = 'method = "best-of-n"') -> Path:
    """Write a suite of seconds as a file."""
    path = folder / "small.toml"
    path.write_text(_TOML.format(run=run, evolver=evolver, episodes=episodes))
    return path


def command(*arguments: str | Path) -> list[str]:
    """The command line of a `heredity` process."""
    return [sys.executable, "-m", "heredity", *map(str, arguments)]


def heredity(*arguments: str | Path, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `heredity` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "100", **options.pop("env", {})}
    return subprocess.run(
        command(*arguments),
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        cwd=cwd,
        env=environment,
        **options,
    )


def isolated() -> bool:
    """Whether policies can be confined on this machine."""
    from heredity._core.errors import IsolationError

    try:
        resolve_isolation(unsafe=False)
    except IsolationError:
        return False
    return True
