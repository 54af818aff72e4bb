"""Command-line commands that evaluate and annotate harnesses."""
