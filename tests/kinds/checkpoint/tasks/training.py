"""Training of a small checkpoint in this process, for tests that show that a task can be trained on. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from heredity._core.ids import generator

_IGNORED = -100


class Checkpoint:
    """A model of characters and its tokenizer, on one thread."""

    def __init__(self, folder: Path) -> None:
        torch.set_num_threads(1)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.end = self.tokenizer.eos_token_id
        self.draws = generator(0, "tests", "training")

    def tune(self, pairs: Sequence[tuple[str, str]], steps: int) -> None:
        """Fine-tune on the completions of pairs for so many updates, however long a busy machine takes for them."""
        rows = [(self._codes(asked), [*self._codes(said), self.end]) for asked, said in pairs]
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.model.train()
        for step in range(steps):
            chosen = [rows[i] for i in self.draws.integers(len(rows), size=64)]
            width = max(len(asked) + len(said) for asked, said in chosen)
            tokens = torch.full((64, width), self.end)
            labels = torch.full((64, width), _IGNORED)
            for line, (asked, said) in enumerate(chosen):
                tokens[line, : len(asked) + len(said)] = torch.tensor(asked + said)
                labels[line, len(asked) : len(asked) + len(said)] = torch.tensor(said)
            for group in optimiser.param_groups:
                group["lr"] = 1e-3 * min(1.0, (step + 1) / 20, (steps - step) / (0.3 * steps))
            loss = self.model(input_ids=tokens, labels=labels).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    @torch.no_grad()
    def answers(self, prompts: Sequence[str], tokens: int, *, sampled: bool = False) -> list[str]:
        """Answer prompts, those of one length at a time; greedily, unless `sampled`."""
        self.model.eval()
        decoded: dict[int, str] = {}
        for length in {len(prompt) for prompt in prompts}:
            places = [i for i, prompt in enumerate(prompts) if len(prompt) == length]
            written = torch.tensor([self._codes(prompts[i]) for i in places])
            for _ in range(tokens):
                logits = self.model(input_ids=written).logits[:, -1]
                following = torch.multinomial(logits.softmax(-1), 1) if sampled else logits.argmax(-1, keepdim=True)
                written = torch.cat([written, following], 1)
            for i, codes in zip(places, written[:, length:].tolist(), strict=True):
                said = codes[: codes.index(self.end)] if self.end in codes else codes
                decoded[i] = self.tokenizer.decode(said)
        return [decoded[i] for i in range(len(prompts))]

    def _codes(self, text: str) -> list[int]:
        return self.tokenizer(text)["input_ids"]
