"""Worlds whose rules are nothing but their `world.yaml`: a small total language, compiled and bounded."""
