"""Command-line commands for worlds."""
