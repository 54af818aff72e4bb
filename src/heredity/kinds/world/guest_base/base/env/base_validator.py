"""Level validators."""

from __future__ import annotations

from typing import Any


class WorldValidator:
    """Checks levels.

    Args:
        env_id: the environment's name.
        config: its `config.yaml`.
    """

    def __init__(self, env_id: Any = None, config: Any = None) -> None:
        self.env_id, self.config = env_id, config

    def validate_level(self, level_state: Any) -> tuple[bool, list[str]]:
        """Return whether a level is valid, and its problems."""
        raise NotImplementedError(f"{type(self).__name__} has no validate_level; validators define it")
