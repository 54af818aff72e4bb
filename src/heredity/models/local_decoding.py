"""Batched decoding with a transformers model: shared prefixes computed once, answers identical to unbatched ones.

Tokens are computed for a whole batch of prompts, padded on the left. Batching changes the last bits of the logits,
because sums are taken in another order. Where two tokens are nearly equally likely, that would change the answer. So
in exact mode a prompt whose two best tokens ever come closer than `MARGIN` is decoded again alone; all others are
certain to be unchanged. Sampling adds seeded Gumbel noise and takes the best token (the "Gumbel-max trick"), so the
same holds for it.
"""

# pyright: reportMissingImports=false
# Only the extra `local` installs torch and transformers.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heredity.models.contract import Finish

MARGIN = 0.005
"""Nats between the two best tokens below which batching might choose the other one; docs/models.md has the
measurement.
"""

_TOP_P_MARGIN = 1e-3
_WORTH_KEEPING = 16


@dataclass(slots=True, eq=False)
class Row:
    """One prompt and its decoded answer.

    Attributes:
        prompt: the prompt's tokens.
        limit: upper limit on the answer's tokens.
        stop: texts that end the answer, and are not part of it.
        temperature: 0 takes the likeliest token.
        top_p: probability mass to sample from.
        noise: entropy for its generator, the same each time; required if the temperature is above 0.
        emit: called with each piece of text, on the decoding thread.
        abandoned: set when the answer is no longer wanted.
        tokens: the answer's tokens, including the one that ended it.
        text: the answer as text.
        finish: reason it ended; None until then.
    """

    prompt: list[int]
    limit: int
    stop: tuple[str, ...] = ()
    temperature: float = 0.0
    top_p: float = 1.0
    noise: Callable[[], np.random.Generator] | None = None
    emit: Callable[[str], None] | None = None
    abandoned: bool = False
    tokens: list[int] = field(default_factory=list[int])
    text: str = ""
    finish: Finish | None = None
    _emitted: int = 0
    _draws: np.random.Generator | None = None

    def restart(self) -> None:
        """Discard the answer; text already passed to `emit` is not passed again."""
        self.tokens, self.text, self.finish = [], "", None
        self._draws = self.noise() if self.noise else None

    def pick(self, logits: Any) -> tuple[int, float]:
        """Choose the next token from its logits (shape: vocabulary).

        Returns:
            The token, and its lead over the next best, in nats at temperature 1.
        """
        if self.temperature == 0 or self._draws is None:
            values, tokens = logits.topk(2)
            return int(tokens[0]), float(values[0] - values[1])
        import torch

        noise = torch.from_numpy(self._draws.gumbel(size=logits.shape[0]).astype(np.float32)).to(logits.device)
        noisy = logits / self.temperature + noise
        if self.top_p < 1:
            chosen, certain = self._nucleus(logits, noisy)
            noisy = noisy.masked_fill(~chosen, -torch.inf)
            if not certain:
                return int(noisy.argmax()), 0.0
        values, tokens = noisy.topk(2)
        return int(tokens[0]), float(values[0] - values[1]) * self.temperature

    def _nucleus(self, logits: Any, noisy: Any) -> tuple[Any, bool]:
        import torch

        shares, order = torch.softmax(logits / self.temperature, -1).sort(descending=True)
        before = torch.empty_like(shares)
        before[order] = shares.cumsum(-1) - shares
        # The likeliest token is always kept.
        least, most = before < max(self.top_p - _TOP_P_MARGIN, 1e-9), before < self.top_p + _TOP_P_MARGIN
        best = [int(noisy.masked_fill(~kept, -torch.inf).argmax()) for kept in (least, most)]
        return before < self.top_p, best[0] == best[1]

    def take(self, token: int, decode: Callable[[list[int]], str], ends: frozenset[int]) -> None:
        """Add a token, and check whether the text is complete."""
        self.tokens.append(token)
        if token in ends:
            self.finish, self.text = "stop", decode(self.tokens[:-1])
        elif len(self.tokens) == self.limit or self.stop or self.emit:
            self.text = decode(self.tokens)
            cuts = [at for at in (self.text.find(s) for s in self.stop) if at >= 0]
            if cuts:
                self.finish, self.text = "stop", self.text[: min(cuts)]
            elif len(self.tokens) == self.limit:
                self.finish = "length"
        if self.emit:
            self._give(self.emit)

    def _give(self, emit: Callable[[str], None]) -> None:
        # The start of a stop text, or half of a character, may be at the end.
        held = 0 if self.finish else max((len(s) - 1 for s in self.stop), default=0)
        safe = len(self.text if self.finish else self.text.rstrip("\ufffd")) - held
        if safe > self._emitted:
            emit(self.text[self._emitted : safe])
            self._emitted = safe


