"""Group relative policy optimisation (DeepSeekMath, section 4): no critic; a rollout is compared with its group.

A rollout's advantage is its reward minus the mean of its group, over the group's standard deviation. Every token of the
rollout gets it, with PPO's clipped ratio. Groups with equal rewards teach nothing and are skipped. A penalty for
divergence from the initial policy (the estimator r - log r - 1) is optional and off by default, since runs are short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

import torch
from online import Episode
from pace import Pace
from policy import Policy, Turn
from torch import Tensor

_LOG_EVERY_S = 5.0


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of GRPO.

    Attributes:
        problems: problems per step.
        group: rollouts per problem.
        temperature: sampling temperature, above 0.
        updates: gradient steps on one set of rollouts.
        clip: clipping range of the ratio of new to old probability.
        kl: weight of the penalty for divergence from the initial policy; 0 for none.
        discount: factor of a reward for every turn of its rollout, above 0, at most 1.
        batch: maximum turns computed at once.
    """

    problems: int = 16
    group: int = 8
    temperature: float = 1.0
    updates: int = 2
    clip: float = 0.2
    kl: float = 0.0
    discount: float = 0.95
    batch: int = 128


Play = Callable[[int, int, float], list[list[Episode]]]
"""Problems, attempts at each and temperature to a group of episodes for each problem."""


def improve(
    policy: Policy,
    play: Play,
    optimizer: torch.optim.Optimizer,
    until: float,
    recipe: Recipe,
    log: Callable[[str], None],
) -> int:
    """Train by GRPO up to a time of `time.monotonic()`; return the steps."""
    reference = policy.weights() if recipe.kl else None
    steps, rewards, logged = 0, list[float](), time.monotonic()
    pace = Pace(until)
    while pace.goes_on():
        groups = play(recipe.problems, recipe.group, recipe.temperature)
        rewards.append(fmean(episode.reward for group in groups for episode in group))
        turns, weights = advantages(groups, recipe.discount)
        if turns:
            update(policy, turns, weights, optimizer, recipe, reference)
        steps += 1
        if time.monotonic() - logged > _LOG_EVERY_S:
            log(f"grpo step {steps}: mean reward {fmean(rewards[-20:]):.4f}, {len(turns)} turns taught something")
            logged = time.monotonic()
    log(f"grpo: {steps} steps, mean reward {fmean(rewards[:10] or [0]):.4f} → {fmean(rewards[-10:] or [0]):.4f}")
    return steps


def advantages(groups: Sequence[Sequence[Episode]], discount: float = 1.0) -> tuple[list[Turn], list[float]]:
    """Return the turns of all groups that differ in reward, and the advantage of each.

    `discount` reduces a reward for every turn of the rollout, to favour quick wins.
    """
    turns, weights = list[Turn](), list[float]()
    for group in groups:
        worth = [episode.reward * discount ** len(episode.turns) for episode in group]
        mean, deviation = fmean(worth), pstdev(worth)
        if deviation > 0:
            for episode, value in zip(group, worth, strict=True):
                turns += episode.turns
                weights += [(value - mean) / deviation] * len(episode.turns)
    return turns, weights


def update(
    policy: Policy,
    turns: Sequence[Turn],
    weights: Sequence[float],
    optimizer: torch.optim.Optimizer,
    recipe: Recipe,
    reference: Sequence[Tensor] | None,
) -> None:
    """Take `recipe.updates` gradient steps; the loss is a mean over all tokens of the answers."""
    parts = list(_parts(turns, weights, recipe.batch))
    old: list[Tensor] = []
    first: list[Tensor] = []
    if reference is not None:
        with torch.no_grad(), policy.as_of(reference):
            first = [policy.logprobs(part)[0] for part, _ in parts]
    tokens = sum(len(answer) for _, answer in turns)
    for _ in range(recipe.updates):
        optimizer.zero_grad()
        for n, (part, advantage) in enumerate(parts):
            new, mask = policy.logprobs(part)
            if len(old) == n:
                old.append(new.detach())
            loss = clipped(new, old[n], torch.tensor(advantage, device=new.device)[:, None], recipe.clip)
            if first:
                astray = first[n] - new
                loss = loss + recipe.kl * (astray.exp() - astray - 1)
            ((loss * mask).sum() / tokens).backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters, 1.0)
        optimizer.step()


def clipped(new: Tensor, old: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Return PPO's loss of each token: no gain from a probability that has already moved by more than `clip`."""
    ratio = (new - old).exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def _parts(
    turns: Sequence[Turn], weights: Sequence[float], size: int
) -> Iterator[tuple[Sequence[Turn], Sequence[float]]]:
    for start in range(0, len(turns), size):
        yield turns[start : start + size], weights[start : start + size]
