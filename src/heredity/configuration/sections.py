"""The sections of a configuration: their keys, types and ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

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

from heredity._core.bounds import MOST_BYTES, Cases, Count, Dollars, Parallel, Seconds, SecondsOrZero, Tokens
from heredity._core.errors import UnknownNameError
from heredity._core.plugins import located
from heredity.configuration.secrets import program_of
from heredity.engine.actor import Solving
from heredity.results.base import COVERAGE
from heredity.sandbox.containers.contract import BACKENDS
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import located_taskset

if TYPE_CHECKING:
    from heredity.configuration.config import Config

_OF_TOOLS = ("tools", "pictures")


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
        f"give the number of seeds, 1 to {_MOST_SEEDS}, or a list of different seeds, each 0 or more and below 2**63"
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
"""Makes a value that may be a path absolute, relative to a folder."""


def _located_launcher(name: str, base: Path) -> str:
    """Make a launcher's path absolute; it is a name, or the path of a folder."""
    return located(name, base) if "/" in name and not name.startswith("acp:") else name


EVERY_KEY = ("*",)


class Section(BaseModel):
    """Base of all sections: frozen, every key known, values of TOML's own types.

    Attributes:
        paths: keys that may name files, with the function that makes a value absolute. Paths are relative to the
            configuration file, since a suite may be resumed from another folder than it was started in.
        tasksets_in: keys that list tasksets; names of groups among them are expanded.
        varied: true if a matrix may vary its keys.
        labelled: true if the names of runs that differ in one of its keys include the key, not its value alone.
        indifferent: keys that do not affect the score of a candidate on a task; `EVERY_KEY` stands for all.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({})
    tasksets_in: ClassVar[tuple[str, ...]] = ()
    varied: ClassVar[bool] = False
    labelled: ClassVar[bool] = False
    indifferent: ClassVar[tuple[str, ...]] = ()

    # TOML is typed, so "64" is a mistake and not a number.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    def conditions(self) -> dict[str, Any]:
        """Return the keys that determine the score of a candidate on a task."""
        every = self.indifferent == EVERY_KEY
        return {} if every else self.model_dump(exclude=set(self.indifferent), exclude_none=True)

    def agree(self, config: Config) -> None:
        """Check a section's requirements on the others.

        Raises:
            ValueError: if they are incompatible; the message names the keys.
        """

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys that nothing reads in a run of this configuration, each with the reason and the remedy."""
        return {}


class SolverSection(Section):
    """`[solver]`: settings of attempts by a model.

    Attributes:
        max_turns: maximum model calls per round.
        rounds: number of answers; above 1 the solver refines its answer inside the rollout.
        feedback: feedback between rounds; with `verdict` the solver sees ground truth, and the run is labelled oracle.
        temperature: sampling temperature; the model's own by default.
        max_tokens: maximum tokens per reply; the model's own by default.
        seconds: wall seconds of a rollout; by default those of an episode (`limits.episode_s`), which is the limit in
            any case.
        tool_seconds: wall seconds per call of a candidate's own tool.
        shell_seconds: wall seconds per command in a container.
        tool_output_chars: maximum characters of a tool's result shown to the model; the cut is marked.
        concurrent: maximum concurrent rollouts.
        tools: tools for solvers in addition to their own: `search`, `read`, `python`, `browse`, `fetch`, `search-web`,
            servers of `[mcp]` by name, or single tools of these (`notes.add`).
        pictures: true if the model has vision: with `browse` it may then look at pages.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("concurrent",)

    max_turns: Count = 50
    rounds: Count = 1
    feedback: Literal["none", "self", "public", "verdict"] = "none"
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    max_tokens: Tokens | None = None
    seconds: Seconds | None = None
    tool_seconds: Seconds = 60.0
    shell_seconds: Seconds = 1800.0
    tool_output_chars: Annotated[int, Field(ge=1, le=10_000_000)] = 8000
    concurrent: Parallel = 8
    tools: list[str] = Field(default_factory=list[str])
    pictures: bool = False

    def conditions(self) -> dict[str, Any]:
        """Return the settings that determine a score; without tools, the same as before tools existed."""
        return {key: value for key, value in super().conditions().items() if key not in _OF_TOOLS or value}

    def solving(self, most: float) -> Solving:
        """Return the settings in the solver's form, with no timeout above `most` seconds."""
        return Solving(**self.model_dump(exclude={"concurrent", "seconds", *_OF_TOOLS}), seconds=self.seconds or most)


DEFAULT_PROTOCOL = "policy-evolution"
"""Default protocol."""