@dataclass(frozen=True, slots=True, eq=False)
class _Prefix:
    """A prefix and its computed keys and values by layer (1, heads, tokens, width)."""

    tokens: np.ndarray
    layers: list[tuple[Any, Any]]


class Decoder:
    """Decodes with a loaded model; to be used from one thread.

    Args:
        model: a transformers model for causal language modelling, on any device.
        tokenizer: its tokenizer.
        exact: give rows the answers they would get alone.
        prefix_tokens: number of tokens of earlier prompts whose computations are kept; 0 keeps nothing.

    Attributes:
        context: upper limit on the tokens of a prompt and its answer together.
        repeated: rows decoded again alone, so far; `written`: all rows.
    """

    def __init__(self, model: Any, tokenizer: Any, *, exact: bool = True, prefix_tokens: int = 4096) -> None:
        self._model, self._tokenizer, self._device = model, tokenizer, model.device
        self._exact, self._prefix_tokens = exact, prefix_tokens
        self._kept: list[_Prefix] = []
        ends = [model.generation_config.eos_token_id, tokenizer.eos_token_id]
        flat = [token for end in ends for token in (end if isinstance(end, list) else [end])]
        self._ends = frozenset(token for token in flat if token is not None)
        self.context = int(getattr(model.config, "max_position_embeddings", 0) or 2048)
        self.repeated = self.written = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Decode all rows to their ends; sets `Row.finish` on every row that was not abandoned."""
        import torch

        self.written += len(rows)
        with torch.inference_mode():
            for row in rows:
                row.restart()
            unsure = self._write(rows, reuse=self._prefix_tokens > 0)
            self.repeated += len(unsure)
            for row in unsure:
                row.restart()
                self._write([row], reuse=False)

    def scores(self, prompt: list[int], continuations: Sequence[list[int]]) -> list[float]:
        """Return the log-probability (nats) of each continuation after the prompt, all computed at once."""
        import torch

        with torch.inference_mode():
            longest = max(map(len, continuations))
            rows = [prompt + c[:-1] for c in continuations]
            logits, _, _ = self._read(rows, reuse=self._prefix_tokens > 0, keep=longest, shared=len(prompt) - 1)
            logprobs: list[float] = []
            for row, continuation in zip(logits, continuations, strict=True):
                log_shares = torch.log_softmax(row[-len(continuation) :].double(), -1)
                picked = log_shares.gather(-1, torch.tensor(continuation, device=row.device).unsqueeze(-1))
                logprobs.append(float(picked.sum()))
        return logprobs

    def _write(self, rows: Sequence[Row], *, reuse: bool) -> list[Row]:
        """Decode rows together; return those whose answer may differ from the one they get alone."""
        import torch

        alive = list(rows)
        alone = len(rows) == 1
        logits, cache, mask = self._read([row.prompt for row in rows], reuse=reuse, keep=1)
        logits = logits[:, -1]
        check = self._exact and not (alone and not reuse)
        unsure: list[Row] = []
        while True:
            keep: list[int] = []
            for i, row in enumerate(alive):
                token, lead = row.pick(logits[i])
                if check and lead < MARGIN:
                    unsure.append(row)
                    continue
                row.take(token, self._decode, self._ends)
                if row.finish is None and not row.abandoned:
                    keep.append(i)
            if not keep:
                return unsure
            if len(keep) < len(alive):
                cache.batch_select_indices(torch.tensor(keep, device=self._device))
                mask = mask[keep]
                alive = [alive[i] for i in keep]
            step = torch.tensor([[row.tokens[-1]] for row in alive], device=self._device)
            mask = torch.cat([mask, mask.new_ones(len(alive), 1)], 1)
            placed = {} if alone else {"attention_mask": mask, "position_ids": mask.sum(1, keepdim=True) - 1}
            logits = self._model(step, past_key_values=cache, use_cache=True, **placed).logits[:, -1]

    def _read(
        self, prompts: Sequence[list[int]], *, reuse: bool, keep: int, shared: int | None = None
    ) -> tuple[Any, Any, Any]:
        """Compute prompts; return the logits of their last `keep` positions, the cache and its attention mask.

        `shared` is the number of tokens known to be common to all prompts; by default the longest common prefix,
        without the last token.
        """
        import torch
        from transformers import DynamicCache

        layers, start = self._beginning(prompts, shared) if reuse else (None, 0)
        rests = [prompt[start:] for prompt in prompts]
        width, count = max(map(len, rests)), len(prompts)
        tokens = torch.tensor([[0] * (width - len(rest)) + rest for rest in rests], device=self._device)
        read = [[1] * start + [0] * (width - len(rest)) + [1] * len(rest) for rest in rests]
        mask = torch.tensor(read, device=self._device)
        cache: Any = layers and DynamicCache(
            [(k.expand(count, -1, -1, -1), v.expand(count, -1, -1, -1)) for k, v in layers]
        )
        placed: dict[str, Any] = {}
        if count > 1:
            positions = (mask.cumsum(1) - 1).clamp(min=0)[:, start:]
            placed = {"attention_mask": mask, "position_ids": positions}
        out = self._model(tokens, past_key_values=cache, use_cache=True, logits_to_keep=keep, **placed)
        if reuse and count == 1:
            self._keep(prompts[0], out.past_key_values)
        return out.logits, out.past_key_values, mask

    def _beginning(self, prompts: Sequence[list[int]], shared: int | None) -> tuple[list[tuple[Any, Any]] | None, int]:
        """Return the computation over the prompts' common prefix, and its length in tokens."""
        if shared is None:
            shared = min(map(len, prompts)) - 1
            first = np.array(prompts[0])
            for prompt in prompts[1:]:
                shared = min(shared, _common(first, np.array(prompt)))
        if shared < _WORTH_KEEPING:
            return None, 0
        common = np.array(prompts[0][:shared])
        layers, start = self._recall(common)
        if len(prompts) > 1 and shared - start >= _WORTH_KEEPING:
            import torch
            from transformers import DynamicCache

            cache: Any = layers and DynamicCache(layers)
            rest = torch.tensor([prompts[0][start:shared]], device=self._device)
            out = self._model(rest, past_key_values=cache, use_cache=True, logits_to_keep=1)
            kept = self._keep(prompts[0][:shared], out.past_key_values)
            return (kept.layers, shared) if kept else (None, 0)
        return layers, start

    def _recall(self, tokens: np.ndarray) -> tuple[list[tuple[Any, Any]] | None, int]:
        lengths = [_common(prefix.tokens, tokens) for prefix in self._kept]
        best = max(range(len(lengths)), key=lengths.__getitem__, default=None)
        if best is None or lengths[best] < _WORTH_KEEPING:
            return None, 0
        self._kept.append(self._kept.pop(best))
        n = lengths[best]
        return [(k[:, :, :n], v[:, :, :n]) for k, v in self._kept[-1].layers], n

    def _keep(self, tokens: list[int], cache: Any) -> _Prefix | None:
        """Keep the computation over a prefix; evict the least recently used ones when there are too many."""
        # Only plain attention can be cut at any token: sliding windows and recurrent states cannot.
        if any(type(layer).__name__ != "DynamicLayer" for layer in cache.layers):
            return None
        prefix = _Prefix(np.array(tokens), [(layer.keys, layer.values) for layer in cache.layers])
        self._kept = [old for old in self._kept if _common(old.tokens, prefix.tokens) < len(old.tokens)]
        self._kept.append(prefix)
        while len(self._kept) > 1 and sum(len(p.tokens) for p in self._kept) > self._prefix_tokens:
            self._kept.pop(0)
        return prefix

    def _decode(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _common(one: np.ndarray, other: np.ndarray) -> int:
    """Return the length of the common prefix of two sequences."""
    n = min(len(one), len(other))
    different = np.flatnonzero(one[:n] != other[:n])
    return int(different[0]) if len(different) else n
