"""Configuration sections of post-training: the trained model, and the grading."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from heredity._core.bounds import MOST_BYTES, Seconds
from heredity.configuration.config import Config
from heredity.configuration.sections import EvolverSection, Locate, Section, ViewsSection
from heredity.kinds.checkpoint.models.bases import located_model


class TrainingEvolverSection(EvolverSection):
    """`[evolver]`: an agent, which starts from the base model.

    Attributes:
        disk_bytes: maximum disk space of its files, checkpoints in `output/` included; by default 50 GiB, or 48 bytes for
            each parameter of the base if that is more: four checkpoints with their optimizers' states.
        file_bytes: maximum size of one of its files; by default 1 GiB, or 8 bytes for each parameter if that is more.
    """

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `initial` too: an agent starts from the base model."""
        return {**super().idle(config), "initial": "an agent starts from the base model; set training.base_model"}


class TrainingViewsSection(ViewsSection):
    """`[views]`: `heldout` counts the held-out items; `validation` is unused, because graded items select the checkpoint."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "the items of budget.train_cases select the checkpoint"}


class TrainingSection(Section):
    """`[training]`: the trained model, and the grading.

    Attributes:
        base_model: one of the task's base models, `smollm2-135m`, or a folder in Hugging Face's format; by default the
            task's first.
        mode: `free`, `sft-only`, `rl-only`: the allowed routes; the code that ran is audited. `multi-task`: any route, one
            model for several tasks; the default of such runs.
        repeats: number of further gradings of the best checkpoint, to measure the noise of grading.
        engine: inference engine: `transformers`, `vllm`, or `auto`: vLLM if it is installed and grading uses a GPU, else
            transformers.
        device: grading device: `cpu`, or `gpu`: the run's first GPU, unless a submission names another one.
        memory_bytes: memory of the process that grades a checkpoint; by default 4 GiB, or 8 bytes for each parameter and
            2 GiB.
        load_seconds: time limit of loading a checkpoint; by default 120, or 30 for each GiB of its weights as 32-bit floats.
        reply_seconds: time limit of one batch of answers; by default 900, on the CPU 900 for each 10^9 parameters.
        gpus: number of GPUs from `engine.gpus` reserved for each run; its agent sees only these.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"base_model": located_model})
    varied: ClassVar[bool] = True
    indifferent: ClassVar[tuple[str, ...]] = (
        *("mode", "repeats", "gpus"),
        *("memory_bytes", "load_seconds", "reply_seconds"),
    )

    base_model: str = ""
    mode: Literal["free", "sft-only", "rl-only", "multi-task"] = "free"
    repeats: Annotated[int, Field(ge=0, le=1000)] = 0
    engine: Literal["auto", "transformers", "vllm"] = "auto"
    device: Literal["cpu", "gpu"] = "cpu"
    memory_bytes: Annotated[int, Field(ge=64 << 20, le=MOST_BYTES)] | None = None
    load_seconds: Seconds | None = None
    reply_seconds: Seconds | None = None
    gpus: Annotated[int, Field(ge=0, le=1024)] = 0

    def agree(self, config: Config) -> None:
        """Require an agent and a time limit."""
        if not config.evolver.outside and "evolver" not in config.matrix:  # Each entry of a list is checked as a run.
            raise ValueError("post-training needs an agent; set evolver.launcher, or evolver.agent to its command")
        if config.budget.seconds is None:
            raise ValueError("budget.seconds is missing; set the agent's wall time in seconds, such as 3600")
