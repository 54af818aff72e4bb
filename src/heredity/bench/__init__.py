"""Benchmarks of the hot paths: each prints a ratio to a named baseline measured in the same run."""
