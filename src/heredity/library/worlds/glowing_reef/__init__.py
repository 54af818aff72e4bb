"""Glowing reef: learn how each kind of animal answers a call of light, and answer it."""
