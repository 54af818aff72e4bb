"""The sections of a configuration: their keys, their types and their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SkipValidation,
    model_validator,
)

from heredity.bounds import MOST_BYTES, Cases, Count, Dollars, Parallel, Seconds, SecondsOrZero, Tokens
from heredity.configuration.secrets import program_of
from heredity.errors import UnknownNameError
from heredity.plugins import located
from heredity.results.coverage import COVERAGE
from heredity.sandbox.containers.backends import BACKENDS
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import located_taskset

if TYPE_CHECKING:
    from heredity.configuration.config import Config


_MOST_SEEDS, _SEED_LIMIT = 10_000, 1 << 63


def _seeds(value: Any) -> int | list[int]:
    listed: list[Any] = list(value) if isinstance(value, list) else [value]
    whole = all(isinstance(seed, int) and not isinstance(seed, bool) for seed in listed)
    if isinstance(value, list):
        if whole and listed and min(listed) >= 0 and max(listed) < _SEED_LIMIT and len(set(listed)) == len(listed):
            return listed
    elif whole and 1 <= listed[0] <= _MOST_SEEDS:
        return listed[0]
    raise ValueError(
        f"give how many seeds, 1 to {_MOST_SEEDS}, or a list of different seeds, each 0 or more and below 2**63"
    )


def _baseline_names(value: Any) -> bool | list[str]:
    if isinstance(value, bool) or (isinstance(value, list) and all(isinstance(name, str) for name in value)):  # pyright: ignore[reportUnknownVariableType]
        return value  # pyright: ignore[reportUnknownVariableType]
    raise ValueError("give true, false, or a list of names of methods")


def _backend(name: str) -> str:
    if name not in BACKENDS:
        raise ValueError(str(UnknownNameError(BACKENDS.noun, name, BACKENDS.names())))
    return name


def _plain_options(value: Any) -> Any:
    if not _is_plain(value):
        raise ValueError("options hold numbers, texts, true, false, lists and tables of these; no dates, inf or nan")
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


Seeds = Annotated[SkipValidation[int | list[int]], BeforeValidator(_seeds)]
Baselines = Annotated[SkipValidation[bool | list[str]], BeforeValidator(_baseline_names)]
Options = Annotated[dict[str, Any], BeforeValidator(_plain_options)]


Locate = Callable[[str, Path], str]
"""Makes a value that may be a path absolute, as seen from a folder."""


def _located_launcher(name: str, base: Path) -> str:
    """A launcher is a name, or the path of a folder."""
    return located(name, base) if "/" in name else name


EVERY_KEY = ("*",)


class Section(BaseModel):
    """Base of all sections: frozen, every key known, values of TOML's own types.

    Attributes:
        paths: keys that may name files, with what makes a value of one absolute: it is seen from the file that the configuration
            was read from, and a suite may be resumed from another folder than it was started in.
        tasksets_in: keys that list tasksets; names of groups among them are written out.
        varied: whether a matrix may vary its keys.
        labelled: whether runs that differ in one of its keys have the key in their names, not its value alone.
        indifferent: keys that leave the score of a candidate on a task as it is; `EVERY_KEY` says it of all.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({})
    tasksets_in: ClassVar[tuple[str, ...]] = ()
    varied: ClassVar[bool] = False
    labelled: ClassVar[bool] = False
    indifferent: ClassVar[tuple[str, ...]] = ()

    # TOML has types of its own, so "64" is a mistake and not a number.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    def conditions(self) -> dict[str, Any]:
        """Return the keys that the score of a candidate on a task hangs on."""
        every = self.indifferent == EVERY_KEY
        return {} if every else self.model_dump(exclude=set(self.indifferent), exclude_none=True)

    def agree(self, config: Config) -> None:
        """Check what a section asks of the others.

        Raises:
            ValueError: if they do not go together; the message names the keys.
        """


DEFAULT_PROTOCOL = "policy-evolution"
"""The protocol of a configuration that names none."""


class RunSection(Section):
    """`[run]`: what is run.

    Attributes:
        protocol: the rules of the run: the name of a protocol.
        tasksets: names of tasksets; each is run on its own.
        seeds: how many seeds (0, 1, …), or a list of them.
        name: what the suite is called; the file's name by default.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY
    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"tasksets": located_taskset})
    tasksets_in: ClassVar[tuple[str, ...]] = ("tasksets",)

    protocol: str = DEFAULT_PROTOCOL
    tasksets: list[str] = Field(min_length=1, max_length=1000)
    seeds: Seeds = 1
    name: str = ""

    @property
    def seed_list(self) -> list[int]:
        """The seeds as a list."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


