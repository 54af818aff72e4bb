"""Observation policies: select the exposed part of a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ObservationPolicy:
    """Selects the exposed part of a state."""

    def __call__(self, env_state: Mapping[str, Any], t: int) -> Any:
        """Return the exposed part of a state at step `t`."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__; observation policies define it")
