"""Experiments: from a configuration to runs, suites, metrics and reports."""
