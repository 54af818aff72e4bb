"""Supervised fine-tuning: trains on the answers of examples, excluding the prompts from the loss."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from pace import Pace
from policy import Policy, Turn

_LOG_EVERY_S = 5.0


def fit(
    policy: Policy,
    examples: Sequence[Turn],
    optimizer: torch.optim.Optimizer,
    until: float,
    *,
    batch: int,
    log: Callable[[str], None],
) -> int:
    """Train on examples in random order, repeatedly, up to a time of `time.monotonic()`; return the steps."""
    steps, total, logged = 0, 0.0, time.monotonic()
    pace = Pace(until)
    for chosen in _batches(examples, batch):
        if not pace.goes_on():
            break
        logprobs, mask = policy.logprobs(chosen)
        loss = -(logprobs * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters, 1.0)
        optimizer.step()
        steps, total = steps + 1, total + loss.item()
        if time.monotonic() - logged > _LOG_EVERY_S:
            log(f"sft step {steps}: loss {total / steps:.4f} on average")
            logged = time.monotonic()
    log(f"sft: {steps} steps of {batch} from {len(examples)} examples, loss {total / max(steps, 1):.4f} on average")
    return steps


def _batches(examples: Sequence[Turn], size: int) -> Iterator[list[Turn]]:
    draw = random.Random(torch.initial_seed())
    while True:
        order = draw.sample(range(len(examples)), len(examples))
        for start in range(0, len(order), size):
            yield [examples[i] for i in order[start : start + size]]
