"""The section about how questions are attempted."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from heredity.actors.contract import Solving
from heredity.bounds import Count, Parallel, Seconds, Tokens
from heredity.configuration.sections import Section

_OF_TOOLS = ("tools", "pictures")


class SolverSection(Section):
    """`[solver]`: how a question is attempted; see `heredity.actors.contract.Solving`.

    Attributes:
        seconds: wall seconds of a rollout; by default those of an episode (`limits.episode_s`), which bound it in any case.
        concurrent: rollouts at the same time.
        tools: what solvers of questions are given beside their own tools: some of `heredity.configuration.tools.TOOLS`, servers of
            `[mcp]`, or single tools of these.
        pictures: whether the model sees: with `browse` it may then look at pages.
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
        """Return what a score hangs on; without tools, what it hung on before there were any."""
        return {key: value for key, value in super().conditions().items() if key not in _OF_TOOLS or value}

    def solving(self, most: float) -> Solving:
        """Return the settings as the solver takes them, where nothing may take more than `most` seconds."""
        return Solving(**self.model_dump(exclude={"concurrent", "seconds", *_OF_TOOLS}), seconds=self.seconds or most)