class RunSection(Section):
    """`[run]`: the runs of the experiment.

    Attributes:
        protocol: name of the protocol, which sets the rules of a run.
        tasksets: names of tasksets, as `heredity tasks list` shows them; each one gets its own runs.
        seeds: number of seeds (0, 1, …), or a list of them.
        name: name of the suite; the file's name by default.
        data: data that every user brings along: the environment variable that holds its path, to the text that says what
            to download.
        organisation: who runs it, for results, cards and exports.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY
    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"tasksets": located_taskset})
    tasksets_in: ClassVar[tuple[str, ...]] = ("tasksets",)

    protocol: str = DEFAULT_PROTOCOL
    tasksets: list[str] = Field(min_length=1, max_length=1000)
    seeds: Seeds = 1
    name: str = ""
    data: dict[str, str] = Field(default_factory=dict[str, str])
    organisation: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @property
    def seed_list(self) -> list[int]:
        """The seeds as a list."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


EVOLVER_KINDS = ("method", "agent", "launcher")
"""Keys of `[evolver]` that select the evolver; at most one is set."""

AGENT_KEYS = (
    "model", "prompt", "time_limit_s", "continue_turns", "continue_idle", "continue_wait_s", "end_grace_s", "environment",
    "inherit", "read_only", "network", "devices", "memory_bytes", "disk_bytes",
)  # fmt: skip
"""Keys of `[evolver]` that only outside agents use."""


class EvolverSection(Section):
    """`[evolver]`: proposes candidates: a `method`, an outside `agent` command, or a `launcher`; parametric if none is given.

    Attributes:
        method: name of a method (`heredity methods list`); `parametric` if neither agent nor launcher is given.
        agent: command of a coding agent, which runs confined to its workspace.
        launcher: a coding agent by name (`heredity agents list`), the path of a folder with `start.sh`, or `acp:` and
            the command or name of an agent that speaks the Agent Client Protocol.
        model: the gateway's model that an agent uses, through a broker; `gateway.execution` by default for a launcher.
        account_model: the model that a launcher's agent asks its own account for, instead of a broker.
        effort: reasoning effort of a launcher's agent; its own by default.
        profile: a launcher's own tools: `full`, `coding` (a shell, files and search), or `shell`.
        login: show a launcher's agent the files of this user's own login, which it can then read and send.
        prompt: first prompt of a launcher's agent; by default, to follow AGENTS.md.
        name: name in reports; by default the method's name or the command's program.
        initial: folder of the candidate to start from; by default a neutral starter.
        options: the method's own options (`heredity methods show NAME`).
        time_limit_s: an agent's wall time in seconds, over all its starts.
        continue_turns: maximum number of starts of an agent while budget is left; by default 128 if its launcher can
            continue its session, and 1 otherwise.
        continue_idle: maximum consecutive starts without a submission.
        continue_wait_s: seconds before restarting an agent that failed; doubled with each further consecutive failure, at
            most 300.
        end_grace_s: seconds that an agent may go on after its budget is exhausted.
        environment: variables set for an agent.
        inherit: names of this process's variables passed to an agent; no others are inherited.
        read_only: folders of the host an agent needs for its programs.
        network: true if an agent may use the host's network.
        devices: device files of the host an agent may use, such as `/dev/nvidia0`.
        memory_bytes: maximum memory of an agent and its child processes; half of the machine's by default.
        disk_bytes: maximum disk space of an agent's own files; 50 GiB by default, more where it trains a large model.
        file_bytes: maximum size of one of its files; 1 GiB by default, more where it trains a large model.
        tools: tools that an agent may call in this process, as `solver.tools`.
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
    account_model: str = ""
    effort: Literal["", "minimal", "low", "medium", "high", "xhigh", "max"] = ""
    profile: Literal["full", "coding", "shell"] = "full"
    login: bool = False
    prompt: str = ""
    name: str = ""
    initial: Annotated[str, Field(min_length=1)] | None = None
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
    disk_bytes: Annotated[int, Field(ge=1 << 20, le=MOST_BYTES)] | None = None
    file_bytes: Annotated[int, Field(ge=1 << 20, le=MOST_BYTES)] | None = None
    tools: list[str] = Field(default_factory=list[str])

    @model_validator(mode="before")
    @classmethod
    def _check_single_kind(cls, given: Any) -> Any:
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
                f"tools: the method {self.method!r} uses no tools; leave them out, or give candidates theirs with solver.tools"
            )
        return self

    @model_validator(mode="after")
    def _launched(self) -> EvolverSection:
        given = [key for key in ("account_model", "effort", "login") if getattr(self, key)]
        given += ["profile"] if self.profile != "full" else []
        if given and self.launcher is None:
            raise ValueError(f"{given[0]}: only a launcher has it; set evolver.launcher, or leave it out")
        if self.own_account and (self.model or not self.network):
            key = "login" if self.login else "account_model"
            raise ValueError(
                f"{key}: the agent's own account needs network = true and no model; correct them, or leave it out"
            )
        return self

    @property
    def own_account(self) -> bool:
        """True if the agent asks its account for its model, not a broker."""
        return self.login or bool(self.account_model)

    @model_validator(mode="after")
    def _check_label(self) -> EvolverSection:
        if self.label.partition(" ")[0] == "reference":
            raise ValueError(
                f"{self.label!r} is the name of a baseline; give this evolver another name, with evolver.name"
            )
        return self

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of outside agents for a method, and those of methods for an agent."""
        if not self.outside:
            why = f"the evolver is the method {self.method!r}, not an agent: set evolver.launcher or evolver.agent"
            return dict.fromkeys(AGENT_KEYS, why)
        idle = {"options": f"they are a method's, and the evolver is the agent {self.label!r}"}
        if self.launcher is None:
            idle["prompt"] = "evolver.agent is a whole command: write the prompt into it, or set evolver.launcher"
        return idle

    @property
    def outside(self) -> bool:
        """True if it is an outside agent."""
        return self.method is None

    @property
    def label(self) -> str:
        """Name of the evolver."""
        if self.name:
            return self.name
        if self.method is not None:
            return self.method
        if self.launcher is not None:
            command = self.launcher.removeprefix("acp:")
            if command == self.launcher:
                return Path(self.launcher).name
            return f"{program_of(command).removesuffix('-acp')}-acp"
        assert self.agent is not None
        return program_of(self.agent)


