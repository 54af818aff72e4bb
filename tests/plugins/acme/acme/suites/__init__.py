"""Suites of this package."""
