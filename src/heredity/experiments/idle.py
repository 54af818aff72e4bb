"""Settings that nothing reads: refused before a suite starts, because a setting that has no effect is a wrong result.

Every key that differs from its default must be read in at least one run that has its value. Sections know which of their
keys a run ignores (`Section.idle`), kinds of tasks which keys their runners read (`Needs.reads`), protocols which models
they call (`heredity.protocols.contract.Needs`), and methods whether they call one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from heredity._core.errors import HeredityError
from heredity._core.ids import digest_json
from heredity._core.plugins import located
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import EngineSection, LimitsSection, SolverSection
from heredity.configuration.tools import ToolSection
from heredity.engine.kind import KINDS, Kind
from heredity.experiments.evolvers import initial_candidate
from heredity.experiments.outside_agents import agent_model
from heredity.methods.registry import METHODS
from heredity.models.settings import GatewaySettings
from heredity.protocols.contract import Needs
from heredity.protocols.registry import PROTOCOLS
from heredity.tasks import Taskset

_SPEED = ("engine.workers", "engine.parallel_runs", "engine.unsafe", "run.name", "suite.baselines", "evolver.name")
"""Keys that say how a suite is run and shown; they are never refused."""

_CLIENT = re.compile(rb"BASE_URL|openai|anthropic|litellm|genai", re.IGNORECASE)
"""What the programs of an agent's folder contain if they call a language model."""

_LARGE = 4 << 20

_ASKS = re.compile(r"heredity_harness|\bask\(")
"""What a program that calls a language model contains (`heredity.engine.program`)."""


class Guess(str):
    """A reason found by the words in a user's programs: it may be wrong, so it warns and refuses nothing."""

    __slots__ = ()


def idle_settings(config: Config, cells: Sequence[Cell], tasksets: Mapping[str, Taskset]) -> dict[str, str]:
    """Return the settings that no run of a suite reads, each with the reason and the remedy.

    Args:
        config: the suite's configuration.
        cells: its runs.
        tasksets: the loaded tasksets, by name; runs on others are taken to read everything.
    """
    reasons: dict[str, str] = {}
    read = set[str]()
    present = {digest_json(setting): setting[0] for setting in _settings(config)}
    for cell in cells:
        taskset = tasksets.get(cell.taskset)
        idle = {} if taskset is None or taskset.info.kind not in KINDS else _idle_in(cell, taskset)
        for setting in _settings(cell.config):
            key, own = setting[0], digest_json(setting)
            present.setdefault(own, key)
            if why := idle.get(key) or idle.get(".".join(key.split(".")[:2])):
                reasons.setdefault(own, why)
            else:
                read.add(own)
    found: dict[str, str] = {}
    for own, key in present.items():
        if own not in read:
            found.setdefault(
                key, reasons.get(own, "the matrix sets it in every run; leave it out, or change the matrix")
            )
    return found


