"""What a configuration says of post-training: what is trained, and how grading is checked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from heredity.configuration.config import Config
from heredity.configuration.sections import Locate, Section
from heredity.posttraining.models.bases import located_model


class TrainingSection(Section):
    """`[training]`: what is trained and how grading is checked.

    Attributes:
        base_model: the base model, one of the task's; its first by default.
        mode: `free`, `sft-only`, `rl-only`: the routes that an agent is told are allowed; the code that ran is audited.
            `multi-task`: any route, one model for several tasks.
        repeats: how often the best checkpoint is graded again afterwards, to measure the noise of grading.
        engine: what answers for checkpoints: `transformers`, `vllm`, or `auto`: vLLM where it is installed and a GPU grades.
        device: what grades: `cpu`, or `gpu`: the first of the run's own, unless a submission names another one of them.
        gpus: how many GPUs of `engine.gpus` a run has to itself for its whole length; its agent sees these and no others.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"base_model": located_model})
    varied: ClassVar[bool] = True
    indifferent: ClassVar[tuple[str, ...]] = ("mode", "repeats", "gpus")

    base_model: str = ""
    mode: Literal["free", "sft-only", "rl-only", "multi-task"] = "free"
    repeats: Annotated[int, Field(ge=0, le=1000)] = 0
    engine: Literal["auto", "transformers", "vllm"] = "auto"
    device: Literal["cpu", "gpu"] = "cpu"
    gpus: Annotated[int, Field(ge=0, le=1024)] = 0

    def agree(self, config: Config) -> None:
        """Ask for an agent and for a time that it has."""
        if not config.evolver.outside:
            raise ValueError(
                "post-training is done by an agent, and there is none; set evolver.launcher, or evolver.agent to its command"
            )
        if config.budget.seconds is None:
            raise ValueError("budget.seconds is missing; give the wall seconds that an agent has, such as 3600")
