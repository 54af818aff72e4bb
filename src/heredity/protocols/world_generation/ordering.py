"""From what somebody asks for on a command line to a suite of runs, and from the suite to what came of each theme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity.configuration.config import Config
from heredity.errors import ConfigError
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.protocols.world_generation.metrics import runs_of
from heredity.protocols.world_generation.setting import LIBRARY
from heredity.worlds.themes.taskset import PREFIX

PROTOCOL = "world-generation"
THEMES, REPLIES = "themes.toml", "themes.jsonl"
"""The file of a suite's folder that holds its themes, and the one that holds what a model was asked about them."""


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
        folder: the suite's, with its file of themes.
        model: what the author asks; empty for an author with an account of its own.
        author: the built-in one by default; else a launcher's name or its folder.
        builds: most builds of a theme.
        cost_usd: most dollars of a theme.
        parallel: runs at the same time.

    Raises:
        ConfigError: if no model is named and the author needs one, or something is unknown.
    """
    built_in = author in ("", WorldAuthor.name)
    if built_in and not model:
        raise ConfigError(
            "no model is named for the author to ask; add --model openai/gpt-5 or the like; offline/world-author is there to try it"
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
    """Return what came of each theme, as JSON values; `found` says at which gates and why a world was rejected."""
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
