"""The section of settings for attempting questions."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from heredity._core.bounds import Count, Parallel, Seconds, Tokens
from heredity.configuration.sections import Section
from heredity.engine.actor import Solving

_OF_TOOLS = ("tools", "pictures")


class SolverSection(Section):
    """`[solver]`: settings of attempts at questions; see `heredity.engine.actor.Solving`.

    Attributes:
        seconds: wall seconds of a rollout; by default those of an episode (`limits.episode_s`), which is the limit in
            any case.
        concurrent: maximum concurrent rollouts.
        tools: tools for solvers of questions in addition to their own: some of `heredity.configuration.tools.TOOLS`,
            servers of `[mcp]`, or single tools of these.
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
