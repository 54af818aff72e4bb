"""Exports of worlds that run without Heredity."""
