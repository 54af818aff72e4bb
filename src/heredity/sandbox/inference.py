"""The sandbox of the inference worker: an engine with what it needs, the gateway's local models, nothing else.

Inside are no network, no tasks, no references, no run folder, and no checkpoint either: a worker is handed one open folder. Where
a GPU is used, its device files and what is known of the machine's processors are shown too.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import heredity
from heredity.errors import IsolationError, MissingExtraError
from heredity.sandbox.bubblewrap_root import (
    available,
    bwrap,
    etc_view,
    interpreter,
    interpreter_view,
    isolate,
    proc_view,
    system_view,
)
from heredity.sandbox.engines import Inference

ROOTS = ("torch", "transformers", "safetensors", "numpy", "jinja2")
"""Distributions that a worker needs; what these require comes with them."""

_OWN = (
    *("__init__.py", "errors.py", "ids.py", "spans.py", "plugins.py", "gateway", "posttraining/__init__.py"),
    *(f"posttraining/inference/{name}.py" for name in ("guest", "transformers_engine", "vllm_engine", "vllm_heads")),
)
_PACKAGES = "/opt/heredity/packages"
_SOURCE = "/opt/heredity/src"
_TMP_BYTES = 64 << 20
_GPU_TMP_BYTES = 1 << 30
_MACHINE = "/sys/devices/system"
_MODULE = "heredity.posttraining.inference.guest"
_VLLM = {
    # One process: the engine's own would be out of reach of a worker's bounds.
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
    """Return the command line of a zygote: it talks through its standard input, a socket.

    Args:
        seccomp: the open file of the compiled filter of system calls.
        inference: what its workers answer with.
    """
    arguments = [bwrap(), *isolate(1000), "--seccomp", str(seccomp)]
    arguments += [*system_view(), *proc_view(), "--dev", "/dev", *etc_view(), *interpreter_view()]
    # On a GPU kernels are compiled, which takes room, and headers of the interpreter.
    room = _TMP_BYTES if inference.device == "cpu" else _GPU_TMP_BYTES
    for folder in ("/dev/shm", "/tmp"):
        arguments += ["--size", str(room), "--tmpfs", folder]
    if inference.device == "gpu":
        arguments += ["--ro-bind-try", *2 * (str(interpreter().parents[1] / "include"),)]
    for device in inference.devices:
        arguments += ["--dev-bind", str(device), str(device)]
    if inference.engine == "vllm":
        arguments += ["--ro-bind-try", _MACHINE, _MACHINE]
    for path in packages((inference.distribution,)):
        arguments += ["--ro-bind", str(path), f"{_PACKAGES}/{path.name}"]
    home = Path(heredity.__file__).parent
    for name in _OWN:
        arguments += ["--ro-bind", str(home / name), f"{_SOURCE}/heredity/{name}"]
    # `--dev` alone is a file system in memory that is bounded by half of the machine's.
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]
    return [*arguments, str(interpreter()), "-sBP", "-m", _MODULE, inference.engine]


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
    # To ask by the driver whether there is a GPU would open it before workers are forked.
    gpu = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"} if inference.device == "gpu" else {}
    return {**base, **gpu, **(_VLLM if inference.engine == "vllm" else {})}


@cache
def packages(more: tuple[str, ...] = ()) -> tuple[Path, ...]:
    """Return the files and folders of site-packages that a worker needs, those that say versions included.

    Args:
        more: further distributions, with what they require, where they are installed.

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
    ]  # from the first on: one that is missing is known at once
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
        # What another system would need is looked for in vain, or shown without need: neither does harm.
        for match in filter(None, map(_REQUIREMENT.match, distribution.requires or ())):
            if (match["when"] or "") == extra:
                waiting += [
                    (match["name"], extra_name.strip()) for extra_name in ("", *(match["extras"] or "").split(","))
                ]


_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?(?:.*\bextra\s*==\s*["'](?P<when>[\w.-]+)["'])?""", re.ASCII
)
"""A package's requirement: its name, the extras of it that are asked for, and the extra that asks for it."""
