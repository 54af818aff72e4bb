"""Inference with vLLM: requests are generated together, and join and leave the batch at any time.

Fast, and not exact: the order of summation depends on the batch, so if two tokens are almost equally likely the
answer depends on the other requests.

Attention heads of sizes without a CPU kernel in vLLM are padded with zeros, which changes no answer.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, ProviderError
from heredity.kinds.checkpoint.inference.transformers_engine import give_template
from heredity.models.contract import Reply, Request
from heredity.models.local import noise_of, replied, row_of
from heredity.models.local_decoding import Row
from heredity.models.local_weights import model_folder

# pyright: reportMissingImports=false
# vllm and torch may be missing.


KNOWN = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""Head sizes of vLLM's CPU kernels."""

ARCHITECTURE = "LlamaForCausalLM"
_PROJECTION = re.compile(r".*\.self_attn\.([qkvo])_proj\.(?:weight|bias)")


def wider(config: Any) -> int | None:
    """Return the padded head size of a model; None if no padding is needed."""
    if (config.architectures or [""])[0] != ARCHITECTURE or head_size(config) in KNOWN:
        return None
    return next((size for size in KNOWN if size > head_size(config)), None)


def head_size(config: Any) -> int:
    """Return the size of a model's heads."""
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def widen(config: Any, to: int) -> dict[str, Any]:
    """Register a model that loads weights with heads of another size; return the changes of the configuration.

    Queries and keys are padded with zeros, so that their products stay the same; the rotation of positions keeps to
    the true width. Values are padded with zeros, and so are the matching columns of the output. Queries are scaled up
    to compensate for vLLM's division by the root of the wider head.

    Args:
        config: of a Llama, left unchanged.
        to: the new head size, larger than the old one.
    """
    import vllm
    from vllm.model_executor.models.llama import LlamaForCausalLM

    size = head_size(config)

    class Widened(LlamaForCausalLM):  # pyright: ignore[reportUntypedBaseClass]
        def load_weights(self, weights: Iterable[tuple[str, Any]]) -> Any:
            return super().load_weights(widened(weights, size, to))

    vllm.ModelRegistry.register_model(ARCHITECTURE, Widened)
    # Plus one half, because the product with the wider size is truncated to an integer.
    return {"head_dim": to, "rope_parameters": {**config.rope_parameters, "partial_rotary_factor": (size + 0.5) / to}}


def widened(weights: Iterable[tuple[str, Any]], size: int, to: int) -> Iterator[tuple[str, Any]]:
    """Yield weights with heads of another size.

    Args:
        weights: names and tensors of a Llama.
        size: its head size.
        to: the new head size.
    """
    from torch.nn.functional import pad

    for name, tensor in weights:
        match = _PROJECTION.fullmatch(name)
        if match is None or (match[1] == "o" and tensor.dim() == 1):
            yield name, tensor
        elif match[1] == "o":
            rows = tensor.shape[0]
            yield name, pad(tensor.reshape(rows, -1, size), (0, to - size)).reshape(rows, -1)
        else:
            heads = tensor.reshape(-1, size, *tensor.shape[1:])
            grown = pad(heads, (*(0, 0) * (tensor.dim() - 1), 0, to - size)).reshape(-1, *tensor.shape[1:])
            yield name, grown * math.sqrt(to / size) if match[1] == "q" else grown


# pyright: reportMissingImports=false
# vllm, torch and transformers may be missing.


_NAME = "local/checkpoint"
_KEYS_SHARE = 8
"""The key-value cache takes at most this fraction (1/N) of a worker's memory."""

_BLOCK = 128
"""Tokens per block of the key-value cache; the last block of a request is half empty on average."""

_GPU_SHARE = 0.9
"""Share of a GPU's free memory that a worker takes."""

_MAX_REASON = 500
_IMPORTED = {
    "cpu": ("vllm.v1.worker.cpu_worker", "vllm.v1.worker.cpu_model_runner"),
    "gpu": ("vllm.v1.worker.gpu_worker", "vllm.v1.worker.gpu_model_runner"),
}
"""Modules that vLLM imports for the first checkpoint, if this version has them."""


