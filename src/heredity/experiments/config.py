"""The configuration of an experiment: one TOML file, dotted overrides, every key checked.

A file describes one run, or with lists (several tasksets, several seeds, a `[matrix]`) a suite of them. The vocabulary is the
same for every use of Heredity; this module knows the sections that policy evolution needs.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from heredity.errors import ConfigError, nearest
from heredity.evolution.proposals import LoopOptions
from heredity.evolution.registry import METHODS
from heredity.experiments.paths import with_absolute_paths
from heredity.experiments.sections import (
    EVOLVER_KINDS,
    BudgetSection,
    EngineSection,
    EvolverSection,
    LimitsSection,
    RunSection,
    ScheduleSection,
    Section,
    SolverSection,
    SuiteSection,
    TrainingSection,
    TransferSection,
    ViewsSection,
)
from heredity.gateway.settings import GatewaySettings
from heredity.ids import digest_json
from heredity.tasks.registry import expand

BASELINES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "policy-evolution": ("random", "best-of-n", "sequential"),
        "resource-evolution": ("best-of-n-edits", "sequential-edits"),
        "agent-learning": ("best-of-n-edits", "sequential-edits"),
        "harness-evolution": ("static",),
        "post-training": (),
    }
)
"""By protocol: added to every suite unless it says otherwise, each with the same budget, since simple methods are competitive."""

SCHEDULED = "harness-evolution"
"""The protocol whose runs have a schedule."""

TRAINING = "post-training"
"""The protocol whose runs train models, bounded by time."""

_MOST_ATTEMPTS = 10_000
_LONGEST_NAME = 80
_VARIED = ("evolver.", "budget.", "limits.", "schedule.", "training.", "gateway.execution", "engine.lockstep")
"""What a matrix may vary: tasksets and seeds are lists of their own, and every run is judged on the same views."""


class Config(Section):
    """A whole experiment."""

    run: RunSection
    evolver: EvolverSection = Field(default_factory=EvolverSection)
    budget: BudgetSection = Field(default_factory=BudgetSection)
    views: ViewsSection = Field(default_factory=ViewsSection)
    schedule: ScheduleSection = Field(default_factory=ScheduleSection)
    transfer: TransferSection = Field(default_factory=TransferSection)
    training: TrainingSection = Field(default_factory=TrainingSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    solver: SolverSection = Field(default_factory=SolverSection)
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    engine: EngineSection = Field(default_factory=EngineSection)
    suite: SuiteSection = Field(default_factory=SuiteSection)
    matrix: dict[str, list[Any]] = Field(default_factory=dict[str, list[Any]])

    @model_validator(mode="before")
    @classmethod
    def _bounded_by_the_schedule(cls, given: Any) -> Any:
        """Where a schedule or the time says how much is attempted, a budget of episodes need not."""
        data: Any = given
        if not isinstance(data, Mapping) or not isinstance(data.get("run"), Mapping):
            return data
        if data["run"].get("protocol") not in (SCHEDULED, TRAINING) or not isinstance(data.get("budget", {}), Mapping):
            return data
        budget = dict(data.get("budget", {}))
        if not {"episodes", "attempts"} & budget.keys():
            budget["episodes"] = None
        budget.setdefault("max_per_submit", _MOST_ATTEMPTS)
        return {**data, "budget": budget}

    @model_validator(mode="after")
    def _in_time(self) -> Config:
        if (self.solver.seconds or 0) > self.limits.episode_s:
            raise ValueError(
                f"solver.seconds is {self.solver.seconds:g} and limits.episode_s is {self.limits.episode_s:g}, which ends an "
                "attempt sooner; raise limits.episode_s, and leave solver.seconds out where it is to be the same"
            )
        return self

    @model_validator(mode="after")
    def _of_the_protocol(self) -> Config:
        if self.run.protocol == SCHEDULED:
            if self.evolver.outside:
                raise ValueError(
                    "harness evolution pushes batches to a method; set evolver.method instead of an outside agent"
                )
            return self
        self._of_training()
        if self.run.protocol == TRAINING:
            return self
        for name, section in (("schedule", self.schedule), ("transfer", self.transfer)):
            if section != type(section)():
                raise ValueError(
                    f"[{name}] is of harness-evolution, and the protocol is {self.run.protocol}; leave it out"
                )
        if self.run.ood or self.views.ood or self.views.replay:
            raise ValueError(f"ood and replay are of harness-evolution, and the protocol is {self.run.protocol}")
        if self.budget.episodes is None:
            raise ValueError("budget.episodes is missing; give how many episodes may be bought")
        return self

    def _of_training(self) -> None:
        if self.run.protocol != TRAINING:
            if self.training != TrainingSection():
                raise ValueError(
                    f"[training] is of post-training, and the protocol is {self.run.protocol}; leave it out"
                )
            return
        if not self.evolver.outside:
            raise ValueError("post-training is done by an agent: set evolver.launcher, or evolver.agent to its command")
        if self.budget.seconds is None:
            raise ValueError("budget.seconds is missing; give the wall seconds that an agent has, such as 3600")


class Cell(Section):
    """One run of a suite.

    Attributes:
        id: names its folder.
        taskset: its taskset.
        seed: its seed.
        evolver: what evolves.
        label: what the evolver is called in comparisons; tells matrix entries apart.
        config: the configuration with every choice made.
    """

    id: str
    taskset: str
    seed: int
    label: str
    config: Config

    @property
    def evolver(self) -> EvolverSection:
        """What evolves."""
        return self.config.evolver


def load(path: Path, overrides: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> Config:
    """Read a configuration file and apply overrides.

    Args:
        path: a TOML file.
        overrides: such as `"budget.episodes=64"`; a value that is not TOML is taken as text.
        changes: the same with values that are not to be parsed; they come last.

    Raises:
        ConfigError: if the file cannot be read or parsed, or a key or value is wrong; the message names the field, the value
            and the nearest known key.
    """
    config = resolve(read_toml(path), overrides, changes, source=str(path), base=path.absolute().parent)
    return config if config.run.name else _set(config, {"run.name": path.stem})


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: if it cannot be read or parsed.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; give the path of a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; is it complete?") from error


def resolve(
    data: Mapping[str, Any],
    overrides: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    source: str = "the configuration",
    base: Path | None = None,
) -> Config:
    """Check a configuration given as a mapping (see `load`).

    Paths in it are taken from the folder `base`, those in overrides from the current one, which `base` is by default; all are
    absolute afterwards. Groups of tasksets are written out.
    """
    given = {**dict(map(_parse_override, overrides)), **(changes or {})}
    here = Path.cwd()
    changed = with_absolute_paths(_with(with_absolute_paths(data, base or here), given), here)
    config = _validated(changed, source)
    return _set(config, {"run.tasksets": expand(config.run.tasksets), "run.ood": expand(config.run.ood)})


def cells(config: Config) -> list[Cell]:
    """Return the runs of a suite: tasksets × evolvers × seeds, baselines included, in a fixed order.

    Raises:
        ConfigError: if a matrix key is unknown or cannot be varied, two cells would be the same, or canaries have no gate.
    """
    axes = [[(key, value) for value in values] for key, values in config.matrix.items()]
    for key, values in config.matrix.items():
        if not values:
            raise ConfigError(f"matrix.{key} is empty; give at least one value, or remove it")
        if not key.startswith(_VARIED):
            hint = "list them under [run]" if key.startswith("run.") else "set it for the whole suite"
            raise ConfigError(
                f"a matrix cannot vary {key}, only evolver.*, budget.*, limits.*, schedule.*, training.*, gateway.execution and "
                f"engine.lockstep; {hint}"
            )
    variants = [_variant(config, dict(choice)) for choice in itertools.product(*axes)]
    _check_canaries([variant.schedule for _, variant in variants])
    single = len(variants) * len(config.run.tasksets) * len(config.run.seed_list) == 1
    variants += _baselines(config, {label for label, _ in variants}, single=single)
    found: dict[str, Cell] = {}
    for taskset, (label, variant), seed in itertools.product(config.run.tasksets, variants, config.run.seed_list):
        _check_scheduled(variant)
        resolved = _set(variant, {"run.tasksets": [taskset], "run.seeds": [seed]})
        cell_id = "--".join((_short(slug(taskset.removeprefix("gymnasium/"))), _short(slug(label)), f"s{seed}"))
        if cell_id in found:
            raise ConfigError(f"two runs of the suite would both be called {cell_id}; remove the repeated entry")
        found[cell_id] = Cell(id=cell_id, taskset=taskset, seed=seed, label=label, config=resolved)
    return list(found.values())


def slug(text: str) -> str:
    """Return `text` as a name for folders."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.") or "x"


