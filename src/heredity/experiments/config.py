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
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from heredity.errors import ConfigError, nearest
from heredity.rollouts.contract import Limits

BASELINES = ("random", "best-of-n", "sequential")
"""Added to every suite unless it says otherwise, each with the same budget: simple methods are known to be competitive."""

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunSection(_Section):
    """`[run]`: what is run.

    Attributes:
        protocol: the rules of the run.
        tasksets: names of tasksets; each is run on its own.
        seeds: how many seeds (0, 1, …), or a list of them.
        name: what the suite is called; the file's name by default.
    """

    protocol: Literal["policy-evolution"] = "policy-evolution"
    tasksets: list[str] = Field(min_length=1)
    seeds: Count | list[Annotated[int, Field(ge=0)]] = 1
    name: str = ""

    @property
    def seed_list(self) -> list[int]:
        """The seeds as a list."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


class EvolverSection(_Section):
    """`[evolver]`: what proposes candidates: a built-in `method`, or an outside `agent` command.

    Attributes:
        method: name of a built-in or installed method.
        agent: a command that is run as a coding agent, confined to its workspace.
        name: what it is called in reports; by default the method's name or the command's program.
        initial: folder of the program to start from; by default a neutral starter.
        options: the method's own options.
        time_limit_s: an agent's wall time.
        end_grace_s: how long an agent may go on for after its budget is spent.
        environment: variables an agent is given.
        inherit: names of this process's variables an agent is given; nothing else is inherited.
        read_only: folders of the host an agent needs for its own programs.
        network: whether an agent may use the host's network.
    """

    method: str | None = None
    agent: str | None = None
    name: str = ""
    initial: str | None = None
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    time_limit_s: Seconds | None = None
    end_grace_s: Annotated[float, Field(ge=0)] = 30.0
    environment: dict[str, str] = Field(default_factory=dict[str, str])
    inherit: list[str] = Field(default_factory=list[str])
    read_only: list[str] = Field(default_factory=list[str])
    network: bool = False

    @model_validator(mode="after")
    def _one_of(self) -> EvolverSection:
        if (self.method is None) == (self.agent is None):
            raise ValueError("give either method (a built-in evolver) or agent (a command), and not both")
        return self

    @property
    def label(self) -> str:
        """What the evolver is called."""
        if self.name:
            return self.name
        if self.method is not None:
            return self.method
        assert self.agent is not None
        words = [Path(w).stem for w in self.agent.split() if not w.startswith("-")]
        return next((w for w in words if not w.startswith("python")), "agent")


class BudgetSection(_Section):
    """`[budget]`: the bounded supply of feedback.

    Attributes:
        episodes: train episodes of the whole run (paper: 128).
        submissions: most submissions; no limit by default.
        seconds: wall seconds of the evolver; no limit by default.
        min_per_submit: fewest episodes of one submission.
        max_per_submit: most episodes of one submission.
        train_cases: how many train cases there are to choose from.
    """

    episodes: Count = 128
    submissions: Count | None = None
    seconds: Seconds | None = None
    min_per_submit: Count = 1
    max_per_submit: Count = 128
    train_cases: Count = 128


class ViewsSection(_Section):
    """`[views]`: how many hidden cases pick the checkpoint (`validation`) and score it (`heldout`)."""

    validation: Count = 16
    heldout: Count = 32


class LimitsSection(_Section):
    """`[limits]`: what one episode may use; see `heredity.rollouts.contract.Limits`."""

    init_s: Seconds = 10.0
    act_s: Seconds = 10.0
    episode_s: Seconds = 300.0
    memory_bytes: Annotated[int, Field(ge=64 << 20)] = 1 << 30
    scratch_bytes: Annotated[int, Field(ge=0)] = 16 << 20
    output_bytes: Annotated[int, Field(ge=0)] = 64 << 10
    steps: Count | None = None

    def limits(self) -> Limits:
        """Return the limits as the engine takes them."""
        return Limits(**self.model_dump())


class EngineSection(_Section):
    """`[engine]`: how episodes are run. Nothing here changes a score, except `lockstep` for programs that keep module state.

    Attributes:
        workers: environment workers; one per core by default.
        lockstep: episodes that share one policy process; 1 separates them.
        parallel_runs: runs of a suite at the same time.
        unsafe: run with the isolation that works here instead of refusing.
    """

    workers: Count | None = None
    lockstep: Annotated[int, Field(ge=1, le=1024)] = 1
    parallel_runs: Count = 3
    unsafe: bool = False


class SuiteSection(_Section):
    """`[suite]`: what is added to the matrix.

    Attributes:
        baselines: true adds random, best-of-n and sequential; a list names others; false adds none. A single run adds none.
    """

    baselines: bool | list[str] = True


class Config(_Section):
    """A whole experiment."""

    run: RunSection
    evolver: EvolverSection = Field(default_factory=lambda: EvolverSection(method="parametric"))
    budget: BudgetSection = Field(default_factory=BudgetSection)
    views: ViewsSection = Field(default_factory=ViewsSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    engine: EngineSection = Field(default_factory=EngineSection)
    suite: SuiteSection = Field(default_factory=SuiteSection)
    matrix: dict[str, list[Any]] = Field(default_factory=dict[str, list[Any]])


class Cell(_Section):
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


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration file and apply overrides such as `budget.episodes=64`.

    Raises:
        ConfigError: if the file cannot be read or parsed, or a key or value is wrong; the message names the field, the value
            and the nearest known key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; give the path of a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; is it complete?") from error
    config = resolve(data, overrides, source=str(path))
    return config if config.run.name else _set(config, {"run.name": path.stem})


def resolve(data: Mapping[str, Any], overrides: Sequence[str] = (), source: str = "the configuration") -> Config:
    """Check a configuration given as a mapping (see `load`)."""
    changes = dict(_parse_override(o) for o in overrides)
    return _validated(_with(data, changes), source)


def cells(config: Config) -> list[Cell]:
    """Return the runs of a suite: tasksets × evolvers × seeds, baselines included, in a fixed order.

    Raises:
        ConfigError: if a matrix key is unknown, or two cells would be the same.
    """
    axes = [[(key, value) for value in values] for key, values in config.matrix.items()]
    for key, values in config.matrix.items():
        if not values:
            raise ConfigError(f"matrix.{key} is empty; give at least one value, or remove it")
    variants = [_variant(config, dict(choice)) for choice in itertools.product(*axes)]
    single = len(variants) * len(config.run.tasksets) * len(config.run.seed_list) == 1
    variants += _baselines(config, {label for label, _ in variants}, single=single)
    found: dict[str, Cell] = {}
    for taskset, (label, variant), seed in itertools.product(config.run.tasksets, variants, config.run.seed_list):
        resolved = _set(variant, {"run.tasksets": [taskset], "run.seeds": [seed]})
        cell_id = "--".join((slug(taskset.removeprefix("gymnasium/")), slug(label), f"s{seed}"))
        if cell_id in found:
            raise ConfigError(f"two runs of the suite would both be called {cell_id}; remove the repeated entry")
        found[cell_id] = Cell(id=cell_id, taskset=taskset, seed=seed, label=label, config=resolved)
    return list(found.values())


def slug(text: str) -> str:
    """Return `text` as a name for folders."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.") or "x"


def _variant(config: Config, choice: Mapping[str, Any]) -> tuple[str, Config]:
    changed = _set(config, {"matrix": {}, **choice})
    names = [
        str(value) for key, value in choice.items() if key not in ("evolver.method", "evolver.agent", "evolver.name")
    ]
    return "-".join([changed.evolver.label, *(f"{v}" for v in names)]), changed


def _baselines(config: Config, present: set[str], *, single: bool) -> Iterable[tuple[str, Config]]:
    wanted = config.suite.baselines
    names = (() if single or not wanted else BASELINES) if isinstance(wanted, bool) else wanted
    for name in names:
        if name not in present:
            evolver = {"method": name, "initial": config.evolver.initial}
            yield name, _set(config, {"matrix": {}, "evolver": {k: v for k, v in evolver.items() if v is not None}})


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
    if any(key == "evolver.method" for key in changes):
        result["evolver"].pop("agent", None)
    if any(key == "evolver.agent" for key in changes):
        result["evolver"].pop("method", None)
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
    return f"{field} = {error.get('input')!r}: {error['msg'].removeprefix('Value error, ')}"


def _known_keys(path: Sequence[str]) -> list[str]:
    model: type[BaseModel] = Config
    for part in path:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return sorted(model.model_fields)
