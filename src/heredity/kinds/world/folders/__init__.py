"""World folders: reading, auditing, judging and playing."""
