"""Evolution within a task: protocol, metrics and report."""
