"""Themes of worlds, in files, each a taskset."""
