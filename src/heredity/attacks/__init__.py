"""Attacks on the sandbox: `heredity doctor --attack` runs them, and the tests require that all fail."""

from heredity.attacks.contract import Attack
from heredity.attacks.suite import ATTACKS, attempt_all, run_attacks

__all__ = ["ATTACKS", "Attack", "attempt_all", "run_attacks"]