EVOLVER_KINDS = ("method", "agent", "launcher")
"""Keys of `[evolver]` that say what it is; one of them is given."""


class EvolverSection(Section):
    """`[evolver]`: what proposes candidates: a `method`, an outside `agent` command, or a `launcher`; parametric if none is given.

    Attributes:
        method: name of a built-in or installed method.
        agent: a command that is run as a coding agent, confined to its workspace.
        launcher: a coding agent by name (`claude-code`, `codex`, `mini-swe-agent`), or the path of a folder with `start.sh`.
        model: the gateway's model that an agent asks, through a broker; `gateway.execution` by default for a launcher.
        prompt: what a launcher's agent is told first; by default, to do what AGENTS.md says.
        name: what it is called in reports; by default the method's name or the command's program.
        initial: folder of the program to start from; by default a neutral starter.
        options: the method's own options.
        time_limit_s: an agent's wall time, over all its starts.
        continue_turns: how often an agent is started in all, while budget is left; by default 128 times where its launcher lets it
            go on with what it was at, and once where not.
        continue_idle: how many starts in a row may submit nothing.
        continue_wait_s: seconds before an agent that failed is started again; each further failure in a row doubles them.
        end_grace_s: how long an agent may go on for after its budget is spent.
        environment: variables an agent is given.
        inherit: names of this process's variables an agent is given; nothing else is inherited.
        read_only: folders of the host an agent needs for its own programs.
        network: whether an agent may use the host's network.
        devices: device files of the host an agent may use, such as `/dev/nvidia0`.
        memory_bytes: most memory of an agent and all that it starts; half of the machine's by default.
        disk_bytes: most disk that an agent's own files may take.
        tools: what an agent may ask this process for, as `solver.tools`.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY
    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType(
        {"initial": located, "launcher": _located_launcher, "read_only": located}
    )
    varied: ClassVar[bool] = True

    method: str | None = None
    agent: Annotated[str, Field(min_length=1)] | None = None
    launcher: Annotated[str, Field(min_length=1)] | None = None
    model: str = ""
    prompt: str = ""
    name: str = ""
    initial: str | None = None
    options: Options = Field(default_factory=dict[str, Any])
    time_limit_s: Seconds | None = None
    continue_turns: Count | None = None
    continue_idle: Count = 3
    continue_wait_s: SecondsOrZero = 5.0
    end_grace_s: SecondsOrZero = 30.0
    environment: dict[str, str] = Field(default_factory=dict[str, str])
    inherit: list[str] = Field(default_factory=list[str])
    read_only: list[str] = Field(default_factory=list[str])
    network: bool = False
    devices: list[str] = Field(default_factory=list[str])
    memory_bytes: Annotated[int, Field(ge=64 << 20, le=MOST_BYTES)] | None = None
    disk_bytes: Annotated[int, Field(ge=1 << 20, le=MOST_BYTES)] = 50 << 30
    tools: list[str] = Field(default_factory=list[str])

    @model_validator(mode="before")
    @classmethod
    def _one_of(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        chosen: Mapping[str, Any] = given
        kinds = [kind for kind in EVOLVER_KINDS if chosen.get(kind) is not None]
        if len(kinds) > 1:
            raise ValueError(
                "give one of method (a built-in evolver), agent (a command) and launcher (an agent by name)"
            )
        return chosen if kinds else {**chosen, "method": "parametric"}

    @model_validator(mode="after")
    def _tools_of_agents(self) -> EvolverSection:
        if self.tools and not self.outside:
            raise ValueError(
                f"tools: the method {self.method!r} asks no tools; leave them out, or give candidates theirs with solver.tools"
            )
        return self

    @model_validator(mode="after")
    def _named_apart(self) -> EvolverSection:
        if self.label.partition(" ")[0] == "reference":
            raise ValueError(
                f"{self.label!r} is what runs are compared with; give this evolver another name, with evolver.name"
            )
        return self

    @property
    def outside(self) -> bool:
        """Whether it is an outside agent."""
        return self.method is None

    @property
    def label(self) -> str:
        """What the evolver is called."""
        if self.name:
            return self.name
        if self.method is not None:
            return self.method
        if self.launcher is not None:
            return Path(self.launcher).name
        assert self.agent is not None
        return program_of(self.agent)


class BudgetSection(Section):
    """`[budget]`: the bounded supply of feedback.

    Attributes:
        episodes: train episodes of the whole run (paper: 128); of questions, attempts. `rollouts` is another name for it.
        submissions: most submissions; no limit by default.
        tokens: most tokens of the solver's and the method's models together; no limit by default.
        cost_usd: most US dollars likewise; refused if a model's prices are unknown.
        seconds: wall seconds of the evolver; no limit by default.
        min_per_submit: fewest episodes of one submission.
        max_per_submit: most episodes of one submission.
        train_cases: how many train cases there are to choose from.
    """

    varied: ClassVar[bool] = True
    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    episodes: Annotated[Count | None, Field(validation_alias=AliasChoices("episodes", "rollouts"))] = 128
    submissions: Count | None = None
    tokens: Tokens | None = None
    cost_usd: Dollars | None = None
    seconds: Seconds | None = None
    min_per_submit: Count = 1
    max_per_submit: Count = 128
    train_cases: Cases = 128

    @model_validator(mode="after")
    def _can_be_spent(self) -> BudgetSection:
        most = self.max_per_submit if self.episodes is None else min(self.max_per_submit, self.episodes)
        if self.min_per_submit > most:
            raise ValueError(
                f"min_per_submit is {self.min_per_submit}, more than max_per_submit ({self.max_per_submit}) or "
                f"episodes ({self.episodes}); nothing could be submitted"
            )
        return self

    def agree(self, config: Config) -> None:
        """Refuse a run that nothing bounds."""
        if self.episodes is None:
            raise ValueError("budget.episodes is missing; give how many episodes may be bought")


class OpenBudgetSection(BudgetSection):
    """`[budget]` of a protocol in which something else than episodes bounds a run, such as a schedule or its time.

    `episodes` have no limit by default, and `max_per_submit` is more than anybody asks for.
    """

    episodes: Annotated[Count | None, Field(validation_alias=AliasChoices("episodes", "rollouts"))] = None
    max_per_submit: Count = 10_000

    def agree(self, config: Config) -> None:
        """Ask for nothing: whatever bounds the run asks for it."""


class ViewsSection(Section):
    """`[views]`: how many hidden cases a run is judged on.

    Attributes:
        validation, heldout: pick the checkpoint, unused where commits do; and score it.
        coverage: the share of scores that must be known to select by them, or to say which of two is better.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    validation: Cases = 16
    heldout: Cases = 32
    coverage: Annotated[float, Field(gt=0, le=1)] = COVERAGE