def _settings(config: Config) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a configuration that differ from their defaults, with their values."""
    for name in type(config).model_fields:
        section: Any = getattr(config, name)
        if name in ("run", "matrix", "mcp") or isinstance(section, ToolSection):
            continue  # Their own checks refuse what has no effect.
        if not isinstance(section, BaseModel):
            continue
        for key, field in type(section).model_fields.items():
            value: Any = getattr(section, key)
            if key in ("providers", "routes"):
                yield from ((f"{name}.{key}.{own}", table.model_dump(mode="json")) for own, table in value.items())
            elif not field.is_required() and value != field.get_default(call_default_factory=True):  # pyright: ignore[reportCallIssue]
                # Without an evolver, the method is parametric.
                if f"{name}.{key}" in _SPEED or (name, key, value) == ("evolver", "method", "parametric"):
                    continue
                table: Mapping[str, Any] = value if isinstance(value, Mapping) else {"": value}
                yield from (((f"{name}.{key}.{own}" if own else f"{name}.{key}"), one) for own, one in table.items())


def _idle_in(cell: Cell, taskset: Taskset) -> dict[str, str]:
    """Return the keys that one run ignores, with the reasons."""
    config, needs = cell.config, PROTOCOLS.load(cell.config.run.protocol).setting.needs(cell.config)
    sections = config.sections()
    idle = {f"{name}.{key}": why for name, section in sections.items() for key, why in section.idle(config).items()}
    kind = KINDS.load(taskset.info.kind)
    idle |= {key: why for key, why in _idle_for(kind, sections).items() if key not in idle}
    if config.engine.gpus and not needs.gpus:
        idle["engine.gpus"] = "no run leases a GPU; set training.gpus"
    return idle | _idle_models(cell, taskset, kind, needs)


def _idle_for(kind: Kind, sections: Mapping[str, Any]) -> dict[str, str]:
    reads = kind.needs.reads
    if reads is None:
        return {}
    keys = [
        f"{name}.{key}"
        for name, section in sections.items()
        if isinstance(section, LimitsSection | SolverSection)
        for key in type(section).model_fields
    ]
    why = f"tasks of the kind {kind.name!r} do not use it; leave it out"
    examined = [*keys, *(f"engine.{key}" for key in ("lockstep", "containers") if key in EngineSection.model_fields)]
    return {key: why for key in examined if key != "solver.tools" and not any(fnmatch(key, read) for read in reads)}


def proposes(cell: Cell) -> bool:
    """Return whether the method of a run calls the model of `gateway.optimisation`; True for one that cannot be loaded."""
    name = cell.evolver.method
    try:
        return name is not None and getattr(METHODS.load(name), "asks_model", True)
    except HeredityError:  # Its own check names it.
        return True


def calls_nothing(cell: Cell, taskset: Taskset, kind: Kind, needs: Needs) -> set[str]:
    """Return the keys of models that a run certainly does not call."""
    return _certain(_idle_models(cell, taskset, kind, needs))


def _certain(idle: Mapping[str, str]) -> set[str]:
    return {key for key, why in idle.items() if not isinstance(why, Guess)}


def _idle_models(cell: Cell, taskset: Taskset, kind: Kind, needs: Needs) -> dict[str, str]:
    gateway, idle = cell.config.gateway, dict[str, str]()
    if why := _no_candidate_asks(cell, taskset, kind, needs):
        idle["gateway.execution"] = why
    if not needs.roles.get("optimisation", proposes(cell)):
        agent = f"the agent {cell.evolver.label!r}" if cell.evolver.outside else f"the method {cell.evolver.method!r}"
        hint = "set evolver.model" if cell.evolver.outside else "choose another evolver"
        idle["gateway.optimisation"] = f"{agent} calls no model of this role; {hint}, or leave it out"
    if not needs.roles.get("judge", kind.needs.judge and _is_judged(taskset)):
        idle["gateway.judge"] = f"answers to {cell.taskset} are checked by rules, not by a model; leave it out"
    if cell.evolver.model and (why := _silent_agent(cell)):
        idle["evolver.model"] = why
    names = {name for name in models_of(cell, needs, _certain(idle)) if name}
    for name in set(gateway.routes) - names:
        idle[f"gateway.routes.{name}"] = f"no model is called {name!r}; name it, as in gateway.execution={name}"
    for route in names & set(gateway.routes):
        names |= set(gateway.routes[route].models)
    for name in set(gateway.providers) - {one.partition("/")[0] for one in names}:
        example = f"gateway.execution={name}/MODEL"
        idle[f"gateway.providers.{name}"] = (
            f"no model of this provider is called; name one, as in {example}, or remove it"
        )
    if not names:
        why = "no model is called; name one under [gateway], or leave it out"
        spent = (
            "cache",
            "cache_sampled",
            "attempts",
            "concurrent",
            "timeout_s",
            "max_tokens",
            "max_cost_usd",
            "max_calls",
        )
        idle |= {f"gateway.{key}": why for key in spent if key in GatewaySettings.model_fields}
        idle |= {f"budget.{key}": why for key in ("tokens", "cost_usd") if not cell.evolver.outside}
    return idle


def models_of(cell: Cell, needs: Needs, idle: Collection[str] = ()) -> list[str]:
    """Return the names of the models that a run may call, without those of roles in `idle`."""
    gateway = cell.config.gateway
    roles = {name: getattr(gateway, name) for name in ("execution", "optimisation", "judge")}
    own = [name for role, name in roles.items() if f"gateway.{role}" not in idle]
    return [*own, *needs.models, *needs.asks, *([agent_model(cell)] if cell.evolver.outside else [])]


def _no_candidate_asks(cell: Cell, taskset: Taskset, kind: Kind, needs: Needs) -> str:
    """Return why the execution model would never be called; empty if it may be."""
    asked = needs.roles.get("execution")
    if asked is not None:
        return "" if asked else "every agent of the team has a model of its own; leave it out, or remove theirs"
    if cell.evolver.launcher and not cell.evolver.model:
        return _silent_agent(cell)
    if kind.needs.model == "none":
        return f"candidates of the kind {kind.name!r} are programs without a model; leave it out"
    if kind.needs.model == "required" or cell.evolver.outside:
        return ""  # An agent may write a candidate that asks, whatever it begins with.
    try:
        initial = initial_candidate(cell, taskset.info)
    except HeredityError:  # The check of the evolver names it.
        return ""
    texts = [
        content if isinstance(content, str) else bytes(content).decode("utf-8", "replace")
        for part, tree in initial.parts.items()
        if part.startswith("agent/")
        for _, content in tree.items()
    ]
    if not texts or any(_ASKS.search(text) for text in texts):
        return ""
    initial = cell.evolver.initial
    if not _is_shipped(initial):
        return Guess(
            f"the program of evolver.initial, {initial}, names neither heredity_harness nor ask(; if it calls no model, set "
            "evolver.initial= so that the model plays, or leave it out"
        )
    return (
        f"no candidate calls it: evolver.initial, {initial}, is a program that plays by itself; set evolver.initial= "
        "so that the model plays, or leave it out"
    )


def _is_shipped(folder: Path | str | None) -> bool:
    """Return whether a folder of programs belongs to this package, so that what its words say is certain."""
    return folder is not None and Path(located(str(folder), Path())).resolve().is_relative_to(Path(__file__).parents[1])


def _silent_agent(cell: Cell) -> str:
    """Return why an agent would never call a model; empty if it may: a folder's programs are searched for a client."""
    folder = cell.evolver.launcher or ""
    if "/" not in folder or not Path(folder).is_dir():
        return ""
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.stat().st_size < _LARGE]
    if any(_CLIENT.search(path.read_bytes()) for path in files):
        return ""
    why = f"the programs of {folder} call no model (they name no OPENAI_BASE_URL, ANTHROPIC_BASE_URL or client); leave it out"
    return why if _is_shipped(folder) else Guess(why)


def _is_judged(taskset: Taskset) -> bool:
    """Return whether a model judges answers, from a few tasks; True if it cannot be told."""
    try:
        drawn = taskset.draw("heldout", 1, 0)
    except HeredityError:
        return True
    verifiers: list[Any] = [task.spec.get("verifier") for task in drawn]
    return any(not isinstance(v, Mapping) or v.get("kind") in ("judge", "hle") for v in verifiers)  # pyright: ignore[reportUnknownMemberType]
