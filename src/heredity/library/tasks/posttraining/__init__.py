"""Post-training tasks, one module or folder each."""
