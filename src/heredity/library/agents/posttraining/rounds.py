"""Trains, submits and checks the score in rounds; after a loss, continues from the best weights in smaller steps."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from policy import Policy
from workspace import RefusedError, Workspace

_FIRST_RESERVE_S, _FIRST_RESERVE = 4.0, 0.05
"""What saving and grading is taken to last before it was measured, at least: seconds, and as a share of the time that is left.

It is taken to last as long as the beginning did, too, which on a busy machine is long.
"""

_SHORTEST_ROUND_S = 1.0
_PERFECT = 100.0


class Climb:
    """Rounds of training that keep the best checkpoint by the graded score.

    Args:
        space: the workspace.
        policy: the policy to train.
        rate: learning rate of the first round; halved whenever weights are restored.
        tolerance: points that a score may fall below the best before weights are restored, since grading is noisy.
    """

    def __init__(self, space: Workspace, policy: Policy, rate: float, tolerance: float = 2.0) -> None:
        self.space, self.policy, self.tolerance = space, policy, tolerance
        self.best: float | None = None
        self._kept = policy.weights()
        self._reserve = max(_FIRST_RESERVE_S, _FIRST_RESERVE * space.remaining(), space.elapsed())
        self._submitted = 0
        self.begin(rate)

    def begin(self, rate: float) -> None:
        """Start a stage: a new optimizer with this learning rate."""
        self.rate = rate
        self.optimizer = torch.optim.AdamW(self.policy.parameters, lr=rate, weight_decay=0.0)

    def run(self, train: Callable[[float], object], count: int, share: float = 1.0) -> None:
        """Train and submit up to `count` times within a share of the remaining time.

        Args:
            train: trains up to a time of `time.monotonic()`.
            count: number of rounds that split the time.
            share: share of the time, above 0, at most 1.
        """
        end = time.monotonic() + self.space.remaining() * share
        for left in range(count, 0, -1):
            seconds = (end - time.monotonic()) / left - self._reserve
            too_late = seconds < _SHORTEST_ROUND_S and self._submitted > 0
            if too_late or self.best == _PERFECT:
                break
            train(time.monotonic() + seconds)
            self.submit()

    def submit(self) -> None:
        """Submit the current policy, and keep it or restore the best."""
        began = time.monotonic()
        self._submitted += 1
        self.space.record(round=self._submitted, learning_rate=self.rate)
        checkpoint = self.policy.save(self.space.output / f"checkpoint_{self._submitted}")
        try:
            reply = self.space.submit(checkpoint)
        except RefusedError as error:
            self.space.log(f"submission refused: {error}")
            return
        finally:
            self._reserve = 1.5 * (time.monotonic() - began) + 0.5
        self._judge(reply["score"], reply["baseline_score"])

    def _judge(self, score: float, baseline: float) -> None:
        best = baseline if self.best is None else self.best
        self.best = max(best, score)
        if score > best:
            self._kept = self.policy.weights()
        elif score < best - self.tolerance:
            self.policy.restore(self._kept)
            self.rate /= 2
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate
            self.space.log(f"back to the weights with {best:.2f}; learning rate {self.rate:.2g} from now on")
