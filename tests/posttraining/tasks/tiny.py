"""A character model that trains in seconds: what the small tasks are tried with. Needs torch and transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from heredity.ids import generator
from heredity.posttraining.tasks import BaseRecipe

Pairs = Sequence[tuple[str, str]]


@dataclass
class Tiny:
    """A Llama of about half a million parameters over an alphabet; token 0 pads, and 1 ends a text."""

    alphabet: str
    model: Any

    @classmethod
    def made(cls, recipe: BaseRecipe) -> Tiny:
        torch.set_num_threads(1)
        torch.manual_seed(recipe.seed)
        config = LlamaConfig(
            vocab_size=len(recipe.alphabet) + 2,
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=3,
            num_attention_heads=4,
            max_position_embeddings=128,
            pad_token_id=0,
            bos_token_id=None,
            eos_token_id=1,
        )
        tiny = cls(recipe.alphabet, LlamaForCausalLM(config))
        tiny.tune(recipe.examples, recipe.steps, recipe.batch, recipe.learning_rate, recipe.seed)
        return tiny

    def tune(self, pairs: Pairs, steps: int, batch: int = 64, learning_rate: float = 1e-3, seed: int = 0) -> None:
        """Fine-tune on completions alone."""
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=learning_rate, weight_decay=0.01)
        draws = generator(seed, "tests", "tiny")
        rows = [(self._codes(prompt), [*self._codes(completion), 1]) for prompt, completion in pairs]
        self.model.train()
        for step in range(steps):
            chosen = [rows[i] for i in draws.integers(len(rows), size=batch)]
            width = max(len(p) + len(c) for p, c in chosen)
            ids = np.zeros((batch, width), np.int64)
            labels = np.full((batch, width), -100, np.int64)
            for line, (prompt, completion) in enumerate(chosen):
                end = len(prompt) + len(completion)
                ids[line, :end] = [*prompt, *completion]
                labels[line, len(prompt) : end] = completion
            for group in optimiser.param_groups:
                group["lr"] = learning_rate * min(1.0, (step + 1) / 20, (steps - step) / (0.3 * steps))
            loss = self.model(input_ids=torch.from_numpy(ids), labels=torch.from_numpy(labels)).loss
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimiser.step()

    @torch.no_grad()
    def answers(self, prompts: Sequence[str], tokens: int) -> list[str]:
        """Answer greedily, prompts of one length at a time."""
        self.model.eval()
        found: dict[str, str] = {}
        for length in {len(p) for p in prompts}:
            alike = [p for p in dict.fromkeys(prompts) if len(p) == length]
            ids = torch.tensor([self._codes(p) for p in alike])
            for _ in range(tokens):
                following = self.model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
                ids = torch.cat([ids, following], 1)
            for prompt, codes in zip(alike, ids[:, length:].tolist(), strict=True):
                said = codes[: codes.index(1)] if 1 in codes else codes
                found[prompt] = "".join(self.alphabet[c - 2] if c > 1 else " " for c in said)
        return [found[p] for p in prompts]

    def _codes(self, text: str) -> list[int]:
        return [self.alphabet.index(c) + 2 for c in text]
