"""Limits of one rollout."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one rollout.

    Attributes:
        init_s: wall seconds for importing and constructing the program.
        act_s: wall seconds for one decision.
        episode_s: wall seconds for one whole episode; checked between steps, and by the policy's own worker.
        memory_bytes: memory of one policy worker beyond the mappings of its interpreter.
        scratch_bytes: size of one file in the folder that a policy may write to, which is wiped after each episode.
        output_bytes: bytes of stdout and of stderr kept for each episode.
        steps: upper limit on steps; None leaves the environment's horizon.
    """

    init_s: float = 10.0
    act_s: float = 10.0
    episode_s: float = 300.0
    memory_bytes: int = 1 << 30
    scratch_bytes: int = 16 << 20
    output_bytes: int = 64 << 10
    steps: int | None = None