def _short(name: str) -> str:
    """Return a name that fits into a folder's, still its own."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 9]}-{digest_json(name)[:8]}"


def _variant(config: Config, choice: Mapping[str, Any]) -> tuple[str, Config]:
    changed = _set(config, {"matrix": {}, **choice})
    names = [
        _shown(key, value)
        for key, value in choice.items()
        if key not in ("evolver.name", *(f"evolver.{kind}" for kind in EVOLVER_KINDS))
    ]
    return "-".join([changed.evolver.label, *names]), changed


def _shown(key: str, value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    return f"{key.removeprefix('schedule.')}={str(value).lower()}" if key.startswith("schedule.") else str(value)


def _check_scheduled(config: Config) -> None:
    """Check that a run with a schedule has a method that follows it, and a schedule that can be drawn.

    Raises:
        ConfigError: if not.
    """
    name = config.evolver.method
    if config.run.protocol != SCHEDULED or name is None:
        return
    config.schedule.schedule()
    if not getattr(METHODS.load(name), "scheduled", False):
        able = [method for method in METHODS.names() if getattr(METHODS.load(method), "scheduled", False)]
        raise ConfigError(f"the method {name!r} follows no schedule; methods that do: {', '.join(able)}")


def _check_canaries(schedules: Sequence[ScheduleSection]) -> None:
    """Check that some run attempts the canaries: where a matrix varies the gate, the runs without it need none."""
    most = max(schedule.canaries for schedule in schedules)
    if most and not any(schedule.gate for schedule in schedules):
        raise ConfigError(
            f"schedule.canaries is {most} and schedule.gate is false, so that nothing attempts them; set schedule.gate = true, "
            "or leave the canaries out"
        )


def _baselines(config: Config, present: set[str], *, single: bool) -> Iterable[tuple[str, Config]]:
    wanted = config.suite.baselines
    names = (() if single or not wanted else BASELINES[config.run.protocol]) if isinstance(wanted, bool) else wanted
    for name in names:
        if name not in present:
            evolver = {"method": name, "initial": config.evolver.initial, "options": _shared(config.evolver, name)}
            yield name, _set(config, {"matrix": {}, "evolver": {k: v for k, v in evolver.items() if v is not None}})


def _shared(evolver: EvolverSection, baseline: str) -> dict[str, Any]:
    """Return the options of an optimizer that a baseline has too, so that both see and may change the same."""
    if evolver.method is None or not issubclass(METHODS.load(baseline).options_model, LoopOptions):
        return {}
    own = ("rounds", "candidates", "patience")
    return {k: v for k, v in evolver.options.items() if k in LoopOptions.model_fields and k not in own}


def _parse_override(text: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"{text!r} is not an override; write key=value, such as budget.episodes=64")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    return key.strip(), parsed


def _with(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {k: dict(v) if isinstance(v, Mapping) else v for k, v in data.items()}
    for dotted, value in changes.items():
        *path, last = (
            dotted.split(".") if not dotted.startswith("matrix.") else ("matrix", dotted.removeprefix("matrix."))
        )
        inner = result
        for part in path:
            if not isinstance(inner.setdefault(part, {}), dict):
                raise ConfigError(f"{dotted} cannot be set: {part} is not a section")
            inner[part] = dict(inner[part])
            inner = inner[part]
        inner[last] = value
    chosen = [kind for kind in EVOLVER_KINDS if f"evolver.{kind}" in changes]
    if len(chosen) == 1:
        for kind in set(EVOLVER_KINDS) - set(chosen):
            result["evolver"].pop(kind, None)
    return result


def _set(config: Config, changes: Mapping[str, Any]) -> Config:
    return _validated(_with(config.model_dump(), changes), "the configuration")


def _validated(data: Mapping[str, Any], source: str) -> Config:
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{source}: " + "; ".join(_explain(e) for e in error.errors())) from error


def _explain(error: Any) -> str:
    where = [str(part) for part in error["loc"]]
    field = ".".join(where)
    if error["type"] == "extra_forbidden":
        close = nearest(where[-1], _known_keys(where[:-1]))
        hint = (
            f"; did you mean {' or '.join(close)}?" if close else f"; known keys: {', '.join(_known_keys(where[:-1]))}"
        )
        return f"unknown key {field}{hint}"
    if error["type"] == "missing":
        return f"{field} is missing; add it"
    message = error["msg"].removeprefix("Value error, ")
    given = error.get("input")
    if isinstance(given, Mapping):
        return f"{field}: {message}" if field else message
    shown = repr(given)
    return f"{field} = {shown if len(shown) <= 80 else shown[:77] + '...'}: {message}"


def _known_keys(path: Sequence[str]) -> list[str]:
    model: type[BaseModel] = Config
    for part in path:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return sorted(model.model_fields)
