"""Worlds of this package."""
