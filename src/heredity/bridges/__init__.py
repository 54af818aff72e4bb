"""Worlds for other people's programs: exported so that they run without Heredity."""
