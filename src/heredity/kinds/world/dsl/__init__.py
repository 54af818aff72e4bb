"""Worlds whose rules are only their `world.yaml`: a small total language, compiled and bounded."""
