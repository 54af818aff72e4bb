"""Protocols: the rules of a run, one folder each."""
