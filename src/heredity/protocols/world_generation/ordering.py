"""Turns a command-line request into a suite of runs, and the suite into the outcome of each theme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity.configuration.config import Config
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult
from heredity.kinds.world.themes.taskset import PREFIX
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.protocols.world_generation.metrics import runs_of
from heredity.protocols.world_generation.setting import LIBRARY

PROTOCOL = "world-generation"
THEMES, REPLIES = "themes.toml", "themes.jsonl"
"""Files in a suite's folder: its themes, and the model's replies about them."""


def ordered(
    folder: Path,
    *,
    model: str,
    author: str = "",
    builds: int | None = None,
    cost_usd: float | None = None,
    parallel: int,
) -> Config:
    """Return the configuration of a suite whose themes are in its folder.

    Args:
        folder: the suite's folder, with its file of themes.
        model: the author's model; empty for an author with a separate account.
        author: a launcher's name or its folder; built-in by default.
        builds: maximum builds per theme.
        cost_usd: maximum cost per theme, in US dollars.
        parallel: runs at the same time.

    Raises:
        ConfigError: if the author needs a model and none is set, or a name is unknown.
    """
    built_in = author in ("", WorldAuthor.name)
    if built_in and not model:
        raise ConfigError(
            "the author needs a model; add --model, such as openai/gpt-5, or offline/world-author to try it"
        )
    evolver = {"method": WorldAuthor.name} if built_in else {"launcher": author, **({"model": model} if model else {})}
    budget = {key: value for key, value in (("builds", builds), ("cost_usd", cost_usd)) if value is not None}
    return resolve(
        {
            "run": {"protocol": PROTOCOL, "tasksets": [f"{PREFIX}{folder.absolute() / THEMES}"], "name": folder.name},
            "evolver": evolver,
            "budget": budget,
            "engine": {"parallel_runs": parallel},
            **({"gateway": {"optimisation": model}} if built_in else {}),
        }
    )


def outcome(result: SuiteResult) -> list[Mapping[str, Any]]:
    """Return the outcome of each theme, as JSON values; `found` lists the gates that rejected a world, and why."""
    rows: list[Mapping[str, Any]] = []
    for run, part in runs_of(result.runs):
        findings = [finding for gate in part.gates for finding in gate.findings]
        rows.append(
            {
                **part.model_dump(
                    mode="json", include={"world", "theme", "source", "reviewed", "admitted", "first_failed"}
                ),
                "run": run.run_id,
                "builds": len(part.builds),
                "found": [f"{one.gate}: {one.kind}: {one.message}" for one in findings],
                "tokens": part.tokens,
                "cost_usd": part.cost_usd,
                "folder": str(result.folder / LIBRARY / part.world) if part.admitted else None,
            }
        )
    return rows
