"""A complete configuration, and one run of it.

config.limits.episode_s          # a general section
config.of(ScheduleSection).gate  # a protocol's own section, read by that protocol
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, create_model, model_serializer, model_validator

from heredity._core.errors import ConfigError
from heredity._core.plugins import located
from heredity.configuration.sections import (
    BudgetSection,
    EngineSection,
    EvolverSection,
    LimitsSection,
    Locate,
    RunSection,
    Section,
    SolverSection,
    SuiteSection,
    ViewsSection,
)
from heredity.configuration.tools import (
    TOOLS,
    CorpusSection,
    McpSection,
    SearchSection,
    ToolSection,
    ToolSettings,
    WebSection,
    check_servers,
)
from heredity.models.settings import GatewaySettings

S = TypeVar("S", bound=Section)


class Config(Section):
    """A complete experiment. A protocol adds sections, or replaces general ones by sections with more keys.

    Attributes:
        matrix: dotted keys to lists of values: every combination is run. `[[matrix.evolver]]` lists whole evolvers.
    """

    run: RunSection
    evolver: EvolverSection = Field(default_factory=EvolverSection)
    budget: BudgetSection = Field(default_factory=BudgetSection)
    views: ViewsSection = Field(default_factory=ViewsSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    solver: SolverSection = Field(default_factory=SolverSection)
    corpus: CorpusSection = Field(default_factory=CorpusSection)
    web: WebSection = Field(default_factory=WebSection)
    search: SearchSection = Field(default_factory=SearchSection)
    mcp: dict[str, McpSection] = Field(default_factory=dict[str, McpSection])
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    engine: EngineSection = Field(default_factory=EngineSection)
    suite: SuiteSection = Field(default_factory=SuiteSection)
    matrix: dict[str, list[Any]] = Field(default_factory=dict[str, list[Any]])

    @model_validator(mode="after")
    def _agreed(self) -> Config:
        if (self.solver.seconds or 0) > self.limits.episode_s:
            raise ValueError(
                f"solver.seconds is {self.solver.seconds:g} and limits.episode_s is {self.limits.episode_s:g}, which ends an "
                "attempt sooner; raise limits.episode_s, and leave solver.seconds out where it is to be the same"
            )
        check_servers(self.mcp, TOOLS)
        self.tools.agree()
        self.agent_tools.agree()
        for section in self.sections().values():
            section.agree(self)
        return self

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler):  # no type annotation: it would replace the schema
        """Omit the settings of tools if there are none, so that the digests of such runs stay the same."""
        dumped: dict[str, Any] = dump(self)
        for name, empty in (
            ("corpus", CorpusSection()),
            ("web", WebSection()),
            ("search", SearchSection()),
            ("mcp", {}),
        ):
            if getattr(self, name) == empty:
                dumped.pop(name, None)
        for section, keys in (("solver", ("tools", "pictures")), ("evolver", ("tools",)), ("run", ("data",))):
            given = dumped.get(section)
            for key in keys:
                if isinstance(given, dict) and not given.get(key, True):
                    del given[key]
        return dumped

    @property
    def tools(self) -> ToolSettings:
        """Tools for solvers."""
        sections = (self.corpus, self.web, self.search, self.mcp)
        return ToolSettings(tuple(self.solver.tools), *sections, sees=self.solver.pictures)

    @property
    def agent_tools(self) -> ToolSettings:
        """Tools for an outside agent."""
        return replace(self.tools, names=tuple(self.evolver.tools), key="evolver.tools", sees=False)

    def of(self, section: type[S]) -> S:
        """Return a section by its type.

        Raises:
            ConfigError: if the configuration's protocol has no section of this type.
        """
        for value in self.sections().values():
            if isinstance(value, section):
                return value
        raise ConfigError(f"the protocol {self.run.protocol} has no section of type {section.__name__}")

    @classmethod
    def paths_in(cls) -> dict[str, Locate]:
        """Return the dotted keys that may name files, `*` for any table, with the function that makes a value absolute."""
        types = {name: field.annotation for name, field in cls.model_fields.items()}
        sections = {
            name: kind
            for name, kind in types.items()
            if isinstance(kind, type) and issubclass(kind, Section | ToolSection)
        }
        keys = {f"{name}.{key}": locate for name, section in sections.items() for key, locate in section.paths.items()}
        servers = {f"mcp.*.{key}": locate for key, locate in McpSection.paths.items()}
        return {**keys, **servers, "gateway.cache": located}

    def conditions(self) -> dict[str, Any]:
        """Return the settings that determine the score of a candidate on a task, by dotted keys."""
        keys = {f"{name}.{key}": v for name, part in self.sections().items() for key, v in part.conditions().items()}
        return {
            **keys,
            **self.tools.conditions(),
            **{f"gateway.{key}": value for key, value in self.gateway.conditions().items()},
        }

    def sections(self) -> dict[str, Section]:
        """Return all of Heredity's own sections, by name."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if isinstance(value, Section)}


def config_type(sections: Mapping[str, type[Section]]) -> type[Config]:
    """Return the configuration class of a protocol with these sections, by name.

    Raises:
        ConfigError: if one replaces a general section without being a subclass of it.
    """
    fields: dict[str, Any] = {}
    for name, section in sections.items():
        general = Config.model_fields.get(name)
        if general is not None and not (
            isinstance(general.annotation, type) and issubclass(section, general.annotation)
        ):
            raise ConfigError(f"the section {name} is {section.__name__}; expected a subclass of {general.annotation}")
        required = any(field.is_required() for field in section.model_fields.values())
        fields[name] = (section, ...) if required else (section, Field(default_factory=section))
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)


@dataclass(frozen=True)
class Cell:
    """One run of a suite.

    Attributes:
        id: names its folder.
        taskset: its taskset.
        seed: its seed.
        label: the evolver's name in comparisons; distinguishes matrix entries.
        config: the configuration with every choice made.
    """

    id: str
    taskset: str
    seed: int
    label: str
    config: Config

    @property
    def evolver(self) -> EvolverSection:
        """The evolver."""
        return self.config.evolver