class LimitsSection(Section):
    """`[limits]`: what one episode may use; see `heredity.sandbox.limits.Limits`."""

    varied: ClassVar[bool] = True

    init_s: Seconds = 10.0
    act_s: Seconds = 10.0
    episode_s: Seconds = 300.0
    memory_bytes: Annotated[int, Field(ge=64 << 20, le=MOST_BYTES)] = 1 << 30
    scratch_bytes: Annotated[int, Field(ge=0, le=MOST_BYTES)] = 16 << 20
    output_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 64 << 10
    steps: Annotated[int, Field(ge=1, le=10**9)] | None = None

    def limits(self) -> Limits:
        """Return the limits as the engine takes them."""
        return Limits(**self.model_dump())


class ModelLimitsSection(LimitsSection):
    """`[limits]` of a protocol whose candidates ask a language model: one that reasons takes minutes for each reply."""

    episode_s: Seconds = 3600.0


class EngineSection(Section):
    """`[engine]`: how episodes are run. Nothing here changes a score, except `lockstep` for programs that keep module state.

    Attributes:
        workers: environment workers; one per core by default.
        lockstep: episodes that share one policy process; 1 separates them.
        parallel_runs: runs of a suite at the same time.
        unsafe: run with the isolation that works here instead of refusing.
        containers: what runs container tasks: `bubblewrap`, `docker` (also Podman), or what a package adds.
        gpus: the GPUs that runs may lease, by number or UUID as nvidia-smi shows them; how many one has is its protocol's.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("workers", "parallel_runs", "gpus")

    workers: Parallel | None = None
    lockstep: Annotated[int, Field(ge=1, le=1024)] = 1
    parallel_runs: Parallel = 3
    unsafe: bool = False
    containers: Annotated[str, AfterValidator(_backend)] = "bubblewrap"
    gpus: list[str] = Field(default_factory=list[str])


class SuiteSection(Section):
    """`[suite]`: what is added to the matrix.

    Attributes:
        baselines: true adds random, best-of-n and sequential; a list names others; false adds none. A single run adds none.
            They are run under each condition that the matrix varies, such as the execution model.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    baselines: Baselines = True