def prepare() -> None:
    """Import the modules that every worker needs."""
    import torch
    import vllm
    from vllm.model_executor.models.llama import LlamaForCausalLM

    for name in ("EngineArgs", "LLMEngine", "SamplingParams"):
        getattr(vllm, name)
    # For a class given only by name, vLLM starts a second interpreter.
    vllm.ModelRegistry.register_model("LlamaForCausalLM", LlamaForCausalLM)
    for name in _IMPORTED["cpu" if vllm.platforms.current_platform.is_cpu() else "gpu"]:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    # Threads do not survive a fork, so none may run when a worker is forked.
    torch.set_num_threads(1)
    # Imported objects stay: collecting garbage among them, as vLLM does at each load, takes seconds.
    gc.collect()
    gc.freeze()


@dataclass(eq=False, slots=True)
class _Asked:
    """A pending request: `row` is the output so far, `sampling` vLLM's parameters, `answered` notifies the waiter.

    `refused` is the reason vLLM rejects it.
    """

    row: Row
    sampling: Any
    refused: str = ""
    answered: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class VllmModel:
    """A checkpoint in vLLM's engine, bound to one event loop.

    Args:
        engine: vLLM's `LLMEngine`, in this process.
        tokenizer: the checkpoint's, of transformers.
        ends: tokens that end an answer.
        context: maximum tokens of a prompt and its answer together.
    """

    def __init__(self, engine: Any, tokenizer: Any, ends: frozenset[int], context: int) -> None:
        self._engine, self._tokenizer, self._ends, self._context = engine, tokenizer, ends, context
        # vLLM has no locks: everything except waiting runs on this thread.
        self._thread = ThreadPoolExecutor(1, "vllm")
        self._new: list[_Asked] = []
        self._written: dict[str, _Asked] = {}
        self._numbers = count()
        self._seen: dict[str, count[int]] = {}
        self._writing: asyncio.Task[None] | None = None

    async def reply(self, request: Request) -> Reply:
        """Answer a request; requests mean the same as for `heredity.models.local.Local`.

        Raises:
            ProviderError: kind `"context"` if the prompt is too long, `"request"` if the chat template rejects it.
            ConfigError: if the model does not support the request.
        """
        began = time.perf_counter()
        row = row_of(request, self._tokenizer, self._context, self._context, _NAME)
        if not row.prompt:
            raise ProviderError("request", "the prompt has no tokens; ask something", transient=False)
        try:
            asked = _Asked(row, self._sampling(request, row))
        except _refusals() as error:
            raise ProviderError("request", f"vLLM does not take it: {error}", transient=False) from error
        self._new.append(asked)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        try:
            await asked.answered
        finally:
            row.abandoned = True
        if asked.refused:
            raise ProviderError("request", f"vLLM does not take it: {asked.refused}", transient=False)
        return replied(request, row, _NAME, time.perf_counter() - began)

    def _sampling(self, request: Request, row: Row) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        # Seed vLLM with a draw from the request's own sequence, so that prompts with the same seed are independent.
        noise = noise_of(request, self._seen, 0)
        return SamplingParams(
            temperature=row.temperature,
            top_p=row.top_p,
            seed=int(noise().integers(1 << 62)) if row.temperature else None,
            max_tokens=row.limit,
            stop_token_ids=sorted(self._ends),
            # Decode here, so that stop texts and replies are the same as with transformers.
            detokenize=False,
            output_kind=RequestOutputKind.DELTA,
        )

    async def _write(self) -> None:
        """Generate until no request is left."""
        loop = asyncio.get_running_loop()
        # Requests that arrive at the same time start together.
        await asyncio.sleep(0)
        new: list[_Asked] = []
        try:
            while self._new or self._written:
                new, self._new = self._new, []
                for asked in await loop.run_in_executor(self._thread, self._step, new):
                    if not asked.answered.done():
                        asked.answered.set_result(None)
        # After any error the engine is unreliable: fail all waiting requests and end the worker.
        except BaseException as error:
            for asked in (*new, *self._new, *self._written.values()):
                if not asked.answered.done():
                    asked.answered.set_exception(error)
            raise

    # --- on the model's thread

    def _step(self, new: list[_Asked]) -> list[_Asked]:
        """Add new requests and generate one token for all; return those that are complete."""
        refused: list[_Asked] = []
        for asked in new:
            name = str(next(self._numbers))
            try:
                self._engine.add_request(name, {"prompt_token_ids": asked.row.prompt}, asked.sampling)
            except _refusals() as error:
                asked.refused = str(error)
                refused.append(asked)
            else:
                self._written[name] = asked
        given_up = [name for name, asked in self._written.items() if asked.row.abandoned]
        for output in self._engine.step() if self._written else ():
            asked = self._written.get(output.request_id)
            if asked is None or asked.row.finish is not None:
                continue
            for token in output.outputs[0].token_ids:
                asked.row.take(token, self._decode, self._ends)
                if asked.row.finish is not None:
                    break
            if asked.row.finish is not None and not output.finished:
                given_up.append(output.request_id)
        if given_up:
            self._engine.abort_request(given_up)
        complete = [name for name, asked in self._written.items() if asked.row.finish is not None]
        finished = [self._written.pop(name) for name in complete]
        for name in given_up:
            self._written.pop(name, None)
        return [*refused, *finished]

    def _decode(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def load(folder: str, settings: Mapping[str, Any]) -> VllmModel:
    """Load a checkpoint.

    Args:
        folder: its folder.
        settings: `memory_bytes`, `batch`, `batch_tokens`, and `device`: `"cpu"`, or `"gpu"` for the only visible GPU.

    Raises:
        ConfigError: if it cannot be loaded.
    """
    import transformers
    import vllm

    model_folder(folder)
    kept: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        config: Any = transformers.AutoConfig.from_pretrained(folder, **kept)
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **kept)
        engine = vllm.LLMEngine.from_engine_args(vllm.EngineArgs(**_arguments(folder, config, settings)))
    except (KeyError, OSError, ImportError, *_refusals()) as error:
        reason = " ".join(str(error).split())[:_MAX_REASON]
        raise ConfigError(f"{folder} cannot be loaded by vLLM: {reason}") from error
    give_template(tokenizer)
    return VllmModel(engine, tokenizer, _ends(folder, config, tokenizer), _context(config))


