"""Molecular kitchen: walk a dim pantry, find out what molecules do to a taste, and serve the taste that was ordered."""
