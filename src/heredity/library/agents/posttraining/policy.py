"""A language model in training: batch sampling, log-probabilities, checkpoints."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import torch
from lora import LowRank
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer

Prompt = str | list[dict[str, str]]
"""A user's message, or a conversation of messages with `role` and `content`."""

Turn = tuple[list[int], list[int]]
"""The tokens of a prompt, and those of the answer up to and with the end token."""

_SMALL = 5_000_000
"""A model with fewer parameters is trained in full; a larger one by low-rank adaptation."""


class Policy:
    """A checkpoint in float32, on the GPU if there is one.

    Args:
        folder: the checkpoint, in transformers' format.
        rank: rank of the low-rank adaptation of larger models; 0 trains them in full.
        seed: seed of initial low-rank parts and of sampling.
    """

    def __init__(self, folder: Path, *, rank: int = 16, seed: int = 0) -> None:
        torch.manual_seed(seed)
        torch.set_num_threads(int(os.environ.get("TORCH_THREADS", "1")))
        torch.set_float32_matmul_precision("high")
        self.folder = folder
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype="auto")
        self._stored = model.dtype
        self.model = model.float().to(self.device).eval()
        self.end: int = self.tokenizer.eos_token_id
        self.size = sum(weight.numel() for weight in self.model.parameters())
        self.small = self.size < _SMALL
        self.lora = LowRank(self.model, rank) if rank and not self.small else None
        self.parameters: list[nn.Parameter] = self.lora.parameters() if self.lora else list(self.model.parameters())

    def encode(self, prompt: Prompt) -> list[int]:
        """Return a prompt as tokens: by the chat template if the tokenizer has one, else the plain last message."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        text = messages[-1]["content"]
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def answer(self, text: str) -> list[int]:
        """Return an answer as tokens, the end token included."""
        return [*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.end]

    def turn(self, prompt: Prompt, answer: str) -> Turn:
        """Return a prompt and an answer as tokens to train on."""
        return self.encode(prompt), self.answer(answer)

    def text(self, answer: Sequence[int]) -> str:
        """Return the tokens of an answer as text."""
        return self.tokenizer.decode(answer, skip_special_tokens=True)

    @torch.no_grad()
    def sample(self, prompts: Sequence[list[int]], *, temperature: float, limit: int) -> list[list[int]]:
        """Return an answer to each prompt, drawn from the model's own distribution; greedy at temperature 0.

        An answer that the model ended has the end token; one cut after `limit` tokens does not.
        """
        width = max(map(len, prompts))
        ids = torch.tensor([[self.end] * (width - len(p)) + p for p in prompts], device=self.device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=self.device)
        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
        out = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=limit,
            eos_token_id=self.end,
            pad_token_id=self.end,
            **(drawn or {"do_sample": False}),
        )
        return [self._until_end(row) for row in out[:, width:].tolist()]

    def _until_end(self, tokens: list[int]) -> list[int]:
        return tokens[: tokens.index(self.end) + 1] if self.end in tokens else tokens

    def logprobs(self, turns: Sequence[Turn]) -> tuple[Tensor, Tensor]:
        """Return the log-probability of every token, and a mask of those that belong to answers; both [turns, length]."""
        width = max(len(prompt) + len(answer) for prompt, answer in turns)
        ids = torch.full((len(turns), width), self.end)
        seen, wanted = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, (prompt, answer) in enumerate(turns):
            length = len(prompt) + len(answer)
            ids[row, :length] = torch.tensor(prompt + answer)
            seen[row, :length] = 1
            wanted[row, len(prompt) : length] = 1
        ids, seen, wanted = (tensor.to(self.device) for tensor in (ids, seen, wanted))
        logits = self.model(input_ids=ids, attention_mask=seen).logits[:, :-1]
        loss = functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        return -loss, wanted[:, 1:].float()

    # --- weights

    def weights(self) -> list[Tensor]:
        """Return a copy of the trained parameters."""
        return [weight.detach().clone() for weight in self.parameters]

    @torch.no_grad()
    def restore(self, weights: Sequence[Tensor]) -> None:
        """Restore weights copied before."""
        for weight, value in zip(self.parameters, weights, strict=True):
            weight.copy_(value)

    @contextlib.contextmanager
    def as_of(self, weights: Sequence[Tensor]) -> Generator[None]:
        """Give the model other weights temporarily."""
        now = self.weights()
        self.restore(weights)
        try:
            yield
        finally:
            self.restore(now)

    def save(self, folder: Path) -> Path:
        """Write a checkpoint with the tensors, types and tokenizer of the base; low-rank parts are merged."""
        folder.mkdir(parents=True, exist_ok=True)
        weights = self.model.state_dict()
        merged = self.lora.merged(weights) if self.lora else weights
        stored: dict[str, Tensor] = {}
        for file in self.folder.iterdir():
            if file.suffix == ".safetensors":
                with safe_open(file, "pt") as base:
                    names = list(base.keys())
                stored |= {name: merged[name].to(self._stored).contiguous() for name in names}
            elif file.is_file() and "safetensors" not in file.name:
                shutil.copyfile(file, folder / file.name)
        save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
