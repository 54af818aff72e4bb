"""The worlds, one folder each."""