def _arguments(folder: str, config: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": folder,
        "tokenizer": folder,
        "skip_tokenizer_init": True,
        "trust_remote_code": False,
        "load_format": "safetensors",
        # The checkpoint's float type; by default vLLM would halve 32-bit floats.
        "dtype": _floats(folder),
        "generation_config": "vllm",
        "max_model_len": _context(config),
        "max_num_seqs": settings["batch"],
        "max_num_batched_tokens": max(settings["batch_tokens"], settings["batch"]),
        "enforce_eager": True,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "seed": 0,
        **(_on_gpu() if settings["device"] == "gpu" else _on_cpu(config, settings)),
    }


def _on_gpu() -> dict[str, Any]:
    import torch

    # The run's own agent may be training on the same GPU.
    free, total = torch.cuda.mem_get_info()
    return {"gpu_memory_utilization": round(_GPU_SHARE * free / total, 3)}


def _on_cpu(config: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    to = wider(config)
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    # Keys and values, at most 4 bytes each.
    token = config.num_hidden_layers * heads * (to or head_size(config)) * 2 * 4
    needed = token * (_context(config) + _BLOCK) * settings["batch"]
    keys = {"kv_cache_memory_bytes": min(needed, settings["memory_bytes"] // _KEYS_SHARE)}
    if to is None:
        return keys
    # With 16-bit floats, the kernel for partial rotation writes past the end of a head.
    return {**keys, "dtype": "float32", "hf_overrides": widen(config, to)}


def _refusals() -> tuple[type[Exception], ...]:
    """Return the exceptions by which vLLM rejects its input; in later versions they are not ValueErrors."""
    from vllm import exceptions

    return ValueError, getattr(exceptions, "VLLMValidationError", ValueError)


def _context(config: Any) -> int:
    return int(getattr(config, "max_position_embeddings", 0) or 2048)


def _floats(folder: str) -> str:
    """Return the float type of the weights, which the configuration, the base's own, may omit."""
    kinds: set[str] = set()
    for path in Path(folder).glob("*.safetensors"):
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        kinds |= {tensor["dtype"] for name, tensor in header.items() if name != "__metadata__"}
    return {"BF16": "bfloat16", "F16": "float16"}.get(kinds.pop(), "float32") if len(kinds) == 1 else "float32"


def _ends(folder: str, config: Any, tokenizer: Any) -> frozenset[int]:
    """Return the end tokens of an answer, as for a model loaded with transformers."""
    import transformers

    if (Path(folder) / "generation_config.json").is_file():
        config = transformers.GenerationConfig.from_pretrained(folder, local_files_only=True)
    ends = [config.eos_token_id, tokenizer.eos_token_id]
    flat = [token for end in ends for token in (end if isinstance(end, list) else [end])]
    return frozenset(token for token in flat if token is not None)
