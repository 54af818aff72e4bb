"""Attacks on the sandbox: what `heredity doctor --attack` runs, and what the tests demand to fail."""

from heredity.attacks.contract import Attack
from heredity.attacks.suite import ATTACKS, attempt_all, run_attacks

__all__ = ["ATTACKS", "Attack", "attempt_all", "run_attacks"]
