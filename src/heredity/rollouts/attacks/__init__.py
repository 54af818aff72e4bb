"""Attacks on the sandbox: what `heredity doctor --attack` runs, and what the tests demand to fail."""

from heredity.rollouts.attacks.contract import Attack
from heredity.rollouts.attacks.suite import ATTACKS, attempt_all, run_attacks

__all__ = ["ATTACKS", "Attack", "attempt_all", "run_attacks"]
