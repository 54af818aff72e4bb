"""Rollouts: the engine that turns jobs into trajectories, its workers, and the sandbox they run policies in."""