class BudgetSection(Section):
    """`[budget]`: the bounded supply of feedback.

    Attributes:
        episodes: train episodes, or attempts at tasks, of the whole run; alias `rollouts`.
        submissions: maximum submissions; no limit by default.
        tokens: maximum tokens of the solver's and the method's models together; no limit by default.
        cost_usd: maximum US dollars of these models; rejected if a model's prices are unknown.
        seconds: wall seconds of the evolver on the run's clock; no limit by default.
        min_per_submit: minimum episodes per submission.
        max_per_submit: maximum episodes per submission.
        train_cases: number of train cases to choose from.
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
        """Reject a run without any bound."""
        if self.episodes is None:
            raise ValueError("budget.episodes is missing; give the number of episodes")


class OpenBudgetSection(BudgetSection):
    """`[budget]`: the schedule or the time bounds a run; `episodes` have no limit by default."""

    episodes: Annotated[Count | None, Field(validation_alias=AliasChoices("episodes", "rollouts"))] = None
    max_per_submit: Count = 10_000

    def agree(self, config: Config) -> None:
        """Require nothing: the protocol bounds the run."""


class ViewsSection(Section):
    """`[views]`: the numbers of hidden cases that judge a run.

    Attributes:
        validation: number of cases that select the final candidate; unused where commits do.
        heldout: number of cases that score it.
        coverage: share of scores that must be known to select by them, or to call one of two better.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    validation: Cases = 16
    heldout: Cases = 32
    coverage: Annotated[float, Field(gt=0, le=1)] = COVERAGE


class LimitsSection(Section):
    """`[limits]`: limits of one episode.

    Attributes:
        init_s: wall seconds to import and construct the program.
        act_s: wall seconds per decision.
        episode_s: wall seconds per episode.
        memory_bytes: memory of a policy process, in addition to its interpreter.
        scratch_bytes: size of a file that a policy writes; its folder is emptied after each episode.
        output_bytes: bytes of stdout and of stderr kept per episode.
        steps: maximum steps; the environment's horizon by default.
    """

    varied: ClassVar[bool] = True

    init_s: Seconds = 10.0
    act_s: Seconds = 10.0
    episode_s: Seconds = 300.0
    memory_bytes: Annotated[int, Field(ge=64 << 20, le=MOST_BYTES)] = 1 << 30
    scratch_bytes: Annotated[int, Field(ge=0, le=MOST_BYTES)] = 16 << 20
    output_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 64 << 10
    steps: Annotated[int, Field(ge=1, le=10**9)] | None = None

    def limits(self) -> Limits:
        """Return the limits in the engine's form."""
        return Limits(**self.model_dump())


class ModelLimitsSection(LimitsSection):
    """`[limits]`: limits of one episode; a model that reasons takes minutes per reply."""

    episode_s: Seconds = 3600.0


class EngineSection(Section):
    """`[engine]`: execution of episodes.

    Scores do not depend on it, except on `lockstep` for programs that keep module state.

    Attributes:
        workers: number of environment workers; one per core by default.
        lockstep: episodes that share one policy process; 1 separates them.
        parallel_runs: concurrent runs of a suite.
        unsafe: run with the isolation available here instead of refusing.
        containers: backend for container tasks: `bubblewrap`, `docker` (also Podman), or one from an installed package.
        gpus: the GPUs that runs may lease, by number or UUID as nvidia-smi shows them; the protocol sets the number
            per run.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("workers", "parallel_runs", "gpus")

    workers: Parallel | None = None
    lockstep: Annotated[int, Field(ge=1, le=1024)] = 1
    parallel_runs: Parallel = 3
    unsafe: bool = False
    containers: Annotated[str, AfterValidator(_backend)] = "bubblewrap"
    gpus: list[str] = Field(default_factory=list[str])


class SuiteSection(Section):
    """`[suite]`: additions to the matrix.

    Attributes:
        baselines: true adds random, best-of-n and sequential; a list names others; false adds none. A single run adds
            none. They run under each condition that the matrix varies, such as the execution model.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    baselines: Baselines = True
