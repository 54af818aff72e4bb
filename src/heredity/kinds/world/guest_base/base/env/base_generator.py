"""Level generators."""

from __future__ import annotations

from typing import Any


class WorldGenerator:
    """Generates levels from seeds.

    Args:
        env_id: the environment's name.
        config: its `config.yaml`.
    """

    def __init__(self, env_id: Any, config: Any) -> None:
        self.env_id, self.config = env_id, config

    def generate(self, seed: int | None = None, save_path: str | None = None) -> str:
        """Write a level generated from a seed, and return its name."""
        raise NotImplementedError(f"{type(self).__name__} has no generate; generators define it")

    def _execute_pipeline(self, base_state: Any, seed: int | None = None) -> Any:
        """Return the initial state of a level, built from the template of all states."""
        raise NotImplementedError(f"{type(self).__name__} has no _execute_pipeline; generators define it")
