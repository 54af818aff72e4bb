"""Post-training runs as an agent meets them: its workspace, the grading server, the record of its code."""
